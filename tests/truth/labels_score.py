"""Hand labels of one release: an inventory for all SMs against lists of the verdicts that a fair judge would take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tests.truth.expectation import is_false_noop
from tests.truth.inventory import UNGATED, Inventory
from tests.truth.score import Disagreement, Score, tally

VERDICTS_TARGET = 85.0
FOUND_TARGET = 90.0


def score(inventory: Inventory, labels: Iterable[Mapping[str, Any]]) -> tuple[Score, ...]:
    """Verdicts in the accept list; answers that are no false no-op; options whose gate was found.

    A row that the JSON lacks says ``ungated``. An option counts as found when any of its rows says more than
    ``ungated`` or ``unknown``.
    """
    wrong, false_noops, unfound = [], [], []
    fields: dict[str, bool] = {}
    total = 0
    for label in labels:
        name, value = label["field"], label["value"]
        fields.setdefault(name, is_found(inventory, name))
        for sm, listed in label["accept"].items():
            total += 1
            accepted = frozenset(listed)
            said = inventory.verdict(name, value, int(sm)) if name in inventory.options else "missing"
            where = f"{name}={value}@SM{sm}"
            if said not in accepted:
                wrong.append(Disagreement(f"says {said} where {' or '.join(listed)}", where))
            if is_false_noop(said, accepted):
                false_noops.append(Disagreement(f"says {said} where {' or '.join(listed)}", where))
    unfound = [Disagreement("no gate found", name) for name, found in fields.items() if not found]
    return (
        tally("verdicts", total, wrong, VERDICTS_TARGET),
        tally("answers that are no false no-op", total, false_noops, 100.0),
        tally("gated options found", len(fields), unfound, FOUND_TARGET),
    )


def is_found(inventory: Inventory, name: str) -> bool:
    option = inventory.options.get(name)
    return option is not None and any(row["verdict"] not in (UNGATED, "unknown") for row in option["verdicts"])
