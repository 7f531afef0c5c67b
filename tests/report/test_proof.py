from __future__ import annotations

from sm_gatecheck.model.verdict import Effect, EffectKind, Evidence, Judgement, Phase, Role, Verdict
from sm_gatecheck.report.proof import refusal_shown, short_rows


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
