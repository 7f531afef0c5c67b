"""Entries by key in one directory: written whole or not at all, verified when read, the oldest dropped when there are too many.

Several gatechecks may use one directory at once, and any of them may be killed at any moment. A cache is never a reason to
fail: what cannot be read is not there, what cannot be written is left out.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
import zlib
from hashlib import blake2b
from pathlib import Path

MAGIC = b"gatecheck entry 1\n"
SUFFIX = ".entry"
UNFINISHED = ".part"
MAX_BYTES = 500_000_000
ABANDONED_SECONDS = 3600
_DIGEST_BYTES = 32


class Entries:
    """Payloads (bytes) by key (a name that a file may have). ``max_bytes`` bounds the directory."""

    def __init__(self, directory: Path, max_bytes: int = MAX_BYTES) -> None:
        self._directory = directory
        self._max_bytes = max_bytes

    def read(self, key: str) -> bytes | None:
        """The payload as it was written; None where there is none, or where the file is not what was written."""
        path = self._path(key)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        payload = _verified(content, key)
        with contextlib.suppress(OSError):
            if payload is None:
                path.unlink()
            else:
                os.utime(path)  # an entry that is used stays
        return payload

    def write(self, key: str, payload: bytes) -> None:
        """Keep a payload; in its place before anyone sees it."""
        packed = zlib.compress(payload, 1)
        try:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(suffix=UNFINISHED, dir=self._directory)
        except OSError:
            return
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(MAGIC + _digest(key, packed) + packed)
            os.replace(name, self._path(key))
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(name)
            return
        self._drop_oldest()

    def _path(self, key: str) -> Path:
        return self._directory / f"{key}{SUFFIX}"

    def _drop_oldest(self) -> None:
        kept: list[tuple[float, int, str]] = []
        with contextlib.suppress(OSError), os.scandir(self._directory) as scan:
            for entry in scan:
                with contextlib.suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    if entry.name.endswith(SUFFIX):
                        kept.append((status.st_mtime, status.st_size, entry.path))
                    elif entry.name.endswith(UNFINISHED) and time.time() - status.st_mtime > ABANDONED_SECONDS:
                        os.unlink(entry.path)
        room = self._max_bytes
        for _, size, path in sorted(kept, reverse=True):
            room -= size
            if room < 0:
                with contextlib.suppress(OSError):
                    os.unlink(path)


def _verified(content: bytes, key: str) -> bytes | None:
    start = len(MAGIC) + _DIGEST_BYTES
    packed = content[start:]
    if content[: len(MAGIC)] != MAGIC or content[len(MAGIC) : start] != _digest(key, packed):
        return None
    try:
        return zlib.decompress(packed)
    except zlib.error:
        return None


def _digest(key: str, packed: bytes) -> bytes:
    return blake2b(packed, digest_size=_DIGEST_BYTES, key=blake2b(key.encode()).digest()).digest()
