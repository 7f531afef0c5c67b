"""What counts as reading an attribute by its name."""

from __future__ import annotations

import pytest

from sm_gatecheck.program.modules import Module
from sm_gatecheck.verdicts.readers import may_read


@pytest.mark.parametrize(
    "source",
    [
        "x = args.enable_rows",
        "x = getattr(args, 'enable_rows', False)",
        "x = args['enable_rows']",
        "def run(enable_rows=False): return enable_rows",
        "match args:\n    case Args(enable_rows=True): x = 1",
        "del args.enable_rows",
    ],
)
def test_reads(source: str) -> None:
    assert may_read(_module(source), "enable_rows")


@pytest.mark.parametrize(
    "source",
    [
        "def enable_rows(): pass",
        "enable_rows()",
        "from a import enable_rows",
        "self.enable_rows = False",
        "make(enable_rows=True)",
        "x = 'set enable_rows to true'",
        "x = args.enable_rows_too",
    ],
)
def test_reads_nothing(source: str) -> None:
    assert not may_read(_module(source), "enable_rows")


def _module(source: str) -> Module:
    return Module("sglang.a", "a.py", source.encode(), False)
