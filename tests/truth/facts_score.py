"""The table of facts: inventories of several releases against ``facts.toml``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.truth.expectation import fault_of
from tests.truth.inventory import Inventory
from tests.truth.score import Disagreement, Score, tally

InventoryOf = Callable[[str, Mapping[str, Any]], Inventory]


def score(inventory_of: InventoryOf, facts: Mapping[str, Any], release: str) -> tuple[Score, ...]:
    """The rows of one release; ``inventory_of(release, set)`` gives the JSON under the row's assumptions."""
    wrong = []
    total = 0
    for fact in facts["fact"]:
        if release not in fact["releases"]:
            continue
        inventory = inventory_of(release, fact.get("set", {}))
        for sm, text in fact["expect"].items():
            total += 1
            name, value = fact["option"], fact.get("value")
            fault = fault_of(inventory, name, value, int(sm), text)
            if fault is None:
                fault = _unnamed(inventory, name, value, int(sm), fact.get("places", {}).get(sm, ()))
            if fault is not None:
                wrong.append(Disagreement(fault, f"{name}={value}@SM{sm}"))
    is_required = release in facts["required"]["releases"]
    return (tally("facts", total, wrong, 100.0 if is_required else None),)


def releases(facts: Mapping[str, Any]) -> tuple[str, ...]:
    """Every release that has a row."""
    return tuple(dict.fromkeys(release for fact in facts["fact"] for release in fact["releases"]))


def _unnamed(inventory: Inventory, name: str, value: Any, sm: int, places: list[str]) -> str | None:
    row = inventory.row(name, value, sm)
    named = set() if row is None else {item["file"] for item in (*row["effects"], *row["evidence"])}
    lacking = [place for place in places if place not in named]
    return f"names no line of {', '.join(lacking)}" if lacking else None
