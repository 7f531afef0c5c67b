"""Reported cases: inventories under each case's assumptions against what was established guard by guard."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tests.truth.expectation import accepted_verdicts, fault_of, is_false_noop, said_of
from tests.truth.facts_score import InventoryOf
from tests.truth.score import Disagreement, Score, tally

TARGET = 92.0


def score(inventory_of: InventoryOf, cases: Iterable[Mapping[str, Any]]) -> tuple[Score, ...]:
    """(case, SM) answers, and those that are no false no-op. ``inventory_of(release, set)`` should remember its answers."""
    wrong, false_noops = [], []
    total = 0
    for case in cases:
        expected = expectations(case)
        is_uniform = len(set(expected.values())) == 1
        inventory = inventory_of(case["version"], case["set"])
        name, value = case["flag"], case["value"]
        for sm, text in expected.items():
            total += 1
            where = f"{case['id']}@SM{sm}"
            fault = fault_of(inventory, name, value, sm, text, is_uniform)
            if fault is not None:
                wrong.append(Disagreement(fault, where))
            if value is None or text.startswith("default:"):
                continue
            said = said_of(inventory, name, value, sm)
            if is_false_noop(said, accepted_verdicts(text, is_uniform)):
                false_noops.append(Disagreement(f"says {said} where {text}", where))
    return (
        tally("(case, SM) answers", total, wrong, TARGET),
        tally("answers that are no false no-op", total, false_noops, 100.0),
    )


def expectations(case: Mapping[str, Any]) -> dict[int, str]:
    """By SM. Where the gate lives in a dependency, what SGLang alone does counts, on the SMs for which that was established."""
    chosen = case["sm_expect_sglang_only"] or case["sm_expect"]
    return {int(sm): text for sm, text in chosen.items()}
