from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest
import xmlschema

from sm_gatecheck.checks.cards import load_cards
from sm_gatecheck.model.report import Finding, Report
from sm_gatecheck.model.verdict import Severity, Verdict
from sm_gatecheck.report import junit
from sm_gatecheck.rulebook import Rulebook
from tests.report.golden import assert_golden
from tests.report.samples import harmful, hostile_sample, sample

CARDS = load_cards(Rulebook.open())
OUTCOMES = ("failure", "error", "skipped")


@cache
def jenkins() -> xmlschema.XMLSchema:
    """What Jenkins takes."""
    return xmlschema.XMLSchema(str(Path(__file__).parent / "schemas" / "junit-10.xsd"))


def rendered(report: Report, fails: bool = True) -> str:
    return junit.render(report, CARDS, lambda _: fails)


def suites(report: Report, fails: bool = True) -> list[ElementTree.Element]:
    """The suites, after the rules that consumers hold the format to were checked."""
    text = rendered(report, fails)
    jenkins().validate(text)
    root = ElementTree.fromstring(text)
    for holder in (root, *root):
        cases = holder.findall(".//testcase")
        kinds = Counter(child.tag for case in cases for child in case)
        assert holder.attrib["tests"] == str(len(cases))
        assert holder.attrib["failures"] == str(kinds["failure"])
        assert holder.get("skipped", str(kinds["skipped"])) == str(kinds["skipped"])
    for suite in root:
        assert [child.tag for child in suite] == ["properties", *["testcase"] * int(suite.attrib["tests"])]
        names = [case.attrib["name"] for case in suite.findall("testcase")]
        assert len(set(names)) == len(names)
        for case in suite.findall("testcase"):
            assert case.attrib["classname"] == suite.attrib["name"]
            assert sum(child.tag in OUTCOMES for child in case) <= 1
    return list(root)


def test_golden() -> None:
    assert_golden("junit.xml", rendered(sample((120,))))


def test_a_suite_an_sm_and_a_case_a_judged_setting() -> None:
    report = sample((90, 120))
    found = suites(report)
    assert [suite.attrib["name"] for suite in found] == ["gatecheck.SM90", "gatecheck.SM120"]
    judged = [j for entry in report.options for j in entry.judgements if j.sm == 120 and j.verdict is not Verdict.UNGATED]
    assert len(found[1].findall("testcase")) == len(judged)
    failed = [case.attrib["name"] for case in found[1].findall("testcase") if case.find("failure") is not None]
    assert "--enable-fused-reduce [GC102]" in failed
    assert len(failed) == sum(finding.sm == 120 for finding in report.findings)


def test_a_failure_holds_the_proof_and_what_to_do() -> None:
    case = next(case for case in suites(sample((120,)))[0].iter("testcase") if "fused" in case.attrib["name"])
    failure = case.find("failure")
    assert failure is not None
    assert failure.attrib["type"] == "GC102"
    text = (failure.text or "").splitlines()
    assert text[0] == "srt/server_args.py:41: " + failure.attrib["message"]
    assert "srt/layers/communicator.py:31: condition: _is_sm90 or _is_sm100, true on SM90, SM100 and SM103" in text
    assert text[-1] == CARDS["GC102"].mend.format(option="--enable-fused-reduce", sms="SM120")


def test_what_does_not_count_passes_and_says_what_it_found() -> None:
    (suite,) = suites(sample((120,)), fails=False)
    assert suite.attrib["failures"] == "0"
    assert len(suite.findall(".//system-out")) == len(sample((120,)).findings)


def test_what_is_not_decided_is_skipped_with_the_reason() -> None:
    (skipped,) = suites(sample((120,)))[0].findall(".//skipped")
    assert skipped.attrib["message"] == "a registry filled at run time, srt/registry.py:9"


def test_a_finding_about_no_option_is_a_case_too() -> None:
    finding = Finding("GC901", Severity.NOTE, "", None, 120, "an ignore matches nothing", "x.toml", 3, "f")
    (suite,) = suites(replace(sample((120,)), options=(), findings=(finding,)))
    assert [case.attrib["name"] for case in suite.iter("testcase")] == ["GC901 [GC901]"]


def test_nothing_judged_is_one_case_that_passes() -> None:
    (suite,) = suites(replace(sample((120,)), options=(), findings=()))
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("1", "0")


def test_a_hostile_tree_stays_well_formed_and_harmless() -> None:
    text = rendered(hostile_sample())
    assert not harmful(text.replace("\n", ""))
    assert suites(hostile_sample())[0].attrib["failures"] == "2"


@pytest.mark.parametrize("character", ["\x00", "\ufffe", "\uffff", "\ud800", "]]>", "&#1;", "<!--"])
def test_whatever_xml_has_no_way_to_write(character: str) -> None:
    finding = Finding("GC101", Severity.ERROR, "x", character, 120, f"a{character}b", "a.py", 3, "f")
    (suite,) = suites(replace(sample((120,)), options=(), findings=(finding,)))
    assert suite.attrib["failures"] == "1"


def test_the_schema_would_notice() -> None:
    assert not jenkins().is_valid(rendered(sample((120,))).replace("<failure ", "<defect ").replace("</failure>", "</defect>"))
