"""Files read for a launch: the launch file itself and what it names. Plain files of a bounded size, read and never run."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sm_gatecheck.launch.located import SourceText, printable
from sm_gatecheck.launch.model import LaunchError

MAX_BYTES = 4_000_000
"""A launch file, or a file that it names; nobody writes a longer one by hand."""

MAX_COMPANIONS = 64
"""Files that one launch file may make us read."""

_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def read_file(path: Path, name: str | None = None, contents: Mapping[Path, bytes] | None = None) -> SourceText:
    """LaunchError, one line, for what is no text file of a sensible size. ``contents`` stand for files as they would be."""
    shown = printable(name or str(path))
    if contents and path in contents:
        return decoded(contents[path], name or str(path), path)
    try:
        found = os.stat(path)
        if stat.S_ISDIR(found.st_mode):
            raise LaunchError(f"{shown} is a directory: name a file in it")
        if not stat.S_ISREG(found.st_mode):
            raise LaunchError(f"{shown} is no plain file")
        if found.st_size > MAX_BYTES:
            raise LaunchError(f"{shown} has {found.st_size:,} bytes: too long for a launch file (at most {MAX_BYTES:,})")
        with open(path, "rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise LaunchError(f"{shown}: {_reason(error)}") from None
    return decoded(data, name or str(path), path)


def decoded(data: bytes, name: str, path: Path | None = None) -> SourceText:
    """Bytes as text; bytes that are no UTF-8 survive as they are. LaunchError for what is no text."""
    shown = printable(name)
    if len(data) > MAX_BYTES:
        raise LaunchError(f"{shown}: more than {MAX_BYTES:,} bytes, too long for a launch file")
    if data.startswith(_UTF16_MARKS):
        raise LaunchError(f"{shown} is UTF-16: save it as UTF-8")
    if b"\0" in data:
        raise LaunchError(f"{shown} is a binary file, no launch file")
    skipped = len(_UTF8_MARK) if data.startswith(_UTF8_MARK) else 0
    return SourceText(name, data[skipped:].decode("utf-8", "surrogateescape"), path, skipped)


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return str(error)


@dataclass
class Companions:
    """What a launch file names and that can be read: each file once, and not more than a few."""

    found: dict[Path, SourceText | None] = field(default_factory=dict)
    contents: Mapping[Path, bytes] = field(default_factory=dict)

    def read(self, name: str, directory: Path | None) -> SourceText | None:
        """The file of that name, relative to ``directory``; None where there is none (or no directory to look in)."""
        if not name or "\0" in name or name.startswith("~"):
            return None
        path = Path(name)
        if not path.is_absolute():
            if directory is None:
                return None
            path = directory / path
        if path not in self.found:
            if len(self.found) >= MAX_COMPANIONS:
                return None
            try:
                self.found[path] = read_file(path, _shown(path, name, directory), self.contents)
            except LaunchError:
                self.found[path] = None
        return self.found[path]


def _shown(path: Path, name: str, directory: Path | None) -> str:
    return str(path) if directory is not None and not Path(name).is_absolute() else name
