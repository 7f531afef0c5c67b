"""Several reports in one run, and the formats that other programs read."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from sm_gatecheck.cli.rendering import REPORT_FORMATS
from tests.cli.conftest import FUSION_STORY, Asked, Run


def test_several_reports_of_one_run(run: Run, asked: Asked, tmp_path: Path) -> None:
    sarif, junit = tmp_path / "out.sarif", tmp_path / "junit.xml"
    ended = run("--sm", "120", "TREE", "--output", f"sarif:{sarif}", "-o", f"junit:{junit}", "--output", "text:-")
    assert (ended.status, ended.stderr) == (0, "")
    assert json.loads(sarif.read_text())["version"] == "2.1.0"
    assert ElementTree.parse(junit).getroot().tag == "testsuites"
    assert "On SM120 (RTX PRO 6000" in ended.stdout


def test_a_format_that_no_output_takes_goes_to_stdout(run: Run, asked: Asked, tmp_path: Path) -> None:
    out = f"sarif:{tmp_path / 'out.sarif'}"
    assert run("--sm", "120", "TREE", "-o", out).stdout == ""
    assert run("--sm", "120", "TREE", "-o", out, "--format", "github").stdout.startswith("::error ")
    both = run("--sm", "120", "TREE", "-o", out, "--format", "json", "-o", str(tmp_path / "out.json"))
    assert both.stdout == ""
    assert json.loads((tmp_path / "out.json").read_text())["sms"] == [120]


def test_a_file_may_have_a_colon_in_its_name(run: Run, asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run("--sm", "120", "TREE", "-o", "./json:x", "-o", "json:other:x")
    run("--sm", "120", "TREE", "-o", "report:2026")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["json:x", "other:x", "report:2026"]
    assert (tmp_path / "json:x").read_text().startswith("SGLang")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("-o", "sarfi:x"), "'sarfi' is no format: did you mean 'sarif'?"),
        (("-o", "sarif:"), "'sarif:' names no file, write sarif:FILE, or sarif:- for stdout"),
        (("-o", "sarif:x", "-o", "json:x"), "--output: two reports would go to x; name a file for each"),
        (("-o", "text:-", "-o", "-"), "--output: two reports would go to stdout; name a file for each"),
        (("-o", "html:x", "-o", "sarif:/nowhere/x"), "cannot write /nowhere/x"),
    ],
)
def test_what_cannot_be_written(
    run: Run, asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = run("--sm", "120", "TREE", *arguments)
    assert ended.status == 2
    assert said in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_junit_fails_what_fail_on_counts_and_everything_where_nothing_counts(run: Run, asked: Asked) -> None:
    failures = {}
    for fail_on in ("never", "any", "harmful", "rejected"):
        root = ElementTree.fromstring(run("--sm", "120", "TREE", "--format", "junit", "--fail-on", fail_on).stdout)
        failures[fail_on] = int(root.attrib["failures"])
    assert failures["never"] == failures["any"] == 7
    assert 0 < failures["rejected"] < failures["harmful"] < 7


@pytest.mark.parametrize("name", REPORT_FORMATS)
def test_every_format_says_the_same_twice_about_a_real_tree(run: Run, name: str) -> None:
    arguments = ("--sm", "120", FUSION_STORY, "--format", name)
    first, second = run(*arguments), run(*arguments)
    assert (first.status, second.status) == (0, 0)
    assert "GC102" in first.stdout or name in ("text", "markdown")
    if name not in ("text", "json"):
        assert first.stdout == second.stdout
