"""The proofs of a page, each once: cells refer to them by number."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from sm_gatecheck.model.verdict import DefaultAlternative, Effect, EffectKind, Evidence, Judgement, Role
from sm_gatecheck.report.clean import visible
from sm_gatecheck.report.wording import effect_sentence, sm_list, value_text

THIS_SM = "\x01"
"""No text of a tree holds a control character once it is made visible."""

ROLES = {Role.GATE: "gate", Role.SITE: "site", Role.EFFECT: "effect", Role.CALL: "called"}


class Proofs:
    """Numbers for judgements and defaults; ``document`` is what ``script.js`` reads.

    ``lines`` are pieces of evidence (role, file, line, source, where it holds), ``effects`` a sentence, the number of its condition
    in ``whens`` or -1, file and line. A proof is a summary, numbers of lines, numbers of effects, what is fine, and what could
    not be followed. ``THIS_SM`` stands in a summary for the column's SM, so that what holds on several is there once.
    """

    def __init__(self) -> None:
        self._proofs: dict[str, int] = {}
        self._lines: dict[str, int] = {}
        self._effects: dict[str, int] = {}
        self._whens: dict[str, int] = {}

    def of(self, judgement: Judgement) -> int:
        effects = [effect for effect in judgement.effects if effect.kind is not EffectKind.BEHAVIOUR]
        behaviour = [effect for effect in judgement.effects if effect.kind is EffectKind.BEHAVIOUR]
        return _number(
            self._proofs,
            [
                re.sub(rf"\bSM{judgement.sm}\b", THIS_SM, visible(judgement.summary)),
                [self._line(evidence) for evidence in judgement.evidence],
                [self._effect(effect) for effect in (*effects, *behaviour)],
                sm_list(judgement.active_on),
                [visible(reason) for reason in judgement.unknown],
            ],
        )

    def of_default(self, alternatives: tuple[DefaultAlternative, ...]) -> int:
        """What an option becomes when nobody sets it, as effects."""
        effects = []
        for alternative in alternatives:
            place = [self._when(alternative.when), visible(alternative.file), alternative.line]
            effects.append(_number(self._effects, [value_text(alternative.value), *place]))
        return _number(self._proofs, ["When nobody sets it, it becomes:", [], effects, "", []])

    def document(self) -> dict[str, Any]:
        return {name: [json.loads(key) for key in known] for name, known in self._tables()}

    def _tables(self) -> tuple[tuple[str, dict[str, int]], ...]:
        return (("proofs", self._proofs), ("lines", self._lines), ("effects", self._effects), ("whens", self._whens))

    def _line(self, evidence: Evidence) -> int:
        holds = f"true on {sm_list(evidence.true_on)}" if evidence.true_on else "true on no SM" if evidence.role is Role.GATE else ""
        return _number(self._lines, [ROLES[evidence.role], visible(evidence.file), evidence.line, visible(evidence.source), holds])

    def _effect(self, effect: Effect) -> int:
        what = effect_sentence(replace(effect, when=None))
        return _number(self._effects, [what, self._when(effect.when), visible(effect.file), effect.line])

    def _when(self, when: str | None) -> int:
        return _number(self._whens, visible(when)) if when else -1


def _number(known: dict[str, int], entry: list[Any] | str) -> int:
    return known.setdefault(json.dumps(entry), len(known))
