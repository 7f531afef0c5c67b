"""What changed between two trees for some SMs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sm_gatecheck.model.option import Option
from sm_gatecheck.model.report import Assumptions, Diagnostic, Source
from sm_gatecheck.model.verdict import DefaultAlternative, Verdict


@dataclass(frozen=True)
class Reason:
    """What decides a verdict: in words, at a line, with the source that stands there and the SMs on which it holds.

    ``handed_on`` says which other option the value is handed on to, where that one decides.
    """

    words: str
    file: str
    line: int
    source: str | None = None
    true_on: tuple[int, ...] | None = None
    handed_on: str | None = None


@dataclass(frozen=True)
class Change:
    """A verdict that changed. None stands for a tree that has no such option, or does not offer the value."""

    field: str
    value: Any
    sm: int
    old: Verdict | None
    new: Verdict | None
    before: Reason | None
    after: Reason | None


@dataclass(frozen=True)
class DefaultChange:
    """What an option is on an SM when nobody sets it, in both trees."""

    field: str
    sm: int
    old: tuple[DefaultAlternative, ...]
    new: tuple[DefaultAlternative, ...]


@dataclass(frozen=True)
class Difference:
    """The difference of two reports. ``renamed`` pairs the option of the old tree with that of the new one."""

    old: Source
    new: Source
    assumptions: Assumptions
    sms: tuple[int, ...]
    added: tuple[Option, ...]
    removed: tuple[Option, ...]
    renamed: tuple[tuple[Option, Option], ...]
    changes: tuple[Change, ...]
    defaults: tuple[DefaultChange, ...]
    options: tuple[Option, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
