"""The values at which an option is judged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sm_gatecheck.model.condition import ANY, Condition
from sm_gatecheck.model.option import Option

KNOWN_VALUE_LIMIT = 24


def judged_values(option: Option, conditions: Iterable[Condition]) -> tuple[Any, ...]:
    """Booleans at what they are not by default, choices one by one, else the values that the code compares with, else ``ANY``."""
    if option.is_environment:
        return _variable_values(option, conditions)
    if option.choices:
        return option.choices
    if option.is_boolean:
        return (False,) if option.default is True else (True,)
    known = known_values(option.field, conditions)
    if option.default is None and known:
        return known
    return (ANY,)


def _variable_values(option: Option, conditions: Iterable[Condition]) -> tuple[Any, ...]:
    if option.type in ("bool", "Optional[bool]") or isinstance(option.default, bool):
        return ("0",) if option.default is True else ("1",)
    known = known_values(option.field, conditions)
    return known or (ANY,)


def known_values(field: str, conditions: Iterable[Condition]) -> tuple[Any, ...]:
    """The literals, None aside, with which some condition compares the option; sorted."""
    found: set[Any] = set()
    for condition in conditions:
        for node in condition.nodes():
            if node.atom is not None and node.atom.field == field and node.atom.test is None:
                found.update(key[1] for key, _ in node.children if isinstance(key, tuple) and key[1] is not None)
    texts = sorted((value for value in found if isinstance(value, str)), key=str)
    return tuple(texts[:KNOWN_VALUE_LIMIT])


def shown(value: Any) -> Any:
    """The value as reports write it."""
    return "*" if value is ANY else value
