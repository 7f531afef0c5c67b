"""What an expression may be worth: payloads, and alternatives guarded by conditions.

A *value* is one payload, or a ``Choice`` of payloads whose conditions are disjoint and together cover what can happen.
Unknown is a payload like another (``Opaque``): it keeps its source text, so that it stays one free atom wherever the same
thing is asked again, and the options that it was made from.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Any, Union

from sm_gatecheck.model.condition import Condition
from sm_gatecheck.program.modules import Module


class Known:
    """A constant: hashable Python data."""

    __slots__ = ("value",)

    def __init__(self, value: Hashable) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Known) and type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return f"Known({self.value!r})"


# The values that are made by the hundred thousand write their own constructors: those of frozen dataclasses are slow.


@dataclass(frozen=True, init=False)
class Truth:
    """A boolean that is true under ``condition``."""

    condition: Condition

    def __init__(self, condition: Condition) -> None:
        self.__dict__["condition"] = condition


@dataclass(frozen=True)
class OptionValue:
    """An expression over the given value of one option: ``compute`` makes it from that value (None: the value itself)."""

    field: str
    text: str
    compute: Callable[[Any], Any] | None = dataclasses.field(default=None, compare=False)

    def of(self, value: Any) -> Any:
        return value if self.compute is None else self.compute(value)


@dataclass(frozen=True, init=False)
class Opaque:
    """Something that could not be followed. ``key`` identifies it within the tree; ``fields`` are the options it is made from."""

    key: str
    text: str
    fields: frozenset[str] = frozenset()

    def __init__(self, key: str, text: str, fields: frozenset[str] = frozenset()) -> None:
        attributes = self.__dict__
        attributes["key"] = key
        attributes["text"] = text
        attributes["fields"] = fields

    def __hash__(self) -> int:
        return hash(self.key)


@dataclass(frozen=True)
class Sequence:
    """A list, tuple or set whose items are known one by one."""

    kind: str
    items: tuple[Value, ...]


@dataclass(frozen=True)
class Mapping:
    """A dict whose keys are known."""

    entries: tuple[tuple[Value, Value], ...]


@dataclass(frozen=True, eq=False)
class FunctionValue:
    """A function of the tree; ``owner`` is the class it was found in, ``closure`` the variables around it."""

    module: Module
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    owner: ClassValue | None = None
    closure: dict[str, Value] | None = None
    qualname: str = ""


@dataclass(frozen=True)
class BoundMethod:
    function: FunctionValue
    receiver: Value


@dataclass(frozen=True)
class Partial:
    """``functools.partial``, or a call that waits for more."""

    function: Value
    args: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]


@dataclass(frozen=True, eq=False)
class ClassValue:
    module: Module
    node: ast.ClassDef
    qualname: str
    bases: tuple[Value, ...] = ()

    def __repr__(self) -> str:
        return f"ClassValue({self.qualname})"


@dataclass(eq=False)
class Instance:
    """An object: ``attributes`` are what was seen stored on it. ``name`` says what it is in the tree's terms, if special."""

    cls: ClassValue | None
    name: str = ""
    attributes: dict[str, Value] = dataclasses.field(default_factory=dict)
    escaped: bool = False
    transient: bool = False
    """Made to see what one method stores; the methods that it calls are asked on their own."""

    def __repr__(self) -> str:
        return f"Instance({self.name or (self.cls.qualname if self.cls else '?')})"


@dataclass(frozen=True)
class EnumMember:
    """A member of an enum of the tree, named by its raw value (a constant, or an option)."""

    cls: ClassValue
    raw: Payload


@dataclass(frozen=True)
class ModuleValue:
    name: str


@dataclass(frozen=True)
class External:
    """Something of another package, by its dotted name."""

    dotted: str


Payload = Union[  # noqa: UP007 -- one member a line reads better than a chain of bars
    Known,
    Truth,
    OptionValue,
    Opaque,
    Sequence,
    Mapping,
    FunctionValue,
    BoundMethod,
    Partial,
    ClassValue,
    Instance,
    EnumMember,
    ModuleValue,
    External,
]


@dataclass(frozen=True, init=False)
class Choice:
    """Guarded alternatives; build through ``choice``."""

    alternatives: tuple[tuple[Condition, Payload], ...]

    def __init__(self, alternatives: tuple[tuple[Condition, Payload], ...]) -> None:
        self.__dict__["alternatives"] = alternatives


Value = Union[Payload, Choice]  # noqa: UP007

NONE = Known(None)
TRUE = Known(True)
FALSE = Known(False)

ALTERNATIVE_LIMIT = 48


def alternatives(value: Value, everywhere: Condition) -> tuple[tuple[Condition, Payload], ...]:
    """The guarded payloads of a value; one under ``everywhere`` when it is no choice."""
    if isinstance(value, Choice):
        return value.alternatives
    return ((everywhere, value),)


def payloads(value: Value) -> Iterator[Payload]:
    if isinstance(value, Choice):
        for _, payload in value.alternatives:
            yield payload
    else:
        yield value


def conditions_in(value: Value) -> Iterator[Condition]:
    """What decides between the alternatives of a value, and what its booleans hold under."""
    if isinstance(value, Choice):
        yield from (condition for condition, _ in value.alternatives)
    yield from (payload.condition for payload in payloads(value) if isinstance(payload, Truth))


def choice(options: list[tuple[Condition, Payload]], fallback: Payload) -> Value:
    """Normalise alternatives: drop impossible ones, join equal ones; ``fallback`` where none is left."""
    joined: dict[Payload, Condition] = {}
    for condition, payload in options:
        if condition.is_false:
            continue
        joined[payload] = joined[payload] | condition if payload in joined else condition
    if not joined:
        return fallback
    if len(joined) == 1:
        return next(iter(joined))
    return Choice(tuple((condition, payload) for payload, condition in joined.items()))


def fields_of(value: Value, depth: int = 3) -> frozenset[str]:
    """The options that a value is made from.

    The guards of a choice count where they choose between things that are known. Where every alternative is opaque they do
    not: what made them differ was an act of its own (a call, a store), and is recorded as such.
    """
    if isinstance(value, Choice):
        found: set[str] = set()
        telling = any(_is_telling(payload) for _, payload in value.alternatives)
        for condition, payload in value.alternatives:
            if telling:
                found |= fields_in(condition)
            found |= _fields_of_payload(payload, depth)
        return frozenset(found)
    return _fields_of_payload(value, depth)


def _is_telling(value: Value) -> bool:
    """Whether a value is known in part: then which alternative it is says something."""
    if isinstance(value, Choice):
        return any(_is_telling(payload) for _, payload in value.alternatives)
    if isinstance(value, Sequence):
        return any(_is_telling(item) for item in value.items)
    return not isinstance(value, Opaque)


_NO_FIELDS: frozenset[str] = frozenset()


def _fields_of_payload(payload: Payload, depth: int) -> frozenset[str]:
    if isinstance(payload, OptionValue):
        return frozenset((payload.field,))
    if isinstance(payload, Opaque):
        return payload.fields
    if isinstance(payload, Truth):
        return fields_in(payload.condition)
    if isinstance(payload, EnumMember):
        return fields_of(payload.raw)
    if depth and isinstance(payload, Sequence):
        return frozenset().union(*(fields_of(item, depth - 1) for item in payload.items[:64]))
    if depth and isinstance(payload, Mapping):
        return frozenset().union(*(fields_of(item, depth - 1) for _, item in payload.entries[:64]))
    if depth and isinstance(payload, Partial):
        return frozenset().union(*(fields_of(item, depth - 1) for item in [*payload.args, *(value for _, value in payload.keywords)]))
    return _NO_FIELDS


def fields_in(condition: Condition) -> frozenset[str]:
    """The options that a condition asks for, directly or through an opaque expression made from them."""
    return condition.fields_and_taints()


def is_constant(payload: Payload) -> bool:
    """Whether the payload is plain data (``to_python`` succeeds)."""
    if isinstance(payload, Known):
        return True
    if isinstance(payload, Sequence):
        return all(not isinstance(item, Choice) and is_constant(item) for item in payload.items)
    if isinstance(payload, Mapping):
        return all(
            not isinstance(key, Choice) and is_constant(key) and not isinstance(item, Choice) and is_constant(item)
            for key, item in payload.entries
        )
    if isinstance(payload, EnumMember):
        return is_constant(payload.raw)
    return False


def to_python(payload: Value) -> Any:
    """The Python data of a constant payload. ValueError when it is none."""
    if isinstance(payload, Known):
        return payload.value
    if isinstance(payload, Sequence):
        items = [to_python(item) for item in payload.items]
        return tuple(items) if payload.kind == "tuple" else set(items) if payload.kind == "set" else items
    if isinstance(payload, Mapping):
        return {to_python(key): to_python(item) for key, item in payload.entries}
    if isinstance(payload, EnumMember):
        return to_python(payload.raw)
    raise ValueError(f"not constant: {payload!r}")


def from_python(value: Any) -> Payload | None:
    """The payload of plain Python data; None for anything else."""
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return Known(value)
    if isinstance(value, tuple):
        try:
            hash(value)
        except TypeError:
            return None
        return Known(value)
    if isinstance(value, (list, set, frozenset)):
        items = [from_python(item) for item in (sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value)]
        if any(item is None for item in items):
            return None
        return Sequence("set" if isinstance(value, (set, frozenset)) else "list", tuple(item for item in items if item is not None))
    if isinstance(value, dict):
        entries = [(from_python(key), from_python(item)) for key, item in value.items()]
        if any(key is None or item is None for key, item in entries):
            return None
        return Mapping(tuple((key, item) for key, item in entries if key is not None and item is not None))
    return None
