"""Work in shares: the same answer however many processes there are, and whatever a share raises is heard of."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from sm_gatecheck.model.condition import ANY
from sm_gatecheck.model.errors import TreeError
from sm_gatecheck.model.report import Report, Source
from sm_gatecheck.trees.tree import Tree
from sm_gatecheck.verdicts import shares
from sm_gatecheck.verdicts.analysis import analyse
from sm_gatecheck.verdicts.request import Request
from sm_gatecheck.verdicts.shares import SHARED_FROM, SHARES, ShareFailed, in_shares

FIXTURE = Path(__file__).parents[2] / "fixtures" / "fusion-story" / "sglang"
MANY = range(SHARED_FROM)

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork: shares are done in one process")


def squares(share: Sequence[int]) -> tuple[int, list[int]]:
    return os.getpid(), [number * number for number in share]


@needs_fork
@pytest.mark.parametrize("processes", [1, 2, 20, None])
def test_the_shares_are_the_same_for_any_number_of_processes(processes: int | None) -> None:
    answers = in_shares(MANY, squares, processes)
    assert [numbers for _, numbers in answers] == [[n * n for n in MANY[first::SHARES]] for first in range(SHARES)]
    assert os.getpid() not in {pid for pid, _ in answers}


def test_little_work_stays_here() -> None:
    assert in_shares(MANY[1:], squares, 2) == [(os.getpid(), [n * n for n in MANY[1:]])]


@needs_fork
def test_what_a_share_raises_is_raised() -> None:
    def refuse(share: Sequence[int]) -> None:
        if 3 in share:
            raise TreeError("no such tree")

    with pytest.raises(TreeError, match="no such tree"):
        in_shares(MANY, refuse, 2)


@needs_fork
def test_what_cannot_be_handed_on_is_told_of() -> None:
    class Odd(Exception):
        def __init__(self, first: int, second: int) -> None:
            super().__init__("odd")

    def refuse(share: Sequence[int]) -> None:
        raise Odd(1, 2)

    with pytest.raises(ShareFailed, match="odd"):
        in_shares(MANY, refuse, 2)


@needs_fork
def test_a_share_that_the_system_ends_is_a_lack_of_memory() -> None:
    def die(share: Sequence[int]) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(MemoryError):
        in_shares(MANY, die, 2)
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)  # the others were ended too


@needs_fork
def test_a_value_that_stands_for_any_other_stays_that_one() -> None:
    assert all(answer is ANY for answer in in_shares(MANY, lambda share: ANY, 2))


def test_a_report_does_not_tell_how_it_was_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {path.relative_to(FIXTURE).as_posix(): path.read_bytes() for path in sorted(FIXTURE.rglob("*.py"))}
    tree = Tree(Source("story", "package", None), files)

    def report(processes: int) -> Report:
        found = analyse(tree, Request(sms=(90, 120), use_cache=False, processes=processes))
        return replace(found, statistics=replace(found.statistics, seconds=0.0))

    whole = report(1)
    monkeypatch.setattr(shares, "SHARED_FROM", 2)
    assert whole == report(1) == report(3)
    assert whole.statistics.coverage.sites > 0
