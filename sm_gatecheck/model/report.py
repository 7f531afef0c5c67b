"""The result of an analysis, ready to be rendered in any format."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from sm_gatecheck.model.gaps import NotFollowed
from sm_gatecheck.model.launch_report import LaunchReport
from sm_gatecheck.model.span import Span
from sm_gatecheck.model.verdict import OptionReport, Severity

SourceKind = Literal["checkout", "package", "wheel", "sdist", "release", "git"]


@dataclass(frozen=True)
class GitFacts:
    """The revision that a tree was read from."""

    commit: str
    dirty: bool
    branch: str | None = None
    origin: str | None = None
    """The address that the repository was cloned from, without a password, where it states one that others can reach."""


@dataclass(frozen=True)
class Source:
    """Where the tree came from: ``target`` as the user wrote it, the SGLang version where the tree states one.

    ``package`` is the path of the package's directory, as the target was written; None where it lies in no directory.
    """

    target: str
    kind: SourceKind
    sglang_version: str | None
    git: GitFacts | None = None
    package: str | None = None


@dataclass(frozen=True)
class Diagnostic:
    """Something that was left out of the analysis, and why."""

    file: str
    line: int
    message: str


@dataclass(frozen=True)
class Finding:
    """A judgement or a check that a person should look at; ``fingerprint`` has no line numbers and outlives edits.

    ``file`` and ``line`` are of the tree. ``launch`` is the place to change in the user's own files, where there is one: that of the
    flag in a launch file, say; its ``file`` is named as the user named it. ``launch_number`` is the launch of the report that it is about.
    """

    rule: str
    severity: Severity
    option: str
    value: Any
    sm: int
    message: str
    file: str
    line: int
    fingerprint: str
    launch: Span | None = None
    launch_number: int | None = None


@dataclass(frozen=True)
class Assumptions:
    """What every claim of a report rests on."""

    platform: str = "cuda"
    cuda_version: str = "12.9"
    settings: dict[str, Any] = field(default_factory=dict)
    model: str | None = None
    """The architecture of the model whose configuration was given."""
    gpu_memory: int | None = None
    """MiB of memory of the GPU, where given."""


@dataclass(frozen=True)
class Coverage:
    """How much of what bears on the options was followed."""

    options: int = 0
    gated_options: int = 0
    unknown_options: int = 0
    sites: int = 0
    gates_resolved: int = 0
    gates_unresolved: int = 0


@dataclass(frozen=True)
class Statistics:
    files_seen: int = 0
    files_parsed: int = 0
    seconds: float = 0.0
    cache: Literal["cold", "warm"] = "cold"
    coverage: Coverage = Coverage()


@dataclass(frozen=True)
class PredicateRow:
    """A device predicate and its value on each SM (None where the SM alone does not decide, with ``reason``)."""

    name: str
    file: str
    line: int
    kind: Literal["function", "constant", "property", "method"]
    values: tuple[tuple[int, Any], ...]
    undecided: tuple[tuple[int, str], ...] = ()
    """Why the value is None, by SM."""

    @property
    def reason(self) -> str | None:
        """The reasons in one line; None where there is a value on every SM."""
        by_reason: dict[str, list[int]] = {}
        for sm, why in self.undecided:
            by_reason.setdefault(why, []).append(sm)
        if len(by_reason) == 1 and len(self.undecided) == len(self.values):
            return next(iter(by_reason))
        return "; ".join(f"on SM{', SM'.join(map(str, sms))}: {why}" for why, sms in by_reason.items()) or None


@dataclass(frozen=True)
class Report:
    """Everything that ``gatecheck --sm … TREE`` found; ``launches`` are those that were gated, empty for an inventory."""

    source: Source
    assumptions: Assumptions
    sms: tuple[int, ...]
    options: tuple[OptionReport, ...]
    findings: tuple[Finding, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    statistics: Statistics = Statistics()
    not_followed: tuple[NotFollowed, ...] = ()
    launches: tuple[LaunchReport, ...] = ()
    about_code: bool = False
    """Whether the findings are about the code of the tree, at their own file and line, and not about setting an option."""
