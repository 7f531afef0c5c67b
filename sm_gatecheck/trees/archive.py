"""A file that is named as a tree: told apart by what it begins with, whatever it is called."""

from __future__ import annotations

from pathlib import Path

from sm_gatecheck.model.report import SourceKind
from sm_gatecheck.trees.sdist import is_tar, open_tar
from sm_gatecheck.trees.shape import PackageShape
from sm_gatecheck.trees.tree import Tree, TreeError
from sm_gatecheck.trees.wheel import open_zip

_ZIP = b"PK"
_WHEEL = ".whl"
_ARCHIVES = (_WHEEL, ".zip", ".gz", ".tgz", ".tar", ".xz", ".bz2")


def open_archive(target: str, path: Path, shape: PackageShape, kind: SourceKind | None = None) -> Tree:
    """The package inside an archive; ``kind`` where it is known already. TreeError for any other file."""
    if not path.is_file():
        raise TreeError(f"{target} is neither a directory nor a regular file: name {shape.kinds}")
    try:
        with path.open("rb") as stream:
            head = stream.read(512)
    except OSError as error:
        raise TreeError(f"{target} cannot be read: {(error.strerror or str(error)).lower()}") from error
    wheel = path.name.lower().endswith(_WHEEL)
    if head.startswith(_ZIP):
        return open_zip(target, path, shape, kind or ("wheel" if wheel else "sdist"))
    if not wheel and is_tar(head):
        return open_tar(target, path, shape, kind or "sdist")
    raise TreeError(_refusal(target, path, head, shape))


def _refusal(target: str, path: Path, head: bytes, shape: PackageShape) -> str:
    if not path.name.lower().endswith(_ARCHIVES):
        return f"{target} is no tree of {shape.title}: name {shape.kinds}"
    wanted = "zip file" if path.name.lower().endswith((_WHEEL, ".zip")) else "archive"
    return f"{target} is no {wanted} ({_looks_like(head)}): download it again"


def _looks_like(head: bytes) -> str:
    text = head.lstrip().lower()
    if not head:
        return "it is empty"
    if text.startswith((b"<!doctype", b"<html", b"<?xml")):
        return "it is a web page"
    if text.startswith(b"version https://git-lfs"):
        return "it is a Git LFS pointer, fetch the file with git lfs pull"
    return f"it begins with {head[:8]!r}"
