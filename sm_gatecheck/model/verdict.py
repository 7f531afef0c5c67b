"""What is claimed about an option on a GPU, and the evidence for it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from sm_gatecheck.model.option import Option


class Verdict(str, Enum):
    """What setting an option to a value does on one SM; defined, in this order of precedence, in docs/concepts.md."""

    REJECTED = "rejected"
    OVERRIDDEN = "overridden"
    NOOP_WITH_SIDE_EFFECTS = "noop_with_side_effects"
    NOOP = "noop"
    PARTIAL = "partial"
    ACTIVE = "active"
    UNGATED = "ungated"
    UNKNOWN = "unknown"


class EffectKind(str, Enum):
    BEHAVIOUR = "behaviour"
    SETS_OPTION = "sets_option"
    SETS_ENV = "sets_env"
    ALLOCATES = "allocates"
    RAISES = "raises"
    WARNS = "warns"


class Phase(str, Enum):
    """When an effect is felt: seconds after the start, while weights load and graphs are captured, or at a request."""

    RESOLUTION = "resolution"
    STARTUP = "startup"
    RUNTIME = "runtime"


class Role(str, Enum):
    """What a piece of evidence shows."""

    GATE = "gate"
    SITE = "site"
    EFFECT = "effect"
    CALL = "call"


class Severity(str, Enum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


SEVERITY_OF: dict[Verdict, Severity] = {
    Verdict.REJECTED: Severity.ERROR,
    Verdict.NOOP_WITH_SIDE_EFFECTS: Severity.ERROR,
    Verdict.OVERRIDDEN: Severity.WARNING,
    Verdict.NOOP: Severity.WARNING,
    Verdict.PARTIAL: Severity.WARNING,
    Verdict.ACTIVE: Severity.NOTE,
    Verdict.UNGATED: Severity.NOTE,
    Verdict.UNKNOWN: Severity.NOTE,
}


@dataclass(frozen=True)
class Effect:
    """What a reached site does on one SM; ``when`` is the remaining condition as source text, None for always."""

    kind: EffectKind
    phase: Phase
    what: str
    file: str
    line: int
    option: str | None = None
    value: Any = None
    when: str | None = None


@dataclass(frozen=True)
class Evidence:
    """One line of the proof; ``true_on`` are the SMs on which ``source`` can hold."""

    role: Role
    file: str
    line: int
    column: int
    source: str
    true_on: tuple[int, ...] = ()


@dataclass(frozen=True)
class Judgement:
    """The verdict for one (option, value, SM) with its proof. ``value`` is ``"*"`` where the option is merely set."""

    sm: int
    value: Any
    verdict: Verdict
    summary: str
    active_on: tuple[int, ...] = ()
    effects: tuple[Effect, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True)
class DefaultAlternative:
    """One value that an option may take on an SM when nobody sets it, and the condition under which it does."""

    value: Any
    when: str | None
    file: str
    line: int


@dataclass(frozen=True)
class OptionReport:
    """An option, its judgements for the requested SMs in (value, SM) order, and its defaults by SM (empty: as declared)."""

    option: Option
    judgements: tuple[Judgement, ...] = ()
    defaults: tuple[tuple[int, tuple[DefaultAlternative, ...]], ...] = ()
