"""Checkouts and installed packages: what is found, what is left out, and what git says of it."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from sm_gatecheck.trees import TreeError, UsageError, directory, limits, open_tree
from tests.trees.shapes import METADATA, PYPROJECT, SOURCES, checkout, commit, git, repository, under, write


def left_out(tree_path: Path) -> dict[str, str]:
    return {diagnostic.file: diagnostic.message for diagnostic in open_tree(str(tree_path)).diagnostics}


@pytest.mark.parametrize("part", ["", "python", "python/sglang"])
def test_a_checkout_is_found_from_each_of_its_roots(tmp_path: Path, part: str) -> None:
    tree = open_tree(str(checkout(tmp_path) / part))
    assert dict(tree.files) == SOURCES
    assert list(tree.files) == sorted(SOURCES)
    assert tree.source.kind == "checkout"
    assert tree.source.sglang_version == "0.7.0"
    assert tree.source.git is None
    assert tree.source.target == str(tmp_path / part)


@pytest.mark.parametrize("part", ["", "sglang"])
def test_an_installed_package_states_the_version_of_its_metadata(tmp_path: Path, part: str) -> None:
    write(
        tmp_path,
        {
            **under("sglang/"),
            "sglang-0.7.1.dist-info/METADATA": METADATA,
            "sglang_router-2.dist-info/METADATA": b"Name: sglang-router\nVersion: 2\n",
        },
    )
    tree = open_tree(str(tmp_path / part))
    assert dict(tree.files) == SOURCES
    assert (tree.source.kind, tree.source.sglang_version) == ("package", "0.7.1")


def test_a_package_directory_of_another_name_is_known_by_what_it_holds(tmp_path: Path) -> None:
    tree = open_tree(str(write(tmp_path / "copy", SOURCES)))
    assert dict(tree.files) == SOURCES
    assert (tree.source.kind, tree.source.sglang_version) == ("package", None)


def test_only_sources_are_read(tmp_path: Path) -> None:
    checkout(tmp_path, **{"python/sglang/srt/kernel.cu": b"x", "python/sglang/notes.pyc": b"x", "python/other.py": b"x"})
    assert set(open_tree(str(tmp_path)).files) == set(SOURCES)


def test_a_relative_target_means_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository(tmp_path)
    monkeypatch.chdir(tmp_path / "python")
    tree = open_tree(".")
    assert dict(tree.files) == SOURCES
    assert tree.source.git is not None


class TestWhatIsLeftOut:
    def test_links_out_of_the_tree_and_to_nowhere(self, tmp_path: Path) -> None:
        package = checkout(tmp_path / "tree") / "python/sglang"
        write(tmp_path, {"secret.py": b"key = 1\n"})
        (package / "outside.py").symlink_to(tmp_path / "secret.py")
        (package / "nowhere.py").symlink_to("missing.py")
        (package / "loop.py").symlink_to("loop.py")
        (package / "inside.py").symlink_to("srt/server_args.py")
        tree = open_tree(str(tmp_path / "tree"))
        assert tree.files["inside.py"] == SOURCES["srt/server_args.py"]
        assert {diagnostic.file: diagnostic.message for diagnostic in tree.diagnostics} == {
            "loop.py": "left out: a loop of links",
            "nowhere.py": "left out: a link that leads nowhere",
            "outside.py": "left out: a link that leads out of the tree",
        }
        assert set(tree.files) == {*SOURCES, "inside.py"}

    def test_a_directory_that_leads_to_its_own_parent_is_not_walked(self, tmp_path: Path) -> None:
        package = checkout(tmp_path) / "python/sglang"
        (package / "srt" / "again").symlink_to(package, target_is_directory=True)
        tree = open_tree(str(tmp_path))
        assert dict(tree.files) == SOURCES
        assert [diagnostic.file for diagnostic in tree.diagnostics] == ["srt/again"]

    def test_the_package_itself_may_not_lead_out(self, tmp_path: Path) -> None:
        write(tmp_path / "elsewhere", SOURCES)
        (tmp_path / "tree").mkdir()
        (tmp_path / "tree" / "sglang").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(TreeError, match=r"leads out of .*: name .*elsewhere itself"):
            open_tree(str(tmp_path / "tree"))

    def test_a_target_that_is_a_link_is_the_user_s_own(self, tmp_path: Path) -> None:
        checkout(tmp_path / "tree")
        (tmp_path / "link").symlink_to(tmp_path / "tree")
        (tmp_path / "package").symlink_to(tmp_path / "tree/python/sglang")
        assert dict(open_tree(str(tmp_path / "link")).files) == SOURCES
        assert dict(open_tree(str(tmp_path / "package")).files) == SOURCES

    def test_a_file_over_the_limit_costs_itself_alone(self, tmp_path: Path) -> None:
        package = checkout(tmp_path) / "python/sglang"
        with open(package / "huge.py", "wb") as stream:
            stream.truncate(limits.MAX_FILE_BYTES + 1)
        with open(package / "large.py", "wb") as stream:
            stream.truncate(limits.MAX_FILE_BYTES)
        tree = open_tree(str(tmp_path))
        assert len(tree.files["large.py"]) == limits.MAX_FILE_BYTES
        assert [(diagnostic.file, diagnostic.message) for diagnostic in tree.diagnostics] == [
            ("huge.py", "left out: 8,000,001 bytes is over the limit of 8,000,000")
        ]

    def test_a_pipe_is_not_waited_for(self, tmp_path: Path) -> None:
        os.mkfifo(checkout(tmp_path) / "python/sglang/pipe.py")
        assert left_out(tmp_path) == {"pipe.py": "left out: not a regular file"}

    def test_a_directory_named_like_a_source_is_walked(self, tmp_path: Path) -> None:
        checkout(tmp_path, **{"python/sglang/odd.py/inner.py": b"y = 1\n"})
        tree = open_tree(str(tmp_path))
        assert tree.files["odd.py/inner.py"] == b"y = 1\n"
        assert tree.diagnostics == ()

    def test_names_that_no_report_can_print(self, tmp_path: Path) -> None:
        package = os.fsencode(checkout(tmp_path) / "python/sglang")
        for name in (b"two\nlines.py", b"latin\xe9.py", b"back\\slash.py", b"gr\xc3\xbcn.py"):
            with open(os.path.join(package, name), "wb"):
                pass
        tree = open_tree(str(tmp_path))
        assert "grün.py" in tree.files
        assert {diagnostic.file: diagnostic.message for diagnostic in tree.diagnostics} == {
            "back\\slash.py": "left out: its name holds a backslash",
            "latin\\udce9.py": "left out: its name is not UTF-8",
            "two\\nlines.py": "left out: its name holds characters that cannot be printed",
        }

    def test_what_may_not_be_read(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write(checkout(tmp_path) / "python/sglang", {"locked.py": b"", "closed/inner.py": b""})
        scan, read = os.scandir, directory._read

        def guarded_scan(path: str) -> Any:
            if path.endswith("closed"):
                raise PermissionError(errno.EACCES, "Permission denied")
            return scan(path)

        def guarded_read(path: str) -> bytes | None:
            if path.endswith("locked.py"):
                raise PermissionError(errno.EACCES, "Permission denied")
            return read(path)

        # Root may read everything, so modes would prove nothing in a container.
        monkeypatch.setattr(os, "scandir", guarded_scan)
        monkeypatch.setattr(directory, "_read", guarded_read)
        assert left_out(tmp_path) == {
            "closed": "left out: cannot be read: permission denied",
            "locked.py": "left out: cannot be read: permission denied",
        }

    def test_too_many_files_are_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(limits, "MAX_MEMBERS", len(SOURCES) - 1)
        with pytest.raises(TreeError, match="has more than 3 members"):
            open_tree(str(checkout(tmp_path)))

    def test_too_many_bytes_are_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(limits, "MAX_TOTAL_BYTES", 20)
        with pytest.raises(TreeError, match="too much for a source tree"):
            open_tree(str(checkout(tmp_path)))


class TestRefusals:
    def test_an_empty_directory(self, tmp_path: Path) -> None:
        with pytest.raises(TreeError, match="is an empty directory: name a checkout"):
            open_tree(str(tmp_path))

    def test_another_project(self, tmp_path: Path) -> None:
        write(tmp_path, {"vllm/__init__.py": b"", "pyproject.toml": b'[project]\nname = "vllm"\n'})
        with pytest.raises(TreeError, match=r"is no SGLang tree: it has no sglang/srt/server_args\.py"):
            open_tree(str(tmp_path))

    def test_a_package_of_that_name_without_a_server(self, tmp_path: Path) -> None:
        write(tmp_path, {"sglang/__init__.py": b"", "python/sglang/lang.py": b""})
        with pytest.raises(TreeError, match="is no SGLang tree"):
            open_tree(str(tmp_path))

    @pytest.mark.parametrize(("named", "meant"), [("python/sglang/srt", "python/sglang"), (".", "tree")])
    def test_too_deep_or_too_high(self, tmp_path: Path, named: str, meant: str) -> None:
        checkout(tmp_path / "tree")
        target = tmp_path if named == "." else tmp_path / "tree" / named
        wanted = tmp_path / "tree" if named == "." else tmp_path / "tree" / meant
        with pytest.raises(TreeError, match="begins: did you mean") as caught:
            open_tree(str(target))
        assert str(caught.value).endswith(f"did you mean {wanted}?")

    def test_a_typo_in_a_path(self, tmp_path: Path) -> None:
        checkout(tmp_path / "Checkout")
        with pytest.raises(UsageError) as caught:
            open_tree(str(tmp_path / "chekout" / "python"))
        assert str(caught.value).endswith(f"no such file or directory; did you mean {tmp_path / 'Checkout' / 'python'}?")

    def test_a_path_like_nothing_there(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="no such file or directory; name a checkout"):
            open_tree(str(tmp_path / "qqqqqqqq"))

    @pytest.mark.parametrize("target", ["", "  ", "a\0b"])
    def test_no_name_at_all(self, target: str) -> None:
        with pytest.raises(UsageError, match="no tree is named"):
            open_tree(target)

    def test_every_refusal_is_one_line(self, tmp_path: Path) -> None:
        write(tmp_path / "two\nlines", {"x.py": b""})
        with pytest.raises(TreeError) as caught:
            open_tree(str(tmp_path / "two\nlines"))
        assert "\n" not in str(caught.value)


class TestGitFacts:
    def test_a_clean_checkout(self, tmp_path: Path) -> None:
        repository(tmp_path)
        facts = open_tree(str(tmp_path)).source.git
        assert facts is not None
        assert (facts.commit, facts.dirty, facts.branch) == (git(tmp_path, "rev-parse", "HEAD"), False, "main")

    @pytest.mark.parametrize("change", ["edited", "added", "removed"])
    def test_sources_that_are_not_the_commit_s(self, tmp_path: Path, change: str) -> None:
        package = repository(tmp_path) / "python/sglang"
        if change == "edited":
            (package / "srt/server_args.py").write_bytes(b"# other\n")
        elif change == "added":
            (package / "new.py").write_bytes(b"")
        else:
            (package / "srt/layers/attention.py").unlink()
        facts = open_tree(str(tmp_path)).source.git
        assert facts is not None
        assert facts.dirty

    def test_ignored_files_and_line_ends_are_no_change(self, tmp_path: Path) -> None:
        package = repository(tmp_path, **{".gitignore": b"_version.py\n"}) / "python/sglang"
        (package / "_version.py").write_bytes(b"__version__ = version = '0.7.2.dev3'\n")
        (package / "srt/server_args.py").write_bytes(SOURCES["srt/server_args.py"].replace(b"\n", b"\r\n"))
        tree = open_tree(str(tmp_path))
        assert tree.source.git is not None
        assert not tree.source.git.dirty
        assert tree.source.sglang_version == "0.7.2.dev3"

    def test_a_detached_head_has_no_branch(self, tmp_path: Path) -> None:
        repository(tmp_path)
        git(tmp_path, "checkout", "--quiet", "--detach")
        facts = open_tree(str(tmp_path)).source.git
        assert facts is not None
        assert facts.branch is None

    def test_a_linked_work_tree(self, tmp_path: Path) -> None:
        repository(tmp_path / "main")
        git(tmp_path / "main", "worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
        facts = open_tree(str(tmp_path / "side")).source.git
        assert facts is not None
        assert (facts.branch, facts.dirty) == ("side", False)

    def test_a_repository_around_the_project_says_nothing_about_it(self, tmp_path: Path) -> None:
        checkout(tmp_path / "vendored/tree")
        git(tmp_path, "init", "--quiet")
        commit(tmp_path)
        tree = open_tree(str(tmp_path / "vendored/tree"))
        assert (tree.source.kind, tree.source.git) == ("checkout", None)

    def test_a_repository_without_commits(self, tmp_path: Path) -> None:
        git(checkout(tmp_path), "init", "--quiet")
        assert open_tree(str(tmp_path)).source.git is None

    def test_a_hook_s_environment_does_not_lead_to_another_repository(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        repository(tmp_path / "tree")
        other = write(tmp_path / "other", {"x": b""})
        git(other, "init", "--quiet")
        commit(other)
        monkeypatch.setenv("GIT_DIR", str(other / ".git"))
        monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git/index"))
        facts = open_tree(str(tmp_path / "tree")).source.git
        assert facts is not None
        assert facts.commit == git(tmp_path / "tree", "rev-parse", "HEAD")

    def test_programs_that_a_repository_names_do_not_run(self, tmp_path: Path) -> None:
        package = repository(tmp_path / "tree", **{".gitattributes": b"*.py filter=evil diff=evil\n"}) / "python/sglang"
        mark = tmp_path / "ran"
        for key in ("core.fsmonitor", "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.textconv", "core.pager"):
            git(tmp_path / "tree", "config", key, f"touch {mark};:")
        for hook in ("post-index-change", "reference-transaction", "post-checkout"):
            path = tmp_path / "tree/.git/hooks" / hook
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"#!/bin/sh\ntouch {mark}\n")
            path.chmod(0o755)
        (package / "new.py").write_bytes(b"")
        facts = open_tree(str(tmp_path / "tree")).source.git
        assert facts is not None
        assert facts.dirty
        assert not mark.exists()


class TestVersionOfACheckout:
    def files(self, root: Path, **extra: bytes) -> Path:
        return repository(root, **{"python/pyproject.toml": b'[project]\nname = "sglang"\ndynamic = ["version"]\n', **extra})

    def test_tags_are_asked_last(self, tmp_path: Path) -> None:
        self.files(tmp_path)
        git(tmp_path, "tag", "v0.7.3")
        assert open_tree(str(tmp_path)).source.sglang_version == "0.7.3"
        (tmp_path / "README.md").write_bytes(b"more\n")
        head = commit(tmp_path)
        git(tmp_path, "tag", "gateway-v9.0")
        assert open_tree(str(tmp_path)).source.sglang_version == f"0.7.3+1.g{head[:9]}"
        (tmp_path / "python/sglang/version.py").write_bytes(b'__version__ = "0.7.4"\n')
        assert open_tree(str(tmp_path)).source.sglang_version == "0.7.4"

    def test_a_placeholder_is_no_statement(self, tmp_path: Path) -> None:
        self.files(tmp_path, **{"python/sglang/version.py": b'__version__ = "0.0.0.dev0"\n'})
        assert open_tree(str(tmp_path)).source.sglang_version is None

    def test_a_static_project_version(self, tmp_path: Path) -> None:
        checkout(tmp_path, **{"python/pyproject.toml": PYPROJECT})
        assert open_tree(str(tmp_path)).source.sglang_version == "0.7.0"
