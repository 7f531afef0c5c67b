from __future__ import annotations

from sm_gatecheck.model.option import Option
from sm_gatecheck.model.verdict import SEVERITY_OF, Effect, EffectKind, Evidence, Judgement, OptionReport, Phase, Role, Verdict
from sm_gatecheck.verdicts.findings import RULE_OF, deciding_gate, findings_of, fingerprint, place_of
from tests.report.samples import sample

OPTION = Option("a", ("--a",), file="srt/server_args.py", line=9)
GATE = Evidence(Role.GATE, "srt/gate.py", 5, 1, "is_sm90()", (90,))
OTHER = Evidence(Role.GATE, "srt/other.py", 6, 1, "is_cuda()", (90, 120))


def judgement(verdict: Verdict, evidence: tuple[Evidence, ...] = (), effects: tuple[Effect, ...] = ()) -> Judgement:
    return Judgement(120, True, verdict, "so it is", evidence=evidence, effects=effects)


def test_every_verdict_is_a_finding_or_is_not() -> None:
    options = [OptionReport(OPTION, tuple(judgement(verdict) for verdict in Verdict))]
    assert [(finding.rule, finding.severity) for finding in findings_of(options)] == [
        (rule, SEVERITY_OF[verdict]) for verdict, rule in RULE_OF.items()
    ]
    assert {Verdict.ACTIVE, Verdict.UNGATED, Verdict.UNKNOWN}.isdisjoint(RULE_OF)


def test_a_finding_stands_at_the_gate_that_decides() -> None:
    assert place_of(OPTION, judgement(Verdict.NOOP, (OTHER, GATE))) == ("srt/gate.py", 5)
    assert place_of(OPTION, judgement(Verdict.NOOP, (OTHER,))) == ("srt/other.py", 6)
    assert deciding_gate(judgement(Verdict.NOOP)) is None


def test_without_a_gate_it_stands_at_the_effect_or_at_the_option() -> None:
    behaviour = Effect(EffectKind.BEHAVIOUR, Phase.RUNTIME, "f()", "srt/f.py", 1)
    raises = Effect(EffectKind.RAISES, Phase.RUNTIME, "g()", "srt/g.py", 2)
    assert place_of(OPTION, judgement(Verdict.REJECTED, effects=(behaviour, raises))) == ("srt/g.py", 2)
    assert place_of(OPTION, judgement(Verdict.REJECTED, effects=(behaviour,))) == ("srt/server_args.py", 9)


def test_a_fingerprint_says_which_claim_it_is() -> None:
    claims = [
        ("GC101", "a", True, 120),
        ("GC101", "a", 1, 120),
        ("GC101", "a", "True", 120),
        ("GC101", "a", True, 121),
        ("GC102", "a", True, 120),
    ]
    assert len({fingerprint(*claim) for claim in claims}) == len(claims)
    assert fingerprint("GC102", "enable_fused_reduce", True, 120) == "19258d134bffc9242f267eeae06c786b", "baselines hold these"


def test_a_fingerprint_has_no_line_in_it() -> None:
    moved = Evidence(Role.GATE, "srt/gate.py", 500, 1, "is_sm90()", (90,))
    before, after = (findings_of([OptionReport(OPTION, (judgement(Verdict.NOOP, (gate,)),))])[0] for gate in (GATE, moved))
    assert before.line != after.line
    assert before.fingerprint == after.fingerprint


def test_findings_are_sorted_by_rule_and_then_as_the_options_stand() -> None:
    rules = [finding.rule for finding in sample().findings]
    assert rules == sorted(rules)
    refused = [(finding.option, finding.value, finding.sm) for finding in sample((120, 121)).findings if finding.rule == "GC101"]
    assert refused == [("attention_backend", value, sm) for value in ("paged_mha", "ragged_mha", "paged_mla") for sm in (120, 121)]
