"""GitHub's workflow commands and GitLab's code quality report, which show the same claims."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from sm_gatecheck.checks.cards import load_cards
from sm_gatecheck.model.report import Report, Source
from sm_gatecheck.model.span import Span
from sm_gatecheck.report import github, gitlab
from sm_gatecheck.rulebook import Rulebook
from tests.report.golden import assert_golden
from tests.report.samples import harmful, hostile_sample, sample

CARDS = load_cards(Rulebook.open())
COMMAND = re.compile(r"::(error|warning|notice) (\w+=[^,:]*(?:,\w+=[^,:]*)*)::(.*)")

ISSUES = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "pattern": "^GC[0-9]+$"},
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "pattern": "^[^/.]"},
                    "lines": {"type": "object", "required": ["begin"], "properties": {"begin": {"type": "integer", "minimum": 1}}},
                },
            },
        },
    },
}
"""What GitLab's documentation asks of a code quality report."""


def commands(report: Report) -> list[tuple[str, dict[str, str], str]]:
    """The commands as a workflow runner reads them."""
    found = []
    for line in github.render(report, CARDS).splitlines():
        match = COMMAND.fullmatch(line)
        assert match is not None, line
        properties = dict(pair.split("=", 1) for pair in match[2].split(","))
        found.append((match[1], {name: unescaped(value) for name, value in properties.items()}, unescaped(match[3])))
    return found


def unescaped(text: str) -> str:
    for code, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, character)
    return text


def issues(report: Report) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(gitlab.render(report, CARDS))
    jsonschema.Draft202012Validator(ISSUES).validate(found)
    return found


def test_golden() -> None:
    assert_golden("github.txt", github.render(sample((100, 120)), CARDS))
    assert_golden("gitlab.json", gitlab.render(sample((100, 120)), CARDS))


def test_one_command_a_claim_the_worst_first() -> None:
    found = commands(sample())
    levels = [level for level, _, _ in found]
    assert levels == sorted(levels)
    assert set(levels) == {"error", "warning"}
    assert len(found) < len(sample().findings)
    titles = [properties["title"] for _, properties, _ in found]
    assert "GC102 --enable-fused-reduce on SM120 and SM121" in titles


def test_a_command_says_where_what_and_what_to_do() -> None:
    (found,) = [entry for entry in commands(sample((120,))) if "GC102" in entry[1]["title"]]
    assert found[1]["file"] == "srt/server_args.py"
    assert found[1]["line"] == "41"
    assert found[2].startswith("On SM120 the fused reduction is never reached")
    assert found[2].endswith(CARDS["GC102"].mend.format(option="--enable-fused-reduce", sms="SM120"))


@pytest.mark.parametrize(
    ("package", "shown"),
    [("sglang/python/sglang", "sglang/python/sglang/srt/server_args.py"), ("./a,b:c/sglang", "a,b:c/sglang/srt/server_args.py")],
)
def test_files_are_named_from_where_gatecheck_was_run(package: str, shown: str) -> None:
    report = replace(sample((120,)), source=Source("x", "checkout", None, None, package))
    assert commands(report)[0][1]["file"] == shown
    assert issues(report)[0]["location"]["path"] == shown


def test_a_hostile_tree_starts_no_command_of_its_own() -> None:
    text = github.render(hostile_sample(), CARDS)
    assert not harmful(text.replace("\n", ""))
    assert len(commands(hostile_sample())) == text.count("\n") == 2


def test_gitlab_gets_an_issue_a_claim_with_fingerprints_of_its_own() -> None:
    found = issues(sample())
    assert len(found) == len(commands(sample()))
    prints = [issue["fingerprint"] for issue in found]
    assert len(set(prints)) == len(prints)
    assert {issue["severity"] for issue in found} == {"critical", "minor"}


def test_gitlab_fingerprints_know_no_line() -> None:
    report = sample()
    moved = replace(
        report, options=tuple(replace(entry, option=replace(entry.option, line=entry.option.line + 7)) for entry in report.options)
    )
    assert [issue["fingerprint"] for issue in issues(report)] == [issue["fingerprint"] for issue in issues(moved)]
    assert issues(report) != issues(moved)


def test_a_hostile_tree_gets_nothing_through_to_gitlab() -> None:
    for issue in json.loads(gitlab.render(hostile_sample(), CARDS)):
        assert not harmful(issue["description"] + issue["location"]["path"])


def test_nothing_found() -> None:
    nothing = replace(sample(), findings=())
    assert github.render(nothing, CARDS) == ""
    assert issues(nothing) == []


def test_a_launch_line_is_where_it_is_shown() -> None:
    report = sample((120,))
    launched = replace(report, findings=(replace(report.findings[0], launch=Span("run.sh", 7, 5)),))
    ((_, properties, _),) = commands(launched)
    assert (properties["file"], properties["line"], properties["col"]) == ("run.sh", "7", "5")
    assert issues(launched)[0]["location"] == {"path": "run.sh", "lines": {"begin": 7}}
