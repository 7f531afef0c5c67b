"""Why something is refused, in one line that names what to name instead."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from sm_gatecheck.trees.shape import PackageShape
from sm_gatecheck.trees.tree import TreeError, UsageError

_MAX_SIBLINGS = 2000


def not_this_project(target: str, path: Path, shape: PackageShape) -> TreeError:
    """The refusal of a directory that exists and holds no package of this shape."""
    names = _listing(path)
    if not names:
        return TreeError(f"{target} is an empty directory: name {shape.kinds}")
    near = _package_near(path, shape)
    if near is not None:
        return TreeError(f"{target} is not where a tree of {shape.title} begins: did you mean {near}?")
    wanted = " or ".join(f"{shape.name}/{marker}" for marker in shape.markers)
    return TreeError(f"{target} is no {shape.title} tree: it has no {wanted}; name {shape.kinds}")


def no_package_inside(target: str, shape: PackageShape) -> TreeError:
    """The refusal of a sound archive, or of a revision, that holds no package of this shape."""
    wanted = " or ".join(f"{shape.name}/{marker}" for marker in shape.markers)
    return TreeError(f"{target} holds no {shape.title}: there is no {wanted} in it; name {shape.kinds}")


def no_such_path(target: str, path: Path, shape: PackageShape) -> UsageError:
    """The refusal of a path that does not exist, with near names out of the first directory above it that does."""
    missing = path
    while not os.path.isdir(missing.parent) and missing.parent != missing:
        missing = missing.parent
    by_fold = {name.casefold(): name for name in _listing(missing.parent)}
    near = difflib.get_close_matches(missing.name.casefold(), by_fold, n=1, cutoff=0.6)
    if near:
        suggestion = missing.with_name(by_fold[near[0]])
        rest = path.relative_to(missing)
        whole = suggestion / rest
        return UsageError(f"{target}: no such file or directory; did you mean {whole if os.path.exists(whole) else suggestion}?")
    return UsageError(f"{target}: no such file or directory; name {shape.kinds}")


def _listing(path: Path) -> list[str]:
    try:
        with os.scandir(path) as scan:
            return sorted(entry.name for entry, _ in zip(scan, range(_MAX_SIBLINGS), strict=False))
    except OSError:
        return []


def _package_near(path: Path, shape: PackageShape) -> Path | None:
    """The tree that a directory is part of, or that lies one step below it."""

    def holds(directory: Path) -> bool:
        packages = [directory, *(directory / source / shape.name for source in shape.source_dirs)]
        return any(shape.is_package(lambda marker, package=package: os.path.isfile(package / marker)) for package in packages)  # type: ignore[misc]

    for parent in list(path.absolute().parents)[:6]:
        if holds(parent):
            return parent
    for name in _listing(path)[:200]:
        if holds(path / name):
            return path / name
    return None
