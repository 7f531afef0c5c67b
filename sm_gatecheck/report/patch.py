"""Changes of files as a unified diff that ``patch`` and ``git apply`` take, byte for byte."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path


def render(changes: Iterable[tuple[Path, bytes, bytes]]) -> bytes:
    """The diff of files: path, content before, content after. Empty where nothing changes."""
    return b"".join(_of_file(path, before, after) for path, before, after in changes)


def _of_file(path: Path, before: bytes, after: bytes) -> bytes:
    name = path.as_posix().encode("utf-8", "surrogateescape")
    old, new = (b"a/" + name, b"b/" + name) if not path.is_absolute() else (name, name)
    lines = list(difflib.diff_bytes(difflib.unified_diff, before.splitlines(keepends=True), after.splitlines(keepends=True), old, new))
    return b"".join(line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n" for line in lines)
