"""What a run of resolution left behind."""

from __future__ import annotations

import ast
from collections.abc import Hashable
from dataclasses import dataclass, field

from sm_gatecheck.evaluate.frames import Event, Guard
from sm_gatecheck.evaluate.values import Choice, Instance, Known, Mapping, Payload, Value, choice
from sm_gatecheck.model.condition import Condition
from sm_gatecheck.model.gaps import Reason
from sm_gatecheck.program.modules import Module

INNER = "*."
"""How the field of a write begins that goes to an object made on the way."""
DEPTH_LIMIT = 3
"""How many objects deep a field is looked into."""


@dataclass(frozen=True)
class Write:
    """Resolution storing ``value`` in ``field`` (an option, or ``env:NAME``) under ``condition``, after passing ``guards``."""

    field: str
    value: Value
    condition: Condition
    module: Module
    node: ast.AST
    guards: tuple[Guard, ...] = ()


@dataclass
class Outcome:
    """Each field's final value, the writes in order, and what else happened on the way.

    ``state`` holds the fields by name, variables by ``env:NAME``, and what objects made on the way hold by (object, attribute).
    """

    state: dict[Hashable, Value] = field(default_factory=dict)
    writes: list[Write] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    unfinished: str | None = None
    left: Reason | None = None
    later: set[int] = field(default_factory=set)
    """Events and writes, by identity, of what runs on the options once the server starts."""

    resolved: dict[str, Value] | None = None
    """The fields before the checks that follow resolution."""

    @property
    def fields(self) -> dict[str, Value]:
        """Options and variables by name, as resolution left them."""
        return self.snapshot() if self.resolved is None else self.resolved

    def snapshot(self) -> dict[str, Value]:
        """The fields as they stand. An object in a field becomes a mapping, and each of its own fields an entry ``field.name``."""
        found: dict[str, Value] = {}
        for name, value in self.state.items():
            if isinstance(name, str):
                self._take(name, value, found, 0)
        return found

    def _take(self, name: str, value: Value, found: dict[str, Value], depth: int) -> None:
        parts = tuple(value.alternatives) if isinstance(value, Choice) else ((None, value),)
        objects = [payload for _, payload in parts if _is_record(payload)]
        found[name] = value
        if not objects or depth > DEPTH_LIMIT or name.startswith("_") or len(objects) < len(parts):
            return
        inner = dict.fromkeys(field for record in objects if isinstance(record, Instance) for field in self.names(record))
        for field_name in inner:
            held = [(condition, self.held(record, field_name)) for condition, record in parts if isinstance(record, Instance)]
            self._take(f"{name}.{field_name}", _joined(held), found, depth + 1)
        found[name] = Mapping(tuple((Known(field_name), found[f"{name}.{field_name}"]) for field_name in inner))

    def names(self, record: Instance) -> list[str]:
        """The fields that an object of the tree holds."""
        stored = [key[1] for key in self.state if isinstance(key, tuple) and key[0] is record]
        return [name for name in dict.fromkeys((*record.attributes, *stored)) if not name.startswith("_")]

    def held(self, record: Instance, name: str) -> Value:
        """What it holds in one of them."""
        value = self.state.get((record, name), record.attributes.get(name))
        return Known(None) if value is None else value


def _is_record(payload: Payload) -> bool:
    """Whether a value is an object of the tree whose fields are all known."""
    return isinstance(payload, Instance) and payload.cls is not None and not payload.escaped


def _joined(held: list[tuple[Condition | None, Value]]) -> Value:
    """One guarded value out of what each alternative object holds."""
    if len(held) == 1:
        return held[0][1]
    rows: list[tuple[Condition, Payload]] = []
    for condition, value in held:
        assert condition is not None
        inner = value.alternatives if isinstance(value, Choice) else ((condition, value),)
        rows += [(condition & guard, payload) for guard, payload in inner]
    return choice(rows, Known(None))
