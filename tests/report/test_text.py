from __future__ import annotations

import re
from dataclasses import replace

import pytest
from rich.cells import cell_len

from sm_gatecheck.checks.cards import load_cards
from sm_gatecheck.model.report import Diagnostic, Finding, Report
from sm_gatecheck.model.verdict import Severity
from sm_gatecheck.report.text import TextStyle, render
from sm_gatecheck.rulebook import Rulebook
from tests.report.golden import assert_golden
from tests.report.samples import DEVICES, hostile_sample, sample

CARDS = load_cards(Rulebook.open())


def rendered(report: Report, width: int = 100, verbosity: int = 0, color: bool = False) -> str:
    return render(report, DEVICES, TextStyle(width, color, verbosity, CARDS))


@pytest.mark.parametrize(
    ("name", "sms", "width", "verbosity"),
    [
        ("one-sm-80.txt", (120,), 80, 0),
        ("one-sm-160.txt", (120,), 160, 0),
        ("all-sms-80.txt", (90, 100, 120, 121), 80, 0),
        ("all-sms-160.txt", (90, 100, 120, 121), 160, 0),
        ("verbose-100.txt", (120, 121), 100, 1),
        ("quiet.txt", (100, 120), 80, -1),
    ],
)
def test_golden(name: str, sms: tuple[int, ...], width: int, verbosity: int) -> None:
    assert_golden(name, rendered(sample(sms), width, verbosity))


@pytest.mark.parametrize("verbosity", [0, 1])
@pytest.mark.parametrize("width", [40, 79, 80, 100, 160, 240])
@pytest.mark.parametrize("report", [sample(), sample((120,)), hostile_sample()])
def test_no_line_is_wider_than_asked(report: Report, width: int, verbosity: int) -> None:
    lines = rendered(report, width, verbosity).splitlines()
    assert max(cell_len(line) for line in lines) <= width


@pytest.mark.parametrize("verbosity", [-1, 0, 1])
@pytest.mark.parametrize("width", [60, 160])
def test_nothing_of_a_hostile_tree_reaches_the_terminal(width: int, verbosity: int) -> None:
    text = rendered(hostile_sample(), width, verbosity)
    assert [character for character in text if not character.isprintable() and character != "\n"] == []
    assert r"\x1b[2J" in text.replace("\n", "")


def test_colour_changes_only_escape_sequences() -> None:
    plain, colored = rendered(sample()), rendered(sample(), color=True)
    assert "\x1b[" not in plain
    without = re.sub(r"\x1b\[[0-9;]*m", "", colored)
    assert "\x1b" in colored
    assert [line.rstrip() for line in without.splitlines()] == plain.splitlines()


def test_the_worst_stands_first_and_the_count_last() -> None:
    text = rendered(sample((120,)))
    places = [text.index(heading) for heading in ("Refused  GC101", "and still costs  GC102", "Does nothing  GC104", "only in part  GC105")]
    assert places == sorted(places)
    assert text.splitlines()[-1].endswith("3.2 s, cold cache.")


def test_an_inventory_without_findings_says_so() -> None:
    report = replace(sample((90,)), findings=())
    assert "On SM90 (H100, H200 …) no setting is refused, replaced, dead or working only in part." in rendered(report, 160)


def test_a_finding_that_is_no_verdict_is_shown_with_its_place() -> None:
    other = Finding("GC201", Severity.NOTE, "page_size", 16, 120, "the help text names another GPU", "srt/server_args.py", 77, "0" * 32)
    text = rendered(replace(sample((120,)), findings=(other,)))
    assert "1 other finding" in text
    assert "the help text names another GPU" in text
    assert "srt/server_args.py:77" in text


def test_a_quiet_report_without_findings_is_empty() -> None:
    assert rendered(replace(sample((90,)), findings=()), verbosity=-1) == ""


def test_many_diagnostics_are_counted_and_listed_in_full_on_demand() -> None:
    report = replace(sample((120,)), diagnostics=tuple(Diagnostic(f"srt/f{number}.py", 1, "too large") for number in range(9)))
    assert "and 4 more (-v)" in rendered(report)
    assert "srt/f8.py:1  too large" in rendered(report, verbosity=1)


def test_the_bytes_are_the_same_every_time() -> None:
    assert rendered(sample()) == rendered(sample())
