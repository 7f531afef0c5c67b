"""An sdist, or a tar archive of a repository: read once from front to back, never unpacked to disk."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast

from sm_gatecheck.model.report import Diagnostic, Source, SourceKind
from sm_gatecheck.trees.limits import MAX_FILE_BYTES, MAX_METADATA_BYTES, Budget
from sm_gatecheck.trees.names import SUFFIX, escapes, link_end, oddity, package_prefix, printable
from sm_gatecheck.trees.refusal import no_package_inside
from sm_gatecheck.trees.shape import PackageShape
from sm_gatecheck.trees.tree import Tree, TreeError
from sm_gatecheck.trees.version import stated_version

_PROJECT_FILES = ("PKG-INFO", "pyproject.toml")
_CHUNK = 1 << 16


def is_tar(head: bytes) -> bool:
    """Whether a file that begins with these bytes (512 of them) is a tar archive, packed or not."""
    return head[:2] == b"\x1f\x8b" or head[:3] == b"BZh" or head[:6] == b"\xfd7zXZ\0" or head[257:262] == b"ustar"


def open_tar(target: str, path: Path, shape: PackageShape, kind: SourceKind) -> Tree:
    """The package inside a tar archive. TreeError where it is broken or hostile, or holds no such package."""
    try:
        with open(path, "rb") as packed:
            stream = _Forward(_unpacked(packed), Budget(target, path.stat().st_size))
            members = _read_members(target, stream, shape)
            stream.finish(target)
    except (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, ValueError, OverflowError, gzip.BadGzipFile) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise TreeError(f"{target} is a damaged archive ({printable(reason)}): download it again") from error
    except OSError as error:
        raise TreeError(
            f"{target} cannot be read: {(error.strerror or str(error)).lower()}; if it is damaged, download it again"
        ) from error
    return _tree(target, members, shape, kind)


@dataclass
class _Members:
    """What was kept of an archive: contents by member name, links, and why others were left out."""

    contents: dict[str, bytes] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)


def _read_members(target: str, stream: _Forward, shape: PackageShape) -> _Members:
    """The sources of every directory of the package's name: which of them is the package is known at the end only."""
    kept = _Members()
    with tarfile.open(fileobj=cast(BinaryIO, stream), mode="r:", errorlevel=2) as archive:
        for member in archive:
            stream.budget.count_member()
            name = member.name
            while name.startswith("./"):
                name = name[2:]
            if escapes(name):
                raise TreeError(f"{target} holds a member that leads out of it ({printable(name)}): it was not read")
            source = name.endswith(SUFFIX) and shape.name in name.split("/")[:-1]
            if not source and name.rpartition("/")[2] not in _PROJECT_FILES:
                continue
            if member.issym():
                kept.links[name] = member.linkname
            elif member.islnk():
                kept.links[name] = f"{'../' * name.count('/')}{member.linkname}"
            elif not member.isfile():
                kept.left_out[name] = "not a regular file"
            elif member.size > (MAX_FILE_BYTES if source else MAX_METADATA_BYTES):
                kept.left_out[name] = f"{member.size:,} bytes is over the limit of {MAX_FILE_BYTES:,}"
            else:
                content = archive.extractfile(member)
                kept.contents[name] = content.read() if content is not None else b""
    return kept


def _tree(target: str, members: _Members, shape: PackageShape, kind: SourceKind) -> Tree:
    prefix = package_prefix(members.contents, shape)
    if prefix is None:
        raise no_package_inside(target, shape)
    package = f"{prefix}{shape.name}/"
    found = dict(members.left_out)
    files: dict[str, bytes] = {}
    for name in {*members.contents, *members.links}:
        if not (name.startswith(package) and name.endswith(SUFFIX)):
            continue
        end = link_end(name, members.links, members.contents)
        if end is None or not end.startswith(package):
            found[name] = "a link that leads out of the package, or nowhere"
        elif (problem := oddity(name)) is not None:
            found[name] = problem
        else:
            files[name[len(package) :]] = members.contents[end]
    diagnostics = [
        Diagnostic(printable(name[len(package) :]), 1, f"left out: {problem}")
        for name, problem in sorted(found.items())
        if name.startswith(package) and name.endswith(SUFFIX)
    ]
    version = stated_version(shape, lambda name: members.contents.get(package + name), (), lambda name: members.contents.get(prefix + name))
    return Tree(Source(target, kind, version), dict(sorted(files.items())), tuple(diagnostics))


def _unpacked(packed: BinaryIO) -> BinaryIO:
    head = packed.read(512)
    packed.seek(0)
    if head[:2] == b"\x1f\x8b":
        return cast(BinaryIO, gzip.GzipFile(fileobj=packed))
    if head[:3] == b"BZh":
        return cast(BinaryIO, bz2.BZ2File(packed))
    if head[:6] == b"\xfd7zXZ\0":
        return cast(BinaryIO, lzma.LZMAFile(packed))
    return packed


class _Forward(io.RawIOBase):
    """A stream that ``tarfile`` may only read on: seeking on reads, and everything read is counted."""

    def __init__(self, stream: BinaryIO, budget: Budget) -> None:
        super().__init__()
        self.budget = budget
        self._stream = stream
        self._position = 0
        self._last = b""

    def read(self, size: int = -1) -> bytes:
        if size < 0:
            raise tarfile.ReadError("unbounded read")
        parts: list[bytes] = []
        while size > 0:
            part = self._stream.read(min(size, 1 << 20))
            if not part:
                break
            self.budget.count_bytes(len(part))
            self._position += len(part)
            size -= len(part)
            parts.append(part)
        self._last = b"".join(parts)
        return self._last

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence != io.SEEK_SET or offset < self._position:
            raise tarfile.ReadError("the members overlap")
        while self._position < offset:
            if not self.read(min(_CHUNK, offset - self._position)):
                raise tarfile.ReadError("unexpected end of data")
        return self._position

    def finish(self, target: str) -> None:
        """Read to the end, where packed streams keep their checksum. TreeError where the archive did not end as one does."""
        ended = self._last.count(0) == tarfile.BLOCKSIZE
        while chunk := self.read(_CHUNK):
            ended = ended and chunk.count(0) == len(chunk)
        if not ended:
            raise TreeError(f"{target} is a damaged archive (it ends in the middle of its members): download it again")
