"""Run a definition on unknown arguments, and keep what it does because of an option.

What is to be run is decided elsewhere (``target.search``). Here parameters learn what calls seen so far pass to them: a
function that is told of an option is run again.
"""

from __future__ import annotations

import ast
import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from sm_gatecheck.evaluate import classes
from sm_gatecheck.evaluate.calls import run_with_unknown_arguments
from sm_gatecheck.evaluate.frames import Event, EventKind, Frame
from sm_gatecheck.evaluate.interpreter import BudgetExceeded, Interpreter
from sm_gatecheck.evaluate.values import (
    BoundMethod,
    Choice,
    ClassValue,
    FunctionValue,
    Opaque,
    Partial,
    Payload,
    Value,
    alternatives,
    choice,
    conditions_in,
    fields_in,
    fields_of,
    is_constant,
    payloads,
)
from sm_gatecheck.model.condition import Condition, Space, SpaceExhausted
from sm_gatecheck.model.gaps import Reason
from sm_gatecheck.program.mentions import Mentions
from sm_gatecheck.program.modules import Module, Program
from sm_gatecheck.target.registries import Registry, entry_condition

CALLERS_KEPT = 3
REVISIONS = 6
"""How often what a parameter receives is corrected: a call in a cycle may learn for ever."""
NODE_LIMIT = 30_000


Key = tuple[str, int]


@dataclass
class Summary:
    """What one function (or a module's top level, ``node`` None) does because of options."""

    module: Module
    node: ast.FunctionDef | ast.AsyncFunctionDef | None
    owner: ClassValue | None
    qualname: str
    events: list[Event] = field(default_factory=list)
    calls: dict[str, list[Condition]] = field(default_factory=dict)
    returned: Value | None = None
    left: Reason | None = None
    """Why it was not followed to its end, where it was not."""
    entry: Condition | None = None
    made_of_target: set[str] = field(default_factory=set)
    """Attributes and globals in which the function leaves what the target decides, and its own name where that is its answer."""
    asks_target: bool = False
    """Whether the target decides about something that the function does."""

    @property
    def unfinished(self) -> bool:
        return self.left is not None

    @property
    def line(self) -> int:
        return 1 if self.node is None else self.node.lineno

    @property
    def key(self) -> Key:
        """Path and line; line 0 for a module's top level."""
        return self.module.path, 0 if self.node is None else self.node.lineno

    @property
    def name(self) -> str:
        return "" if self.node is None else self.node.name


class _Listener:
    """Keeps the events that options bear on, and the condition of every call by name.

    Inside a callee that is run for the sake of an option, everything happens because of it: of the acts that do not ask for
    the target themselves one is enough to say so.
    """

    def __init__(self, summary: Summary) -> None:
        self._summary = summary
        self._plain: set[tuple[int, ...]] = set()

    def wants(
        self, kind: EventKind, name: str, condition: Condition, values: tuple[Value, ...], keywords: tuple[tuple[str, Value], ...]
    ) -> bool:
        if not self._summary.asks_target:
            given = itertools.chain(values, (value for _, value in keywords))
            self._summary.asks_target = condition.depends_on_target() or any(map(_told_by_target, given))
        if kind == "call":
            self._summary.calls.setdefault(name.rsplit(".", 1)[-1], []).append(condition)
        elif kind == "store" and "[" not in name and (condition.depends_on_target() or any(map(_told_by_target, values))):
            self._summary.made_of_target.add(name.rsplit(".", 1)[-1])
        rewrites = (
            kind == "store" and condition.depends_on_target() and not any(isinstance(v, Choice) or not is_constant(v) for v in values)
        )
        refuses = kind in ("raise", "assert", "key_error") and condition.depends_on_target()
        return rewrites or refuses or bool(fields_in(condition)) or _given(values, keywords)

    def record(self, event: Event) -> None:
        if (
            event.chain
            and event.kind in ("call", "store", "local")
            and not event.condition.depends_on_target()
            and not _given(event.values, event.keywords)
        ):
            callee = tuple(id(node) for _, node in event.chain)
            if callee in self._plain and event.kind != "call":
                return
            self._plain.add(callee)
        self._summary.events.append(event)


def _given(values: tuple[Value, ...], keywords: tuple[tuple[str, Value], ...]) -> bool:
    """Whether an option takes part in what an event is given."""
    return any(map(fields_of, values)) or any(fields_of(value) for _, value in keywords)


def _told_by_target(value: Value) -> bool:
    return any(condition.depends_on_target() for condition in conditions_in(value))


class Scan:
    """The summaries of a tree's definitions, made when first asked for."""

    def __init__(self, interpreter: Interpreter, program: Program, mentions: Mentions, registries: tuple[Registry, ...] = ()) -> None:
        self._registries = registries
        self._interpreter = interpreter
        self._program = program
        self._mentions = mentions
        self._summaries: dict[tuple[str, int], Summary] = {}
        self._functions: dict[str, list[tuple[int, int, ast.FunctionDef | ast.AsyncFunctionDef, ast.ClassDef | None, str]]] = {}
        self._arguments: dict[tuple[int, str], dict[tuple[str, int, int], Value]] = {}
        self._revisions: Counter[tuple[int, str]] = Counter()
        self._fresh: dict[tuple[int, str], tuple[str, int]] = {}
        self._told: set[int] = set()

    def summaries(self) -> list[Summary]:
        """Every summary made so far, in source order."""
        return [self._summaries[key] for key in sorted(self._summaries)]

    @property
    def space(self) -> Space:
        return self._interpreter.space

    def may_ask_target(self, path: str, name: str) -> bool:
        """Whether a constant of a module is made by the target, or may be a function that asks for it."""
        self._interpreter.steps = 0
        try:
            value = self._interpreter.global_value(self._program.by_path[path], name)
        except (BudgetExceeded, RecursionError):
            return False
        return value is not None and (_told_by_target(value) or any(isinstance(payload, (Partial, Opaque)) for payload in payloads(value)))

    def key(self, module: Module, line: int) -> Key:
        """The key of the outermost function around a line, or of the module's top level."""
        for first, last, node, _, _ in self._functions_of(module):
            if first <= line <= last:
                return module.path, node.lineno
        return module.path, 0

    def at(self, module: Module, line: int) -> Summary | None:
        """The summary of the outermost function around a line, or of the module's top level; run once."""
        for first, last, node, owner, qualname in self._functions_of(module):
            if first <= line <= last:
                return self._summary(module, node, owner, qualname)
        return self._summary(module, None, None, "")

    def class_at(self, module: Module, node: ast.ClassDef) -> ClassValue:
        """The value of a class of the tree."""
        return self._interpreter.class_value(module, node, node.name)

    def member(self, cls: ClassValue, name: str) -> ast.AST | None:
        """The definition that a class, or one that it is derived from, has under a name; None where none is seen."""
        found = self._interpreter.find_member(cls, name)
        return None if found is None else found[1][-1]

    def lines(self, key: Key) -> int:
        """How long the function of a key is; a module's top level counts as all of its file."""
        for _, last, node, _, _ in self._functions_of(self._program.by_path[key[0]]):
            if node.lineno == key[1]:
                return last - node.lineno
        return len(self._program.by_path[key[0]].lines)

    def _functions_of(self, module: Module) -> list[tuple[int, int, ast.FunctionDef | ast.AsyncFunctionDef, ast.ClassDef | None, str]]:
        found = self._functions.get(module.path)
        if found is None:
            found = self._functions[module.path] = list(_outer_functions(module.syntax.body, None, ""))
        return found

    def _summary(
        self, module: Module, node: ast.FunctionDef | ast.AsyncFunctionDef | None, owner: ast.ClassDef | None, qualname: str
    ) -> Summary:
        key = (module.path, 0 if node is None else node.lineno)
        found = self._summaries.get(key)
        if found is None:
            cls = None if owner is None else self._interpreter.class_value(module, owner, owner.name)
            found = self._summaries[key] = Summary(module, node, cls, qualname)
            self._fill(found)
        return found

    def _fill(self, summary: Summary) -> None:
        interpreter = self._interpreter
        interpreter.steps = 0
        interpreter.space.make_room(NODE_LIMIT)
        frame = Frame(summary.module, summary.qualname, interpreter.space.true, owner=summary.owner, recorder=_Listener(summary), depth=1)
        try:
            if summary.node is None:
                interpreter.run(
                    [s for s in summary.module.syntax.body if not isinstance(s, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef))],
                    frame,
                )
                return
            function = FunctionValue(summary.module, summary.node, summary.owner, None, summary.qualname)
            entry = entry_condition(self._registries, summary.node, interpreter.space)
            if entry is not None:
                frame.pc = summary.entry = entry
            run_with_unknown_arguments(interpreter, function, self._receiver(summary), frame)
            from sm_gatecheck.evaluate.calls import join_returns

            summary.returned = join_returns(interpreter, frame, interpreter.space.true)
            if _told_by_target(summary.returned):
                summary.made_of_target.add(summary.name)
        except BudgetExceeded:
            summary.left = Reason.FUNCTION_STEPS
        except SpaceExhausted:
            summary.left = Reason.FUNCTION_CONDITIONS
        except RecursionError:
            summary.left = Reason.FUNCTION_DEPTH
        finally:
            interpreter.space.make_room(None)
            interpreter.running.clear()

    def _receiver(self, summary: Summary) -> Value | None:
        assert summary.node is not None
        if summary.owner is None or "staticmethod" in classes.decorator_names(summary.node):
            return None
        if "classmethod" in classes.decorator_names(summary.node):
            return summary.owner
        world_object = self._interpreter.world.receiver(self._interpreter, summary.owner)
        return classes.abstract_instance(self._interpreter, summary.owner) if world_object is None else world_object

    def note_arguments(self, summary: Summary, receives: Callable[[Key, int], bool]) -> None:
        """Remember the options that a function passes on to some others, by the parameters that receive them."""
        for event in summary.events:
            if event.kind == "call":
                self._note_arguments(event, receives)

    def _note_arguments(self, event: Event, receives: Callable[[Key, int], bool]) -> None:
        """Remember an option that is passed to a function or constructor of the tree, by the parameter that receives it."""
        function = self._callee(event.target)
        if function is None or isinstance(function.node, ast.Lambda):
            return
        lines = (function.node.end_lineno or 0) - function.node.lineno
        if not receives((function.module.path, function.node.lineno), lines):
            return
        spec = function.node.args
        names = [parameter.arg for parameter in [*spec.posonlyargs, *spec.args]]
        if function.owner is not None and names and "staticmethod" not in classes.decorator_names(function.node):
            names = names[1:]
        for name, value in [*zip(names, event.values), *event.keywords]:
            if not fields_of(value):
                continue
            key = (id(function.node), name)
            values = self._arguments.setdefault(key, {})
            place = (event.module.path, getattr(event.node, "lineno", 0), getattr(event.node, "col_offset", 0))
            if values.get(place) != value and (place in values or len(values) < CALLERS_KEPT) and self._revisions[key] < REVISIONS:
                values[place] = value
                self._revisions[key] += 1
                self._fresh[key] = (function.module.path, function.node.lineno)

    def _callee(self, target: Payload | None) -> FunctionValue | None:
        if isinstance(target, BoundMethod):
            target = target.function
        if isinstance(target, ClassValue):
            found = self._interpreter.find_member(target, "__init__")
            if found is None or not isinstance(found[1][-1], (ast.FunctionDef, ast.AsyncFunctionDef)):
                return None
            return FunctionValue(found[0].module, found[1][-1], found[0], None, f"{found[0].qualname}.__init__")
        return target if isinstance(target, FunctionValue) else None

    def relearnt(self) -> list[Summary]:
        """Functions run again now that what they are passed is known, at every call seen so far."""
        fresh, self._fresh = self._fresh, {}
        for key, _ in fresh.items():
            self._told.add(key[0])
            self._interpreter.arguments[key] = self._any_of(key, list(dict.fromkeys(self._arguments[key].values())))
        if not fresh:
            return []
        self._interpreter.forget()
        places = dict.fromkeys(fresh.values())
        for path, line in places:
            self._summaries.pop((path, line), None)
        found = [self.at(self._program.by_path[path], line) for path, line in places]
        return [summary for summary in found if summary is not None]

    def _any_of(self, key: tuple[int, str], values: list[Value]) -> Value:
        """One of several values, depending on who calls."""
        result = values[0]
        for index, other in enumerate(values[1:CALLERS_KEPT], 1):
            free = self.space.free(f"8:{key[1]}@{index}", f"another caller sets {key[1]}")
            joined = [(free & c, p) for c, p in alternatives(other, self.space.true)]
            joined += [(~free & c, p) for c, p in alternatives(result, self.space.true)]
            result = choice(joined, Opaque(f"9:{key[1]}", key[1]))
        return self._completed(result, Opaque(f"9:{key[1]}", key[1]))

    def _completed(self, value: Value, unknown: Opaque) -> Value:
        """A value known where one call is made, as a parameter that any other may set: unknown everywhere else."""
        if not isinstance(value, Choice):
            return value
        rest = self.space.true
        for condition, _ in value.alternatives:
            rest = rest & ~condition
        return choice([*value.alternatives, (rest, unknown)], unknown)

    def receives(self, event: Event) -> bool:
        """Whether every option that a call passes on is known to its callee as the value of a parameter."""
        function = self._callee(event.target)
        return function is not None and id(function.node) in self._told


def _outer_functions(
    body: list[ast.stmt], owner: ast.ClassDef | None, prefix: str
) -> Iterator[tuple[int, int, ast.FunctionDef | ast.AsyncFunctionDef, ast.ClassDef | None, str]]:
    """Top-level functions and methods, those under ``if`` and ``try`` included, with their first and last line."""
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([statement.lineno, *(decorator.lineno for decorator in statement.decorator_list)])
            yield first, statement.end_lineno or statement.lineno, statement, owner, f"{prefix}{statement.name}"
        elif isinstance(statement, ast.ClassDef):
            yield from _outer_functions(statement.body, statement, f"{prefix}{statement.name}.")
        elif isinstance(statement, ast.If):
            yield from _outer_functions([*statement.body, *statement.orelse], owner, prefix)
        elif isinstance(statement, ast.Try):
            handlers = [inner for handler in statement.handlers for inner in handler.body]
            yield from _outer_functions([*statement.body, *handlers, *statement.orelse, *statement.finalbody], owner, prefix)
