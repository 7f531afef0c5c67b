"""What was not followed, and why: the other half of every claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum


class Reason(str, Enum):
    """Why something was not followed. ``MEANING`` says each in words."""

    NO_RESOLUTION = "no_resolution"
    RESOLUTION_STEPS = "resolution_steps"
    FUNCTION_STEPS = "function_steps"
    FUNCTION_CONDITIONS = "function_conditions"
    FUNCTION_DEPTH = "function_depth"
    CALLERS_MANY = "callers_many"
    CALLERS_HIDDEN = "callers_hidden"
    CALLERS_CONDITIONS = "callers_conditions"
    GUARD_OPAQUE = "guard_opaque"
    FILE_LEFT_OUT = "file_left_out"


MEANING: dict[Reason, str] = {
    Reason.NO_RESOLUTION: "the code that resolves the arguments was not found",
    Reason.RESOLUTION_STEPS: "the arguments could not be resolved to the end: that took too many steps",
    Reason.FUNCTION_STEPS: "a function took too many steps, and was left where that was seen",
    Reason.FUNCTION_CONDITIONS: "the conditions in a function grew too large, and it was left where that was seen",
    Reason.FUNCTION_DEPTH: "a function calls itself, or nests, too deep",
    Reason.CALLERS_MANY: "a function's name is mentioned in too many places, or is the name of several: it may be called anywhere",
    Reason.CALLERS_HIDDEN: "a function is handed on, decorated or called by a computed name: it may be called anywhere",
    Reason.CALLERS_CONDITIONS: "too many ways lead to a function: it may be called",
    Reason.GUARD_OPAQUE: "a test names the GPU in a way that was not understood: it may hold or not on every SM",
    Reason.FILE_LEFT_OUT: "a file was left out, see the diagnostics",
}


@dataclass(frozen=True)
class NotFollowed:
    """One thing that was not followed, by name and place."""

    reason: Reason
    what: str
    file: str
    line: int


def in_order(gaps: Iterable[NotFollowed]) -> tuple[NotFollowed, ...]:
    """Each once, by reason as the enum lists them, then by place."""
    order = list(Reason)
    return tuple(sorted(set(gaps), key=lambda gap: (order.index(gap.reason), gap.file, gap.line, gap.what)))


def counted_by_reason(gaps: Iterable[NotFollowed]) -> dict[Reason, int]:
    """How many for each reason that occurs, in the order of the enum."""
    counts = Counter(gap.reason for gap in gaps)
    return {reason: counts[reason] for reason in Reason if counts[reason]}
