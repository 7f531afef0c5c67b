"""What a fact or a case expects of one (option, value, SM), read from its short text, and whether an inventory meets it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tests.truth.inventory import NOOPS, UNGATED, Inventory, spelling

VERDICTS = frozenset({"rejected", "overridden", "noop_with_side_effects", "noop", "partial", "active", "ungated", "unknown"})
_DEFAULT = re.compile(r"default:(?P<value>\S+)(?P<rest>.*)")


def fault_of(inventory: Inventory, name: str, value: Any, sm: int, text: str, is_uniform: bool = False) -> str | None:
    """None where the inventory says what ``text`` expects, else the kind of fault.

    ``value`` None means that nobody sets the option. ``is_uniform``: the same is expected on every SM asked about, so
    that an answer without any SM condition (``ungated`` for ``active``) is right too, and so is being replaced whatever
    the SM for ``overridden``.
    """
    match = _DEFAULT.match(text)
    if match:
        return _default_fault(inventory, name, value, sm, match["value"], is_words=_is_words(match["rest"]))
    if value is None:
        if text == "rejected":
            return None if default_is_refused(inventory, name, sm) else "says accepted where the default is refused"
        raise ValueError(f"{name} left alone: cannot expect {text!r}")
    said = said_of(inventory, name, value, sm)
    accepted = accepted_verdicts(text, is_uniform)
    if said in accepted:
        return None
    if text == "not_rejected_by_resolution":
        return None if not refused_by_resolution(inventory, name, value, sm) else "says refused by resolution where it is not"
    if text == "overridden" and is_uniform and writes_itself(inventory, name, value, sm):
        return None
    return f"says {said} where {text}"


def accepted_verdicts(text: str, is_uniform: bool = False) -> frozenset[str]:
    """The verdicts that answer an expectation; one path dead and another live is ``partial``."""
    if text == "not_rejected_by_resolution":
        return VERDICTS - {"rejected", "unknown"}
    if text in VERDICTS:
        return frozenset({text, UNGATED}) if text == "active" and is_uniform else frozenset({text})
    if "noop" in text and "active" in text:
        return frozenset({"partial"})
    raise ValueError(f"an expectation that nothing here can read: {text!r}")


def is_false_noop(said: str, accepted: frozenset[str]) -> bool:
    """A no-op claimed where the option works: the fault that must never happen."""
    return said in NOOPS and not accepted & NOOPS and bool(accepted & {"active", "partial"})


def said_of(inventory: Inventory, name: str, value: Any, sm: int) -> str:
    """The verdict, ``missing`` where the tree is said to have no such option.

    A variable of the environment that the inventory lacks, while it has others, is said to be read by nothing: a no-op.
    """
    if name not in inventory.options:
        return "noop" if name.startswith("env:") and inventory.names_environment else "missing"
    return inventory.verdict(name, value, sm)


def default_is_refused(inventory: Inventory, name: str, sm: int) -> bool:
    """Whether what the option becomes when nobody sets it is refused: each value that it may become is rejected."""
    default = inventory.default(name, sm)
    if default is None:
        return False
    return all(inventory.verdict(name, value, sm) == "rejected" for value in default.values)


def refused_by_resolution(inventory: Inventory, name: str, value: Any, sm: int) -> bool:
    row = inventory.row(name, value, sm)
    if row is None or row["verdict"] != "rejected":
        return False
    return any(effect["kind"] == "raises" and effect["phase"] == "resolution" for effect in row["effects"])


def writes_itself(inventory: Inventory, name: str, value: Any, sm: int) -> bool:
    """Whether resolution is said to replace the value, always."""
    row = inventory.row(name, value, sm)
    return row is not None and any(replaces(effect, name, value) for effect in row["effects"])


def replaces(effect: Mapping[str, Any], name: str, value: Any) -> bool:
    """Whether an effect puts another value in the place of the one that ``name`` was set to, always."""
    return (
        effect["kind"] == "sets_option"
        and effect["option"] == name
        and effect["when"] is None
        and spelling(effect["value"]) != spelling(value)
    )


def _is_words(rest: str) -> bool:
    """``default:sparse decode`` describes a path; ``default:True (auto)`` and ``default:fa3 with CUDA 12`` name a value."""
    rest = rest.strip()
    return bool(rest) and not rest.startswith(("(", "with "))


def _default_fault(inventory: Inventory, name: str, value: Any, sm: int, wanted: str, is_words: bool) -> str | None:
    if name not in inventory.options:
        return "says missing where a default is expected"
    said = None if value is None else inventory.verdict(name, value, sm)
    if is_words:
        return None if said in ("active", "partial") else f"says {said} where the value takes one of several live paths"
    default = inventory.default(name, sm)
    values = () if default is None else tuple(spelling(item) for item in default.values)
    if spelling(wanted) in values:
        return None
    if value is not None:
        row = inventory.row(name, value, sm)
        effects = () if row is None else row["effects"]
        if any(effect["option"] == name and spelling(effect["value"]) == spelling(wanted) for effect in effects):
            return None
        if said in ("active", "partial") and (default is None or default.is_declared):
            return None
        return f"says {said}, default {' or '.join(values)}, where it becomes {wanted}"
    return f"says default {' or '.join(values)} where {wanted}"
