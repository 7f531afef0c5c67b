"""The proof of a judgement as labelled rows: why, what stops, what still happens, where it is fine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rich.text import Text

from sm_gatecheck.model.verdict import Effect, EffectKind, Evidence, Judgement, Role, Verdict
from sm_gatecheck.report.clean import visible
from sm_gatecheck.report.wording import brief, brief_text, counted, effect_sentence, sm_list
from sm_gatecheck.verdicts.findings import deciding_gate
from sm_gatecheck.verdicts.mending import deciding_refusals, said

LABEL_WIDTH = 6
GATES_SHOWN = 2
CERTAIN_SHOWN = 6
POSSIBLE_SHOWN = {
    (Verdict.NOOP_WITH_SIDE_EFFECTS, "still"): 6,
    (Verdict.REJECTED, "stops"): 1,
    (Verdict.REJECTED, "still"): 0,
}
"""How many effects under a condition fill up the certain ones: the costs are the point of a no-op that has some, and past what is
refused nothing matters."""
POSSIBLE_SHOWN_ELSEWHERE = 2
SMS_LISTED = 6
LINES_UNDER_A_TEST = 12
MORE = "(-v)"
"""Ends a count of what only ``-v`` shows."""

_ROLE_LABELS = {Role.GATE: "gate", Role.SITE: "site", Role.EFFECT: "effect", Role.CALL: "called"}


def proof_rows(judgement: Judgement) -> list[tuple[str, Text]]:
    """Every piece of evidence and every effect, whole."""
    rows = [(_ROLE_LABELS[evidence.role], _evidence(evidence)) for evidence in judgement.evidence]
    for label, effects in _by_label(judgement):
        rows += [(label if index == 0 else "", _effect(effect)) for index, effect in enumerate(effects)]
    return rows + _ends(judgement)


def short_rows(judgement: Judgement, room: int) -> list[tuple[str, Text]]:
    """The deciding gates, what is sure to happen and a little of what may: each condition and source in ``room`` characters.

    Of a model's own refusals and rewrites there can be dozens; those that need no condition tell an operator most, then
    those with the shortest.
    """
    rows = [("why", _gate(gate, judgement.sm, room)) for gate in _gates(judgement)]
    for label, effects in _by_label(judgement):
        rows += _some(label, effects, room, POSSIBLE_SHOWN.get((judgement.verdict, label), POSSIBLE_SHOWN_ELSEWHERE))
    return rows + _ends(judgement)


def refusal_shown(judgement: Judgement) -> Effect | None:
    """Of the refusals under a condition, the one that stands right under a test of the GPU, else the one that decided."""
    raised = [effect for effect in judgement.effects if effect.kind is EffectKind.RAISES]
    tests = [evidence for evidence in judgement.evidence if evidence.role is Role.GATE]
    under = [
        (effect.line - test.line, index)
        for index, effect in enumerate(raised)
        for test in tests
        if effect.file == test.file and 0 <= effect.line - test.line <= LINES_UNDER_A_TEST
    ]
    if under:
        return raised[min(under)[1]]
    return next(iter(deciding_refusals(judgement)), None)


def place(file: str, line: int) -> Text:
    """``srt/server_args.py:12`` as every text report shows it."""
    return Text(f"{visible(file)}:{line}", style="cyan")


def _gates(judgement: Judgement) -> list[Evidence]:
    deciding = deciding_gate(judgement)
    others = [evidence for evidence in judgement.evidence if evidence.role is Role.GATE and evidence != deciding]
    return ([] if deciding is None else [deciding]) + others[: GATES_SHOWN - 1]


def _evidence(evidence: Evidence) -> Text:
    text = place(evidence.file, evidence.line).append(f"  {visible(evidence.source)}", style="default")
    if evidence.true_on:
        return text.append(f"  true on {sm_list(evidence.true_on)}", style="dim")
    return text.append("  true on no SM", style="dim") if evidence.role is Role.GATE else text


def _gate(gate: Evidence, sm: int, room: int) -> Text:
    """A test in a line; of many SMs on which it holds only their number, and whether this is one of them."""
    if len(gate.true_on) <= SMS_LISTED:
        return _evidence(replace(gate, source=brief_text(gate.source, room)))
    text = place(gate.file, gate.line).append(f"  {brief_text(gate.source, room)}", style="default")
    return text.append(f"  true on {len(gate.true_on)} SMs, SM{sm} {'is one' if sm in gate.true_on else 'is not'}", style="dim")


def _by_label(judgement: Judgement) -> list[tuple[str, list[Effect]]]:
    raises = [effect for effect in judgement.effects if effect.kind is EffectKind.RAISES]
    behaviour = [effect for effect in judgement.effects if effect.kind is EffectKind.BEHAVIOUR]
    others = [effect for effect in judgement.effects if effect not in raises and effect not in behaviour]
    return [("stops", raises), ("still", others), ("works", behaviour if judgement.verdict is Verdict.PARTIAL else [])]


def _ends(judgement: Judgement) -> list[tuple[str, Text]]:
    rows = [("fine", Text(f"on {sm_list(judgement.active_on)}"))] if judgement.active_on else []
    return rows + [("open", Text(visible(reason), style="magenta")) for reason in judgement.unknown]


def _some(label: str, effects: Sequence[Effect], room: int, limit: int) -> list[tuple[str, Text]]:
    """Rows for what happens always, then for what may, up to ``limit``."""
    certain = [effect for effect in effects if effect.when is None]
    possible = sorted(
        (effect for effect in effects if effect.when is not None),
        key=lambda effect: (effect.kind is EffectKind.WARNS, len(effect.when or "")),
    )
    shown = [*certain[:CERTAIN_SHOWN], *possible[: max(limit - len(certain), 0)]]
    rows = [(label if index == 0 else "", _effect(_shortened(effect, room))) for index, effect in enumerate(shown)]
    if len(shown) < len(effects):
        number = f"and {len(effects) - len(shown)} more" if shown else counted(len(effects), "effect")
        where = " under conditions" if len(certain) <= CERTAIN_SHOWN else ""
        rows.append(("" if shown else label, Text(f"{number}{where} {MORE}", style="dim")))
    return rows


def _shortened(effect: Effect, room: int) -> Effect:
    when = None if effect.when is None else brief(effect.when, room)
    what = effect.what if len(effect.what) <= room else brief_text(said(effect.what), 2 * room)
    return replace(effect, what=what, when=when)


def _effect(effect: Effect) -> Text:
    return Text(f"{effect_sentence(effect)}  ").append_text(place(effect.file, effect.line))
