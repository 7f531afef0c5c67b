"""Conditions on the model's name: what is left of them for a model that no test of the tree names."""

from __future__ import annotations

from sm_gatecheck.model.condition import Condition
from sm_gatecheck.target.session import Session

UNNAMED = "(a model that no test names)"


def ordinarily(session: Session, condition: Condition) -> Condition:
    """What is left of a condition for a model that no test names; all of it once the model is known."""
    for fact in session.reading.listed_facts.values():
        if fact not in session.facts:
            condition = condition.restrict(fact, UNNAMED)
    return condition
