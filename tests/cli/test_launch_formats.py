"""A launch in the forms that pipelines read, with its ignores, its baseline and its configuration."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

from sm_gatecheck.report import schema
from tests.cli.conftest import FUSION_STORY, Run
from tests.report.test_junit import jenkins
from tests.report.test_sarif import official

FUSION = "--enable-flashinfer-allreduce-fusion"
UNIT = f"""\
[Service]
ExecStart=/usr/bin/python3 -m sglang.launch_server \\
  --model-path /models/x \\
  {FUSION} \\
  --enable-wide-loads
"""
SCRIPT = f"python -m sglang.launch_server --model-path /m --tpp 4\npython -m sglang.launch_server {FUSION}\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test in a directory with a unit that starts one server and a script that starts two."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "chat.service").write_text(UNIT)
    (tmp_path / "two.sh").write_text(SCRIPT)
    return tmp_path


def checked(run: Run, *arguments: str, format_name: str = "json") -> str:
    ended = run("--sm", "120", FUSION_STORY, "--format", format_name, "-q", *arguments)
    assert ended.stderr == ""
    return ended.stdout


def findings(run: Run, *arguments: str) -> list[tuple[str, str | None]]:
    found = json.loads(checked(run, *arguments))["findings"]
    return [(finding["rule"], finding["launch"] and f"{finding['launch']['file']}:{finding['launch']['line']}") for finding in found]


def results(run: Run, *arguments: str) -> list[dict[str, Any]]:
    document = json.loads(checked(run, *arguments, format_name="sarif"))
    official().validate(document)
    found: list[dict[str, Any]] = document["runs"][0]["results"]
    return found


def test_sarif_points_at_the_unit_and_then_at_sglang(run: Run) -> None:
    (result,) = results(run, "--launch", "chat.service")
    assert result["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "chat.service"},
        "region": {"startLine": 4, "startColumn": 3},
    }
    related = [location["physicalLocation"] for location in result["relatedLocations"]]
    assert {where["artifactLocation"]["uriBaseId"] for where in related} == {"SGLANG_ROOT"}
    assert [where["artifactLocation"]["uri"] for where in related][:2] == ["srt/server_args.py", "srt/layers/communicator.py"]
    assert result["codeFlows"]
    assert result["properties"]["verdict"] == "noop_with_side_effects"


def test_fingerprints_survive_a_moved_line_and_tell_launches_apart(run: Run, here: Path) -> None:
    def prints(*names: str) -> list[str]:
        return [
            result["partialFingerprints"]["gatecheckFinding/v1"]
            for result in results(run, *(word for name in names for word in ("--launch", name)))
            if result["ruleId"] == "GC102"
        ]

    before = prints("chat.service", "two.sh")
    assert len(set(before)) == 2
    (here / "chat.service").write_text("# moved\n\n" + UNIT)
    assert prints("chat.service", "two.sh") == before


def test_what_lies_in_no_file_stands_at_the_declaration(run: Run) -> None:
    (result,) = results(run, "--", FUSION)
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "srt/server_args.py", "uriBaseId": "SGLANG_ROOT"}
    assert f"::error file={FUSION_STORY}" in checked(run, "--", FUSION, format_name="github")
    (unknown,) = results(run, "--", "--tpp", "4")
    assert "physicalLocation" not in unknown["locations"][0]
    assert checked(run, "--", "--tpp", "4", format_name="github").startswith("::error title=GC201 --tpp on SM120::")
    assert json.loads(checked(run, "--", "--tpp", "4", format_name="gitlab"))[0]["location"]["path"] == "."


def test_annotations_stand_at_the_lines_of_the_launches(run: Run) -> None:
    lines = checked(run, "--launch", "chat.service", "--launch", "two.sh", format_name="github").splitlines()
    assert [line.split(",title=")[0] for line in lines] == [
        "::error file=chat.service,line=4,col=3",
        "::error file=two.sh,line=1,col=48",
        "::error file=two.sh,line=2,col=32",
    ]
    issues = json.loads(checked(run, "--launch", "chat.service", "--launch", "two.sh", format_name="gitlab"))
    assert [(issue["location"]["path"], issue["location"]["lines"]["begin"]) for issue in issues] == [
        ("chat.service", 4),
        ("two.sh", 1),
        ("two.sh", 2),
    ]
    assert len({issue["fingerprint"] for issue in issues}) == 3


def test_junit_has_a_suite_a_launch_and_a_case_a_setting(run: Run) -> None:
    text = checked(run, "--launch", "chat.service", "--launch", "two.sh", "--sm", "90", format_name="junit")
    jenkins().validate(text)
    suites = list(ElementTree.fromstring(text))
    assert [suite.attrib["name"] for suite in suites] == [
        "gatecheck.SM90 chat.service:2",
        "gatecheck.SM120 chat.service:2",
        "gatecheck.SM90 two.sh:1",
        "gatecheck.SM120 two.sh:1",
        "gatecheck.SM90 two.sh:2",
        "gatecheck.SM120 two.sh:2",
    ]
    assert [suite.attrib["failures"] for suite in suites] == ["0", "1", "1", "1", "0", "1"]
    cases = {case.attrib["name"]: [child.tag for child in case] for case in suites[1].iter("testcase")}
    assert cases[f"{FUSION} [GC102]"] == ["failure"]
    assert cases["--enable-wide-loads"] == []


def test_json_lines_have_the_launches(run: Run) -> None:
    lines = [json.loads(line) for line in checked(run, "--launch", "two.sh", format_name="jsonl").splitlines()]
    assert Counter(line["type"] for line in lines) == {"run": 1, "launch": 2, "finding": 2, "end": 1}
    document = {key: value for key, value in schema.document().items() if key != "anyOf"}
    for line in lines:
        jsonschema.Draft202012Validator({**document, "$ref": "#/$defs/jsonl_line"}).validate(line)


@pytest.mark.parametrize("comment", [f"{FUSION} # gatecheck: ignore[GC102] small", f"{FUSION}\n# gatecheck: ignore-file[GC102] small"])
def test_an_ignore_in_a_script(run: Run, here: Path, comment: str) -> None:
    (here / "two.sh").write_text(SCRIPT.replace(FUSION, comment))
    assert findings(run, "--launch", "two.sh") == [("GC201", "two.sh:1")]
    assert run("--sm", "120", FUSION_STORY, "--launch", "two.sh").stderr == "gatecheck: 1 finding is ignored, as two.sh says\n"


def test_an_ignore_above_a_continued_line_of_a_unit(run: Run, here: Path) -> None:
    above = UNIT.replace(f"  {FUSION}", f"  # gatecheck: ignore[GC102] small\n  {FUSION}")
    (here / "chat.service").write_text(above)
    assert findings(run, "--launch", "chat.service") == []
    assert run("--sm", "120", FUSION_STORY, "--launch", "chat.service").status == 0


def test_an_ignore_that_matches_nothing_is_reported_in_every_format(run: Run, here: Path) -> None:
    (here / "chat.service").write_text("# gatecheck: ignore[GC101] old\n" + UNIT)
    assert ("GC901", "chat.service:1") in findings(run, "--launch", "chat.service")
    for name in ("text", "github", "junit", "gitlab", "sarif", "jsonl"):
        assert "GC901" in checked(run, "--launch", "chat.service", format_name=name), name
    text = run("--sm", "120", FUSION_STORY, "--launch", "chat.service").stdout
    assert "Ignore that matches nothing" in text
    assert "the ignore of GC101 matches nothing (it was for: old)" in text
    assert run("--sm", "120", FUSION_STORY, "--launch", "chat.service", "--fail-on", "any").status == 1


def test_an_ignore_of_everything_is_refused(run: Run, here: Path) -> None:
    (here / "chat.service").write_text("# gatecheck: ignore\n" + UNIT)
    ended = run("--sm", "120", FUSION_STORY, "--launch", "chat.service")
    assert (ended.status, ended.stdout) == (2, "")
    assert "chat.service:1: an ignore names its rules" in ended.stderr


def test_an_ignore_of_the_configuration_is_not_unused_where_one_launch_is_checked(run: Run, here: Path) -> None:
    (here / "gatecheck.toml").write_text(
        f'[[ignore]]\nrule = "GC102"\noption = "{FUSION}"\nreason = "x"\n[[ignore]]\noption = "other"\nreason = "x"\n'
    )
    assert findings(run, "--launch", "chat.service") == []
    assert findings(run, "--launch", "two.sh") == [("GC201", "two.sh:1")]


def test_a_baseline_of_launches(run: Run) -> None:
    run("--sm", "120", FUSION_STORY, "--launch", "chat.service", "--write-baseline", "base.json")
    assert findings(run, "--launch", "chat.service", "--launch", "two.sh", "--baseline", "base.json") == [
        ("GC201", "two.sh:1"),
        ("GC102", "two.sh:2"),
    ]


def test_stale_entries_name_the_launch(run: Run, here: Path) -> None:
    run("--sm", "120", FUSION_STORY, "--launch", "chat.service", "--write-baseline", "base.json")
    (here / "chat.service").write_text(UNIT.replace(FUSION, "--enable-wide-loads"))
    said = run("--sm", "120", FUSION_STORY, "--launch", "chat.service", "--baseline", "base.json").stderr
    assert "base.json: stale: GC102 enable_flashinfer_allreduce_fusion=True on SM120 in chat.service\n" in said


def test_launches_from_the_configuration_and_from_a_hook(run: Run, here: Path) -> None:
    (here / "gatecheck.toml").write_text(f'sm = 120\ntree = "{FUSION_STORY}"\nlaunch = ["chat.service", "two.sh"]\n')
    assert run("-q").status == 1
    assert len(run("-q").stdout.splitlines()) == 3
    (here / "gatecheck.toml").write_text(f'sm = 120\ntree = "{FUSION_STORY}"\n')
    assert len(run("-q", "--launches", "chat.service", "two.sh").stdout.splitlines()) == 3


@pytest.mark.parametrize("name", ["sarif", "github", "gitlab", "junit", "jsonl", "markdown"])
def test_the_same_bytes_warm_and_cold(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("GATECHECK_CACHE", str(here / "cache"))
    arguments = ("--launch", "chat.service", "--launch", "two.sh")
    cold = checked(run, *arguments, format_name=name)
    assert checked(run, *arguments, format_name=name) == cold
    assert checked(run, *arguments, "--no-cache", format_name=name) == cold


HOSTILE = "x\x1b[2J::error::y %0A](javascript:1)\u202e.sh"


@pytest.mark.parametrize("name", ["text", "github", "gitlab", "junit", "sarif", "jsonl", "json"])
def test_a_hostile_name_of_a_launch_file(run: Run, here: Path, name: str) -> None:
    (here / HOSTILE.replace("/", "_")).write_text(SCRIPT + "# gatecheck: ignore[GC101] \x1b[2J\n")
    text = checked(run, "--launch", HOSTILE, format_name=name)
    assert "\x1b" not in text
    assert "\u202e" not in text
    if name == "github":
        assert all(line.startswith(("::error file=", "::warning file=")) for line in text.splitlines())


def test_an_ignore_in_a_file_that_the_launch_file_names(run: Run, here: Path) -> None:
    (here / "options.sh").write_text(f"OPTIONS=({FUSION})\n")
    (here / "run.sh").write_text('source ./options.sh\npython -m sglang.launch_server --model-path /m "${OPTIONS[@]}"\n')
    ((rule, place),) = findings(run, "--launch", "run.sh")
    assert (rule, place) == ("GC102", "options.sh:1")
    (here / "options.sh").write_text(f"OPTIONS=({FUSION})  # gatecheck: ignore[GC102] small\n")
    assert findings(run, "--launch", "run.sh") == []


def test_reports_do_not_hang_on_the_process(here: Path) -> None:
    """The same bytes for any hash seed, locale and number of processes."""
    formats = ("text", "sarif", "github", "gitlab", "junit", "jsonl", "markdown")
    seen: dict[str, set[bytes]] = {name: set() for name in formats}
    for seed, locale, processes in (("1", "C", "1"), ("2", "C.UTF-8", "2")):
        outputs = [f"--output={name}:{name}.out" for name in formats]
        command = [sys.executable, "-m", "sm_gatecheck", "--sm", "90,120", FUSION_STORY, "--no-cache", "-j", processes, *outputs]
        environment = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": locale, "PYTHONPATH": str(Path(__file__).parents[2])}
        subprocess.run(command, check=True, env=environment, cwd=here)
        for name in formats:
            content = (here / f"{name}.out").read_bytes()
            seen[name].add(re.sub(rb"[0-9.]+ s, cold", b"SECONDS", content) if name == "text" else content)
    assert {name: len(contents) for name, contents in seen.items()} == dict.fromkeys(formats, 1)
