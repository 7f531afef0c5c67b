"""Looking things up in the JSON of ``gatecheck check``: verdict rows by (field, value, SM), defaults by (field, SM)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

UNGATED = "ungated"
NOOPS = frozenset({"noop", "noop_with_side_effects"})


@dataclass(frozen=True)
class Default:
    """What an option becomes on an SM when nobody sets it: one value, several that depend on something, or as declared."""

    values: tuple[Any, ...]
    is_declared: bool = False

    @property
    def is_decided(self) -> bool:
        return len(self.values) == 1


@dataclass(frozen=True)
class Inventory:
    """The JSON document of one ``gatecheck check --format json``, indexed."""

    document: Mapping[str, Any]
    _rows: dict[tuple[str, int], list[Mapping[str, Any]]] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def options(self) -> Mapping[str, Mapping[str, Any]]:
        return {option["field"]: option for option in self.document["options"]}

    @property
    def names_environment(self) -> bool:
        """Whether the inventory speaks of environment variables at all (then one it lacks is read by nothing)."""
        return any(name.startswith("env:") for name in self.options)

    def rows(self, name: str, sm: int) -> list[Mapping[str, Any]]:
        """The verdict rows of an option on an SM, as listed; empty where the option is missing."""
        key = (name, sm)
        if key not in self._rows:
            listed = self.options.get(name, {}).get("verdicts", ())
            self._rows[key] = [row for row in listed if row["sm"] == sm]
        return self._rows[key]

    def row(self, name: str, value: Any, sm: int) -> Mapping[str, Any] | None:
        """The row of exactly that value, else the row of "set to anything" (``"*"``), else None.

        Truth files write some values as text (``True``, ``64``, ``>1``): they match by spelling, and ``1`` and ``0``
        stand for true and false where the option is an environment variable.
        """
        rows = self.rows(name, sm)
        is_environment = name.startswith("env:")
        for row in rows:
            if same_value(value, row["value"], is_environment):
                return row
        return next((row for row in rows if row["value"] == "*"), None)

    def verdict(self, name: str, value: Any, sm: int) -> str:
        """The verdict; a row left out of the JSON is ``ungated``."""
        row = self.row(name, value, sm)
        return UNGATED if row is None else str(row["verdict"])

    def default(self, name: str, sm: int) -> Default | None:
        """None where the tree has no such option.

        A nested name (``graphs.decode.backend``) is looked up as an option of its own first, then inside the value of
        the option that its first part names.
        """
        option = self.options.get(name)
        if option is None:
            return self._nested_default(name, sm) if "." in name else None
        for entry in option.get("defaults", ()):
            if entry["sm"] == sm and entry["values"]:
                return Default(tuple(value["value"] for value in entry["values"]))
        return Default((option.get("default"),), is_declared=True)

    def _nested_default(self, name: str, sm: int) -> Default | None:
        owner, _, path = name.partition(".")
        outer = self.default(owner, sm)
        if outer is None or outer.is_declared:
            return None
        values = tuple(_descend(value, path.split(".")) for value in outer.values)
        return None if any(value is _ABSENT for value in values) else Default(values)


_ABSENT = object()


def _descend(value: Any, path: list[str]) -> Any:
    for part in path:
        if not isinstance(value, Mapping) or part not in value:
            return _ABSENT
        value = value[part]
    return value


def same_value(truth: Any, answer: Any, is_environment: bool = False) -> bool:
    """Whether a value of a truth file and one of the JSON are the same setting, however each is spelled."""
    first, second = spelling(truth), spelling(answer)
    if first == second:
        return True
    if first.startswith(">"):
        return isinstance(answer, (int, float)) and not isinstance(answer, bool) and answer > float(first[1:])
    if is_environment:
        return _ENVIRONMENT.get(first, first) == _ENVIRONMENT.get(second, second)
    return False


_ENVIRONMENT = {"1": "true", "0": "false"}


def spelling(value: Any) -> str:
    """A value as text: ``True`` and ``"True"`` are ``true``, None and ``"None"`` are ``null``."""
    if value is True or value in ("True", "true"):
        return "true"
    if value is False or value in ("False", "false"):
        return "false"
    if value is None or value == "None":
        return "null"
    return str(value)
