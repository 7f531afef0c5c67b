"""What the cache holds, looked at and removed from outside: entries of every kind, and fetched releases.

Only what gatecheck itself put there is ever touched: a cache directory that is named by mistake (a home directory, say) loses nothing.
Links are not followed. Another gatecheck may be at work meanwhile: what vanishes under our hands is gone, and that is all.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sm_gatecheck.cache.entries import ABANDONED_SECONDS, MAGIC, SUFFIX, UNFINISHED

RELEASES = "releases"
ARCHIVES = (".whl", ".tar.gz", ".zip")
FETCHING = ".fetching-"


@dataclass(frozen=True)
class Holding:
    """One thing that is kept: its ``kind`` (the folder), what it takes in bytes, when it was last used (seconds since the epoch).

    ``unfinished`` is what a run that was killed left behind, or one that is at work right now.
    """

    kind: str
    name: str
    path: Path
    size: int
    used: float
    unfinished: bool = False


def holdings(directory: Path, distribution: str) -> list[Holding]:
    """Everything that the cache holds, by kind and name; ``distribution`` is what fetched releases are of. Empty where there is none."""
    found = [
        holding for kind in _folders(directory) for holding in (_releases(kind, distribution) if kind.name == RELEASES else _entries(kind))
    ]
    return sorted(found, key=lambda holding: (holding.kind, holding.name))


def chosen(
    held: Iterable[Holding], *, max_bytes: int | None = None, unused_seconds: float | None = None, now: float | None = None
) -> list[Holding]:
    """What to remove so that nothing unused for longer stays and the rest takes at most ``max_bytes``: the least recently used first.

    What was left unfinished an hour ago goes in any case; without a bound nothing else does.
    """
    now = time.time() if now is None else now
    kept: list[Holding] = []
    out: list[Holding] = []
    for holding in held:
        age = now - holding.used
        if holding.unfinished:
            if age > ABANDONED_SECONDS:
                out.append(holding)
        elif unused_seconds is not None and age > unused_seconds:
            out.append(holding)
        else:
            kept.append(holding)
    if max_bytes is not None:
        room = max_bytes
        for holding in sorted(kept, key=lambda holding: holding.used, reverse=True):
            room -= holding.size
            if room < 0:
                out.append(holding)
    return out


def remove(unwanted: Iterable[Holding]) -> list[Holding]:
    """Remove what is given; returns what is really gone."""
    gone: list[Holding] = []
    for holding in unwanted:
        if holding.path.is_symlink():
            continue
        if holding.path.is_dir():
            shutil.rmtree(holding.path, ignore_errors=True)
        else:
            with suppress(OSError):
                holding.path.unlink()
        if not os.path.lexists(holding.path):
            gone.append(holding)
            with suppress(OSError):
                holding.path.parent.rmdir()  # if it was the last
    return gone


def _folders(directory: Path) -> Iterator[Path]:
    with suppress(OSError), os.scandir(directory) as scan:
        yield from (Path(entry.path) for entry in scan if entry.is_dir(follow_symlinks=False))


def _entries(folder: Path) -> Iterator[Holding]:
    with suppress(OSError), os.scandir(folder) as scan:
        for entry in scan:
            with suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                finished = entry.name.endswith(SUFFIX)
                named = finished or (entry.name.startswith(tempfile.gettempprefix()) and entry.name.endswith(UNFINISHED))
                if named and stat.S_ISREG(status.st_mode) and _is_ours(entry.path):
                    name = entry.name.removesuffix(SUFFIX)
                    yield Holding(folder.name, name, Path(entry.path), status.st_size, status.st_mtime, not finished)


def _is_ours(path: str) -> bool:
    with open(path, "rb") as stream:
        return MAGIC.startswith(stream.read(len(MAGIC)))  # less of it where a run was killed while it wrote


def _releases(folder: Path, distribution: str) -> Iterator[Holding]:
    for directory in _folders(folder):
        unfinished = directory.name.startswith(FETCHING)
        if not unfinished and not directory.name.startswith(f"{distribution}-"):
            continue
        files: list[tuple[str, os.stat_result]] = []
        with suppress(OSError), os.scandir(directory) as scan:
            for entry in scan:
                with suppress(OSError):
                    files.append((entry.name, entry.stat(follow_symlinks=False)))
        if files and not unfinished and not all(name.endswith(ARCHIVES) and stat.S_ISREG(status.st_mode) for name, status in files):
            continue
        with suppress(OSError):
            used = max((status.st_mtime for _, status in files), default=directory.stat().st_mtime)
            size = sum(status.st_size for _, status in files)
            yield Holding(RELEASES, directory.name, directory, size, used, unfinished or not files)
