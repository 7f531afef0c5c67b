"""Which commit changed the verdict of an option: halves the history, and judges one option at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sm_gatecheck.model.bisection import Verdicts
from sm_gatecheck.model.difference import Change
from sm_gatecheck.model.explanation import Explanation
from sm_gatecheck.model.report import Report
from sm_gatecheck.model.verdict import OptionReport
from sm_gatecheck.verdicts.diff import compare


def first_that_differs(commits: Sequence[str], is_as_before: Callable[[str], bool]) -> int:
    """The index of the first commit for which ``is_as_before`` is false, where the last is known to be one."""
    low, high = 0, len(commits) - 1
    while low < high:
        middle = (low + high) // 2
        if is_as_before(commits[middle]):
            low = middle + 1
        else:
            high = middle
    return low


def verdicts_of(commit: str, explained: Explanation | None) -> Verdicts:
    """The verdicts of an explanation; none without one."""
    if explained is None:
        return Verdicts(commit, ())
    return Verdicts(commit, tuple((answer.value, j.sm, j.verdict) for answer in explained.answers for j in answer.judgements))


def same(one: Verdicts, other: Verdicts) -> bool:
    """Whether two commits say the same of the option. A value that only one of them judges tells them apart."""
    return sorted(map(repr, one.rows)) == sorted(map(repr, other.rows))


def changes_between(one: Explanation | None, other: Explanation | None) -> tuple[Change, ...]:
    """What is different from one commit to the next, and why."""
    if one is None and other is None:
        return ()
    template = one or other
    assert template is not None
    return compare(_as_report(one, template), _as_report(other, template)).changes


def _as_report(explained: Explanation | None, template: Explanation) -> Report:
    whole = Report(template.source, template.assumptions, template.sms, ())
    if explained is None:
        return whole
    judgements = tuple(judgement for answer in explained.answers for judgement in answer.judgements)
    return replace(whole, source=explained.source, options=(OptionReport(explained.option, judgements, explained.defaults),))
