"""What the package looks like from outside: read from ``rules/sglang/tree.toml``, so that a new layout is a line of data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sm_gatecheck.rulebook import Rulebook, RulesError

RULE_FILE = "sglang/tree.toml"


@dataclass(frozen=True)
class PackageShape:
    """How the package is recognised: its directory's ``name`` and, inside, at least one of ``markers``.

    ``platforms`` and ``pythons`` are those of wheels that do where none fits this machine, as ``pip download`` takes them.
    """

    title: str
    name: str
    distribution: str
    markers: tuple[str, ...]
    source_dirs: tuple[str, ...]
    version_files: tuple[str, ...]
    placeholder_versions: tuple[str, ...]
    tags: str
    repository: str
    examples: tuple[str, ...]
    platforms: tuple[str, ...]
    pythons: tuple[str, ...]

    def is_package(self, has_file: Callable[[str], bool]) -> bool:
        """Whether a directory is the package; ``has_file`` answers for a path relative to it."""
        return any(has_file(marker) for marker in self.markers)

    @property
    def kinds(self) -> str:
        """What can be named instead, for the end of a refusal."""
        example = self.examples[-1] if self.examples else "VERSION"
        return f"a checkout, an installed {self.name} directory, a wheel, an sdist, {self.distribution}=={example} or PATH@REV"


def load_shape(rules: Rulebook) -> PackageShape:
    """RulesError, naming file and key, where the file does not say what it must."""
    path = rules.path(RULE_FILE)
    document = rules.read(RULE_FILE)
    package = _table(document, "package", str(path))
    release = _table(document, "release", str(path))
    return PackageShape(
        title=_text(package, "title", f"{path}: package"),
        name=_text(package, "name", f"{path}: package"),
        distribution=_text(package, "distribution", f"{path}: package"),
        markers=_texts(package, "markers", f"{path}: package"),
        source_dirs=_texts(package, "source_dirs", f"{path}: package"),
        version_files=_texts(package, "version_files", f"{path}: package"),
        placeholder_versions=_texts(package, "placeholder_versions", f"{path}: package"),
        tags=_text(package, "tags", f"{path}: package"),
        repository=_text(package, "repository", f"{path}: package"),
        examples=_texts(release, "examples", f"{path}: release"),
        platforms=_texts(release, "platforms", f"{path}: release"),
        pythons=_texts(release, "pythons", f"{path}: release"),
    )


def _table(document: Mapping[str, Any], key: str, where: str) -> Mapping[str, Any]:
    value = document.get(key)
    if not isinstance(value, dict):
        raise RulesError(f"{where}: {key}: a table is needed here")
    return value


def _text(table: Any, key: str, where: str) -> str:
    value = table.get(key) if isinstance(table, dict) else None
    if not isinstance(value, str) or not value:
        raise RulesError(f"{where}.{key}: a text is needed here")
    return value


def _list(table: Mapping[str, Any], key: str, where: str) -> list[Any]:
    value = table.get(key)
    if not isinstance(value, list):
        raise RulesError(f"{where}.{key}: a list is needed here")
    return value


def _texts(table: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    value = _list(table, key, where)
    if not all(isinstance(entry, str) for entry in value):
        raise RulesError(f"{where}.{key}: a list of texts is needed here")
    return tuple(value)
