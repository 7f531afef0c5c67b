"""Wheels and other zips, sound, broken and hostile."""

from __future__ import annotations

import random
import struct
import tracemalloc
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from sm_gatecheck.trees import TreeError, limits, open_tree
from tests.trees.shapes import PYPROJECT, SOURCES, under, wheel, wheel_files

CENTRAL = b"PK\x01\x02"


def test_a_wheel_gives_the_files_of_its_package(tmp_path: Path) -> None:
    tree = open_tree(str(wheel(tmp_path / "sglang-0.7.1-py3-none-any.whl")))
    assert dict(tree.files) == SOURCES
    assert list(tree.files) == sorted(SOURCES)
    assert (tree.source.kind, tree.source.sglang_version, tree.source.git) == ("wheel", "0.7.1", None)


@pytest.mark.parametrize("prefix", ["", "python/", "sglang-main/python/", "sglang-0.7.0/"])
def test_a_zip_of_a_repository(tmp_path: Path, prefix: str) -> None:
    tree = open_tree(str(wheel(tmp_path / "main.zip", {**under(f"{prefix}sglang/"), f"{prefix}pyproject.toml": PYPROJECT})))
    assert dict(tree.files) == SOURCES
    assert (tree.source.kind, tree.source.sglang_version) == ("sdist", "0.7.0")


def test_the_shallowest_package_counts(tmp_path: Path) -> None:
    copy = under("r/test/data/python/sglang/", {**SOURCES, "copy.py": b""})
    tree = open_tree(str(wheel(tmp_path / "main.zip", {**copy, **under("r/python/sglang/")})))
    assert dict(tree.files) == SOURCES


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_every_way_to_pack(tmp_path: Path, method: int) -> None:
    path = tmp_path / "a.whl"
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in wheel_files().items():
            archive.writestr(name, content)
    assert dict(open_tree(str(path)).files) == SOURCES


def test_a_large_member_is_read_whole(tmp_path: Path) -> None:
    content = random.Random(7).randbytes(300_000)
    assert open_tree(str(wheel(tmp_path / "a.whl", {**wheel_files(), "sglang/large.py": content}))).files["large.py"] == content


def test_a_zip_behind_other_bytes(tmp_path: Path) -> None:
    path = wheel(tmp_path / "a.zip")
    path.write_bytes(b"PK-unpacker" + path.read_bytes())
    assert dict(open_tree(str(path)).files) == SOURCES


def test_a_member_over_the_limit_costs_itself_alone(tmp_path: Path) -> None:
    tree = open_tree(str(wheel(tmp_path / "a.whl", {**wheel_files(), "sglang/huge.py": b"#" * (limits.MAX_FILE_BYTES + 1)})))
    assert dict(tree.files) == SOURCES
    assert [(d.file, d.message) for d in tree.diagnostics] == [("huge.py", "left out: 8,000,001 bytes is over the limit of 8,000,000")]


def test_links(tmp_path: Path) -> None:
    path = wheel(tmp_path / "a.whl")
    links = {
        "inside.py": "srt/server_args.py",
        "srt/up.py": "../__init__.py",
        "out.py": "../../etc/passwd.py",
        "abs.py": "/etc/passwd",
        "loop.py": "loop.py",
    }
    with zipfile.ZipFile(path, "a") as archive:
        for name, target in links.items():
            member = zipfile.ZipInfo(f"sglang/{name}")
            member.external_attr = 0o120777 << 16
            archive.writestr(member, target)
    tree = open_tree(str(path))
    assert tree.files["inside.py"] == SOURCES["srt/server_args.py"]
    assert tree.files["srt/up.py"] == b""
    assert [d.file for d in tree.diagnostics] == ["abs.py", "loop.py", "out.py"]
    assert {d.message for d in tree.diagnostics} == {"left out: a link that leads out of the package, or nowhere"}


def test_of_two_members_of_one_name_the_last_counts(tmp_path: Path) -> None:
    path = wheel(tmp_path / "a.whl")
    with zipfile.ZipFile(path, "a") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        archive.writestr("sglang/srt/server_args.py", b"# later\n")
    assert open_tree(str(path)).files["srt/server_args.py"] == b"# later\n"


def test_odd_names_cost_themselves_alone(tmp_path: Path) -> None:
    tree = open_tree(str(wheel(tmp_path / "a.whl", {**wheel_files(), "sglang/two\nlines.py": b"", "sglang/rtl\u202e.py": b""})))
    assert dict(tree.files) == SOURCES
    assert [d.file for d in tree.diagnostics] == ["rtl\\u202e.py", "two\\nlines.py"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is empty"),
        (b"  <!DOCTYPE html><html>", "it is a web page"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"),
        (b"hello, world", "it begins with b'hello, w'"),
    ],
)
def test_what_is_no_zip(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "sglang-0.7.1-py3-none-any.whl"
    path.write_bytes(content)
    with pytest.raises(TreeError) as caught:
        open_tree(str(path))
    assert str(caught.value).startswith(f"{path} is no zip file")
    assert reason in str(caught.value)
    assert str(caught.value).endswith("download it again")


def test_a_file_that_is_no_archive(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("words")
    with pytest.raises(TreeError, match=r"notes\.txt is no tree of SGLang: name a checkout"):
        open_tree(str(path))


def test_a_wheel_of_another_project(tmp_path: Path) -> None:
    with pytest.raises(TreeError, match=r"holds no SGLang: there is no sglang/srt/server_args\.py in it"):
        open_tree(str(wheel(tmp_path / "vllm-1-py3-none-any.whl", {"vllm/__init__.py": b""})))


@pytest.mark.parametrize("name", ["../evil.py", "/etc/evil.py", "sglang/../../evil.py", "..\\evil.py", "C:\\evil.py"])
def test_names_that_lead_out(tmp_path: Path, name: str) -> None:
    with pytest.raises(TreeError, match="a member that leads out of it"):
        open_tree(str(wheel(tmp_path / "a.whl", {**wheel_files(), name: b""})))


def patch_member(path: Path, name: str, change: Callable[[bytearray, int, int], None]) -> None:
    """Change the headers of one member: ``change(bytes, offset of its local header, offset of its central one)``."""
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        local = archive.getinfo(name).header_offset
    central = -1
    while True:
        central = content.index(CENTRAL, central + 1)
        length = struct.unpack_from("<H", content, central + 28)[0]
        if content[central + 46 : central + 46 + length] == name.encode():
            break
    change(content, local, central)
    path.write_bytes(content)


class TestDamage:
    NAME = "sglang/srt/server_args.py"

    def damaged(self, tmp_path: Path, change: Callable[[bytearray, int, int], None], content: bytes | None = None) -> str:
        files = wheel_files()
        if content is not None:
            files[self.NAME] = content
        path = wheel(tmp_path / "a.whl", files)
        patch_member(path, self.NAME, change)
        with pytest.raises(TreeError) as caught:
            open_tree(str(path))
        assert "\n" not in str(caught.value)
        return str(caught.value)

    def test_encrypted(self, tmp_path: Path) -> None:
        def encrypt(content: bytearray, local: int, central: int) -> None:
            content[local + 6] |= 1
            content[central + 8] |= 1

        assert "holds encrypted members (sglang/srt/server_args.py)" in self.damaged(tmp_path, encrypt)

    @pytest.mark.parametrize("difference", [-3, 5, 4_000_000])
    def test_another_size_than_stated(self, tmp_path: Path, difference: int) -> None:
        def lie(content: bytearray, local: int, central: int) -> None:
            size = struct.unpack_from("<I", content, central + 24)[0]
            struct.pack_into("<I", content, central + 24, size + difference)

        assert "is not what the archive says it is" in self.damaged(tmp_path, lie)

    def test_a_bomb_that_states_a_small_size_is_read_no_further(self, tmp_path: Path) -> None:
        path = wheel(tmp_path / "a.whl", {**wheel_files(), self.NAME: random.Random(1).randbytes(100_000) + bytes(30 << 20)})
        patch_member(path, self.NAME, lambda content, local, central: struct.pack_into("<I", content, central + 24, 10))
        tracemalloc.start()
        with pytest.raises(TreeError, match="is not what the archive says it is"):
            open_tree(str(path))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 5 << 20

    def test_a_wrong_checksum(self, tmp_path: Path) -> None:
        def corrupt(content: bytearray, local: int, central: int) -> None:
            content[central + 16] ^= 0xFF

        assert "is not what the archive says it is" in self.damaged(tmp_path, corrupt)

    def test_broken_deflate_data(self, tmp_path: Path) -> None:
        def corrupt(content: bytearray, local: int, central: int) -> None:
            content[local + 30 + len(self.NAME)] = 0xFF

        assert "is a damaged zip file" in self.damaged(tmp_path, corrupt)

    @pytest.mark.parametrize("offset", [0x7FFFFFFF, 1])
    def test_a_member_that_is_not_where_it_is_said_to_be(self, tmp_path: Path, offset: int) -> None:
        def move(content: bytearray, local: int, central: int) -> None:
            struct.pack_into("<I", content, central + 42, offset)

        assert "is a damaged zip file" in self.damaged(tmp_path, move)

    def test_an_unknown_way_to_pack(self, tmp_path: Path) -> None:
        def change(content: bytearray, local: int, central: int) -> None:
            struct.pack_into("<H", content, local + 8, 77)
            struct.pack_into("<H", content, central + 10, 77)

        assert "is a damaged zip file (That compression method is not supported)" in self.damaged(tmp_path, change)

    @pytest.mark.parametrize("keep", [4, 100, -1, -30])
    def test_cut_short(self, tmp_path: Path, keep: int) -> None:
        path = wheel(tmp_path / "a.whl")
        path.write_bytes(path.read_bytes()[:keep])
        with pytest.raises(TreeError, match="is a damaged zip file"):
            open_tree(str(path))


class TestLimits:
    def test_members(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(limits, "MAX_MEMBERS", 5)
        with pytest.raises(TreeError, match="has more than 5 members"):
            open_tree(str(wheel(tmp_path / "a.whl")))

    def test_bytes(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(limits, "MAX_TOTAL_BYTES", 100)
        with pytest.raises(TreeError, match="too much for a source tree"):
            open_tree(str(wheel(tmp_path / "a.whl")))

    def test_a_bomb_is_known_by_its_ratio(self, tmp_path: Path) -> None:
        with pytest.raises(TreeError, match="unpacks to more than 100 times its size: it looks like an archive bomb"):
            open_tree(str(wheel(tmp_path / "a.whl", {**wheel_files(), "sglang/zeros.bin": bytes(limits.RATIO_COUNTS_FROM + 1)})))
