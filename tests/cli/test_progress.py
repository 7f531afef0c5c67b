from __future__ import annotations

import io
import sys
import time

import pytest

from sm_gatecheck.cli.progress import DelayedProgress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def drawn(stream: io.StringIO, clock: list[float], seconds: float, enabled: bool = True) -> str:
    monkeypatched, sys.stderr = sys.stderr, stream
    try:
        with DelayedProgress(enabled) as progress:
            for done in range(5):
                clock[0] += seconds / 5
                progress("reading [bold]files", done, 5)
    finally:
        sys.stderr = monkeypatched
    return stream.getvalue()


def test_nothing_is_drawn_in_the_first_second(clock: list[float]) -> None:
    assert drawn(Terminal(), clock, 0.9) == ""


def test_a_bar_is_drawn_after_it_and_taken_away_again(clock: list[float]) -> None:
    text = drawn(Terminal(), clock, 5)
    assert "reading [bold]files" in text
    assert "4/5" in text
    assert text.rstrip().endswith("\x1b[2K") or "\x1b[?25h" in text


def test_a_pipe_and_quiet_see_none(clock: list[float]) -> None:
    assert drawn(io.StringIO(), clock, 5) == ""
    assert drawn(Terminal(), clock, 5, enabled=False) == ""
