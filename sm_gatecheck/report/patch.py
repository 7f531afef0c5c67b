"""Changes of files as a unified diff that ``patch -p1`` and ``git apply`` take, byte for byte."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from pathlib import Path

_ESCAPED = {ord("\t"): b"\\t", ord("\n"): b"\\n", ord("\r"): b"\\r", ord('"'): b'\\"', ord("\\"): b"\\\\"}


def base_of(paths: Iterable[Path]) -> Path:
    """Where a diff of these files is to be applied: the current directory, or the nearest above it that holds them all.

    Both programs refuse absolute names and those that lead upwards.
    """
    here = os.getcwd()
    try:
        return Path(os.path.commonpath([here, *(os.path.dirname(os.path.abspath(path)) for path in paths)]))
    except ValueError:  # several drives
        return Path(here)


def render(changes: Iterable[tuple[Path, bytes, bytes]], base: Path | None = None) -> bytes:
    """The diff of files: path, content before, content after. Empty where nothing changes. Paths are those from ``base``."""
    changed = list(changes)
    if base is None:
        base = base_of(path for path, _, _ in changed)
    return b"".join(_of_file(path, base, before, after) for path, before, after in changed)


def _of_file(path: Path, base: Path, before: bytes, after: bytes) -> bytes:
    name = Path(os.path.relpath(os.path.abspath(path), base)).as_posix().encode("utf-8", "surrogateescape")
    old, new = _header(b"a/" + name), _header(b"b/" + name)
    lines = list(difflib.diff_bytes(difflib.unified_diff, _lines(before), _lines(after), old, new))
    return b"".join(line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n" for line in lines)


def _lines(data: bytes) -> list[bytes]:
    """Lines as both programs count them: only a line feed ends one."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _header(name: bytes) -> bytes:
    """A name as a header holds it: in quotes where it has characters of its own meaning, closed by a tab where it has spaces."""
    if any(byte in _ESCAPED or byte < 0x20 for byte in name):
        return b'"' + b"".join(_ESCAPED.get(byte, b"%c" % byte if byte >= 0x20 else b"\\%03o" % byte) for byte in name) + b'"'
    return name + b"\t" if b" " in name else name
