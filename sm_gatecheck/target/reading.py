"""``sglang/reading.toml`` as values: how the code of a tree reaches its options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sm_gatecheck.rulebook import Rulebook


@dataclass(frozen=True)
class EnvironmentReader:
    """A function of the tree that reads a variable: what it makes of the text, and what it answers when unset."""

    kind: str
    default: Any


@dataclass(frozen=True)
class Reading:
    """Where options and environment variables are read. Names are dotted, ``sglang.`` included."""

    option_classes: frozenset[str]
    option_functions: frozenset[str]
    option_parameters: frozenset[str]
    option_annotations: frozenset[str]
    option_attributes: frozenset[str]
    option_dictionaries: frozenset[str]
    namespace_functions: frozenset[str]
    environment_holders: frozenset[str]
    environment_reads: frozenset[str]
    environment_set_tests: frozenset[str]
    environment_writes: frozenset[str]
    environment_functions: dict[str, EnvironmentReader]
    environment_descriptors: dict[str, str]
    true_words: frozenset[str]
    device_roots: tuple[str, ...]
    option_roots: tuple[str, ...]
    environment_roots: tuple[str, ...]
    platform_roots: tuple[str, ...]
    own_variables: tuple[str, ...]
    left_out: tuple[str, ...]
    transparent_decorators: frozenset[str]
    listed_facts: dict[str, str]
    parameter_classes: dict[str, str]


def load_reading(rules: Rulebook) -> Reading:
    """Read the rules. RulesError where the file is missing, KeyError where it lacks a table."""
    document = rules.read("sglang/reading.toml")
    options, environment, roots = document["options"], document["environment"], document["roots"]
    return Reading(
        frozenset(options["classes"]),
        frozenset(options["functions"]),
        frozenset(options["parameters"]),
        frozenset(options["annotations"]),
        frozenset(options["attributes"]),
        frozenset(options["dictionaries"]),
        frozenset(document["namespaces"]["functions"]),
        frozenset(environment["holders"]),
        frozenset(environment["reads"]),
        frozenset(environment["asks_if_set"]),
        frozenset(environment["writes"]),
        {name: EnvironmentReader(row["kind"], row["default"]) for row in environment["function"] for name in row["names"]},
        dict(environment["descriptors"]),
        frozenset(environment["true_words"]),
        tuple(roots["device"]),
        tuple(roots["options"]),
        tuple(roots["environment"]),
        tuple(roots["platform"]),
        tuple(environment.get("own_prefixes", ())),
        tuple(document["scan"]["leave_out"]),
        frozenset(document["scan"].get("transparent_decorators", [])),
        {attribute: row["name"] for row in document.get("fact", []) for attribute in row["attributes"]},
        dict(document.get("parameters", {})),
    )
