"""Judging for a launch whose model may not be known: conditions on models that the tree names are told of, and decide nothing."""

from __future__ import annotations

from dataclasses import replace

from sm_gatecheck.model.condition import Condition
from sm_gatecheck.model.verdict import Effect, Judgement, Verdict
from sm_gatecheck.target.session import Session
from sm_gatecheck.verdicts.judging import Judge, Trial
from sm_gatecheck.verdicts.summaries import summary_of


class LaunchJudge(Judge):
    """Takes a launch's model for an ordinary one: what is refused or replaced only for models with a name of their own is an effect
    that carries this condition, and decides no verdict until the model is known to be one of them."""

    def refusals(self, trial: Trial, bits: int) -> list[Effect]:
        ordinary = {
            (effect.file, effect.line)
            for effect, condition in self._refusing(trial)
            if not ordinarily(self.session, condition.on(bits)).is_false
        }
        return [effect for effect in super().refusals(trial, bits) if (effect.file, effect.line) in ordinary]

    def _replaced_for_its_sake(self, trial: Trial, bits: int) -> bool:
        here = trial.replaced_when.get(bits)
        return here is not None and not ordinarily(self.session, here).is_false and super()._replaced_for_its_sake(trial, bits)

    def told(self, trial: Trial, judgement: Judgement) -> Judgement:
        """The judgement, its summary naming a refusal that decided it."""
        if judgement.verdict is not Verdict.REJECTED:
            return judgement
        refusals = tuple(self.refusals(trial, self.session.devices.bit(judgement.sm)))
        return replace(judgement, summary=summary_of(trial, judgement.sm, judgement.verdict, judgement.active_on, refusals))


def ordinarily(session: Session, condition: Condition) -> Condition:
    """What is left of a condition for a model that no test names; all of it once the model is known."""
    for fact in session.reading.listed_facts.values():
        if fact not in session.facts:
            condition = condition.restrict(fact, _UNNAMED)
    return condition


_UNNAMED = "(a model that no test names)"
