"""Sdists and tar archives of repositories, sound, broken and hostile."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path

import pytest

from sm_gatecheck.trees import TreeError, limits, open_tree
from tests.trees.shapes import PYPROJECT, SOURCES, commit, git, repository, sdist, under

PKG_INFO = b"Metadata-Version: 2.1\nName: sglang\nVersion: 0.7.2\n"


@pytest.mark.parametrize("mode", ["w:gz", "w:bz2", "w:xz", "w:"])
def test_an_sdist_however_packed(tmp_path: Path, mode: str) -> None:
    files = {"sglang-0.7.2/PKG-INFO": PKG_INFO, "sglang-0.7.2/pyproject.toml": PYPROJECT, **under("sglang-0.7.2/sglang/")}
    tree = open_tree(str(sdist(tmp_path / "sglang-0.7.2.tar.gz", files, mode=mode)))
    assert dict(tree.files) == SOURCES
    assert list(tree.files) == sorted(SOURCES)
    assert (tree.source.kind, tree.source.sglang_version, tree.diagnostics) == ("sdist", "0.7.2", ())


@pytest.mark.parametrize("prefix", ["", "./", "sglang-main/"])
def test_an_archive_of_the_repository(tmp_path: Path, prefix: str) -> None:
    files = {f"{prefix}python/pyproject.toml": PYPROJECT, f"{prefix}README.md": b"", **under(f"{prefix}python/sglang/")}
    tree = open_tree(str(sdist(tmp_path / "a.tar.gz", files)))
    assert dict(tree.files) == SOURCES
    assert tree.source.sglang_version == "0.7.0"


def test_what_git_archive_writes(tmp_path: Path) -> None:
    repository(tmp_path / "tree")
    git(tmp_path / "tree", "archive", "--prefix=sglang-main/", "-o", str(tmp_path / "main.tar.gz"), "HEAD")
    git(tmp_path / "tree", "archive", "-o", str(tmp_path / "main.zip"), commit_of(tmp_path / "tree"))
    assert dict(open_tree(str(tmp_path / "main.tar.gz")).files) == SOURCES
    assert dict(open_tree(str(tmp_path / "main.zip")).files) == SOURCES


def commit_of(root: Path) -> str:
    (root / "README.md").write_bytes(b"again\n")
    return commit(root)


def test_project_files_inside_the_package_are_no_sources(tmp_path: Path) -> None:
    tree = open_tree(str(sdist(tmp_path / "a.tar.gz", {**under("s/sglang/"), "s/sglang/ops/pyproject.toml": b""})))
    assert dict(tree.files) == SOURCES


def test_links(tmp_path: Path) -> None:
    links = {
        "s/sglang/inside.py": "srt/server_args.py",
        "s/sglang/srt/far.py": "../../sglang/__init__.py",
        "s/sglang/out.py": "../../../../etc/passwd.py",
        "s/sglang/abs.py": "/etc/passwd.py",
        "s/sglang/a.py": "b.py",
        "s/sglang/b.py": "a.py",
        "s/docs/sglang/elsewhere.py": "x.py",
    }
    tree = open_tree(str(sdist(tmp_path / "a.tar.gz", under("s/sglang/"), links)))
    assert {name for name in tree.files if name not in SOURCES} == {"inside.py", "srt/far.py"}
    assert tree.files["inside.py"] == SOURCES["srt/server_args.py"]
    assert [d.file for d in tree.diagnostics] == ["a.py", "abs.py", "b.py", "out.py"]


def test_hard_links_are_files(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    sdist(path, under("s/sglang/"), mode="w:")
    with tarfile.open(path, "a") as archive:
        member = tarfile.TarInfo("s/sglang/same.py")
        member.type = tarfile.LNKTYPE
        member.linkname = "s/sglang/srt/server_args.py"
        archive.addfile(member)
    assert open_tree(str(path)).files["same.py"] == SOURCES["srt/server_args.py"]


def test_devices_and_large_members_cost_themselves_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    sdist(path, {**under("s/sglang/"), "s/sglang/huge.py": b"#" * (limits.MAX_FILE_BYTES + 1)}, mode="w:")
    with tarfile.open(path, "a") as archive:
        member = tarfile.TarInfo("s/sglang/pipe.py")
        member.type = tarfile.FIFOTYPE
        archive.addfile(member)
    tree = open_tree(str(path))
    assert dict(tree.files) == SOURCES
    assert [(d.file, d.message) for d in tree.diagnostics] == [
        ("huge.py", "left out: 8,000,001 bytes is over the limit of 8,000,000"),
        ("pipe.py", "left out: not a regular file"),
    ]


@pytest.mark.parametrize("name", ["../evil.py", "/etc/evil.py", "s/../../evil.py"])
def test_names_that_lead_out(tmp_path: Path, name: str) -> None:
    with pytest.raises(TreeError, match="a member that leads out of it"):
        open_tree(str(sdist(tmp_path / "a.tar.gz", {**under("s/sglang/"), name: b""})))


def test_another_project(tmp_path: Path) -> None:
    with pytest.raises(TreeError, match="holds no SGLang"):
        open_tree(str(sdist(tmp_path / "vllm-1.tar.gz", {"vllm-1/vllm/__init__.py": b""})))


class TestDamage:
    def refusal(self, path: Path) -> str:
        with pytest.raises(TreeError) as caught:
            open_tree(str(path))
        assert "\n" not in str(caught.value)
        return str(caught.value)

    @pytest.mark.parametrize("keep", [0.1, 0.5, 0.9])
    def test_a_download_cut_short(self, tmp_path: Path, keep: float) -> None:
        path = sdist(tmp_path / "a.tar.gz", under("s/sglang/"))
        content = path.read_bytes()
        path.write_bytes(content[: int(len(content) * keep)])
        assert "is a damaged archive" in self.refusal(path)

    def test_a_flipped_bit_far_behind_the_sources(self, tmp_path: Path) -> None:
        path = sdist(tmp_path / "a.tar.gz", {**under("s/sglang/"), "s/z.bin": bytes(range(256)) * 400})
        content = bytearray(path.read_bytes())
        content[-6] ^= 0x55
        path.write_bytes(content)
        assert "is a damaged archive" in self.refusal(path)

    def test_a_header_in_the_middle_that_is_none(self, tmp_path: Path) -> None:
        raw = io.BytesIO()
        with tarfile.open(fileobj=raw, mode="w") as archive:
            for name, content in sorted(under("s/sglang/").items()):
                member = tarfile.TarInfo(name)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        broken = bytearray(raw.getvalue())
        at = broken.index(b"s/sglang/srt/server_args.py")
        broken[at : at + 4] = b"\xff\xff\xff\xff"
        path = tmp_path / "a.tar.gz"
        path.write_bytes(gzip.compress(bytes(broken)))
        assert "it ends in the middle of its members" in self.refusal(path)

    def test_no_end_mark(self, tmp_path: Path) -> None:
        path = sdist(tmp_path / "a.tar", under("s/sglang/"), mode="w:")
        with tarfile.open(path) as archive:
            end = max(member.offset_data + (member.size + 511) // 512 * 512 for member in archive)
        path.write_bytes(path.read_bytes()[:end])
        assert "it ends in the middle of its members" in self.refusal(path)

    def test_packed_rubbish(self, tmp_path: Path) -> None:
        path = tmp_path / "a.tar.gz"
        path.write_bytes(gzip.compress(b"no archive at all" * 100))
        assert "is a damaged archive" in self.refusal(path)

    def test_something_else_by_that_name(self, tmp_path: Path) -> None:
        path = tmp_path / "a.tar.gz"
        path.write_bytes(b"<html>404</html>")
        assert self.refusal(path) == f"{path} is no archive (it is a web page): download it again"

    def test_a_member_that_states_more_than_there_is(self, tmp_path: Path) -> None:
        path = sdist(tmp_path / "a.tar", under("s/sglang/"), mode="w:")
        member = tarfile.TarInfo("s/sglang/zz.py")
        member.size = 5_000_000
        content = path.read_bytes().rstrip(b"\0")
        content += bytes(-len(content) % 512)
        path.write_bytes(content + member.tobuf())
        assert "is a damaged archive" in self.refusal(path)


class TestLimits:
    def test_members(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(limits, "MAX_MEMBERS", 3)
        with pytest.raises(TreeError, match="has more than 3 members"):
            open_tree(str(sdist(tmp_path / "a.tar.gz", under("s/sglang/"))))

    def test_bytes(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(limits, "MAX_TOTAL_BYTES", 2000)
        with pytest.raises(TreeError, match="too much for a source tree"):
            open_tree(str(sdist(tmp_path / "a.tar.gz", under("s/sglang/"))))

    def test_a_bomb_is_stopped_while_it_unpacks(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(limits, "RATIO_COUNTS_FROM", 1 << 20)
        path = sdist(tmp_path / "a.tar.gz", {**under("s/sglang/"), "s/zeros.bin": bytes(16 << 20)})
        with pytest.raises(TreeError, match="it looks like an archive bomb"):
            open_tree(str(path))

    def test_a_name_that_fills_memory(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(limits, "MAX_TOTAL_BYTES", 1 << 20)
        path = tmp_path / "a.tar"
        member = tarfile.TarInfo("././@LongLink")
        member.type = tarfile.GNUTYPE_LONGNAME
        member.size = 2 << 20
        path.write_bytes(member.tobuf(tarfile.GNU_FORMAT) + b"a" * (2 << 20))
        with pytest.raises(TreeError, match="too much for a source tree"):
            open_tree(str(path))
