"""The interpreter: one object that ties expressions, statements and calls to a program, a space and a world."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sm_gatecheck.evaluate import calls, expressions, statements
from sm_gatecheck.evaluate.frames import Event, EventKind, Frame
from sm_gatecheck.evaluate.registration import Collection
from sm_gatecheck.evaluate.values import (
    ClassValue,
    External,
    FunctionValue,
    ModuleValue,
    Opaque,
    Payload,
    Value,
    fields_of,
)
from sm_gatecheck.evaluate.world import World
from sm_gatecheck.model.condition import Condition, Space
from sm_gatecheck.program.modules import Module, Program, imported_name
from sm_gatecheck.syntax.skeleton import may_contain

_UNKNOWN, _TEXT, _STORED = "gatecheck_unknown", "gatecheck_text", "gatecheck_stored"
"""Where a syntax node keeps what was made from it: the same few nodes are asked again and again."""
_NO_FIELDS: frozenset[str] = frozenset()
DEPTH_LIMIT = 8
STEP_LIMIT = 400_000


class BudgetExceeded(Exception):
    """One analysis took more steps than any real code needs; the caller reports what it was looking at."""


class Interpreter:
    """Evaluates the code of ``program`` over the targets of ``space``; what lies outside is asked of ``world``."""

    def __init__(self, program: Program, space: Space, world: World) -> None:
        self.program = program
        self.space = space
        self.world = world
        self.steps = 0
        self.depth_limit = DEPTH_LIMIT
        self._globals: dict[tuple[str, str], Value] = {}
        self._in_progress: set[tuple[str, str]] = set()
        self._classes: dict[int, ClassValue] = {}
        self.summaries: dict[Any, Value] = {}
        self.arguments: dict[tuple[int, str], Value] = {}
        """What a parameter receives wherever its function is called, by the function's syntax node and the name."""
        self.escapes: dict[Any, list[tuple[Condition, str]]] = {}
        """The exceptions that leave a remembered call, by the key of its summary."""
        self.tracks_escapes = False
        """Whether an exception that leaves a callee is followed into its caller where nobody listens."""
        self.running: set[Any] = set()
        self._attribute_writers: dict[tuple[int, str], list[ast.FunctionDef | ast.AsyncFunctionDef]] = {}
        self.abstract_instances: dict[int, Any] = {}
        self.remembering = 0
        """How many calls in progress will be remembered by their arguments alone: what is read inside is read for all who ask."""
        self.registers = False
        """Whether containers hold what the import of the tree puts into them; else readers only know that they are not empty."""
        self.on_test: Callable[[Frame, ast.expr, Condition], None] | None = None
        """Is told of every test that the target takes part in, when it is evaluated, and the condition under which it holds."""
        self.collecting: Collection | None = None
        self.registrars: dict[Any, frozenset[str]] = {}

    @contextmanager
    def forgetting(self) -> Iterator[None]:
        """Keep nothing of what is worked out and remembered meanwhile."""
        summaries, escapes = dict(self.summaries), dict(self.escapes)
        try:
            yield
        finally:
            self.summaries, self.escapes = summaries, escapes

    # -- expressions and statements ---------------------------------------------------------------------------------

    def evaluate(self, node: ast.expr, frame: Frame) -> Value:
        """The value of an expression under the frame's path condition."""
        self.steps += 1
        if self.steps > STEP_LIMIT:
            raise BudgetExceeded(frame.qualname)
        handler = expressions.HANDLERS.get(type(node))
        return self.unknown(node, frame) if handler is None else handler(self, node, frame)

    def test(self, node: ast.expr, frame: Frame) -> Condition:
        """The condition under which a test is true."""
        return expressions.test(self, node, frame)

    def run(self, body: list[ast.stmt], frame: Frame) -> None:
        """Execute statements; afterwards ``frame.pc`` is the condition of falling through."""
        statements.run(self, body, frame)

    def call(
        self, function: Value, args: tuple[Value, ...], keywords: dict[str, Value], frame: Frame, node: ast.Call | None = None
    ) -> Value:
        return calls.call(self, function, args, keywords, frame, node)

    # -- unknowns ---------------------------------------------------------------------------------------------------

    def text(self, node: ast.AST, module: Module) -> str:
        """The source of a node on one line."""
        return source_text(module, node)

    def unknown(self, node: ast.AST, frame: Frame, *parts: Value) -> Opaque:
        """An opaque value for an expression; ``parts`` are the values it was made from."""
        fields = _NO_FIELDS
        for part in parts:
            more = part.fields if type(part) is Opaque else fields_of(part)
            if more:
                fields = fields | more if fields else more
        known: tuple[Module, str, dict[frozenset[str], Opaque]] | None = node.__dict__.get(_UNKNOWN)
        if known is None or known[0] is not frame.module or known[1] != frame.qualname:
            known = node.__dict__[_UNKNOWN] = (frame.module, frame.qualname, {})
        found = known[2].get(fields)
        if found is None:
            text = source_text(frame.module, node)
            found = known[2][fields] = Opaque(f"9:{frame.module.path}:{frame.qualname}:{text}", text, fields)
        return found

    # -- events -----------------------------------------------------------------------------------------------------

    def record(
        self,
        kind: EventKind,
        node: ast.AST,
        name: str,
        frame: Frame,
        values: tuple[Value, ...] = (),
        condition: Condition | None = None,
        target: Payload | None = None,
        keywords: dict[str, Value] | None = None,
        receiver: Value | None = None,
        followed: bool = False,
    ) -> None:
        recorder = frame.recorder
        if recorder is None:
            return
        reached = frame.pc if condition is None else condition
        given = tuple(keywords.items()) if keywords else ()
        if recorder.wants(kind, name, reached, values, given):
            recorder.record(
                Event(
                    kind,
                    frame.module,
                    node,
                    name,
                    reached,
                    values,
                    tuple(frame.guards),
                    bool(frame.catches),
                    target,
                    given,
                    receiver,
                    frame.chain,
                    followed,
                )
            )

    @property
    def is_importing(self) -> bool:
        """Whether the top level of a module is being evaluated: once, for all who read it."""
        return bool(self._in_progress)

    def forget(self) -> None:
        """Drop what was learnt about calls and about globals that functions write: more is known about their arguments."""
        self.summaries.clear()
        self.escapes.clear()
        for module, name in [key for key in self._globals if self._is_written(*key)]:
            del self._globals[module, name]

    def _is_written(self, module: str, name: str) -> bool:
        found = self.program.module(module)
        return found is not None and name in found.global_writers

    # -- names ------------------------------------------------------------------------------------------------------

    def global_value(self, module: Module, name: str) -> Value | None:
        """The value that a module binds to a name at its top level, following imports; None if it binds none."""
        key = (module.name, name)
        found = self._globals.get(key)
        if found is not None:
            return found
        if key in self._in_progress:
            return Opaque(f"9:{module.path}:{name}", name)
        special = self.world.global_value(self, module.name, name)
        if special is None:
            self._in_progress.add(key)
            try:
                special = self._bound(module, name)
            finally:
                self._in_progress.discard(key)
        if special is not None:
            self._globals[key] = special
        return special

    def _bound(self, module: Module, name: str) -> Value | None:
        statements_of_name = module.bindings.get(name)
        if not statements_of_name:
            found = self._from_star_import(module, name)
            # A global that only functions make: no statement of the module itself binds it.
            return statements.module_variable(self, module, name, []) if found is None and name in module.global_writers else found
        last = statements_of_name[-1]
        if isinstance(last, (ast.FunctionDef, ast.AsyncFunctionDef)) or (
            len(statements_of_name) == 1 and isinstance(last, (ast.Import, ast.ImportFrom))
        ):
            return self._direct_binding(module, name, last)
        return statements.module_variable(self, module, name, statements_of_name)

    def _direct_binding(self, module: Module, name: str, statement: ast.stmt) -> Value:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            frame = Frame(module, "", self.space.true)
            return statements.decorated(self, statement, FunctionValue(module, statement, None, None, name), frame)
        return self.imported(module, statement, name)

    def imported(self, module: Module, statement: ast.stmt, name: str) -> Value:
        """What an import statement binds to ``name``."""
        source = imported_name(module, statement, name)
        if source is None:
            return Opaque(f"9:{module.path}:{name}", name)
        if source.name is None:
            return ModuleValue(source.module) if self.program.owns(source.module) else External(source.module)
        if not self.program.owns(source.module):
            return self.external(f"{source.module}.{source.name}")
        submodule = self.program.module(f"{source.module}.{source.name}")
        owner = self.program.module(source.module)
        if owner is not None:
            value = self.global_value(owner, source.name)
            if value is not None:
                return value
        if submodule is not None:
            return ModuleValue(submodule.name)
        return External(f"{source.module}.{source.name}")

    def _from_star_import(self, module: Module, name: str) -> Value | None:
        for star in module.star_imports:
            other = self.program.module(star)
            if other is not None and other is not module:
                value = self.global_value(other, name)
                if value is not None:
                    return value
        return None

    def external(self, dotted: str) -> Value:
        value = self.world.external_value(dotted)
        return External(dotted) if value is None else value

    def class_value(self, module: Module, node: ast.ClassDef, qualname: str) -> ClassValue:
        """The one value of a class definition."""
        found = self._classes.get(id(node))
        if found is None:
            frame = Frame(module, qualname, self.space.true)
            bases = tuple(self.evaluate(base, frame) for base in node.bases)
            found = self._classes[id(node)] = ClassValue(module, node, qualname, bases)
        return found

    def class_named(self, dotted: str) -> ClassValue | None:
        """The class that a module defines under a name, followed through re-exports, even where the name is rebound later
        (a struct made from the class, say)."""
        owner, _, name = dotted.rpartition(".")
        found = self.program.defining_module(owner, name)
        for statement in reversed(found[0].bindings.get(found[1], [])) if found is not None else ():
            if isinstance(statement, ast.ClassDef) and found is not None:
                return self.class_value(found[0], statement, found[1])
        return None

    # -- classes ----------------------------------------------------------------------------------------------------

    def mro(self, cls: ClassValue) -> list[ClassValue]:
        """The class and its known bases, depth first (close enough to Python's order for single inheritance and mixins)."""
        order: list[ClassValue] = []
        stack = [cls]
        while stack:
            current = stack.pop(0)
            if current in order:
                continue
            order.append(current)
            stack = [base for base in current.bases if isinstance(base, ClassValue)] + stack
        return order

    def find_member(self, cls: ClassValue, name: str) -> tuple[ClassValue, list[ast.stmt]] | None:
        """The class of the hierarchy whose body binds ``name``, and the statements that do."""
        for candidate in self.mro(cls):
            found = class_bindings(candidate.node).get(name)
            if found:
                return candidate, found
        return None

    def attribute_writers(self, cls: ClassValue, name: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        """The methods of this class body that store an attribute on ``self``."""
        key = (id(cls.node), name)
        found = self._attribute_writers.get(key)
        if found is None:
            found = self._attribute_writers[key] = _attribute_writers(cls.node, name)
        return found


_CLASS_BINDINGS: dict[int, tuple[ast.ClassDef, dict[str, list[ast.stmt]]]] = {}


def class_bindings(node: ast.ClassDef) -> dict[str, list[ast.stmt]]:
    """What a class body binds, name by name."""
    cached = _CLASS_BINDINGS.get(id(node))
    if cached is not None and cached[0] is node:
        return cached[1]
    from sm_gatecheck.program.modules import bound_names

    found: dict[str, list[ast.stmt]] = {}
    for statement in node.body:
        for name in bound_names(statement):
            found.setdefault(name, []).append(statement)
    _CLASS_BINDINGS[id(node)] = (node, found)
    return found


def _attribute_writers(node: ast.ClassDef, name: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [
        method
        for method in node.body
        if isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef))
        and method.args.args
        and may_contain(method, b"." + name.encode())
        and name in _stored_by(method)
    ]


def _stored_by(method: ast.FunctionDef | ast.AsyncFunctionDef) -> frozenset[str]:
    """The attributes that a method stores on its first parameter."""
    known: frozenset[str] | None = method.__dict__.get(_STORED)
    if known is None:
        receiver = method.args.args[0].arg
        known = method.__dict__[_STORED] = frozenset(
            inner.attr
            for inner in ast.walk(method)
            if isinstance(inner, ast.Attribute)
            and isinstance(inner.ctx, ast.Store)
            and isinstance(inner.value, ast.Name)
            and inner.value.id == receiver
        )
    return known


def source_text(module: Module, node: ast.AST) -> str:
    """The source of a node with white space collapsed."""
    known = node.__dict__.get(_TEXT)
    if known is None or known[0] is not module:
        known = node.__dict__[_TEXT] = (module, _source_text(module, node))
    text: str = known[1]
    return text


def _source_text(module: Module, node: ast.AST) -> str:
    line = getattr(node, "lineno", 0)
    last = getattr(node, "end_lineno", line)
    if not line or line > len(module.lines):
        return type(node).__name__
    start, end = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", 0)
    if line == last:
        return _columns(module.lines[line - 1], start, end)
    middle = module.lines[line : last - 1]
    parts = [_columns(module.lines[line - 1], start, None), *middle, _columns(module.lines[last - 1], 0, end)]
    return " ".join(" ".join(_without_comment(part) for part in parts).split())


def _columns(line: str, start: int, end: int | None) -> str:
    if line.isascii():
        return line[start:end]
    return line.encode()[start:end].decode("utf-8", "replace")


def _without_comment(line: str) -> str:
    before, separator, _ = line.partition("#")
    return before if separator and before.count('"') % 2 == 0 and before.count("'") % 2 == 0 else line
