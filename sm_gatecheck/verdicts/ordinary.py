"""Judging for a launch whose model may not be known: conditions on models that the tree names are told of, and decide nothing."""

from __future__ import annotations

from dataclasses import replace

from sm_gatecheck.model.verdict import Effect, Judgement, Verdict
from sm_gatecheck.verdicts.judging import Judge, Trial
from sm_gatecheck.verdicts.models import ordinarily
from sm_gatecheck.verdicts.summaries import summary_of


class LaunchJudge(Judge):
    """Takes a launch's model for an ordinary one: what is refused only for models with a name of their own is an effect
    that carries this condition, and decides no verdict until the model is known to be one of them."""

    def refusals(self, trial: Trial, bits: int) -> list[Effect]:
        ordinary = {
            (effect.file, effect.line)
            for effect, condition, _ in self._refusing(trial)
            if not ordinarily(self.session, condition.on(bits)).is_false
        }
        return [effect for effect in super().refusals(trial, bits) if (effect.file, effect.line) in ordinary]

    def told(self, trial: Trial, judgement: Judgement) -> Judgement:
        """The judgement, its summary naming a refusal that decided it."""
        if judgement.verdict is not Verdict.REJECTED:
            return judgement
        refusals = tuple(self.refusals(trial, self.session.devices.bit(judgement.sm)))
        return replace(judgement, summary=summary_of(trial, judgement.sm, judgement.verdict, judgement.active_on, refusals))
