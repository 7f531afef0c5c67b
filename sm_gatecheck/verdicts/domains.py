"""The values at which an option is judged."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from sm_gatecheck.model.condition import ANY, Atom, Condition
from sm_gatecheck.model.option import Option

KNOWN_VALUE_LIMIT = 24
_TEXT = re.compile(r"'([^'\\\\]+)'")


def judged_values(option: Option, conditions: Iterable[Condition]) -> tuple[Any, ...]:
    """Booleans at what they are not by default (both where the default is neither), choices one by one, else the values that the
    code compares with, else ``ANY``.
    """
    if option.is_environment:
        return _variable_values(option, conditions)
    if option.choices:
        return option.choices
    if option.is_boolean:
        if option.default is None and option.default_source is None:
            return (True, False)
        return (False,) if option.default is True else (True,)
    known = known_values(option.field, conditions) if option.default is None and not option.is_required else ()
    return known or (ANY,)


def has_unlisted_values(option: Option) -> bool:
    """Whether the values that an option knows have to be found in the code."""
    return not (option.is_environment or option.choices or option.is_boolean) and option.default is None and "str" in (option.type or "str")


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
            if node.atom is None or node.atom.field != field:
                continue
            if node.atom.test is None:
                found.update(key[1] for key, _ in node.children if isinstance(key, tuple) and key[1] is not None)
            else:
                found.update(_passing(node.atom))
    texts = sorted((value for value in found if isinstance(value, str)), key=str)
    return tuple(texts[:KNOWN_VALUE_LIMIT])


def _passing(atom: Atom) -> Iterable[str]:
    """The texts written in a comparison of something made from the option (``x.upper() == "A"``) that pass it."""
    for text in _TEXT.findall(atom.text):
        try:
            if atom.test is not None and atom.test(text):
                yield text
        except Exception:  # the analysed comparison would have raised
            continue


def shown(value: Any) -> Any:
    """The value as reports write it."""
    return "*" if value is ANY else value
