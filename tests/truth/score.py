"""The result of comparing gatecheck with the truth: how often they agree, and where they do not."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Disagreement:
    """One wrong answer: the kind of ``fault`` ("says active where rejected") and ``where`` it lies ("field=value@SM120")."""

    fault: str
    where: str


@dataclass(frozen=True)
class Score:
    """``agree`` of ``total`` answers of the table ``name``; every answer that does not agree is listed.

    ``target`` is the percentage to reach; None for a figure that is only shown. A table of which nothing could be
    compared is behind whatever its target: no answers are no agreement.
    """

    name: str
    agree: int
    total: int
    disagreements: tuple[Disagreement, ...] = ()
    target: float | None = None

    def __post_init__(self) -> None:
        if self.total - self.agree != len(self.disagreements):
            raise ValueError(f"{self.name}: {self.agree} of {self.total} agree, but {len(self.disagreements)} disagreements are listed")

    @property
    def percent(self) -> float:
        return 100.0 * self.agree / self.total if self.total else 0.0

    @property
    def is_reached(self) -> bool:
        return self.total > 0 and (self.target is None or self.percent >= self.target)


def tally(name: str, total: int, disagreements: Iterable[Disagreement], target: float | None = None) -> Score:
    """The score of ``total`` answers of which ``disagreements`` are wrong."""
    wrong = tuple(disagreements)
    return Score(name, total - len(wrong), total, wrong, target)


def merge(name: str, scores: Iterable[Score], target: float | None = None) -> Score:
    """One score over several, each answer counting once."""
    parts = tuple(scores)
    wrong = tuple(item for part in parts for item in part.disagreements)
    return Score(name, sum(part.agree for part in parts), sum(part.total for part in parts), wrong, target)


def rounded_down(percent: float) -> float:
    """To one decimal, never up: 94.96 is not 95."""
    return math.floor(percent * 10 + 1e-9) / 10


def line(label: str, score: Score) -> str:
    """One row of the table that ``python -m tests.truth`` prints."""
    target = "" if score.target is None else f"{score.target:g} %"
    state = ("shown" if score.total else "empty") if score.target is None else ("ok" if score.is_reached else "behind")
    return f"{label:<22} {score.name:<44} {score.agree:>6}/{score.total:<6} {rounded_down(score.percent):>5.1f} %  {target:>6}  {state}"


def by_fault(score: Score, examples: int | None = 3) -> list[str]:
    """The disagreements grouped by kind of fault, commonest first, each with its first places (all with None)."""
    groups: dict[str, list[str]] = defaultdict(list)
    for item in score.disagreements:
        groups[item.fault].append(item.where)
    result = []
    for fault, places in sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])):
        shown = places if examples is None else places[:examples]
        more = ", …" if len(shown) < len(places) else ""
        result.append(f"{fault}: {len(places)} ({', '.join(shown)}{more})")
    return result
