"""``PATH@REV``: read from the object store alone, whatever the repository would like to run."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sm_gatecheck.trees import TreeError, UsageError, limits, open_tree
from tests.trees.shapes import SOURCES, commit, git, repository, under, write


def test_a_revision_is_not_the_work_tree(tmp_path: Path) -> None:
    root = repository(tmp_path)
    first = git(root, "rev-parse", "HEAD")
    write(root, {"python/sglang/later.py": b"later = 1\n"})
    second = commit(root)
    (root / "python/sglang/later.py").write_bytes(b"not committed\n")
    (root / "python/sglang/srt/server_args.py").unlink()
    before = git(root, "status", "--porcelain")
    old, new = open_tree(f"{root}@{first}"), open_tree(f"{root}@HEAD")
    assert dict(old.files) == SOURCES
    assert dict(new.files) == {**SOURCES, "later.py": b"later = 1\n"}
    assert list(new.files) == sorted(new.files)
    assert (old.source.kind, old.source.target, old.source.sglang_version) == ("git", f"{root}@{first}", "0.7.0")
    assert new.source.git is not None
    assert (new.source.git.commit, new.source.git.dirty) == (second, False)
    assert git(root, "status", "--porcelain") == before


@pytest.mark.parametrize("revision", ["main", "HEAD", "HEAD~0", "v1.0", "release/one", "HEAD@{0}", "@", "main^{tree}~0^{commit}", "short"])
def test_every_way_to_name_a_revision(tmp_path: Path, revision: str) -> None:
    root = repository(tmp_path)
    git(root, "tag", "-a", "-m", "a tag with words", "v1.0")
    git(root, "branch", "release/one")
    name = git(root, "rev-parse", "--short", "HEAD") if revision == "short" else revision
    if revision.startswith("main^{tree}"):
        with pytest.raises(UsageError, match="has no revision"):
            open_tree(f"{root}@{name}")
    else:
        assert dict(open_tree(f"{root}@{name}").files) == SOURCES


@pytest.mark.parametrize("part", ["python", "python/sglang", "python/sglang/srt", "docs"])
def test_from_any_directory_of_the_checkout(tmp_path: Path, part: str) -> None:
    root = repository(tmp_path, **{"docs/index.md": b""})
    assert dict(open_tree(f"{root / part}@HEAD").files) == SOURCES


def test_a_project_inside_another_repository(tmp_path: Path) -> None:
    write(tmp_path, {**under("third/one/python/sglang/"), **under("third/two/sglang/", {**SOURCES, "two.py": b""})})
    git(tmp_path, "init", "--quiet")
    commit(tmp_path)
    assert "two.py" not in open_tree(f"{tmp_path / 'third/one'}@HEAD").files
    assert "two.py" in open_tree(f"{tmp_path / 'third/two'}@HEAD").files
    with pytest.raises(TreeError, match="holds no SGLang"):
        open_tree(f"{tmp_path}@HEAD")


def test_bare_and_linked_repositories(tmp_path: Path) -> None:
    root = repository(tmp_path / "tree")
    git(tmp_path, "clone", "--quiet", "--bare", str(root), str(tmp_path / "bare.git"))
    git(root, "worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    assert dict(open_tree(f"{tmp_path / 'bare.git'}@main").files) == SOURCES
    assert dict(open_tree(f"{tmp_path / 'side'}@side").files) == SOURCES
    assert dict(open_tree(f"{root / '.git'}@main").files) == SOURCES


def test_packed_objects(tmp_path: Path) -> None:
    root = repository(tmp_path)
    git(root, "gc", "--quiet", "--aggressive", "--prune=now")
    assert dict(open_tree(f"{root}@HEAD").files) == SOURCES


def test_a_path_with_an_at_sign(tmp_path: Path) -> None:
    root = repository(tmp_path / "a@b")
    assert dict(open_tree(str(root)).files) == SOURCES
    assert dict(open_tree(f"{root}@HEAD@{{0}}").files) == SOURCES


def test_a_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository(tmp_path / "tree")
    monkeypatch.chdir(tmp_path / "tree/python")
    assert dict(open_tree(".@HEAD").files) == SOURCES


def test_version_by_tag_where_the_sources_state_none(tmp_path: Path) -> None:
    root = repository(tmp_path, **{"python/pyproject.toml": b'[project]\nname = "sglang"\ndynamic = ["version"]\n'})
    git(root, "tag", "v0.7.5")
    write(root, {"README.md": b"more\n"})
    head = commit(root)
    assert open_tree(f"{root}@v0.7.5").source.sglang_version == "0.7.5"
    assert open_tree(f"{root}@HEAD").source.sglang_version == f"0.7.5+1.g{head[:9]}"


class TestWhatIsLeftOut:
    def test_links_and_large_files(self, tmp_path: Path) -> None:
        root = repository(tmp_path)
        package = root / "python/sglang"
        (package / "inside.py").symlink_to("srt/server_args.py")
        (package / "out.py").symlink_to("../../README.md")
        (package / "loop.py").symlink_to("loop.py")
        (package / "again").symlink_to(".", target_is_directory=True)
        (package / "huge.py").write_bytes(b"#" * (limits.MAX_FILE_BYTES + 1))
        commit(root)
        tree = open_tree(f"{root}@HEAD")
        assert dict(tree.files) == {**SOURCES, "inside.py": SOURCES["srt/server_args.py"]}
        assert [(d.file, d.message) for d in tree.diagnostics] == [
            ("huge.py", "left out: 8,000,001 bytes is over the limit of 8,000,000"),
            ("loop.py", "left out: a link that leads out of the package, or nowhere"),
            ("out.py", "left out: a link that leads out of the package, or nowhere"),
        ]

    def test_odd_names(self, tmp_path: Path) -> None:
        root = repository(tmp_path)
        (root / "python/sglang/two\nlines.py").write_bytes(b"")
        (root / "python/sglang/grün.py").write_bytes(b"g = 1\n")
        commit(root)
        tree = open_tree(f"{root}@HEAD")
        assert tree.files["grün.py"] == b"g = 1\n"
        assert [d.file for d in tree.diagnostics] == ["two\\nlines.py"]

    def test_a_tree_of_trees_that_never_ends(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(limits, "MAX_MEMBERS", 1000)
        root = repository(tmp_path)
        inner = git(root, "rev-parse", "HEAD:python/sglang/srt")
        for _ in range(8):
            listing = "".join(f"040000 tree {inner}\td{number}\n" for number in range(10))
            inner = _make_tree(root, listing)
        package = git(root, "ls-tree", "HEAD:python/sglang") + f"\n040000 tree {inner}\tbomb\n"
        python = f"040000 tree {_make_tree(root, package)}\tsglang\n"
        top = _make_tree(root, f"040000 tree {_make_tree(root, python)}\tpython\n")
        bomb = git(root, "commit-tree", "-m", "bomb", top)
        with pytest.raises(TreeError, match="has more than 1,000 members"):
            open_tree(f"{root}@{bomb}")


def _make_tree(root: Path, listing: str) -> str:
    (root / ".git/listing").write_text(listing)
    return git(root, "-c", "alias.make=!git mktree < .git/listing", "make")


class TestRefusals:
    def test_an_unknown_revision_names_a_near_one(self, tmp_path: Path) -> None:
        root = repository(tmp_path)
        git(root, "tag", "v0.5.12")
        with pytest.raises(UsageError) as caught:
            open_tree(f"{root}@v0.5.13")
        assert str(caught.value).endswith("has no revision 'v0.5.13'; did you mean v0.5.12?")

    @pytest.mark.parametrize(
        "revision", ["", "--output=/tmp/x", "-h", "HEAD..main", "HEAD:README.md", "HEAD^{tree}", "nothing at all", "a\nb", ":/nope"]
    )
    def test_what_names_no_commit(self, tmp_path: Path, revision: str) -> None:
        with pytest.raises(UsageError, match="has no revision") as caught:
            open_tree(f"{repository(tmp_path)}@{revision}")
        assert "\n" not in str(caught.value)

    def test_no_repository(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match=r"cannot be read as a git repository \(it lies in no git repository\); name it without @HEAD"):
            open_tree(f"{tmp_path}@HEAD")

    def test_no_such_path(self, tmp_path: Path) -> None:
        repository(tmp_path / "tree")
        with pytest.raises(UsageError) as caught:
            open_tree(f"{tmp_path / 'treee'}@HEAD")
        assert str(caught.value).endswith(f"did you mean {tmp_path / 'tree'}?")

    def test_a_revision_of_another_project(self, tmp_path: Path) -> None:
        write(tmp_path, {"README.md": b""})
        git(tmp_path, "init", "--quiet")
        commit(tmp_path)
        with pytest.raises(TreeError, match="holds no SGLang"):
            open_tree(f"{tmp_path}@HEAD")

    def test_a_missing_object(self, tmp_path: Path) -> None:
        root = repository(tmp_path)
        identity = git(root, "rev-parse", "HEAD:python/sglang/srt/server_args.py")
        (root / ".git/objects" / identity[:2] / identity[2:]).unlink()
        with pytest.raises(TreeError, match="is not complete here"):
            open_tree(f"{root}@HEAD")

    def test_no_git(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        import git as gitpython

        root = repository(tmp_path)
        monkeypatch.setattr(gitpython.cmd.Git, "GIT_PYTHON_GIT_EXECUTABLE", str(tmp_path / "no-git"))
        with pytest.raises(UsageError, match="git is not installed"):
            open_tree(f"{root}@HEAD")
        assert open_tree(str(root)).source.git is None


class TestHostileRepositories:
    def test_nothing_that_a_repository_configures_is_run(self, tmp_path: Path) -> None:
        root = repository(tmp_path / "tree", **{".gitattributes": b"*.py filter=evil diff=evil ident export-subst text eol=crlf\n"})
        mark = tmp_path / "ran"
        settings = {
            "core.fsmonitor": f"touch {mark};:",
            "core.pager": f"touch {mark};:",
            "core.sshCommand": f"touch {mark};:",
            "core.editor": f"touch {mark};:",
            "diff.external": f"touch {mark};:",
            "diff.evil.textconv": f"touch {mark};:",
            "diff.evil.command": f"touch {mark};:",
            "filter.evil.clean": f"touch {mark};:",
            "filter.evil.smudge": f"touch {mark};:",
            "filter.evil.process": f"touch {mark};:",
            "alias.ls-tree": f"!touch {mark}",
            "alias.cat-file": f"!touch {mark}",
            "alias.rev-parse": f"!touch {mark}",
            "gpg.program": f"touch {mark};:",
            "log.showSignature": "true",
            "core.autocrlf": "true",
        }
        for key, value in settings.items():
            git(root, "config", key, value)
        hooks = tmp_path / "hooks"
        hooks.mkdir()
        for name in ("post-checkout", "post-index-change", "reference-transaction", "fsmonitor-watchman", "pre-auto-gc"):
            (hooks / name).write_text(f"#!/bin/sh\ntouch {mark}\n")
            (hooks / name).chmod(0o755)
        git(root, "config", "core.hooksPath", str(hooks))
        mark.unlink(missing_ok=True)
        assert dict(open_tree(f"{root}@HEAD").files) == SOURCES
        assert not mark.exists()

    @pytest.mark.parametrize("transport", ["ext", "uploadpack", "helper"])
    def test_a_missing_object_is_not_fetched_with_the_repository_s_own_program(self, tmp_path: Path, transport: str) -> None:
        root = repository(tmp_path / "tree")
        mark = tmp_path / "ran"
        program = tmp_path / "program"
        program.write_text(f"#!/bin/sh\ntouch {mark}\nexit 1\n")
        program.chmod(0o755)
        for key, value in {
            "core.repositoryFormatVersion": "1",
            "extensions.partialClone": "origin",
            "remote.origin.promisor": "true",
            "remote.origin.url": f"ext::{program}" if transport == "ext" else str(tmp_path / "tree"),
            "protocol.allow": "always",
            "protocol.ext.allow": "always",
            **({"remote.origin.uploadpack": str(program)} if transport == "uploadpack" else {}),
            **({"remote.origin.vcs": "evil"} if transport == "helper" else {}),
        }.items():
            git(root, "config", key, value)
        identity = git(root, "rev-parse", "HEAD:python/sglang/srt/server_args.py")
        (root / ".git/objects" / identity[:2] / identity[2:]).unlink()
        with pytest.raises(TreeError, match="is not complete here"):
            open_tree(f"{root}@HEAD")
        assert not mark.exists()

    def test_a_work_tree_elsewhere_is_neither_read_nor_entered(self, tmp_path: Path) -> None:
        root = repository(tmp_path / "tree")
        git(root, "config", "core.worktree", str(tmp_path / "nowhere"))
        assert dict(open_tree(f"{root / '.git'}@HEAD").files) == SOURCES

    def test_replaced_objects_are_read_as_they_are(self, tmp_path: Path) -> None:
        root = repository(tmp_path)
        original = git(root, "rev-parse", "HEAD:python/sglang/srt/server_args.py")
        other = git(root, "hash-object", "-w", "README.md")
        git(root, "replace", original, other)
        assert dict(open_tree(f"{root}@HEAD").files) == SOURCES

    def test_a_hook_s_environment_does_not_lead_to_another_repository(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        root = repository(tmp_path / "tree")
        other = repository(tmp_path / "other", **{"python/sglang/other.py": b""})
        monkeypatch.setenv("GIT_DIR", str(other / ".git"))
        monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(other / ".git/objects"))
        monkeypatch.setenv("GIT_WORK_TREE", str(other))
        assert dict(open_tree(f"{root}@HEAD").files) == SOURCES

    def test_a_git_directory_that_is_none(self, tmp_path: Path) -> None:
        root = repository(tmp_path)
        shutil.rmtree(root / ".git/objects")
        with pytest.raises((UsageError, TreeError)) as caught:
            open_tree(f"{root}@HEAD")
        assert "\n" not in str(caught.value)
        assert open_tree(str(root)).source.git is None
