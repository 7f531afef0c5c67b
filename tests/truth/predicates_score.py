"""Device predicates: the JSON of ``gatecheck predicates --sm all`` against the values that a release's own code returned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.truth.score import Disagreement, Score, tally

GIVEN_TARGET = 95.0
_MISSING = object()


def score(document: Mapping[str, Any], truth: Mapping[str, Any]) -> tuple[Score, ...]:
    """Three figures: given values that are right (all must be), values given of those that there are, names found.

    ``truth`` is a file of ``oracle/predicates``: ``predicates`` with ``name``, ``file`` and ``values`` by SM. A value
    ``raises …`` is an exception: null, or the same text, is a right answer to it, and giving it is not asked for. The
    same holds for null (the function returned None), which the JSON writes like "not decided".
    """
    answers = _Answers(list(document["predicates"]))
    wrong, missing, unnamed = [], [], []
    given = wanted = 0
    for predicate in truth["predicates"]:
        row = answers.find(predicate)
        if row is None:
            unnamed.append(Disagreement("no such predicate in the JSON", predicate["name"]))
        for sm, expected, answer in _pairs(predicate, row):
            where = f"{predicate['name']}@SM{sm}"
            is_demanded = not _is_optional(expected)
            wanted += is_demanded
            if answer is _MISSING or answer is None:
                if is_demanded:
                    missing.append(Disagreement("no predicate" if row is None else "null", where))
                continue
            given += 1
            if not _equal(expected, answer):
                wrong.append(Disagreement(f"says {answer!r} where {expected!r}", where))
    return (
        tally("right of the given values", given, wrong, 100.0),
        tally("values given", wanted, missing, GIVEN_TARGET),
        tally("predicates named", len(truth["predicates"]), unnamed),
    )


@dataclass(frozen=True)
class _Answers:
    rows: list[Mapping[str, Any]]

    def find(self, predicate: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """By full name; else by file and short name (the module may re-export it); else, for an attribute of an object
        that no file is known for, by a short name that one attribute alone has."""
        exact = [row for row in self.rows if row["name"] == predicate["name"]]
        if exact:
            return next((row for row in exact if row["line"] == predicate["line"]), exact[0])
        short = _short(predicate["name"])
        alike = [row for row in self.rows if _short(row["name"]) == short]
        if predicate["file"]:
            return next((row for row in alike if row["file"] == predicate["file"]), None)
        members = [row for row in alike if row["kind"] in ("property", "method")]
        return members[0] if len(members) == 1 else None


def _short(name: str) -> str:
    return name.rsplit(".", 1)[-1].removesuffix("()")


def _pairs(predicate: Mapping[str, Any], row: Mapping[str, Any] | None) -> Iterator[tuple[str, Any, Any]]:
    for sm, expected in predicate["values"].items():
        yield sm, expected, _MISSING if row is None else row["values"].get(sm, _MISSING)


def _is_optional(expected: Any) -> bool:
    return expected is None or (isinstance(expected, str) and expected.startswith("raises"))


def _equal(expected: Any, answer: Any) -> bool:
    if isinstance(expected, str) and expected.startswith("raises") and isinstance(answer, str):
        return answer.split(":")[0] == expected
    if isinstance(expected, bool) or isinstance(answer, bool):
        return expected is answer
    return bool(expected == answer)
