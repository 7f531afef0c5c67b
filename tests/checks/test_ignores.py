from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from packaging.specifiers import SpecifierSet

from sm_gatecheck.checks.ignores import EXPIRED, UNUSED, Ignore, Ignored, apply_ignores
from sm_gatecheck.model.report import Finding
from sm_gatecheck.model.span import Span
from sm_gatecheck.model.verdict import Severity

TODAY = date(2026, 11, 30)
FLAGS = {"enable_wide": ("--enable-wide", "--wide")}
HERE = Span("gatecheck.toml", 3)


def finding(option: str = "enable_wide", value: Any = True, sm: int = 120, rule: str = "GC102", line: int | None = None) -> Finding:
    launch = None if line is None else Span("run.sh", line, 3)
    return Finding(rule, Severity.ERROR, option, value, sm, "dead", "srt/a.py", 1, f"{rule}{option}{value}{sm}", launch)


def measured(*ignores: Ignore, found: tuple[Finding, ...] = (finding(),), **more: Any) -> Ignored:
    given: dict[str, Any] = {"sms": (90, 120), "release": "0.5.12", "today": TODAY, "flags": FLAGS, **more}
    return apply_ignores(found, ignores, **given)


@pytest.mark.parametrize(
    "restriction",
    [
        {"rules": ("GC102",)},
        {"rules": ("GC101", "GC102")},
        {"options": ("enable_wide",)},
        {"options": ("--enable-wide",)},
        {"options": ("--wide",)},
        {"options": ("enable-*",)},
        {"values": ("true",)},
        {"sms": (120, 121)},
        {"releases": SpecifierSet(">=0.5.9,<0.6")},
        {"until": TODAY},
        {"rules": ("GC102",), "options": ("enable_wide",), "values": ("true",), "sms": (120,)},
    ],
)
def test_what_is_ignored(restriction: dict[str, Any]) -> None:
    result = measured(Ignore(HERE, "known", **restriction))
    assert (result.kept, result.about) == ((), ())
    assert [(found.option, ignore.reason) for found, ignore in result.ignored] == [("enable_wide", "known")]


@pytest.mark.parametrize(
    "restriction",
    [
        {"rules": ("GC101",)},
        {"options": ("enable_wider",)},
        {"options": ("wide",), "rules": ("GC103",)},
        {"values": ("false",)},
        {"sms": (90,)},
        {"lines": (1, 9)},
    ],
)
def test_what_matches_nothing_is_a_finding(restriction: dict[str, Any]) -> None:
    result = measured(Ignore(HERE, "known", **restriction))
    assert result.kept == (finding(),)
    (about,) = result.about
    assert (about.rule, about.launch, about.file, about.line) == (UNUSED, HERE, "gatecheck.toml", 3)
    assert about.message.endswith("matches nothing (it was for: known)")


@pytest.mark.parametrize(
    "restriction",
    [
        {"sms": (100,)},
        {"releases": SpecifierSet("<0.5")},
        {"releases": SpecifierSet(">=0.5.13")},
    ],
)
def test_what_is_about_other_gpus_or_releases_is_neither_used_nor_unused(restriction: dict[str, Any]) -> None:
    result = measured(Ignore(HERE, "known", **restriction))
    assert (result.kept, result.about) == ((finding(),), ())


@pytest.mark.parametrize("release", [None, "main"])
def test_a_release_that_is_not_known_fits_no_range(release: str | None) -> None:
    assert measured(Ignore(HERE, "known", releases=SpecifierSet(">=0")), release=release).kept == (finding(),)


@pytest.mark.parametrize(("release", "hidden"), [("0.5.9rc1", False), ("0.5.9.post1", True), ("0.6.0.dev1", False), ("0.5.99+local", True)])
def test_ranges_are_those_of_packaging(release: str, hidden: bool) -> None:
    assert bool(measured(Ignore(HERE, "known", releases=SpecifierSet(">=0.5.9,<0.6")), release=release).ignored) is hidden


def test_one_whose_date_has_passed_hides_nothing_and_is_a_finding() -> None:
    result = measured(Ignore(HERE, "known", rules=("GC102",), until=date(2026, 11, 29)))
    assert result.kept == (finding(),)
    (about,) = result.about
    assert about.rule == EXPIRED
    assert about.message == "the ignore of GC102 ended on 2026-11-29 (it was for: known)"


def test_the_one_that_holds_counts_where_another_has_ended() -> None:
    result = measured(Ignore(HERE, "old", rules=("GC102",), until=date(2020, 1, 1)), Ignore(HERE, "new", options=("enable_wide",)))
    assert [ignore.reason for _, ignore in result.ignored] == ["new"]
    assert [about.rule for about in result.about] == [EXPIRED]


def test_a_comment_speaks_of_its_lines_in_its_file_alone() -> None:
    comment = Ignore(Span("run.sh", 4), "known", rules=("GC102",), lines=(5, 6))
    found = (finding(line=5), finding(line=6, sm=90), finding(line=7), replace(finding(), launch=Span("other.sh", 5)))
    result = measured(comment, found=found)
    assert [kept.launch for kept in result.kept] == [Span("run.sh", 7, 3), Span("other.sh", 5)]


def test_where_a_part_is_looked_at_only_comments_can_be_unused() -> None:
    comment = Ignore(Span("run.sh", 4), "known", rules=("GC101",), lines=(5, 6))
    result = measured(Ignore(HERE, "known", options=("other",)), comment, complete=False)
    assert [about.file for about in result.about] == ["run.sh"]


def test_fingerprints_say_which_ignore_and_no_line() -> None:
    (one,) = measured(Ignore(HERE, "known", options=("other",))).about
    (moved,) = measured(Ignore(Span("gatecheck.toml", 30), "known", options=("other",))).about
    (another,) = measured(Ignore(HERE, "known", options=("third",))).about
    assert one.fingerprint == moved.fingerprint != another.fingerprint


@pytest.mark.parametrize(
    ("ignore", "wording"),
    [
        (Ignore(HERE, "", rules=("GC101", "GC102")), "GC101, GC102"),
        (Ignore(HERE, "", options=("a",), values=("x", "y"), sms=(90, 120)), "a=x, a=y on SM90, SM120"),
        (Ignore(HERE, "", rules=("GC101",), options=("a", "b")), "GC101 a, b"),
        (Ignore(HERE, ""), "everything"),
    ],
)
def test_wording(ignore: Ignore, wording: str) -> None:
    assert ignore.wording == wording
