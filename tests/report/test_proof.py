from __future__ import annotations

from dataclasses import replace

from sm_gatecheck.model.verdict import Effect, EffectKind, Evidence, Judgement, Phase, Role, Verdict
from sm_gatecheck.report.proof import proof_rows, refusal_shown, short_rows


def refusal(file: str, line: int) -> Effect:
    return Effect(EffectKind.RAISES, Phase.STARTUP, f'ValueError("no {line}")', file, line, when="use_mla")


def refused(*effects: Effect, true_on: tuple[int, ...] = (100, 120)) -> Judgement:
    gate = Evidence(Role.GATE, "srt/b.py", 40, 1, "is_blackwell()", true_on)
    return Judgement(120, "x", Verdict.REJECTED, "x is refused on SM120 (srt/a.py:7).", (), effects, (gate,))


def test_the_refusal_under_a_test_of_the_gpu_is_the_one_to_show() -> None:
    under = refusal("srt/b.py", 41)
    assert refusal_shown(refused(refusal("srt/a.py", 7), refusal("srt/b.py", 45), under)) == under


def test_without_one_it_is_the_refusal_that_decided() -> None:
    decided = refusal("srt/a.py", 7)
    assert refusal_shown(refused(refusal("srt/b.py", 90), refusal("srt/b.py", 39), decided)) == decided
    assert refusal_shown(refused()) is None


def test_many_sms_are_counted() -> None:
    few, many = refused(true_on=(100, 120)), refused(true_on=(70, 75, 80, 90, 100, 103, 110))
    assert [row.plain for _, row in short_rows(few, 60)] == ["srt/b.py:40  is_blackwell()  true on SM100 and SM120"]
    assert [row.plain for _, row in short_rows(many, 60)] == ["srt/b.py:40  is_blackwell()  true on 7 SMs, SM120 is not"]


def shown(judgement: Judgement) -> list[tuple[str, str]]:
    return [(label, row.plain) for label, row in short_rows(judgement, 60)]


def test_beside_a_refusal_of_every_launch_nothing_under_a_condition_is_shown() -> None:
    always = Effect(EffectKind.RAISES, Phase.STARTUP, 'ValueError("never here")', "srt/a.py", 7)
    elsewhere = Effect(EffectKind.RAISES, Phase.STARTUP, 'ValueError("nor there")', "srt/b.py", 44)
    sets = Effect(EffectKind.SETS_OPTION, Phase.RESOLUTION, "x", "srt/a.py", 3, "page_size", 64, "use_mla")
    judgement = refused(elsewhere, refusal("srt/b.py", 41), always, sets)
    assert shown(judgement)[1:] == [
        ("says", "never here"),
        ("says", "nor there  srt/b.py:44"),
    ]
    assert [row.plain.rsplit("  ", 1)[1] for _, row in proof_rows(judgement)[1:]] == [
        "srt/b.py:44",
        "srt/b.py:41",
        "srt/a.py:7",
        "srt/a.py:3",
    ]


def test_a_refusal_shows_the_test_right_above_it() -> None:
    far = Evidence(Role.GATE, "srt/b.py", 2, 1, "is_hopper()", (90,))
    judgement = replace(refused(refusal("srt/b.py", 41)), evidence=(far, *refused().evidence))
    assert shown(judgement)[0] == ("why", "srt/b.py:40  is_blackwell()  true on SM100 and SM120")
    assert shown(replace(judgement, effects=()))[0] == ("why", "srt/b.py:2  is_hopper()  true on SM90")


def test_each_kind_of_cost_is_shown_before_another_of_one_kind_and_the_same_line_once() -> None:
    costs = [
        Effect(EffectKind.ALLOCATES, Phase.STARTUP, "zeros(…)", "srt/a.py", 5, when="tp " + "and long_test " * n) for n in range(9, 18)
    ]
    sets = Effect(EffectKind.SETS_OPTION, Phase.RESOLUTION, "x", "srt/a.py", 3, "page_size", 64, "use_mla and " + "tests " * 40)
    judgement = Judgement(120, True, Verdict.NOOP_WITH_SIDE_EFFECTS, "costs", (), (*costs, sets))
    rows = shown(judgement)
    assert [row.split(",")[0] for _, row in rows] == [
        "allocates zeros(…) at start-up",
        "sets page_size = 64 while the arguments are resolved",
        "and 5 more under conditions (-v)",
    ]


def test_of_a_replaced_value_it_is_told_what_replaces_it() -> None:
    allocates = Effect(EffectKind.ALLOCATES, Phase.STARTUP, "zeros(…)", "srt/a.py", 5)
    sets = Effect(EffectKind.SETS_OPTION, Phase.RESOLUTION, "x", "srt/a.py", 3, "page_size", 64, "use_mla")
    judgement = Judgement(120, 16, Verdict.OVERRIDDEN, "becomes 64", (), (allocates, sets))
    assert shown(judgement) == [
        ("still", "sets page_size = 64 while the arguments are resolved, when use_mla  srt/a.py:3"),
        ("", "and 1 more (-v)"),
    ]


def test_a_test_that_spans_lines_is_told_in_one() -> None:
    gate = Evidence(Role.GATE, "srt/b.py", 40, 1, "(\n    first(x)\n    or second(x)\n) and a_third_test_that_is_long(x)", (100,))
    judgement = replace(refused(), evidence=(gate,))
    assert [row.plain for _, row in short_rows(judgement, 40)] == ["srt/b.py:40  (first(x) or second(x)) and …  true on SM100"]
