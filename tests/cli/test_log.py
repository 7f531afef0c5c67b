"""``gatecheck log`` as it is run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from sm_gatecheck.report import schema
from tests.cli.conftest import FUSION_STORY, Run

LOGS = Path(__file__).parents[2] / "fixtures" / "logs"
BEFORE, AFTER, RESTARTS = (str(LOGS / name) for name in ("with-fusion.log", "without-fusion.log", "restarts.log"))
TREE = ("--sm", "120", "--tree", FUSION_STORY)
FUSION = "enable_flashinfer_allreduce_fusion"


def document(run: Run, *arguments: str) -> Any:
    ended = run("log", "--format", "json", *arguments)
    assert ended.status == 0, ended.stderr
    found = json.loads(ended.stdout)
    whole = schema.document()
    jsonschema.Draft202012Validator({"$ref": "#/$defs/log_report", "$defs": whole["$defs"]}).validate(found)
    return found


def test_one_log(run: Run) -> None:
    ended = run("log", BEFORE)
    assert (ended.status, ended.stderr) == (0, "")
    for words in ("6 arguments, model class TwoLayerForCausalLM", "26  requests that run at once  line 6", f"{FUSION}  True"):
        assert words in ended.stdout
    found = document(run, BEFORE)
    assert found["logs"][0]["arguments"]["tp_size"] == 4
    assert (found["source"], found["prediction"], found["comparison"]) == (None, None, None)


def test_before_and_after(run: Run) -> None:
    ended = run("log", *TREE, BEFORE, AFTER)
    assert ended.status == 0
    for words in (
        "requests that run at once: 26 → 48  (+22)",
        f"{FUSION}: True → False  set by the launch",
        f"follows from {FUSION}  srt/server_args.py:",
        "takes memory at start-up: pre_initialize_workspaces(…); on this SM it does nothing and still",
    ):
        assert words in ended.stdout
    found = document(run, *TREE, BEFORE, AFTER)["comparison"]
    figure = next(figure for figure in found["figures"] if figure["name"] == "max_running_requests")
    assert (figure["before"], figure["after"]) == (26, 48)
    assert figure["behind"][0]["verdict"] == "noop_with_side_effects"
    assert figure["behind"][0]["file"] == "srt/model_executor/model_runner.py"


def test_two_starts_of_one_log(run: Run) -> None:
    assert run("log", "--start", "1", "--start", "2", RESTARTS).stdout.count("→") == run("log", BEFORE, AFTER).stdout.count("→")
    assert "start 1 of 2" in run("log", "--start", "1", RESTARTS).stdout
    assert "start 2 of 2" in run("log", RESTARTS).stdout


def test_against_a_tree(run: Run, tmp_path: Path) -> None:
    found = document(run, *TREE, BEFORE)
    assert found["source"]["sglang_version"] == "0.5.12"
    assert found["prediction"]["counts"]["differs"] == 0
    assert found["prediction"]["is_launch_known"] is False
    words = ("--", "--model-path", "/srv/models/chat", "--tp-size", "4", f"--{FUSION.replace('_', '-')}", "--enable-wide-loads")
    told = document(run, *TREE, BEFORE, *words)
    assert told["prediction"]["is_launch_known"] is True
    assert told["prediction"]["counts"]["differs"] == 0
    unit = tmp_path / "server.service"
    unit.write_text("[Service]\nExecStart=python -m sglang.launch_server " + " ".join(words[1:-1]) + "\n")
    launched = document(run, *TREE, BEFORE, "--launch", str(unit))["prediction"]
    assert [row["field"] for row in launched["arguments"] if row["agreement"] == "differs"] == ["enable_wide_loads"]


def test_statuses(run: Run, tmp_path: Path) -> None:
    cut = tmp_path / "cut.log"
    cut.write_text("server_args=ServerArgs(model_path='m', tp_si")
    assert run("log", "--fail-on", "any", BEFORE, AFTER).status == 1
    assert run("log", "--fail-on", "any", BEFORE, BEFORE).status == 0
    assert run("log", str(cut)).status == 0
    assert run("log", "--strict", str(cut)).status == 4


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        ((), 2, "Missing argument"),
        ((BEFORE, AFTER, BEFORE), 2, "3 logs are too many"),
        (("missing.log",), 2, "missing.log: no such file"),
        ((str(LOGS / "README.md"),), 3, "no start of a server is in it"),
        (("--start", "5", BEFORE), 2, "holds 1 start, numbered from 1"),
        (("--start", "0", BEFORE), 2, "--start 0"),
        (("--start", "1", BEFORE, AFTER), 2, "--start goes once with one log"),
        (("--sm", "90,120", "--tree", FUSION_STORY, BEFORE), 2, "a log is of one kind of GPU, and 2 are named"),
        ((BEFORE, "--", "--tp", "4"), 2, "a launch is held against a tree"),
        ((*TREE, BEFORE, AFTER, "--", "--tp", "4"), 2, "go with one log"),
        (("--sm", "120", "--tree", str(LOGS), BEFORE), 3, "fixtures/logs"),
    ],
)
def test_refusals_are_one_line(run: Run, arguments: tuple[str, ...], status: int, words: str) -> None:
    ended = run("log", *arguments)
    assert ended.status == status
    assert words in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert ended.stdout == ""


def test_what_a_log_says_is_neutralised(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "odd.log"
    log.write_text("server_args=ServerArgs(a\u202eb='\\x1b[31mred\\n', c='\u202e')\nLoad weight end. type=A, mem usage=1.00 GB\n")
    ended = run("log", "-v", str(log))
    assert "\x1b" not in ended.stdout
    assert "\u202e" not in ended.stdout
