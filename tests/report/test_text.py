from __future__ import annotations

import re
from dataclasses import replace

import pytest
from rich.cells import cell_len

from sm_gatecheck.checks.cards import load_cards
from sm_gatecheck.model.report import Diagnostic, Finding, Report
from sm_gatecheck.model.verdict import Effect, EffectKind, Evidence, Judgement, Phase, Role, Severity, Verdict
from sm_gatecheck.report.text import TextStyle, render
from sm_gatecheck.report.wording import WORDS
from sm_gatecheck.rulebook import Rulebook
from sm_gatecheck.verdicts.findings import RULE_OF, findings_of
from tests.report.golden import assert_golden
from tests.report.samples import DEVICES, hostile_sample, sample

HEADINGS = (
    "and still costs  GC102",
    "Refused  GC101",
    "Refused under a condition  GC101",
    "Does nothing  GC104",
    "only in part  GC105",
)
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
    places = [text.index(heading) for heading in HEADINGS]
    assert places == sorted(places)
    assert text.splitlines()[-1].endswith("3.2 s, cold cache.")


def test_a_refusal_under_a_condition_is_told_from_one_of_every_launch() -> None:
    text = rendered(sample((120,)), 160)
    assert "2 are refused, 1 is refused under a condition" in text
    always, sometimes = text.split("Refused  GC101")[1].split("Refused under a condition  GC101, in full with -v")
    assert "paged_mha | ragged_mha  on SM120" in always
    told = sometimes.split("\n\n")[0].splitlines()[1:]
    assert told == [
        "  --attention-backend paged_mla  at start-up, srt/server_args.py:301",
        "    when    use_mla",
        "    says    needs SM100",
    ]


def long_conditions() -> Report:
    """Two values refused under the same long condition, with a different line logged for each; one value under another."""
    long = " and ".join(f"'a_rather_long_name_{number}' in model_arch" for number in range(40))
    report = sample((120,))
    backend = report.options[0]
    judgements = []
    for number, value in enumerate(("one", "two", "three")):
        refusal = Effect(EffectKind.RAISES, Phase.STARTUP, 'ValueError("not here")', "srt/a.py", 9, when="use_mla" if number == 2 else long)
        sets = [
            Effect(EffectKind.SETS_OPTION, Phase.RESOLUTION, "x", "srt/a.py", 20 + line, "page_size", line, long + f" or x{line}")
            for line in range(8)
        ]
        warns = Effect(EffectKind.WARNS, Phase.RESOLUTION, "logger.warning(…)", "srt/a.py", 40 + number, when=long)
        told = f"backend={value} is refused on SM120 (srt/a.py:9) when {refusal.when}."
        evidence = (Evidence(Role.GATE, "srt/a.py", 8, 1, "is_sm120()", (120,)),)
        judgements.append(Judgement(120, value, Verdict.REJECTED, told, (), (refusal, *sets, warns), evidence))
    options = (replace(backend, judgements=tuple(judgements)),)
    return replace(report, options=options, findings=findings_of(options))


def test_values_refused_for_the_same_reason_share_a_block_with_the_condition_in_a_line() -> None:
    section = rendered(long_conditions(), 80).split("Refused under a condition")[1].split("\n\n")[0]
    assert section.splitlines()[1:] == [
        "  --attention-backend one | two  at start-up, srt/a.py:9",
        "    when    'a_rather_long_name_0' in model_arch and …",
        "    says    not here",
        "  --attention-backend three  at start-up, srt/a.py:9",
        "    when    use_mla",
        "    says    not here",
    ]


@pytest.mark.parametrize("verdict", [verdict for verdict in RULE_OF if verdict is not Verdict.REJECTED])
@pytest.mark.parametrize("verbosity", [0, 1])
def test_what_is_no_refusal_is_shown_although_something_may_raise(verdict: Verdict, verbosity: int) -> None:
    report = long_conditions()
    judgements = tuple(replace(judgement, verdict=verdict) for judgement in report.options[0].judgements)
    options = (replace(report.options[0], judgements=judgements),)
    text = rendered(replace(report, options=options, findings=findings_of(options)), 160, verbosity)
    assert f"On SM120 (RTX PRO 6000, RTX 5090) 3 settings {WORDS[verdict].many}." in text
    assert "  --attention-backend one | two | three" in text.split(f"{WORDS[verdict].heading}  {RULE_OF[verdict]}")[1]


def test_nothing_is_cut_in_the_whole_report() -> None:
    report = long_conditions()
    text = re.sub(r"\s+", " ", rendered(report, 200, verbosity=1))
    for judgement in report.options[0].judgements:
        for effect in judgement.effects:
            assert f"{effect.file}:{effect.line}" in text
            assert (effect.when or "no condition") in text
    assert "(-v)" not in text
    assert "with -v" not in text


def test_of_a_replaced_value_only_the_shortest_conditions_are_shown() -> None:
    report = long_conditions()
    judgements = tuple(replace(judgement, verdict=Verdict.OVERRIDDEN) for judgement in report.options[0].judgements[:2])
    judgements = tuple(replace(judgement, effects=judgement.effects[1:], summary="replaced") for judgement in judgements)
    options = (replace(report.options[0], judgements=judgements),)
    text = rendered(replace(report, options=options, findings=findings_of(options)), 160)
    section = text.split("Replaced  GC103, in full with -v")[1].split("\n\n")[0]
    assert section.count("sets page_size") == 2, "once for both values, whose shown proofs agree"
    assert "x0 or …  srt/a.py:20" in section
    assert "and 7 more under conditions (-v)" in section


def test_what_one_place_decides_for_many_settings_stands_under_it() -> None:
    report = sample((120,))
    option = next(option for option in report.options if option.option.field == "enable_wide_loads")
    several = tuple(replace(option, option=replace(option.option, field=f"wide_{n}", flags=(f"--wide-{n}",))) for n in range(3))
    text = rendered(replace(report, options=several, findings=findings_of(several)), 80)
    assert "  srt/loader.py:12\n    --wide-0, --wide-1, --wide-2\n" in text


def test_a_setting_that_leaves_no_room_for_its_place_takes_two_lines() -> None:
    text = rendered(sample((120,)), 80)
    assert "\n  --enable-two-halves\n    srt/layers/attention/very_long_directory_name/fast_path_backend.py:1071\n" in text


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
