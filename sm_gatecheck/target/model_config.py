"""The model's configuration as the tree's own code sees it: an object whose attributes are the entries of ``config.json``.

What the tree derives from it (is it multimodal, which attention, how long a context) is not known here: the tree's own
configuration class is run over this object.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from packaging.specifiers import SpecifierSet

from sm_gatecheck.evaluate.values import Instance, Known, Opaque, Sequence, Value, from_python
from sm_gatecheck.evaluate.values import Mapping as MappingValue
from sm_gatecheck.rulebook import Rulebook

CONFIGURATION = "model configuration"
"""The name of such an object. Its attributes are all known: what the file lacks, it has not."""


@dataclass(frozen=True)
class StandIn:
    """A model type that is read with other ``entries`` in some versions."""

    model_type: str
    versions: SpecifierSet
    entries: Mapping[str, Any]


@dataclass(frozen=True)
class ModelRules:
    """``sglang/model.toml``. Names of functions are dotted, patterns are shell-style."""

    loaders: frozenset[str]
    empty_loaders: frozenset[str]
    files: tuple[str, ...]
    sections: tuple[str, ...]
    mappings: tuple[str, ...]
    inherited: Mapping[str, Any]
    stand_ins: tuple[StandIn, ...]
    path_field: str
    type_entry: str
    base_classes: frozenset[str]
    memory: frozenset[str]

    def as_read(self, config: Mapping[str, Any], version: str | None) -> Mapping[str, Any]:
        """The entries of a configuration as that release reads them."""
        for row in self.stand_ins:
            if config.get("model_type") == row.model_type and version is not None and row.versions.contains(version, prereleases=True):
                return {**config, **row.entries}
        return config

    def is_section(self, key: str) -> bool:
        """Whether the mapping under ``key`` is a configuration of its own, and no plain dict."""
        return _any_matches(self.sections, key) and not _any_matches(self.mappings, key)


def load_model_rules(rules: Rulebook) -> ModelRules:
    """Read the rules. RulesError where the file is missing, KeyError where it lacks a table."""
    document = rules.read("sglang/model.toml")
    config = document["config"]
    return ModelRules(
        frozenset(config["loaders"]),
        frozenset(config["empty_loaders"]),
        tuple(config["files"]),
        tuple(config["sections"]),
        tuple(config["mappings"]),
        dict(config["inherited"]),
        tuple(StandIn(row["model_type"], SpecifierSet(row.get("versions", "")), row["entries"]) for row in config.get("stand_in", [])),
        config["path_field"],
        config["type_entry"],
        frozenset(config["base_classes"]),
        frozenset(document["memory"]["functions"]),
    )


def configuration(config: Mapping[str, Any], rules: ModelRules) -> Instance:
    """A fresh object with the entries of ``config``; sections are such objects too."""
    instance = Instance(None, CONFIGURATION)
    for name, value in {**rules.inherited, **config}.items():
        instance.attributes[name] = _value(name, value, rules)
    return instance


def _value(name: str, value: Any, rules: ModelRules) -> Value:
    if isinstance(value, Mapping):
        if rules.is_section(name):
            return configuration(value, rules)
        return MappingValue(tuple((Known(key), _value("", item, rules)) for key, item in value.items()))
    if isinstance(value, list):
        return Sequence("list", tuple(_value("", item, rules) for item in value))
    payload = from_python(value)
    return Opaque(f"9:config:{name}", name) if payload is None else payload


def _any_matches(patterns: tuple[str, ...], name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
