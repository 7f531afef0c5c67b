"""The version that a tree states about itself, read as text or as a literal; nothing is executed."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterable

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from sm_gatecheck.rulebook import parse_toml
from sm_gatecheck.trees.shape import PackageShape

_NAMES = ("__version__", "version")

ReadText = Callable[[str], "bytes | None"]


def stated_version(
    shape: PackageShape, read_package: ReadText, metadata: Iterable[bytes] = (), read_project: ReadText | None = None
) -> str | None:
    """The version of a tree, None where it states none.

    ``read_package`` and ``read_project`` give the bytes of a small file relative to the package and to the directory that
    holds ``pyproject.toml``, None where there is no such file; ``metadata`` are the METADATA files that lie beside.
    What was installed comes first: it is what pip and the interpreter report.
    """
    installed = {version for text in metadata if (version := from_metadata(text, shape))}
    if len(installed) == 1:
        return installed.pop()
    for name in shape.version_files:
        source = read_package(name)
        version = from_python(source) if source is not None else None
        if version is not None and version not in shape.placeholder_versions:
            return version
    if read_project is not None:
        for name, reader in (("PKG-INFO", from_metadata), ("pyproject.toml", from_pyproject)):
            source = read_project(name)
            version = reader(source, shape) if source is not None else None
            if version is not None and version not in shape.placeholder_versions:
                return version
    return max(installed, key=_order, default=None)


def from_metadata(source: bytes, shape: PackageShape) -> str | None:
    """The Version of a METADATA or PKG-INFO file, where it belongs to this distribution."""
    headers: dict[str, str] = {}
    for line in source.decode("utf-8", "replace").splitlines():
        if not line.strip():
            break
        name, _, value = line.partition(":")
        headers.setdefault(name.strip().lower(), value.strip())
    if canonicalize_name(headers.get("name", "")) != canonicalize_name(shape.distribution):
        return None
    return _sober(headers.get("version"))


def from_python(source: bytes) -> str | None:
    """A text assigned to ``__version__`` at the top level, not one that code chooses among."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found: str | None = None
    for statement in module.body:
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            targets = [statement.target]
        else:
            continue
        named = any(isinstance(target, ast.Name) and target.id in _NAMES for target in targets)
        if named and isinstance(statement.value, ast.Constant) and isinstance(statement.value.value, str):
            found = _sober(statement.value.value)
    return found


def from_pyproject(source: bytes, shape: PackageShape) -> str | None:
    """The static ``project.version``, where the project is this distribution."""
    try:
        project = parse_toml(source).get("project", {})
    except ValueError:
        return None
    if not isinstance(project, dict) or canonicalize_name(str(project.get("name", ""))) != canonicalize_name(shape.distribution):
        return None
    version = project.get("version")
    return _sober(version) if isinstance(version, str) else None


def from_describe(text: str) -> str | None:
    """``git describe`` as a PEP 440 version: ``v0.5.12-34-gabc1234`` is ``0.5.12+34.gabc1234``, which sorts after 0.5.12."""
    match = re.fullmatch(r"v?(?P<tag>.+?)(?:-(?P<ahead>\d+)-g(?P<commit>[0-9a-f]+))?", text.strip())
    if match is None:
        return None
    try:
        tag = Version(match["tag"])
    except InvalidVersion:
        return None
    ahead = int(match["ahead"] or 0)
    return f"{tag.public}+{ahead}.g{match['commit']}" if ahead else str(tag)


def _sober(version: str | None) -> str | None:
    """None for what is no version: it would end in reports and in comparisons."""
    if version is None:
        return None
    try:
        Version(version)
    except InvalidVersion:
        return None
    return version


def _order(version: str) -> Version:
    return Version(version)
