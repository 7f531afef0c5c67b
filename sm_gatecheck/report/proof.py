"""The proof of a judgement as labelled rows: why, what stops, what still happens, where it is fine."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from sm_gatecheck.model.verdict import Effect, EffectKind, Evidence, Judgement, Role, Verdict
from sm_gatecheck.report.clean import visible
from sm_gatecheck.report.wording import effect_sentence, sm_list
from sm_gatecheck.verdicts.findings import deciding_gate

LABEL_WIDTH = 6
GATES_SHOWN = 2
EFFECTS_SHOWN = 6

_ROLE_LABELS = {Role.GATE: "gate", Role.SITE: "site", Role.EFFECT: "effect", Role.CALL: "called"}


def proof_rows(judgement: Judgement, whole: bool) -> list[tuple[str, Text]]:
    """The deciding gates and the effects; with ``whole`` every piece of evidence and every effect."""
    if whole:
        rows = [(_ROLE_LABELS[evidence.role], _evidence(evidence)) for evidence in judgement.evidence]
    else:
        rows = [("why", _evidence(gate)) for gate in _gates(judgement)]
    raises = [effect for effect in judgement.effects if effect.kind is EffectKind.RAISES]
    behaviour = [effect for effect in judgement.effects if effect.kind is EffectKind.BEHAVIOUR]
    others = [effect for effect in judgement.effects if effect not in raises and effect not in behaviour]
    limit = len(judgement.effects) if whole else EFFECTS_SHOWN
    rows += _effects("stops", raises, limit)
    rows += _effects("still", others, limit)
    if judgement.verdict is Verdict.PARTIAL:
        rows += _effects("works", behaviour, limit)
    if judgement.active_on:
        rows.append(("fine", Text(f"on {sm_list(judgement.active_on)}")))
    return rows + [("open", Text(visible(reason), style="magenta")) for reason in judgement.unknown]


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


def _effects(label: str, effects: Sequence[Effect], limit: int) -> list[tuple[str, Text]]:
    shown = effects if len(effects) <= limit else effects[: limit - 1]
    rows = [(label if index == 0 else "", _effect(effect)) for index, effect in enumerate(shown)]
    if len(shown) < len(effects):
        rows.append(("", Text(f"and {len(effects) - len(shown)} more (-v)", style="dim")))
    return rows


def _effect(effect: Effect) -> Text:
    return Text(f"{effect_sentence(effect)}  ").append_text(place(effect.file, effect.line))
