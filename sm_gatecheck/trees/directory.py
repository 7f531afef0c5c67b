"""A checkout, its source directory, an installed package, or the directory that one was unpacked into."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sm_gatecheck.model.report import Diagnostic, Source, SourceKind
from sm_gatecheck.trees.limits import MAX_FILE_BYTES, MAX_METADATA_BYTES, Budget
from sm_gatecheck.trees.names import SUFFIX, oddity, printable
from sm_gatecheck.trees.refusal import not_this_project
from sm_gatecheck.trees.repository import git_facts
from sm_gatecheck.trees.shape import PackageShape
from sm_gatecheck.trees.tree import Tree, TreeError
from sm_gatecheck.trees.version import from_pyproject, stated_version


@dataclass(frozen=True)
class _Place:
    """The package's directory, and how it was reached from what the user named."""

    package: Path
    kind: SourceKind


def open_directory(target: str, path: Path, shape: PackageShape) -> Tree:
    """The tree at or below ``path``. TreeError where no package of this shape is there."""
    place = _locate(path, shape)
    if place is None:
        raise not_this_project(target, path, shape)
    files, diagnostics = read_package(target, place.package)
    project = place.package.parent
    facts, tagged = git_facts(project, place.package, files, shape) if place.kind == "checkout" else (None, None)
    version = stated_version(
        shape,
        lambda name: _small_file(place.package / name),
        () if place.kind == "checkout" else _metadata_beside(project, shape),
        (lambda name: _small_file(project / name)) if place.kind == "checkout" else None,
    )
    return Tree(Source(target, place.kind, version or tagged, facts, str(place.package)), files, diagnostics)


def _locate(path: Path, shape: PackageShape) -> _Place | None:
    if _is_package(path, shape):
        return _Place(path, "checkout" if _is_project(path.absolute().parent, shape) else "package")
    for directory in shape.source_dirs:
        package = path / directory / shape.name
        if _is_package(package, shape):
            inside = os.path.realpath(package).startswith(os.path.join(os.path.realpath(path), ""))
            if not inside:
                raise TreeError(f"{package} is a link that leads out of {path}: name {os.path.realpath(package)} itself")
            return _Place(package, "checkout" if directory or _is_project(package.parent, shape) else "package")
    return None


def _is_package(path: Path, shape: PackageShape) -> bool:
    return shape.is_package(lambda marker: os.path.isfile(path / marker))


def _is_project(path: Path, shape: PackageShape) -> bool:
    """Whether a directory is where the package is built from, and not where it was installed."""
    source = _small_file(path / "pyproject.toml")
    if source is None:
        return False
    return from_pyproject(source, shape) is not None or f'"{shape.distribution}"'.encode() in source


def _metadata_beside(directory: Path, shape: PackageShape) -> list[bytes]:
    try:
        names = sorted(os.listdir(directory))
    except OSError:
        return []
    wanted = {".dist-info": "METADATA", ".egg-info": "PKG-INFO"}
    paths = [
        directory / name / wanted[ending]
        for name in names
        if name.lower().startswith(shape.distribution) and (ending := os.path.splitext(name)[1]) in wanted
    ]
    return [text for path in paths if (text := _small_file(path)) is not None]


def _small_file(path: Path) -> bytes | None:
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return None
        with open(path, "rb") as stream:
            content = stream.read(MAX_METADATA_BYTES + 1)
    except (OSError, ValueError):
        return None
    return content if len(content) <= MAX_METADATA_BYTES else None


def read_package(target: str, package: Path) -> tuple[dict[str, bytes], tuple[Diagnostic, ...]]:
    """Every source file below a package's directory, sorted; what cannot be read costs itself alone."""
    root = os.path.realpath(package)
    budget = Budget(target)
    files: dict[str, bytes] = {}
    diagnostics: list[Diagnostic] = []
    for name, path, problem in _walk(root):
        budget.count_member()
        if problem is None:
            problem = oddity(name)
        if problem is None:
            try:
                content = _read(path)
            except OSError as error:
                problem = _reason(error)
            else:
                if content is None:
                    problem = f"{os.stat(path).st_size:,} bytes is over the limit of {MAX_FILE_BYTES:,}"
                else:
                    budget.count_bytes(len(content))
                    files[name] = content
        if problem is not None:
            diagnostics.append(Diagnostic(printable(name), 1, f"left out: {problem}"))
    return dict(sorted(files.items())), tuple(sorted(diagnostics, key=lambda diagnostic: diagnostic.file))


def _read(path: str) -> bytes | None:
    """The content of a file, None where it is too large (also where it grew since it was listed)."""
    with open(path, "rb") as stream:
        content = stream.read(MAX_FILE_BYTES + 1)
    return content if len(content) <= MAX_FILE_BYTES else None


def _walk(root: str) -> Iterator[tuple[str, str, str | None]]:
    """``(relative name, path, problem)`` for each source file and for each directory that cannot be entered.

    A link to a file is followed where it stays below ``root``; a link to a directory never is, so there are no loops:
    what it leads to inside the tree is read at its own place.
    """
    pending = [""]
    while pending:
        directory = pending.pop()
        try:
            with os.scandir(os.path.join(root, directory)) as scan:
                entries = list(scan)
        except OSError as error:
            yield directory, "", _reason(error)
            continue
        for entry in entries:
            name = f"{directory}/{entry.name}" if directory else entry.name
            try:
                link = entry.is_symlink()
                if entry.is_dir(follow_symlinks=False):
                    pending.append(name)
                elif link and entry.is_dir():
                    yield name, entry.path, "a link to a directory, which is not followed"
                elif name.endswith(SUFFIX):
                    yield name, entry.path, _problem(root, entry, link)
            except OSError as error:
                if name.endswith(SUFFIX):
                    yield name, entry.path, _reason(error)


def _problem(root: str, entry: os.DirEntry[str], link: bool) -> str | None:
    if link:
        if not os.path.realpath(entry.path).startswith(os.path.join(root, "")):
            return "a link that leads out of the tree"
        entry.stat()  # a loop of links, or one that leads nowhere, says so here
    if not entry.is_file():
        return "not a regular file"
    return None


def _reason(error: OSError) -> str:
    if error.errno == errno.ELOOP:
        return "a loop of links"
    if error.errno == errno.ENOENT:
        return "a link that leads nowhere"
    return f"cannot be read: {(error.strerror or str(error)).lower()}"
