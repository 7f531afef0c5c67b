"""The commit that changed the verdict of an option."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sm_gatecheck.model.difference import Change
from sm_gatecheck.model.option import Option
from sm_gatecheck.model.report import Assumptions
from sm_gatecheck.model.verdict import Verdict


@dataclass(frozen=True)
class Verdicts:
    """The verdicts of an option at one commit, by value and SM; none where there is no such option."""

    commit: str
    rows: tuple[tuple[Any, int, Verdict], ...]


@dataclass(frozen=True)
class Bisection:
    """``first`` is the first commit, of those that change the package, where the verdicts are no longer those of ``good``.

    ``before`` is the last that was seen to have them. ``between`` commits change the package, of which ``seen`` were judged.
    """

    path: str
    option: Option
    sms: tuple[int, ...]
    assumptions: Assumptions
    good: str
    bad: str
    before: str
    first: str
    day: str
    subject: str
    changes: tuple[Change, ...]
    between: int
    seen: tuple[Verdicts, ...]
