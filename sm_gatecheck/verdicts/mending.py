"""What to write instead: for each option of a launch that does nothing, does harm or is refused, the change that mends it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import dropwhile
from typing import Any

from sm_gatecheck.model.launch_report import Mend
from sm_gatecheck.model.option import Option
from sm_gatecheck.model.verdict import Effect, EffectKind, Judgement, OptionReport, Verdict
from sm_gatecheck.verdicts.gate import Gate
from sm_gatecheck.verdicts.scenario import NOT_KNOWN, Scenario

IDLE = (Verdict.NOOP, Verdict.NOOP_WITH_SIDE_EFFECTS)
BAD = (*IDLE, Verdict.REJECTED)
_STRING = re.compile(r'"([^"\n]*)"|\'([^\'\n]*)\'')


def mends_of(gate: Gate, scenario: Scenario, reports: Sequence[OptionReport]) -> Iterator[Mend]:
    """The mends of a launch, one an option at most: an option is touched only where it is bad on every SM asked for."""
    for report in reports:
        verdicts = {judgement.verdict for judgement in report.judgements}
        if not verdicts or not verdicts.issubset(BAD):
            continue
        better = _replacement(gate, scenario, report) if Verdict.REJECTED in verdicts else None
        yield better or Mend(report.option.field, "remove", None)


def _replacement(gate: Gate, scenario: Scenario, report: OptionReport) -> Mend | None:
    """Another value of a refused option that the tree names and that works: in the words of the refusal, or chosen by itself."""
    option = report.option
    given = scenario.settings.get(option.field)
    if not option.choices or given is NOT_KNOWN:
        return None
    tried = {repr(given)}
    for value, file, line in _named(gate, scenario, report):
        if repr(value) not in tried and value in option.choices:
            tried.add(repr(value))
            if _works(gate, scenario, option, value):
                return Mend(option.field, "replace", value, file, line)
    return None


def _named(gate: Gate, scenario: Scenario, report: OptionReport) -> Iterator[tuple[Any, str, int]]:
    for judgement in report.judgements:
        for refusal in deciding_refusals(judgement):
            for value in _words_of(refusal.what, report.option):
                yield value, refusal.file, refusal.line
    alone = gate.resolved_to(scenario.without(report.option.field), report.option.field)
    if alone is not None:
        yield alone


def deciding_refusals(judgement: Judgement) -> list[Effect]:
    """Of what refuses a value, that which decided: without a condition, else the one that the summary names."""
    raised = [effect for effect in judgement.effects if effect.kind is EffectKind.RAISES]
    always = [effect for effect in raised if effect.when is None]
    return always or [effect for effect in raised if f"({effect.file}:{effect.line})" in judgement.summary] or raised[:1]


def said(source: str) -> str:
    """The words of a refusal without the code around them; the code where it has no words."""
    strings = [match[1] or match[2] or "" for match in _STRING.finditer(source)]
    # What stands before the first sentence are values that an assertion compares with.
    sentence = list(dropwhile(lambda string: " " not in string, strings))
    return " ".join("".join(sentence).replace("\\n", " ").split()) if sentence else source


def _words_of(text: str, option: Option) -> Iterator[Any]:
    """The choices of an option that stand in the strings of a source text, in their order there."""
    strings = " ".join(match[1] or match[2] for match in _STRING.finditer(text))
    choices = {choice: choice for choice in option.choices or () if isinstance(choice, str) and choice}
    names = "|".join(sorted(map(re.escape, choices), key=len, reverse=True))
    for match in re.finditer(rf"(?<![\w-])(?:{names})(?![\w-])", strings) if names else ():
        yield choices[match.group()]


def _works(gate: Gate, scenario: Scenario, option: Option, value: Any) -> bool:
    """Whether a value does what it is for on every SM asked for, with the rest of the launch standing."""
    changed = scenario.with_value(option.field, value)
    report = gate.judge_option(changed, gate.resolve(changed), option, value)
    return all(judgement.verdict in (Verdict.ACTIVE, Verdict.PARTIAL, Verdict.UNGATED) for judgement in report.judgements)
