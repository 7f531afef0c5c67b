"""What a launch file starts, as values: each says where in the file it was written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sm_gatecheck.model.errors import UsageError
from sm_gatecheck.model.span import Span

ProblemKind = Literal[
    "unknown-flag",
    "unknown-field",
    "ambiguous-flag",
    "missing-value",
    "unexpected-value",
    "unexpected-argument",
    "bad-value",
    "bad-choice",
    "flag-without-effect",
    "config",
    "syntax",
    "limit",
]


class LaunchError(UsageError):
    """A launch file cannot be read at all; the message is one line that names it and the mend."""


@dataclass(frozen=True, order=True)
class Extent:
    """A stretch of a file. Lines and columns (characters) count from 1; ``start`` and ``end`` are bytes of the file as it lies on disk."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    start: int
    end: int

    @property
    def span(self) -> Span:
        return Span(self.file, self.line, self.column)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True)
class Problem:
    """Why a launch will not do what it says, or could not be read in full; ``suggestion`` is what to write instead, where one is near."""

    kind: ProblemKind
    message: str
    span: Span
    flag: str | None = None
    suggestion: str | None = None


@dataclass(frozen=True)
class LaunchValue:
    """What a launch gives an option or an environment variable.

    ``value`` is typed as the option's declaration types it; where it rests on something unknown it is the text as written
    (``$TP``) and ``unresolved`` names what. ``span`` is where the flag (or key, or variable) was written, ``flag`` how.
    ``extent`` and ``value_extents`` are the stretches of the file that hold flag and values: where they were *written*, be
    it in an array or a variable; ``used`` is where the command takes the flag in, if that is another place, ``values_used`` where
    it takes in the values. ``assumed`` says what
    was taken for granted (a default of ``${X:-y}``), ``when`` under which condition the value counts (None: always).
    ``is_stored`` is False for what the server's parser takes and drops, ``overridden`` holds earlier values of the same option.
    """

    value: Any
    span: Span
    flag: str
    extent: Extent
    value_extents: tuple[Extent, ...] = ()
    used: Extent | None = None
    text: str = ""
    when: str | None = None
    assumed: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()
    is_deprecated: bool = False
    is_stored: bool = True
    values_used: tuple[Extent, ...] = ()
    overridden: tuple[LaunchValue, ...] = ()

    @property
    def is_resolved(self) -> bool:
        return not self.unresolved


@dataclass(frozen=True)
class VersionMention:
    """A release that a launch names: ``version`` without the ``v``, ``text`` as written, ``source`` what kind of place names it."""

    version: str
    span: Span
    text: str
    source: Literal["image", "requirement"]


@dataclass(frozen=True)
class Launch:
    """One start of the server. ``options`` are what it sets for certain, ``conditional`` what it sets under a condition (each
    value carries it as ``when``; environment variables stand there as ``env:NAME``). ``ignored`` is what the file says and the
    server never gets to see (``false`` for a switch). ``unresolved`` lists what this file alone does not tell. ``when`` is the
    condition of the launch as a whole, ``name`` what the file calls it (a service, a container, a program).
    """

    file: str
    line: int
    entry: str
    format: str
    span: Span
    options: Mapping[str, LaunchValue] = field(default_factory=dict)
    environment: Mapping[str, LaunchValue] = field(default_factory=dict)
    conditional: Mapping[str, tuple[LaunchValue, ...]] = field(default_factory=dict)
    ignored: Mapping[str, LaunchValue] = field(default_factory=dict)
    unresolved: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    sglang_version: VersionMention | None = None
    model_path: str | None = None
    name: str | None = None
    when: str | None = None
    config: str | None = None

    @property
    def values(self) -> dict[str, Any]:
        """The options by field as plain values."""
        return {name: setting.value for name, setting in self.options.items()}
