"""Run every definition that may read an option, and keep what it does because of one.

Round by round: first the definitions whose source mentions a root (the options object, the environment, a device query) or
a short function or constant made from one; then those that mention an attribute in which an earlier round saw an option
being stored.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sm_gatecheck.evaluate import classes
from sm_gatecheck.evaluate.calls import run_with_unknown_arguments
from sm_gatecheck.evaluate.frames import Event, Frame
from sm_gatecheck.evaluate.interpreter import BudgetExceeded, Interpreter
from sm_gatecheck.evaluate.values import Choice, ClassValue, FunctionValue, Instance, Value, fields_in, fields_of
from sm_gatecheck.model.condition import Condition, Space
from sm_gatecheck.program.mentions import Mentions
from sm_gatecheck.program.modules import Module, Program
from sm_gatecheck.target.registries import Registry, entry_condition

ROUNDS = 3
COMMON_ATTRIBUTE_LIMIT = 40


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
    unfinished: bool = False
    entry: Condition | None = None

    @property
    def name(self) -> str:
        return "" if self.node is None else self.node.name


class _Listener:
    """Keeps the events that options bear on, and the condition of every call by name."""

    def __init__(self, summary: Summary) -> None:
        self._summary = summary

    def record(self, event: Event) -> None:
        if event.kind == "call":
            self._summary.calls.setdefault(event.name.rsplit(".", 1)[-1], []).append(event.condition)
        if (
            fields_in(event.condition)
            or any(fields_of(value) for value in event.values)
            or any(fields_of(value) for _, value in event.keywords)
        ):
            self._summary.events.append(event)


class Scan:
    """The summaries of a tree's definitions, made when first asked for."""

    def __init__(self, interpreter: Interpreter, program: Program, mentions: Mentions, registries: tuple[Registry, ...] = ()) -> None:
        self._registries = registries
        self._interpreter = interpreter
        self._program = program
        self._mentions = mentions
        self._summaries: dict[tuple[str, int], Summary] = {}
        self._functions: dict[str, list[tuple[int, int, ast.FunctionDef | ast.AsyncFunctionDef, ast.ClassDef | None, str]]] = {}
        self.carriers: dict[str, list[tuple[ClassValue, Value]]] = {}

    @property
    def space(self) -> Space:
        return self._interpreter.space

    def run(self, roots: Iterable[str]) -> list[Summary]:
        """Every summary with events, in source order."""
        names = frozenset(roots)
        for _ in range(ROUNDS):
            before = len(self.carriers)
            for summary in self._candidates(names):
                self._collect_carriers(summary)
            fresh = list(self.carriers)[before:]
            names = frozenset(name for name in fresh if 0 < self._mentions.count(name) <= COMMON_ATTRIBUTE_LIMIT)
            if not names:
                break
        return sorted(
            (s for s in self._summaries.values() if s.events), key=lambda s: (s.module.path, 0 if s.node is None else s.node.lineno)
        )

    def _candidates(self, names: frozenset[str]) -> Iterator[Summary]:
        for path, line in self._mentions.mentioning(names):
            module = self._program.by_path[path]
            summary = self.at(module, line)
            if summary is not None:
                yield summary

    def at(self, module: Module, line: int) -> Summary | None:
        """The summary of the outermost function around a line, or of the module's top level."""
        for first, last, node, owner, qualname in self._functions_of(module):
            if first <= line <= last:
                return self._summary(module, node, owner, qualname)
        return self._summary(module, None, None, "")

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
        except (BudgetExceeded, RecursionError):
            summary.unfinished = True

    def _receiver(self, summary: Summary) -> Value | None:
        assert summary.node is not None
        if summary.owner is None or "staticmethod" in classes.decorator_names(summary.node):
            return None
        if "classmethod" in classes.decorator_names(summary.node):
            return summary.owner
        world_object = self._interpreter.world.receiver(self._interpreter, summary.owner)
        return classes.abstract_instance(self._interpreter, summary.owner) if world_object is None else world_object

    def _collect_carriers(self, summary: Summary) -> None:
        for event in summary.events:
            if event.kind != "store" or not isinstance(event.node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                continue
            if isinstance(event.receiver, Instance) and event.receiver.cls is not None and fields_of(event.values[0]):
                attribute = event.name.rsplit(".", 1)[-1]
                self.carriers.setdefault(attribute, []).append((event.receiver.cls, event.values[0]))
            elif event.receiver is None and not isinstance(event.values[0], Choice) and fields_of(event.values[0]):
                self.carriers.setdefault(event.name, [])


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
