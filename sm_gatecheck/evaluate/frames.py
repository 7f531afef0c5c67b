"""A running function: its variables, the path condition, and what it was seen to do.

Statements run *predicated*: there is one state, and every write is guarded by the path condition under which it happens.
Branches need no copies and no merging, and a value read under a path condition sees exactly the writes compatible with it.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Literal, Protocol

from sm_gatecheck.evaluate.values import Choice, ClassValue, Payload, Value, alternatives, choice
from sm_gatecheck.model.condition import Condition
from sm_gatecheck.program.modules import Module

_CATCH_ALL = frozenset({"Exception", "BaseException"})
EventKind = Literal["call", "store", "return", "raise", "assert", "key_error", "environment", "local"]


@dataclass(frozen=True, init=False)
class Guard:
    """A test on the way to a place: the condition it contributes, as written."""

    module: Module
    node: ast.AST
    condition: Condition

    def __init__(self, module: Module, node: ast.AST, condition: Condition) -> None:
        attributes = self.__dict__
        attributes["module"] = module
        attributes["node"] = node
        attributes["condition"] = condition


@dataclass(frozen=True)
class Event:
    """Something a function does: under ``condition``, after passing ``guards``, with ``values`` taking part.

    ``name`` is the dotted source of what is called or stored; ``target`` the resolved callee, if it is known.
    ``followed``: the callee's own events were recorded too, and its answer says nothing more.
    """

    kind: EventKind
    module: Module
    node: ast.AST
    name: str
    condition: Condition
    values: tuple[Value, ...]
    guards: tuple[Guard, ...]
    caught: bool = False
    target: Payload | None = None
    keywords: tuple[tuple[str, Value], ...] = ()
    receiver: Value | None = None
    chain: tuple[tuple[Module, ast.AST], ...] = ()
    followed: bool = False


class Recorder(Protocol):
    """Receives the events of the functions that run with it."""

    def wants(
        self, kind: EventKind, name: str, condition: Condition, values: tuple[Value, ...], keywords: tuple[tuple[str, Value], ...]
    ) -> bool:
        """Whether such an event is to be made; asked at every one."""

    def record(self, event: Event) -> None: ...


@dataclass
class Loop:
    broken: Condition
    continued: Condition


@dataclass
class Catch:
    """An enclosing ``try``: the exception names it catches (None: all), and when something inside raises for certain."""

    names: tuple[str, ...] | None
    raised: Condition


@dataclass
class Frame:
    """One activation of a function (or of a module's or class's body)."""

    module: Module
    qualname: str
    pc: Condition
    variables: dict[str, Value] = field(default_factory=dict)
    owner: ClassValue | None = None
    closure: dict[str, Value] | None = None
    recorder: Recorder | None = None
    returns: list[tuple[Condition, Value]] = field(default_factory=list)
    guards: list[Guard] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    catches: list[Catch] = field(default_factory=list)
    depth: int = 0
    global_names: set[str] = field(default_factory=set)
    global_writes: dict[str, Value] = field(default_factory=dict)
    chain: tuple[tuple[Module, ast.AST], ...] = ()
    asking: int = 0
    """How many tests are being evaluated: a call inside one asks, it does not act."""
    refused: Condition = field(init=False)
    """Where an exception has left the function so far."""
    absent: Condition = field(init=False)
    """Where the test being evaluated asked something of None, so that it had no answer."""
    escapes: list[tuple[Condition, str]] = field(default_factory=list)
    """Where an exception leaves the function, and its name, when nobody listens."""
    discarded: ast.AST | None = None
    """The expression whose value nobody will see, where nobody listens either."""
    followed: bool = False
    """Whether the call just made was run with the same listener, so that its events stand for it."""

    def __post_init__(self) -> None:
        self.refused = self.absent = self.pc.space.false

    def write(self, name: str, value: Value, fallback: Payload) -> None:
        """Assign under the path condition: the old value stays where the path was not taken."""
        self.variables[name] = guarded_write(self.pc, value, self.variables.get(name), fallback)


def guarded_write(pc: Condition, value: Value, old: Value | None, fallback: Payload) -> Value:
    """``value`` where ``pc`` holds, ``old`` elsewhere."""
    if pc.is_true or old is None:
        return value
    everywhere = pc.space.true
    merged = [(pc & condition, payload) for condition, payload in alternatives(value, everywhere)]
    outside = ~pc
    merged += [(outside & condition, payload) for condition, payload in alternatives(old, everywhere)]
    result = choice(merged, fallback)
    if isinstance(result, Choice) and len(result.alternatives) > 64:
        return fallback
    return result


def visible(pc: Condition, value: Value) -> Value:
    """The alternatives of a value that are compatible with a path condition."""
    if not isinstance(value, Choice) or pc.is_true:
        return value
    kept = [(condition, payload) for condition, payload in value.alternatives if not condition.excludes(pc)]
    if len(kept) == 1:
        return kept[0][1]
    return Choice(tuple(kept)) if kept else value


def is_caught(frame: Frame, exception: str, raised: Condition) -> bool:
    """Whether an enclosing ``try`` of the function catches an exception; it is told so."""
    for catch in reversed(frame.catches):
        if catch.names is None or exception in catch.names or not _CATCH_ALL.isdisjoint(catch.names):
            catch.raised = catch.raised | raised
            return True
    return False


def escape(frame: Frame, exception: str, raised: Condition) -> None:
    """An exception leaves something that a function does, when nobody listens."""
    if not raised.is_false and not is_caught(frame, exception, raised):
        frame.escapes.append((raised, exception))
