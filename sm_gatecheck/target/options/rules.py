"""The rules about option declarations (``sglang/options.toml``), checked while they are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from sm_gatecheck.rulebook import Rulebook, RulesError

OPTIONS_FILE = "sglang/options.toml"


@dataclass(frozen=True)
class Reader:
    """Callables (or subscripted mappings) that read a variable, or descriptors that declare one, and what they give."""

    names: tuple[str, ...]
    type: str
    default: Any = None

    def matches(self, dotted: str) -> bool:
        """Whether one of the patterns fits the dotted name or an end of it."""
        parts = dotted.split(".")
        return any(fnmatchcase(".".join(parts[-(name.count(".") + 1) :]), name) for name in self.names)


@dataclass(frozen=True)
class EnvironmentRules:
    """How environment variables are read and declared; the keys are explained in the file itself."""

    skip: tuple[str, ...]
    true: frozenset[str]
    casts: frozenset[str]
    aliases: tuple[str, ...]
    deprecated: frozenset[str]
    readers: tuple[Reader, ...]
    helpers: tuple[Reader, ...]
    descriptors: tuple[Reader, ...]


@dataclass(frozen=True)
class OptionRules:
    """Where options are declared and how; the keys are explained in the file itself."""

    modules: tuple[str, ...]
    class_name: str
    register: str
    rename: tuple[str, ...]
    namespaces: tuple[str, ...]
    namespace_attribute: str
    field_listings: tuple[str, ...]
    heads: frozenset[str]
    registrars: tuple[str, ...]
    only: str
    metadata: frozenset[str]
    namespace_markers: frozenset[str]
    excluded: frozenset[str]
    keywords: Mapping[str, str]
    deprecated_actions: tuple[str, ...]
    replacement: tuple[str, ...]
    deprecated_value: tuple[str, ...]
    message: tuple[str, ...]
    known: Mapping[str, Any]
    environment: EnvironmentRules

    def is_deprecated(self, action_classes: list[str]) -> bool:
        """Whether an action, given by the names of its class and bases, belongs to a deprecated flag."""
        return any(fnmatchcase(name, pattern) for name in action_classes for pattern in self.deprecated_actions)

    @classmethod
    def read(cls, rules: Rulebook) -> OptionRules:
        """The rules that count. RulesError, naming file and key, where one is missing or of the wrong kind."""
        table = _Section(str(rules.path(OPTIONS_FILE)), rules.read(OPTIONS_FILE))
        declaration, annotations, deprecated = table.section("declaration"), table.section("annotations"), table.section("deprecated")
        environment = table.section("environment")
        return cls(
            modules=declaration.texts("modules"),
            class_name=declaration.text("class"),
            register=declaration.text("register"),
            rename=declaration.texts("rename"),
            namespaces=declaration.texts("namespaces"),
            namespace_attribute=declaration.text("namespace_attribute"),
            field_listings=declaration.texts("field_listings"),
            heads=frozenset(annotations.texts("heads")),
            registrars=annotations.texts("registrars"),
            only=annotations.text("only"),
            metadata=frozenset(annotations.texts("metadata")),
            namespace_markers=frozenset(annotations.texts("namespace_markers")),
            excluded=frozenset(annotations.texts("excluded")),
            keywords={key: str(value) for key, value in annotations.section("keywords").entries.items()},
            deprecated_actions=deprecated.texts("actions"),
            replacement=deprecated.texts("replacement"),
            deprecated_value=deprecated.texts("value"),
            message=deprecated.texts("message"),
            known=table.section("known").entries,
            environment=EnvironmentRules(
                skip=environment.texts("skip"),
                true=frozenset(environment.texts("true")),
                casts=frozenset(environment.texts("casts")),
                aliases=environment.texts("aliases"),
                deprecated=frozenset(environment.texts("deprecated")),
                readers=environment.readers("reader"),
                helpers=environment.readers("helper"),
                descriptors=environment.readers("descriptor"),
            ),
        )


@dataclass(frozen=True)
class _Section:
    where: str
    entries: Mapping[str, Any]

    def section(self, key: str) -> _Section:
        value = self.entries.get(key)
        if not isinstance(value, dict):
            raise RulesError(f"{self.where}: {key}: a table is needed")
        return _Section(f"{self.where}: {key}", value)

    def text(self, key: str) -> str:
        value = self.entries.get(key)
        if not isinstance(value, str):
            raise RulesError(f"{self.where}: {key}: a text is needed, not {value!r}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.entries.get(key)
        if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
            raise RulesError(f"{self.where}: {key}: a list of texts is needed, not {value!r}")
        return tuple(value)

    def readers(self, key: str) -> tuple[Reader, ...]:
        rows = self.entries.get(key, [])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise RulesError(f"{self.where}: {key}: write [[environment.{key}]], a list of tables")
        sections = [_Section(f"{self.where}: {key} {number}", row) for number, row in enumerate(rows, 1)]
        return tuple(Reader(section.texts("names"), section.text("type"), section.entries.get("default")) for section in sections)
