"""What a call does and when it runs, by the patterns of ``rules/effects.toml``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache
from typing import Any

from sm_gatecheck.model.verdict import EffectKind, Phase
from sm_gatecheck.rulebook import Rulebook


@dataclass(frozen=True)
class PhaseRule:
    phase: Phase
    files: re.Pattern[str]
    functions: re.Pattern[str]


@dataclass(frozen=True)
class EffectRules:
    """Compiled patterns. ``kind_of`` and ``phase_of`` are the questions that they answer."""

    allocates: re.Pattern[str]
    allocates_not: re.Pattern[str]
    warns: re.Pattern[str]
    silent: re.Pattern[str]
    sets_env: re.Pattern[str]
    phases: tuple[PhaseRule, ...]

    def kind_of(self, name: str) -> EffectKind | None:
        """The effect of calling ``name`` (dotted source); None for a call that leaves nothing behind."""
        return _kind_of(self, name)

    def phase_of(self, file: str, function: str) -> Phase:
        """When code in ``function`` (a qualified name, ``""`` for a module's top level) of ``file`` runs."""
        words = ".".join(function.split(".")[-2:]) or "<module>"
        for rule in self.phases:
            if rule.files.match(file) and rule.functions.match(words):
                return rule.phase
        return Phase.RUNTIME


@lru_cache(maxsize=65536)
def _kind_of(rules: EffectRules, name: str) -> EffectKind | None:
    words = name.lower()
    last = words.rsplit(".", 1)[-1]
    if rules.warns.match(words) or rules.warns.match(last):
        return EffectKind.WARNS
    if rules.sets_env.match(words):
        return EffectKind.SETS_ENV
    allocates = rules.allocates.match(words) or rules.allocates.match(last)
    if allocates and not (rules.allocates_not.match(words) or rules.allocates_not.match(last)):
        return EffectKind.ALLOCATES
    if rules.silent.match(words) or rules.silent.match(last):
        return None
    return EffectKind.BEHAVIOUR


def load_effect_rules(rules: Rulebook) -> EffectRules:
    """RulesError where the file is missing or no TOML."""
    document = rules.read("effects.toml")
    return EffectRules(
        _any_of(document["allocates"]["names"]),
        _any_of(document["allocates"].get("not", [])),
        _any_of(document["warns"]["names"]),
        _any_of(document["silent"]["names"]),
        _any_of(document["sets_env"]["names"]),
        tuple(
            PhaseRule(Phase(row["phase"]), _any_of(row.get("files", ["*"])), _any_of(row.get("functions", ["*"])))
            for row in document["phase"]
        ),
    )


def _any_of(patterns: list[Any]) -> re.Pattern[str]:
    if not patterns:
        return re.compile(r"(?!)")
    return re.compile("|".join(translate(pattern.lower()) for pattern in patterns), re.IGNORECASE)
