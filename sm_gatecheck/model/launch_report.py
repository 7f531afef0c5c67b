"""What a launch sets and what becomes of it, as reports show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from sm_gatecheck.model.span import Span
from sm_gatecheck.model.verdict import DefaultAlternative, OptionReport, Verdict


@dataclass(frozen=True)
class ConditionalVerdict:
    """What is said of a value that a launch sets under a condition, should that hold."""

    sm: int
    verdict: Verdict
    summary: str


@dataclass(frozen=True)
class GivenValue:
    """A value that a launch gives an option or a variable (``env:NAME``), where, and how the flag was spelt.

    ``unresolved`` are the references (``$TP``) that its value hangs on, ``assumed`` what was taken for granted, ``when`` the
    condition under which it counts (None: always); ``verdicts`` are those of a conditional value.
    """

    field: str
    value: Any
    flag: str
    span: Span
    unresolved: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    when: str | None = None
    verdicts: tuple[ConditionalVerdict, ...] = ()


@dataclass(frozen=True)
class ResolvedOption:
    """An option that resolution changes for a launch on one SM.

    ``before`` is the given value, else the declared default. ``value`` and ``when`` are the change, None where it is not a value that
    can be told from the source (then ``text`` is the expression); ``alternatives`` are all that the option may end with.
    ``is_ordinary`` is False where only models that the tree names see the change.
    """

    field: str
    before: Any
    value: Any
    when: str | None
    file: str
    line: int
    text: str | None = None
    alternatives: tuple[DefaultAlternative, ...] = ()
    is_ordinary: bool = True


@dataclass(frozen=True)
class Mend:
    """What to do about an option of a launch: remove it, or give it ``value``, which the tree names at ``file`` and ``line``."""

    field: str
    action: Literal["remove", "replace"]
    value: Any
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True)
class LaunchReport:
    """One launch: what it sets and, by SM, what resolution changes. ``judged`` are its options with their verdicts,
    ``model_config`` is the file from which its model is known, where that lies on this machine.
    """

    span: Span
    entry: str
    format: str
    name: str | None = None
    when: str | None = None
    given: tuple[GivenValue, ...] = ()
    conditional: tuple[GivenValue, ...] = ()
    unresolved: tuple[str, ...] = ()
    version: str | None = None
    judged: tuple[OptionReport, ...] = ()
    resolved: tuple[tuple[int, tuple[ResolvedOption, ...]], ...] = ()
    mends: tuple[Mend, ...] = ()
    model_config: str | None = None
