"""Reading logs in tests."""

from __future__ import annotations

import io
from functools import cache
from pathlib import Path

from sm_gatecheck.logs import Log, Start, read_log
from sm_gatecheck.logs.rules import LogRules
from sm_gatecheck.rulebook import Rulebook

FIXTURES = Path(__file__).parents[2] / "fixtures"
LOGS = FIXTURES / "logs"


@cache
def rules() -> LogRules:
    return LogRules.read(Rulebook.open())


def log_of(text: str | bytes) -> Log:
    return read_log(io.BytesIO(text.encode() if isinstance(text, str) else text), "server.log", rules())


def start_of(text: str | bytes) -> Start:
    """The only start of a log."""
    (start,) = log_of(text).starts
    return start


def fixture(name: str) -> Log:
    return log_of((LOGS / name).read_bytes())
