from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from sm_gatecheck.model.report import Diagnostic
from sm_gatecheck.report import schema
from tests.cli.conftest import Asked, Run
from tests.report.samples import sample


@pytest.mark.parametrize(
    "arguments",
    [
        ("--sm", "120", "TREE"),
        ("TREE", "--sm", "120"),
        ("check", "--sm", "120", "TREE"),
        ("check", "TREE", "--sm=120"),
        ("--sm", "120", "check", "TREE"),
        ("--sm", "sm_120", "-q", "check", "TREE", "-v"),
        ("--gpu", "rtx pro 6000 blackwell server", "TREE"),
    ],
)
def test_check_is_the_default_command_and_options_stand_where_they_like(run: Run, asked: Asked, arguments: tuple[str, ...]) -> None:
    assert run(*arguments).status == 0
    assert asked.target == "TREE"
    assert asked.gpus is not None
    assert asked.gpus.sms == (120,)


def test_without_a_tree_the_installed_one_is_asked_for(run: Run, asked: Asked) -> None:
    assert run("--sm", "90").status == 0
    assert asked.target is None


def test_several_sms_are_put_together(run: Run, asked: Asked) -> None:
    run("--sm", "120,90", "--sm", "9.0", "--gpu", "B200", "TREE")
    assert asked.gpus is not None
    assert asked.gpus.sms == (90, 100, 120)
    assert asked.gpus.memory_mib is None


def test_the_memory_of_a_named_product_goes_with_it(run: Run, asked: Asked) -> None:
    run("--gpu", "RTX 5090", "TREE")
    assert asked.gpus is not None
    assert asked.gpus.memory_mib == 32607


def test_what_is_assumed_reaches_the_analysis(run: Run, asked: Asked) -> None:
    options = ("--set", "tp_size=4", "--set", "model_arch=X", "--cuda", "13.0", "--gpu-memory", "96GiB", "--no-cache", "-j", "2")
    assert run("--sm", "120", "TREE", *options, "--model-config", "config.json").status == 0
    assert asked.context is not None
    assert asked.context.settings == ("tp_size=4", "model_arch=X")
    assert (asked.context.cuda, asked.context.gpu_memory, asked.context.use_cache, asked.context.processes) == ("13.0", 98304, False, 2)
    assert asked.context.model_config == Path("config.json")


def test_the_text_report_is_on_stdout_alone(run: Run, asked: Asked) -> None:
    ended = run("--sm", "120", "TREE")
    assert ended.stderr == ""
    assert "On SM120 (RTX PRO 6000" in ended.stdout
    assert "Refused  GC101" in ended.stdout
    assert "\x1b" not in ended.stdout


def test_json_is_valid_and_complete(run: Run, asked: Asked) -> None:
    ended = run("--sm", "90,120", "TREE", "--format", "json")
    document = json.loads(ended.stdout)
    jsonschema.Draft202012Validator(schema.document()).validate(document)
    assert document["sms"] == [90, 120]
    assert ended.stderr == ""


def test_markdown_names_the_command_that_makes_it_again(run: Run, asked: Asked) -> None:
    ended = run("TREE", "--format", "markdown", "--set", "b=2", "--set", "a=1", "--sm", "120", "--sm", "90", "--no-cache", "--cuda", "13.0")
    assert "`gatecheck check --sm 90,120 --set a=1 --set b=2 --cuda 13.0 TREE`" in ended.stdout


@pytest.mark.parametrize(
    ("sms", "fail_on", "status"),
    [
        ("90,100,120", "never", 0),
        ("120", "rejected", 1),
        ("100", "rejected", 0),
        ("100", "harmful", 0),
        ("120", "harmful", 1),
        ("100", "noop", 1),
        ("100", "any", 1),
        ("120", "ANY", 1),
    ],
)
def test_fail_on(run: Run, asked: Asked, sms: str, fail_on: str, status: int) -> None:
    assert run("--sm", sms, "TREE", "--fail-on", fail_on).status == status


@pytest.mark.parametrize(
    ("rules", "fails"),
    [
        ({"GC101"}, {"rejected", "harmful", "noop", "any"}),
        ({"GC102"}, {"harmful", "noop", "any"}),
        ({"GC103"}, {"noop", "any"}),
        ({"GC104"}, {"noop", "any"}),
        ({"GC105"}, {"any"}),
        ({"GC201"}, {"rejected", "harmful", "noop", "any"}),
        ({"GC202"}, {"noop", "any"}),
        ({"GC203"}, {"any"}),
        ({"GC204"}, {"rejected", "harmful", "noop", "any"}),
        ({"GC205"}, {"noop", "any"}),
        ({"GC999"}, {"any"}),
        (set(), set()),
    ],
)
def test_each_kind_of_finding_fails_from_its_threshold_on(run: Run, asked: Asked, rules: set[str], fails: set[str]) -> None:
    report = sample()
    others = [replace(report.findings[0], rule=rule) for rule in ("GC201", "GC202", "GC203", "GC204", "GC205", "GC999")]
    asked.report = replace(report, findings=tuple(finding for finding in (*report.findings, *others) if finding.rule in rules))
    failed = {kind for kind in ("rejected", "harmful", "noop", "any", "never") if run("--sm", "120", "TREE", "--fail-on", kind).status}
    assert failed == fails


def test_strict_is_4_where_something_was_left_out_and_findings_count_more(run: Run, asked: Asked) -> None:
    for quiet in ((), ("-q",)):
        ended = run("--sm", "120", "TREE", "--strict", *quiet)
        assert ended.status == 4
        assert ended.stderr.startswith("gatecheck: --strict: ")
        assert ended.stderr.endswith("that was left out, so the status is 4\n")
        assert ended.stderr.count("\n") == 1
    assert run("--sm", "120", "TREE", "--strict", "--fail-on", "any").status == 1
    asked.report = replace(sample((120,)), diagnostics=())
    assert run("--sm", "120", "TREE", "--strict").status == 0
    asked.report = replace(sample((120,)), diagnostics=(Diagnostic("a.py", 1, "too large"),), findings=())
    assert run("--sm", "120", "TREE", "--strict", "--fail-on", "any").status == 4


def test_a_baseline_silences_what_it_lists(run: Run, asked: Asked, tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.json"
    written = run("--sm", "120", "TREE", "--write-baseline", str(baseline), "--fail-on", "any")
    assert written.status == 0
    assert "Refused  GC101" in written.stdout
    assert written.stderr == f"gatecheck: 7 findings listed in {baseline}\n"
    again = run("--sm", "120", "TREE", "--baseline", str(baseline), "--fail-on", "any")
    assert again.status == 0
    assert "GC1" not in again.stdout
    assert again.stderr == f"gatecheck: 7 findings are accepted by {baseline}\n"
    more = run("--sm", "90,120", "TREE", "--baseline", str(baseline), "--fail-on", "any", "--format", "json", "-q")
    assert more.status == 1
    assert {finding["sm"] for finding in json.loads(more.stdout)["findings"]} == {90}
    assert more.stderr == ""


def test_stale_entries_of_a_baseline_are_named(run: Run, asked: Asked, tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.json"
    run("--sm", "120", "TREE", "--write-baseline", str(baseline))
    baseline.write_text(baseline.read_text().replace('"reason": ""', '"reason": "known\\u001b[2J"'))
    asked.report = replace(sample((120,)), findings=sample((120,)).findings[1:])
    said = run("--sm", "120", "TREE", "--baseline", str(baseline)).stderr.splitlines()
    assert said[0].endswith("6 findings are accepted by " + f"{baseline}; 1 entry matches nothing any more")
    assert said[1:] == [f"gatecheck: {baseline}: stale: GC101 attention_backend=paged_mha on SM120 (known\\x1b[2J)"]
    asked.report = None
    assert "stale:" not in run("--sm", "90", "TREE", "--baseline", str(baseline)).stderr


def test_a_baseline_that_is_written_again_keeps_its_reasons(run: Run, asked: Asked, tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.json"
    run("--sm", "120", "TREE", "--write-baseline", str(baseline))
    explained = baseline.read_text().replace('"reason": ""', '"reason": "known"')
    baseline.write_text(explained)
    run("--sm", "120", "TREE", "--write-baseline", str(baseline))
    assert baseline.read_text() == explained
    baseline.write_text("{")
    ended = run("--sm", "120", "TREE", "--write-baseline", str(baseline))
    assert (ended.status, baseline.read_text()) == (2, "{")


def test_a_report_goes_into_a_file_whole_or_not_at_all(run: Run, asked: Asked, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    target.write_text("old")
    target.chmod(0o640)
    ended = run("--sm", "120", "TREE", "--format", "json", "-o", str(target), "--color", "always")
    assert (ended.status, ended.stdout) == (0, "")
    assert json.loads(target.read_text())["sms"] == [120]
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["out.json"]


def test_a_dash_is_stdout(run: Run, asked: Asked) -> None:
    assert "SGLang 9.9.9" in run("--sm", "120", "TREE", "-o", "-").stdout


def test_colour_is_for_those_who_ask_for_it(run: Run, asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[" in run("--sm", "120", "TREE", "--color", "always").stdout
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in run("--sm", "120", "TREE").stdout


@pytest.mark.parametrize("columns", ["80", "160"])
def test_the_width_is_that_of_columns(run: Run, asked: Asked, monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    longest = max(map(len, run("--sm", "120", "TREE").stdout.splitlines()))
    assert int(columns) - 30 < longest <= int(columns)


def test_quiet_and_verbose(run: Run, asked: Asked) -> None:
    quiet = run("--sm", "120", "TREE", "-q").stdout
    assert len(quiet.splitlines()) == 7
    verbose = run("--sm", "120", "TREE", "-v").stdout
    assert "get_args().enable_fused_reduce" in verbose
    assert "get_args().enable_fused_reduce" not in run("--sm", "120", "TREE").stdout


def test_the_gpus_of_this_machine_are_the_default(run: Run, asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    from sm_gatecheck.target import devices

    monkeypatch.setattr(devices, "local_gpus", lambda known: [devices.LocalGpu("NVIDIA GB10", (12, 1), None)])
    ended = run("TREE")
    assert asked.gpus is not None
    assert asked.gpus.sms == (121,)
    assert ended.stderr == "gatecheck: GPU of this machine: NVIDIA GB10, SM121\n"
    assert run("TREE", "-q").stderr == ""


def test_matrix(run: Run, asked: Asked) -> None:
    ended = run("matrix", "TREE")
    assert asked.gpus is not None
    assert asked.gpus.sms == (80, 89, 90, 100, 103, 120, 121)
    assert ended.stdout.startswith("# SGLang 9.9.9")
    assert "`gatecheck matrix --sm 80,89,90,100,103,120,121 TREE`" in ended.stdout
    assert run("matrix", "TREE").stdout == ended.stdout
    document = json.loads(run("matrix", "--sm", "90,120", "TREE", "--format", "json").stdout)
    assert document["sms"] == [90, 120]
    assert run("matrix", "TREE", "--strict").status == 4
