"""Runs the command line in this process and keeps what it wrote where."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sm_gatecheck.cli.commands import check, matrix
from sm_gatecheck.cli.inventory import Context
from sm_gatecheck.cli.main import main
from sm_gatecheck.cli.session import Gpus, Rules
from sm_gatecheck.model.report import Report
from tests.report.samples import sample

FUSION_STORY = str(Path(__file__).parents[2] / "fixtures" / "fusion-story")


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    status: int
    stdout: str
    stderr: str


Run = Callable[..., Ended]


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "100")

    def run_it(*arguments: str) -> Ended:
        status = main(arguments)
        written = capfdbinary.readouterr()
        return Ended(status, written.out.decode("utf-8"), written.err.decode("utf-8"))

    return run_it


@dataclass
class Asked:
    """What a command asked of the analysis, which these tests leave out."""

    target: str | None = None
    gpus: Gpus | None = None
    context: Context | None = None
    report: Report | None = None


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """The analysis replaced by a report made by hand for the SMs of it that were asked for."""
    seen = Asked()

    def take_inventory(target: str | None, gpus: Gpus, rules: Rules, context: Context, *_: Any) -> Any:
        seen.target, seen.gpus, seen.context = target, gpus, context
        return seen.report or sample(tuple(sm for sm in gpus.sms if sm in (90, 100, 120, 121)))

    for command in (check, matrix):
        monkeypatch.setattr(command, "take_inventory", take_inventory)
    return seen
