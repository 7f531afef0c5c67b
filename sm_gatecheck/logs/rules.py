"""``sglang/log.toml``: what the lines of a startup log look like."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any, get_args

from sm_gatecheck.logs.model import FigureKind
from sm_gatecheck.rulebook import Rulebook, RulesError

FILE = "sglang/log.toml"


@dataclass(frozen=True)
class FigureRule:
    """A figure: the lines that hold it, and what stands before the number."""

    name: str
    title: str
    markers: tuple[str, ...]
    also: str
    key: str
    unit: str
    kind: FigureKind
    bears: tuple[str, ...]
    before_options: bool = False


@dataclass(frozen=True)
class LogRules:
    """``drawn`` are options that differ from start to start, ``secret`` those that are never shown, as patterns."""

    marker: str
    architecture_marker: str
    architecture_key: str
    architecture_fact: str
    memory_marker: str
    memory_key: str
    secret: tuple[str, ...]
    drawn: tuple[str, ...]
    figures: tuple[FigureRule, ...]

    @classmethod
    def read(cls, rules: Rulebook) -> LogRules:
        """RulesError, with the key, where the file says something that cannot be."""
        document = rules.read(FILE)
        try:
            arguments = document["arguments"]
            return cls(
                _text(arguments, "marker"),
                _text(arguments, "architecture_marker"),
                _text(arguments, "architecture_key"),
                _text(arguments, "architecture_fact"),
                _text(arguments, "memory_marker"),
                _text(arguments, "memory_key"),
                tuple(map(str, arguments["secret"])),
                tuple(map(str, arguments["drawn"])),
                tuple(_figure(row) for row in document["figure"]),
            )
        except KeyError as error:
            raise RulesError(f"{rules.path(FILE)}: {error.args[0]} is missing") from None
        except (TypeError, ValueError) as error:
            raise RulesError(f"{rules.path(FILE)}: {error}") from None

    @cached_property
    def interesting(self) -> re.Pattern[str]:
        """Matches in every line that may say something."""
        markers = {self.marker, self.architecture_marker, self.memory_marker, *(marker for rule in self.figures for marker in rule.markers)}
        return re.compile("|".join(map(re.escape, sorted(markers))))

    def is_secret(self, field: str) -> bool:
        return any(fnmatchcase(field, pattern) for pattern in self.secret)

    def is_drawn(self, field: str) -> bool:
        return any(fnmatchcase(field, pattern) for pattern in self.drawn)


def _figure(row: Mapping[str, Any]) -> FigureRule:
    if row["kind"] not in get_args(FigureKind):
        raise ValueError(f"figure {row['name']}: kind: one of {', '.join(get_args(FigureKind))} is needed, not {row['kind']!r}")
    return FigureRule(
        _text(row, "name"),
        _text(row, "title"),
        tuple(map(str, row["markers"])),
        str(row.get("also", "")),
        _text(row, "key"),
        _text(row, "unit"),
        row["kind"],
        tuple(map(str, row["bears"])),
        bool(row.get("before_options", False)),
    )


def _text(table: Mapping[str, Any], key: str) -> str:
    value = table[key]
    if not isinstance(value, str) or not value:
        raise ValueError(f"{key}: a text is needed, not {value!r}")
    return value
