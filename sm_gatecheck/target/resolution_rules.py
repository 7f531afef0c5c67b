"""``sglang/resolution.toml`` as values: where resolution begins, which code belongs to it, how it declares what it changes."""

from __future__ import annotations

from dataclasses import dataclass

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from sm_gatecheck.rulebook import Rulebook


@dataclass(frozen=True)
class Entry:
    """A method that runs on the options object, or on a ``holder`` that has it, while the server starts; a check only refuses."""

    owner: str
    method: str
    versions: SpecifierSet
    is_check: bool = False
    on_holder: bool = False

    @property
    def dotted(self) -> str:
        return f"{self.owner}.{self.method}"

    def applies_to(self, version: str | None) -> bool:
        """Whether a release has it; one whose version is not known, or cannot be read, may."""
        if not version or not str(self.versions):
            return True
        try:
            return self.versions.contains(Version(version), prereleases=True)
        except InvalidVersion:
            return True


@dataclass(frozen=True)
class ResolutionRules:
    """Names of classes and functions are dotted, ``sglang.`` included; ``files`` are path prefixes."""

    entries: tuple[Entry, ...]
    classes: frozenset[str]
    files: tuple[str, ...]
    declares: frozenset[str]
    passes: frozenset[str]
    hooks: frozenset[str]
    stashes: frozenset[str]
    skipped: frozenset[str]


def load_resolution_rules(rules: Rulebook) -> ResolutionRules:
    """Read the rules. RulesError where the file is missing, KeyError where it lacks a table."""
    document = rules.read("sglang/resolution.toml")
    return ResolutionRules(
        tuple(
            Entry(row["class"], row["method"], SpecifierSet(row.get("versions", "")), row.get("check", False), row.get("holder", False))
            for row in document["entry"]
        ),
        frozenset(document["code"]["classes"]),
        tuple(document["code"]["files"]),
        frozenset(document["declare"]["fields"]),
        frozenset(document["declare"]["passes"]),
        frozenset(document["declare"]["hooks"]),
        frozenset(document["declare"]["stashes"]),
        frozenset(document["skip"]["functions"]),
    )
