"""The exit status of a run, and what is said on stderr beside the report."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from sm_gatecheck.checks.weights import LIKE
from sm_gatecheck.cli.refusal import one_line
from sm_gatecheck.model.report import Diagnostic, Finding
from sm_gatecheck.model.verdict import Verdict
from sm_gatecheck.verdicts.findings import VERDICT_OF

NOTHING = 0
FINDINGS = 1
LEFT_OUT = 4

_REJECTED = {Verdict.REJECTED}
_HARMFUL = _REJECTED | {Verdict.NOOP_WITH_SIDE_EFFECTS}
_NOOP = _HARMFUL | {Verdict.OVERRIDDEN, Verdict.NOOP}
_THRESHOLDS: dict[str, set[Verdict]] = {"rejected": _REJECTED, "harmful": _HARMFUL, "noop": _NOOP, "never": set()}
FAIL_ON = ("rejected", "harmful", "noop", "any", "never")


def exit_status(findings: Iterable[Finding], diagnostics: Iterable[Diagnostic], fail_on: str, strict: bool) -> int:
    """1 for a finding at or above ``fail_on``; else 4 when ``strict`` and something was left out; else 0."""
    if any(counts(finding, fail_on) for finding in findings):
        return FINDINGS
    left_out = list(diagnostics) if strict else []
    if left_out:
        first, more = left_out[0], len(left_out) - 1
        also = f", and {counted(more, 'thing', 'things')} more" if more else ""
        say(f"--strict: {first.file}:{first.line}: {first.message}{also}; that was left out, so the status is {LEFT_OUT}")
    return LEFT_OUT if left_out else NOTHING


def counts(finding: Finding, fail_on: str) -> bool:
    """Whether a finding is at or above ``fail_on``."""
    verdict = VERDICT_OF.get(finding.rule) or LIKE.get(finding.rule)
    return fail_on == "any" or verdict in _THRESHOLDS[fail_on]


def counted(number: int, one: str, many: str) -> str:
    """``1 finding is``, ``2 findings are``."""
    return f"{number:,} {one if number == 1 else many}"


def say(message: str, quiet: bool = False) -> None:
    """A line on stderr for a person; never data."""
    if not quiet and sys.stderr is not None:
        print(f"gatecheck: {one_line(message)}", file=sys.stderr)
