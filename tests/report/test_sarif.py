from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest

from sm_gatecheck.checks.cards import load_cards
from sm_gatecheck.model.report import GitFacts, Report, Source
from sm_gatecheck.model.span import Span
from sm_gatecheck.report import sarif
from sm_gatecheck.rulebook import Rulebook
from tests.report.golden import assert_golden
from tests.report.samples import harmful, hostile_sample, sample

REPOSITORY = "https://example.org/sglang"
CARDS = load_cards(Rulebook.open())


@cache
def official() -> jsonschema.Draft4Validator:
    path = Path(__file__).parent / "schemas" / "sarif-2.1.0.json"
    schema = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.Draft4Validator.check_schema(schema)
    return jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker())


def run_of(report: Report) -> dict[str, Any]:
    document = json.loads(sarif.render(report, CARDS, REPOSITORY))
    official().validate(document)
    run: dict[str, Any] = document["runs"][0]
    return run


def test_golden() -> None:
    report = sample((120,))
    kept = tuple(option for option in report.options if option.option.field in ("enable_fused_reduce", "page_size"))
    findings = tuple(finding for finding in report.findings if finding.option == "enable_fused_reduce")
    card = {"GC102": CARDS["GC102"]}
    assert_golden("sarif.json", sarif.render(replace(report, options=kept, findings=findings), card, REPOSITORY))


@pytest.mark.parametrize(
    "report", [sample(), hostile_sample(), replace(sample(), options=(), findings=())], ids=["all", "hostile", "empty"]
)
def test_it_is_valid_sarif(report: Report) -> None:
    assert len(run_of(report)["results"]) == len(report.findings)


def test_the_schema_would_notice() -> None:
    document = sarif.document(sample(), CARDS, REPOSITORY)
    document["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0
    assert not official().is_valid(document)


def test_a_result_stands_at_the_declaration_and_its_proof_beside_it() -> None:
    report = sample((120,))
    results = {(result["properties"]["option"], result["properties"]["value"]): result for result in run_of(report)["results"]}
    result = results["enable_fused_reduce", True]
    assert (result["ruleId"], result["level"]) == ("GC102", "error")
    assert result["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "srt/server_args.py", "uriBaseId": "SGLANG_ROOT"},
        "region": {"startLine": 41},
    }
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step["importance"] for step in steps] == ["essential", "important", "important", "important", "important"]
    assert "_is_sm90 or _is_sm100, true on SM90, SM100 and SM103" in steps[0]["location"]["message"]["text"]
    related = [location["physicalLocation"]["region"]["startLine"] for location in result["relatedLocations"]]
    assert related == [31, 210, 98, 211]
    assert [location["id"] for location in result["relatedLocations"]] == [1, 2, 3, 4]


def test_rules_are_the_cards_and_results_point_at_them() -> None:
    run = run_of(sample())
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == list(CARDS)
    for result in run["results"]:
        rule = rules[result["ruleIndex"]]
        assert rule["id"] == result["ruleId"]
        assert rule["defaultConfiguration"]["level"] == result["level"]
        assert rule["fullDescription"]["text"] == CARDS[result["ruleId"]].why


def test_fingerprints_are_the_findings_own_and_know_no_line() -> None:
    report = sample()
    moved = replace(
        report,
        options=tuple(replace(entry, option=replace(entry.option, line=entry.option.line + 7)) for entry in report.options),
        findings=tuple(replace(finding, line=finding.line + 7) for finding in report.findings),
    )
    before, after = run_of(report)["results"], run_of(moved)["results"]
    prints = [result["partialFingerprints"] for result in before]
    assert prints == [result["partialFingerprints"] for result in after] == [{sarif.FINGERPRINT: f.fingerprint} for f in report.findings]
    assert before != after


@pytest.mark.parametrize(
    ("source", "root"),
    [
        (Source("./sglang", "checkout", None, None, "./sglang/python/sglang"), {"uri": "sglang/python/sglang/", "uriBaseId": "SRCROOT"}),
        (Source("/a b", "checkout", None, None, "/a b/sglang"), {"uri": "file:///a%20b/sglang/"}),
        (Source("../sglang", "checkout", None, None, "../sglang/python/sglang"), {}),
        (Source("sglang==1", "release", "1"), {}),
    ],
)
def test_where_the_tree_lies(source: Source, root: dict[str, str]) -> None:
    bases = run_of(replace(sample(), source=source))["originalUriBaseIds"]
    assert {key: value for key, value in bases["SGLANG_ROOT"].items() if key != "description"} == root
    assert ("SRCROOT" in bases) == ("uriBaseId" in root)


@pytest.mark.parametrize(
    ("source", "provenance"),
    [
        (
            Source(".", "checkout", "1", GitFacts("abc", True, "main", "https://host/fork")),
            [{"repositoryUri": "https://host/fork", "revisionId": "abc", "branch": "main", "properties": {"dirty": True}}],
        ),
        (
            Source("x@y", "git", None, GitFacts("abc", False)),
            [{"repositoryUri": REPOSITORY, "revisionId": "abc", "properties": {"dirty": False}}],
        ),
        (Source("sglang==0.5.6.post2", "release", "0.5.6.post2"), [{"repositoryUri": REPOSITORY, "revisionTag": "v0.5.6.post2"}]),
        (Source("x.whl", "wheel", "0.5.7.dev3+gabc"), []),
        (Source("x.whl", "wheel", "what?"), []),
        (Source("x", "package", "0.5.7"), []),
    ],
)
def test_which_revision_it_is(source: Source, provenance: list[dict[str, Any]]) -> None:
    assert run_of(replace(sample(), source=source))["versionControlProvenance"] == provenance


def test_what_was_left_out_is_a_notification() -> None:
    notifications = run_of(sample())["invocations"][0]["toolExecutionNotifications"]
    assert [notification["message"]["text"] for notification in notifications] == ["could not be parsed: unexpected indent"]


def strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [*value, *(text for item in value.values() for text in strings(item))]
    return [text for item in value for text in strings(item)] if isinstance(value, list) else []


def test_a_hostile_tree_gets_neither_control_characters_nor_links_through() -> None:
    run = run_of(hostile_sample())
    texts = [
        text
        for key in ("results", "invocations", "originalUriBaseIds", "versionControlProvenance", "properties")
        for text in strings(run[key])
    ]
    assert any("owned" in text for text in texts)
    for text in texts:
        assert not harmful(text)
    messages = [result["message"]["text"] for result in run["results"]]
    messages += [related["message"]["text"] for result in run["results"] for related in result["relatedLocations"]]
    assert all("owned" in message and "](" not in message for message in messages)
    uris = [where["physicalLocation"]["artifactLocation"]["uri"] for result in run["results"] for where in result["locations"]]
    assert all(uri.isascii() and " " not in uri and "\x1b" in unquote(uri) for uri in uris)


def launched(file: str) -> Report:
    """A report whose first finding is about a line of a launch file."""
    report = sample((120,))
    return replace(report, findings=(replace(report.findings[0], launch=Span(file, 7, 5)),))


@pytest.mark.parametrize(("file", "uri"), [("deploy/a b.sh", "deploy/a%20b.sh"), ("/etc/x.service", "file:///etc/x.service")])
def test_a_launch_line_comes_first_and_the_declaration_beside_it(file: str, uri: str) -> None:
    (result,) = run_of(launched(file))["results"]
    assert result["locations"][0]["physicalLocation"] == {"artifactLocation": {"uri": uri}, "region": {"startLine": 7, "startColumn": 5}}
    assert result["relatedLocations"][0]["message"]["text"] == "the option is declared here"
