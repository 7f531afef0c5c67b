"""What resolution does to an option's value, and because of it: the run with the value against the run without."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

from sm_gatecheck.evaluate.frames import Event
from sm_gatecheck.evaluate.values import Choice, Known, Opaque, Payload, Sequence, Truth, Value, alternatives, is_constant, to_python
from sm_gatecheck.evaluate.values import Mapping as MappingValue
from sm_gatecheck.model.condition import Condition, Space
from sm_gatecheck.model.option import Option
from sm_gatecheck.model.verdict import DefaultAlternative
from sm_gatecheck.model.wording import words
from sm_gatecheck.target.outcome import INNER, Outcome, Write

UNKNOWN_VALUE = "?"


@dataclass(frozen=True)
class Alternative:
    """A value that a field may have on an SM, and when (as a condition without targets)."""

    value: Any
    condition: Condition
    known: bool = True

    @property
    def when(self) -> str | None:
        return words(self.condition)


def values_on(space: Space, value: Value, bits: int) -> dict[Hashable, Alternative]:
    """The alternatives of a guarded value on one SM, by a key that compares across runs."""
    found: dict[Hashable, Alternative] = {}
    for condition, payload in alternatives(value, space.true):
        left = condition.on(bits)
        if left.is_false:
            continue
        for key, alternative in _plain(space, payload, left, bits):
            known = found.get(key)
            joined = alternative.condition if known is None else known.condition | alternative.condition
            found[key] = Alternative(alternative.value, joined, alternative.known)
    return found


def _plain(space: Space, payload: Payload, left: Condition, bits: int) -> list[tuple[Hashable, Alternative]]:
    if isinstance(payload, Truth):
        held = payload.condition.on(bits)
        return [
            (("value", repr(answer)), Alternative(answer, condition))
            for answer, condition in ((True, left & held), (False, left & ~held))
            if not condition.is_false
        ]
    payload = _settled_items(payload, bits)
    if is_constant(payload):
        constant = to_python(payload)
        return [(("value", repr(constant)), Alternative(constant, left))]
    text = payload.text if isinstance(payload, Opaque) else UNKNOWN_VALUE
    key = payload.key if isinstance(payload, Opaque) else repr(payload)
    return [(("unknown", key), Alternative(text, left, known=False))]


def _settled_items(payload: Payload, bits: int) -> Payload:
    """A mapping or list whose items have one value each on an SM, with those values."""
    if isinstance(payload, MappingValue):
        return MappingValue(tuple((key, _on(item, bits)) for key, item in payload.entries))
    if isinstance(payload, Sequence):
        return Sequence(payload.kind, tuple(_on(item, bits) for item in payload.items))
    return payload


def _on(value: Value, bits: int) -> Value:
    if isinstance(value, Choice):
        left = [payload for condition, payload in value.alternatives if not condition.on(bits).is_false]
        if len(left) != 1:
            return value
        value = left[0]
    if isinstance(value, Truth):
        held = value.condition.on(bits)
        return Known(True) if held.is_true else Known(False) if held.is_false else value
    return value if isinstance(value, Choice) else _settled_items(value, bits)


def differs(a: dict[Hashable, Alternative], b: dict[Hashable, Alternative]) -> bool:
    """Whether a field may end with another value, or under another condition."""
    return a.keys() != b.keys() or any(a[key].condition is not b[key].condition for key in a)


def last_write(outcome: Outcome, field: str, key: Hashable, space: Space, bits: int) -> Write | None:
    """The last write of a field that may leave this value on this SM; of an object's field, by its own name."""
    if "." in field:
        field = f"{INNER}{field.rsplit('.', 1)[-1]}"
    for write in reversed(outcome.writes):
        if write.field == field and (write.condition.exists & bits) and key in values_on(space, write.value, bits):
            return write
    return next((write for write in reversed(outcome.writes) if write.field == field and write.condition.exists & bits), None)


def left_by_resolution(outcome: Outcome, option: Option, space: Space, bits: int) -> Iterator[DefaultAlternative]:
    """What an option ends as on one SM: each alternative with the line that leaves it, the declaration's where none does."""
    value = outcome.fields.get(option.field)
    for key, alternative in values_on(space, value, bits).items() if value is not None else ():
        write = last_write(outcome, option.field, key, space, bits)
        if write is None or key not in values_on(space, write.value, bits):
            yield DefaultAlternative(_listed(alternative.value), alternative.when, option.file, option.line)
        else:
            yield DefaultAlternative(_listed(alternative.value), alternative.when, write.module.path, getattr(write.node, "lineno", 1))


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, (tuple, set, frozenset)) else value


Place = tuple[str, int, str]
"""Where something happens and what kind of thing it is: file, line, kind."""


def event_key(event: Event) -> Place:
    return (event.module.path, getattr(event.node, "lineno", 0), event.kind)


def conditions_by_place(events: list[Event]) -> dict[Place, tuple[Event, Condition]]:
    """Events of one place joined: resolution may pass it more than once."""
    found: dict[Place, tuple[Event, Condition]] = {}
    for event in events:
        key = event_key(event)
        known = found.get(key)
        found[key] = (event, event.condition if known is None else known[1] | event.condition)
    return found


__all__ = ["Alternative", "Choice", "Place", "conditions_by_place", "differs", "event_key", "last_write", "left_by_resolution", "values_on"]
