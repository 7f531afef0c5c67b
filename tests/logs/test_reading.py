from __future__ import annotations

import contextlib
import json
import os
import time
from pathlib import Path

import pytest

from sm_gatecheck.logs import LogError, open_log, read_log
from sm_gatecheck.logs.lines import LINE_LIMIT
from sm_gatecheck.logs.model import Unread
from sm_gatecheck.model.errors import UsageError
from sm_gatecheck.rulebook import Rulebook, RulesError
from tests.logs.logs import LOGS, fixture, log_of, rules, start_of

ARGUMENTS = {
    "model_path": "/srv/models/chat",
    "tp_size": 4,
    "queue_order": "arrival",
    "enable_flashinfer_allreduce_fusion": True,
    "disable_piecewise_cuda_graph": True,
    "enable_wide_loads": True,
}
READY = "max_total_num_tokens=100, chunked_prefill_size=8192, max_prefill_tokens=16384, max_running_requests=48, context_len=4096"


@pytest.mark.parametrize("name", ["with-fusion.log", "docker.json", "compose.log", "runtime.log"])
def test_every_supervisor_says_the_same(name: str) -> None:
    (start,) = fixture(name).starts
    assert start.arguments == ARGUMENTS
    assert (start.form, start.is_cut, start.architecture) == ("repr", False, "TwoLayerForCausalLM")
    figures = {figure.name: figure.value for figure in start.figures}
    assert figures == {
        "max_running_requests": 26,
        "max_total_num_tokens": 141056,
        "chunked_prefill_size": 8192,
        "max_prefill_tokens": 16384,
        "context_len": 262144,
        "free_before_weights": 93.1,
        "weights": 59.7,
        "free_after_weights": 33.4,
        "free_at_last": 6.1,
    }


def test_lines_are_those_of_the_file() -> None:
    start = fixture("with-fusion.log").starts[0]
    weights = start.figure("weights")
    assert weights is not None
    assert (start.line, weights.line) == (1, 5)  # rank 0's, not that of rank 1 before it


def test_a_journal_holds_several_starts() -> None:
    first, second = fixture("restarts.log").starts
    assert (first.line, second.line) == (1, 7)
    assert [start.figure("max_running_requests").value for start in (first, second)] == [26, 48]  # type: ignore[union-attr]


def test_what_two_processes_say_of_one_start_is_one() -> None:
    line = "[2026-01-01 00:00:00] server_args=ServerArgs(a=1)\n"
    assert len(log_of(line * 2).starts) == 1
    assert len(log_of(line + READY + "\n" + line).starts) == 2
    assert len(log_of(line + line.replace("a=1", "a=2")).starts) == 2


def test_the_later_form() -> None:
    start = start_of("[x] server_args={'a': 'b', 'graphs': Graphs(decode=Phase(bs=[1, 2]), mode=<Mode.A: 'a'>), 'c': {'d': None}}\n")
    assert start.form == "dict"
    assert start.arguments == {"a": "b", "graphs": {"decode": {"bs": [1, 2]}, "mode": "a"}, "c": {"d": None}}


@pytest.mark.parametrize("width", [7, 40, 80])
@pytest.mark.parametrize("prefix", ["", "Nov 30 11:40:01 box sglang[811]: ", "sglang-1  | "])
def test_arguments_that_a_window_has_broken(width: int, prefix: str) -> None:
    text = "server_args=ServerArgs(model_path='a (b) c', sizes=[1, 2, 3], note='it\\'s {', other=\"'(\", last=True)"
    whole = start_of(text).arguments
    head = len("server_args=ServerArgs(")
    pieces = [text[:head], *(text[at : at + width] for at in range(head, len(text), width))]
    broken = "".join(f"{prefix}{piece}\n" for piece in pieces)
    found = start_of(broken + "[2026-01-01 00:00:00] " + READY + "\n")
    assert found.arguments == whole
    assert found.figure("max_running_requests") is not None


def test_arguments_that_are_cut_off() -> None:
    start = start_of("[x] server_args=ServerArgs(a=1, b=[2, 3\n" + f"{READY}\n" + "nothing\n")
    assert (start.arguments, start.is_cut) == ({"a": 1}, True)
    assert start.figure("context_len") is not None


def test_a_log_that_begins_later() -> None:
    start = start_of(f"[x] {READY}\n")
    assert start.arguments is None
    assert start.figure("max_running_requests") is not None


def test_the_draft_model_s_figures_come_after_the_target_s() -> None:
    start = start_of("[x] Load weight end. type=Big, mem usage=60.00 GB.\n[x] Load weight end. type=Draft, mem usage=2.50 GB.\n")
    weights = start.figure("weights")
    assert weights is not None
    assert [reading.value for reading in weights.readings] == [60.0, 2.5]
    assert start.architecture == "Big"


def test_what_the_server_took_for_its_memory_stands_before_the_arguments() -> None:
    text = "[x] Reported total GPU memory per device (MiB): [124610, 130000], using min: 124610 MiB.\nserver_args=ServerArgs(a=1)\n"
    first, second = log_of(text + "[x] Load weight begin. avail mem=1.00 GB\nserver_args=ServerArgs(a=2)\n").starts
    assert (first.gpu_memory, second.gpu_memory) == (124610, None)


def test_the_state_cache_of_hybrid_models() -> None:
    start = start_of("[x] Mamba Cache is allocated. max_mamba_cache_size: 43, conv_state size: 0.12GB, ssm_state size: 3.09GB \n")
    assert {figure.name: figure.value for figure in start.figures} == {"mamba_cache_requests": 43, "mamba_cache": 3.09}


def test_a_notebook_s_indentation() -> None:
    log = log_of(
        "    [2026-02-18 03:19:27] INFO engine.py:156: server_args=ServerArgs(a=1, b=\n\n\n    [2026-02-18 03:19:28] INFO x.py:1: more\n"
    )
    assert log.starts[0].arguments == {"a": 1}


def test_secrets_are_not_kept() -> None:
    arguments = start_of("server_args=ServerArgs(api_key='tok-123', admin_api_key=None, max_token=5)").arguments
    assert arguments == {"api_key": Unread("***"), "admin_api_key": None, "max_token": 5}


@pytest.mark.parametrize("text", ["", "\n\n", "server_args=None\n", "hello\n", "server_args=", "\x00\xff binary \x1b[31m"])
def test_no_start(text: str) -> None:
    with pytest.raises(LogError, match=r"server\.log: no start of a server is in it"):
        log_of(text.encode("latin-1"))


def test_encodings_and_line_ends() -> None:
    line = "[x] server_args=ServerArgs(a='é')\r\n"
    for raw in (line.encode(), b"\xef\xbb\xbf" + line.encode(), line.encode("utf-16")):
        assert start_of(raw).arguments == {"a": "é"}
    assert start_of(b"server_args=ServerArgs(a=1, b='\xff')").arguments == {"a": 1, "b": "\ufffd"}


def test_the_journal_as_json() -> None:
    text = "[x] server_args=ServerArgs(a=1)"
    assert start_of(json.dumps({"MESSAGE": text}) + "\n").arguments == {"a": 1}
    assert start_of(json.dumps({"MESSAGE": list(text.encode())}) + "\n").arguments == {"a": 1}
    assert start_of(json.dumps({"message": text, "level": "info"}) + "\n").arguments == {"a": 1}


def test_a_line_that_is_too_long_costs_its_end() -> None:
    log = log_of("[x] server_args=ServerArgs(a=1, b='" + "x" * (2 * LINE_LIMIT) + "')\n" + READY + "\n")
    (start,) = log.starts
    assert (start.arguments, start.is_cut) == ({"a": 1}, True)
    assert start.figure("max_running_requests") is not None
    assert log.notes == (f"line 1 is longer than {LINE_LIMIT:,} bytes: only its beginning was read",)


@pytest.mark.parametrize(
    "unit",
    [
        b"server_args=ServerArgs(",
        b"server_args=ServerArgs(\n",
        b"server_args=ServerArgs(a=1)\n",
        b"server_args={'a': '\n",
        b"server_args=ServerArgs(a=((((\n)\n",
        b'{"log":"x","stream":"a"}\n',
        b"max_total_num_tokens=1 max_running_requests=2\n",
        b"Load weight end. avail mem=" + b"9" * 300 + b"\n",
        b"\x1b[" + b"1;" * 50 + b"\n",
        b"Nov 30 11:40:01 " + b"a" * 200 + b"\n",
        os.urandom(1000),
    ],
)
def test_hostile_logs_end_soon(unit: bytes) -> None:
    started = time.monotonic()
    with contextlib.suppress(LogError):
        log_of(unit * (1_000_000 // len(unit)))
    assert time.monotonic() - started < 20


def test_a_file_that_cannot_be_read() -> None:
    for path, words in ((LOGS / "missing.log", "no such file"), (LOGS, "is a directory")):
        with pytest.raises(UsageError, match=words), open_log(path) as stream:
            read_log(stream, str(path), rules())


def test_rules_say_what_is_wrong(tmp_path: Path) -> None:
    folder = tmp_path / "sglang"
    folder.mkdir()
    for text, words in (("", "arguments is missing"), ("[arguments]\nmarker = 3\n", "marker: a text is needed")):
        (folder / "log.toml").write_text(text)
        with pytest.raises(RulesError, match=words):
            type(rules()).read(Rulebook.open(folder.parent))


def test_the_shipped_rules_are_whole() -> None:
    names = [rule.name for rule in rules().figures]
    assert len(names) == len(set(names))
    assert all(rule.markers and rule.key for rule in rules().figures)
