"""Whatever bytes a log is made of, reading it ends in starts or in one refusal. GATECHECK_FUZZ_CASES asks for more cases."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sm_gatecheck.logs import Log, LogError
from sm_gatecheck.logs.comparison import compare
from sm_gatecheck.report.log_json import log_document
from sm_gatecheck.report.log_text import Shown, Style, render
from tests.logs.logs import LOGS, log_of, rules

CASES = int(os.environ.get("GATECHECK_FUZZ_CASES", "300"))

PIECES = (
    "server_args=",
    "ServerArgs(",
    "{'a': ",
    "model_path='m', ",
    "a=1, ",
    "sizes=[1, ",
    "<Mode.A: 'a'>",
    "float('inf')",
    ")",
    "}",
    "]",
    "'",
    '"',
    "\\",
    "\n",
    "\r\n",
    ", ",
    "[2026-01-01 00:00:00 TP0] ",
    "Nov 30 11:40:01 box sglang[811]: ",
    "2026-11-30T11:40:01.123456789Z stderr P ",
    "2026-11-30T11:40:01.123456789Z stderr F ",
    '{"log":"',
    '","stream":"stderr"}',
    "sglang-1  | ",
    "\x1b[36m",
    "\x00",
    "\u202e",
    "Load weight end. type=",
    "avail mem=",
    "mem usage=",
    "max_total_num_tokens=",
    "max_prefill_tokens=",
    "max_running_requests=",
    "12.50 GB",
    "-7",
    "9" * 400,
)
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=60).map(
    lambda pieces: "".join(pieces).encode("utf-8", "surrogatepass")
)
SAMPLES = [path.read_bytes() for path in sorted(LOGS.iterdir()) if path.suffix in (".log", ".json")]


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A real log with stretches of it taken out, doubled or overwritten."""
    raw = draw(st.sampled_from(SAMPLES))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(raw)))
        end = draw(st.integers(start, min(len(raw), start + 200)))
        raw = raw[:start] + draw(st.sampled_from((b"", raw[start:end] * 2)) | st.binary(max_size=12)) + raw[end:]
    return raw


def read(raw: bytes) -> Log | None:
    try:
        return log_of(raw)
    except LogError as error:
        refusal = str(error)
    assert "\n" not in refusal
    return None


@settings(max_examples=CASES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TEXTS | damaged() | st.binary(max_size=300))
def test_any_bytes(raw: bytes) -> None:
    log = read(raw)
    if log is None:
        return
    shown = Shown(log, log.starts[-1])
    for start in log.starts:
        assert start.line >= 1
        assert all(reading.line >= 1 for figure in start.figures for reading in figure.readings)
    comparison = compare(log.starts[0], log.starts[-1], rules().is_drawn)
    text = render([shown, shown], Style(100, False, 1), comparison=comparison) + render([shown], Style(100, False, 1))
    assert not set(text) & set("\x00\x1b\u202e")
    log_document([shown], None, None, comparison)
