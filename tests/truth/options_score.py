"""Option tables: what the argument parser of a release accepts, row by row, against the options that gatecheck reads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.truth.score import Disagreement, Score, tally

TARGET = 99.5
ORACLE = Path(__file__).parent / "oracle" / "options"


def releases() -> tuple[str, ...]:
    """The releases whose parsers were asked."""
    return tuple(path.stem for path in ORACLE.glob("*.json"))


def score(version: str, rows: Iterable[Mapping[str, Any]]) -> Score:
    """``rows`` as ``gatecheck options --format json`` lists them. A row agrees when its flags, deprecated flags, default and
    choices are the parser's; one too many counts like one that is missing. Flags and choices compare without their order,
    which for choices given as a set is an accident of hashing.
    """
    truth = json.loads((ORACLE / f"{version}.json").read_text("utf-8"))
    return compare(truth, rows)


def compare(truth: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> Score:
    expected = {row["field"]: row for row in truth["options"]}
    without_flag = truth["fields_without_flag"]
    given = {row["field"]: row for row in rows if not row["field"].startswith("env:")}
    bare = {name for name, row in given.items() if not row["flags"] and not row["deprecated_flags"]}
    wrong = [Disagreement(fault, name) for name, row in expected.items() if (fault := _fault(row, given.get(name)))]
    wrong += [Disagreement("the parser has no such option", name) for name in given if name not in expected and name not in bare]
    total = len(expected) + sum(name not in expected and name not in bare for name in given)
    if without_flag is not None:
        total += len(bare | set(without_flag))
        wrong += [Disagreement("said to have no flag", name) for name in sorted(bare - set(without_flag))]
        wrong += [Disagreement("a field without flag is missing", name) for name in sorted(set(without_flag) - bare)]
    return tally("option rows", total, wrong, TARGET)


def _fault(expected: Mapping[str, Any], row: Mapping[str, Any] | None) -> str | None:
    if row is None:
        return "missing"
    if sorted(expected["flags"]) != sorted(row["flags"]):
        return f"flags {row['flags']} where {expected['flags']}"
    if sorted(expected["deprecated_flags"]) != sorted(row["deprecated_flags"]):
        return f"deprecated flags {row['deprecated_flags']} where {expected['deprecated_flags']}"
    if not _same(expected["default"], row["default"]):
        return f"default {row['default']!r} where {expected['default']!r}"
    if not _same(_ordered(expected["choices"]), _ordered(row["choices"])):
        return f"choices {row['choices']} where {expected['choices']}"
    return None


def _same(expected: Any, given: Any) -> bool:
    return json.dumps(expected, sort_keys=True) == json.dumps(given, sort_keys=True)


def _ordered(choices: Iterable[Any] | None) -> list[Any] | None:
    return None if choices is None else sorted(choices, key=repr)
