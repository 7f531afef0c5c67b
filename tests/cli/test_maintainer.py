"""``gatecheck check --maintainer``: every form, every exit status, and what hides a finding."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from sm_gatecheck.checks.code_rules import is_about_code
from sm_gatecheck.checks.maintaining import maintainer_checks
from sm_gatecheck.checks.weights import DISAGREEING, LIKE, REFUSED_DEFAULT, UNREAD
from tests.cli.conftest import Run

FIXTURES = Path(__file__).parents[2] / "fixtures"
DISAGREES = str(FIXTURES / "guard-missing-in-sibling" / "sglang")
REFUSES = str(FIXTURES / "default-refused-by-next-check" / "sglang")
TEXTS = str(FIXTURES / "code-texts" / "sglang")
QUIET = str(FIXTURES / "era-namespaces" / "sglang")


def maintained(run: Run, tree: str, *arguments: str) -> str:
    ended = run("check", "--maintainer", tree, *arguments)
    assert ended.status == 0, ended.stderr
    return ended.stdout


def test_the_text_names_each_line_and_what_to_do(run: Run) -> None:
    shown = maintained(run, REFUSES)
    assert "Default that the next check refuses  GC304" in shown
    assert "srt/server_args.py:27" in shown
    assert "Choose the default and check it by the same test of the GPU." in shown
    assert max(map(len, shown.splitlines())) <= 100


def test_a_line_a_finding(run: Run) -> None:
    lines = maintained(run, REFUSES, "-q").splitlines()
    assert lines[0].split(" ")[:2] == ["srt/server_args.py:27:", "GC304"]


def test_a_tree_without_findings_says_so(run: Run) -> None:
    assert "Nothing was found on its code." in maintained(run, QUIET, "--sm", "70", "--baseline", _everything(run, QUIET))


def _everything(run: Run, tree: str) -> str:
    file = Path.cwd() / "accepted.json"
    maintained(run, tree, "--write-baseline", str(file))
    return str(file)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)


def test_json_and_json_lines_say_the_same(run: Run) -> None:
    document = json.loads(maintained(run, TEXTS, "--format", "json"))
    lines = [json.loads(line) for line in maintained(run, TEXTS, "--format", "jsonl").splitlines()]
    findings = [{key: value for key, value in line.items() if key != "type"} for line in lines if line["type"] == "finding"]
    assert document["findings"] == findings
    assert {finding["rule"] for finding in findings} == {"GC305", "GC306"}
    assert len({finding["fingerprint"] for finding in findings}) == len(findings)
    assert all(finding["file"] and finding["line"] for finding in findings)


def test_sarif_github_and_gitlab_point_at_the_line(run: Run) -> None:
    (result,) = [
        found for found in json.loads(maintained(run, DISAGREES, "--format", "sarif"))["runs"][0]["results"] if found["ruleId"] == "GC303"
    ]
    place = result["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("srt/layers/mixing.py", 24)
    github = maintained(run, DISAGREES, "--format", "github")
    assert "mixing.py,line=24,title=GC303 Places of one option that disagree about the GPU::" in github
    gitlab = json.loads(maintained(run, DISAGREES, "--format", "gitlab"))
    assert {"path": f"{DISAGREES}/srt/layers/mixing.py", "lines": {"begin": 24}} in [issue["location"] for issue in gitlab]


def test_junit_has_one_suite(run: Run) -> None:
    root = ElementTree.fromstring(maintained(run, DISAGREES, "--format", "junit"))
    (suite,) = root
    assert suite.get("name") == "gatecheck.code"
    assert [case.find("failure") is not None for case in suite.iter("testcase")] == [True] * 3


def test_markdown_is_a_list_and_names_its_command(run: Run) -> None:
    shown = maintained(run, REFUSES, "--format", "markdown")
    assert "## GC304: Default that the next check refuses" in shown
    assert "- `srt/server_args.py:27`:" in shown
    assert "--maintainer" in shown.splitlines()[-1]


@pytest.mark.parametrize(
    ("tree", "fail_on", "status"),
    [
        (REFUSES, "rejected", 1),
        (DISAGREES, "rejected", 0),
        (DISAGREES, "harmful", 1),
        (TEXTS, "harmful", 0),
        (TEXTS, "noop", 1),
        (TEXTS, "any", 1),
        (REFUSES, "never", 0),
    ],
)
def test_fail_on(run: Run, tree: str, fail_on: str, status: int) -> None:
    assert run("check", "--maintainer", tree, "--fail-on", fail_on, "-q").status == status


def test_only_what_concerns_the_gpus_that_are_named(run: Run) -> None:
    rules = {sm: {line.split(" ")[1] for line in maintained(run, REFUSES, "-q", "--sm", sm).splitlines()} for sm in ("90", "120")}
    assert rules == {"90": {"GC306"}, "120": {"GC304", "GC306"}}


def test_ignores_of_the_code_and_of_options_keep_to_themselves(run: Run) -> None:
    Path("gatecheck.toml").write_text(
        '[[ignore]]\nrule = "GC304"\nreason = "known"\n[[ignore]]\nrule = "GC306"\noption = "*"\nreason = "a small tree"\n'
        '[[ignore]]\nrule = "GC102"\nreason = "another run\'s"\n[[ignore]]\noption = "nothing-like-it"\nreason = "another run\'s"\n'
    )
    assert maintained(run, REFUSES, "-q") == ""
    inventory = run("check", "--sm", "120", REFUSES, "--format", "json")
    about = [finding["message"] for finding in json.loads(inventory.stdout)["findings"] if finding["rule"] == "GC901"]
    assert [message.split(" matches")[0] for message in about] == ["the ignore of GC102", "the ignore of nothing-like-it"]
    Path("gatecheck.toml").write_text('[[ignore]]\nrule = "GC301"\nreason = "gone"\n')
    assert "GC901" in maintained(run, REFUSES, "-q")


def test_a_baseline_accepts_what_was_there(run: Run) -> None:
    maintained(run, DISAGREES, "--write-baseline", "accepted.json")
    assert maintained(run, DISAGREES, "-q", "--baseline", "accepted.json") == ""
    assert "GC304" in maintained(run, REFUSES, "-q", "--baseline", "accepted.json")


def test_the_same_bytes_warm_and_cold(run: Run) -> None:
    cold = maintained(run, DISAGREES, "--format", "jsonl")
    assert maintained(run, DISAGREES, "--format", "jsonl") == cold
    assert run("check", "--sm", "120", DISAGREES, "-q").stdout.count("GC30") == 0


@pytest.mark.parametrize("launch", [("--launch", "x.sh"), ("--", "--tp", "4")])
def test_a_launch_is_another_question(run: Run, launch: tuple[str, ...]) -> None:
    Path("x.sh").write_text("python -m sglang.launch_server --model-path m\n")
    ended = run("check", "--maintainer", DISAGREES, *launch)
    assert ended.status == 2
    assert "--maintainer" in ended.stderr


def test_the_rules_of_the_code_are_those_of_its_checks() -> None:
    rules = [check.rule for check in maintainer_checks()]
    assert is_about_code(rules)
    assert not is_about_code(())
    assert not is_about_code(("GC301", "GC102"))
    assert {DISAGREEING, REFUSED_DEFAULT, UNREAD} <= LIKE.keys() & set(rules)
