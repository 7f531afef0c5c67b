"""What a name of a program stands for: imports, assignments, and the statements that change a dict or a list afterwards."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

Function = ast.FunctionDef | ast.AsyncFunctionDef
_MAX_NODES = 200_000


@dataclass(frozen=True)
class Step:
    """A statement in its place: the conditions around it, and the function that it stands in (None: the module)."""

    statement: ast.stmt
    conditions: tuple[ast.expr, ...] = ()
    negated: tuple[bool, ...] = ()
    function: Function | None = None


@dataclass
class Names:
    """The statements of a program in order, and its imports by local name."""

    tree: ast.Module
    steps: list[Step] = field(default_factory=list)
    imports: dict[str, str] = field(default_factory=dict)
    classes: dict[str, ast.ClassDef] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._collect(self.tree.body, (), (), None, 0)

    def _collect(
        self, body: list[ast.stmt], conditions: tuple[ast.expr, ...], negated: tuple[bool, ...], function: Function | None, depth: int
    ) -> None:
        if depth > 60 or len(self.steps) > _MAX_NODES:
            return
        for statement in body:
            self.steps.append(Step(statement, conditions, negated, function))
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                self._import(statement)
            elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self._collect(statement.body, (), (), statement, depth + 1)
            elif isinstance(statement, ast.ClassDef):
                self.classes[statement.name] = statement
                self._collect(statement.body, conditions, negated, function, depth + 1)
            elif isinstance(statement, ast.If):
                if _is_main(statement.test):
                    self._collect(statement.body, conditions, negated, function, depth + 1)
                    continue
                self._collect(statement.body, (*conditions, statement.test), (*negated, False), function, depth + 1)
                self._collect(statement.orelse, (*conditions, statement.test), (*negated, True), function, depth + 1)
            else:
                for name in ("body", "orelse", "finalbody"):
                    inner = getattr(statement, name, None)
                    if isinstance(inner, list):
                        self._collect(inner, conditions, negated, function, depth + 1)
                for handler in getattr(statement, "handlers", ()):
                    self._collect(handler.body, conditions, negated, function, depth + 1)

    def _import(self, statement: ast.Import | ast.ImportFrom) -> None:
        for alias in statement.names:
            if isinstance(statement, ast.Import):
                self.imports[alias.asname or alias.name.split(".")[0]] = alias.name if alias.asname else alias.name.split(".")[0]
            elif statement.module and not statement.level:
                self.imports[alias.asname or alias.name] = f"{statement.module}.{alias.name}"

    def dotted(self, node: ast.expr) -> str | None:
        """The full dotted name of ``a.b.c``, by the imports; a built-in by its own name."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        return ".".join([self.imports.get(node.id, node.id), *reversed(parts)])

    @cached_property
    def calls(self) -> list[tuple[ast.Call, Step]]:
        """Every call, with the statement that it stands in."""
        found: list[tuple[ast.Call, Step]] = []
        for step in self.steps:
            for node in _own_nodes(step.statement):
                if isinstance(node, ast.Call):
                    found.append((node, step))
        return found

    @cached_property
    def called(self) -> set[str]:
        """Functions of the module that are called by name."""
        return {call.func.id for call, _ in self.calls if isinstance(call.func, ast.Name)}

    def bindings(self, name: str, function: Function | None) -> list[Step]:
        """The assignments to a name, in the function if there are any, else in the module."""
        for scope in (function, None) if function is not None else (None,):
            found = [step for step in self.steps if step.function is scope and name in _targets(step.statement)]
            if found:
                return found
        return []

    @cached_property
    def _steps_by_node(self) -> dict[int, Step]:
        return {id(node): step for step in self.steps for node in _own_nodes(step.statement)}

    def step_of(self, node: ast.expr) -> Step | None:
        """The statement in which an expression stands."""
        return self._steps_by_node.get(id(node))

    def bound(self, name: ast.Name) -> ast.expr | None:
        """The expression last bound to a name where it is used; None where that depends on something."""
        use = self.step_of(name)
        if use is None:
            return None
        if use.function is not None:
            default = _parameter(use.function, name.id)
            if default is not False and not any(step.function is use.function for step in self.bindings(name.id, use.function)):
                return default if isinstance(default, ast.expr) else None
        steps = [
            step
            for step in self.bindings(name.id, use.function)
            if step.function is not use.function or step.statement.lineno < name.lineno
        ]
        if not steps:
            return None
        last = steps[-1]
        if last.conditions != use.conditions[: len(last.conditions)] or last.negated != use.negated[: len(last.negated)]:
            return None
        return _assigned(last.statement, name.id)

    def candidates(self, name: ast.Name) -> Iterator[tuple[Step, ast.expr]]:
        """Everything that a name may have been bound to where it is used, in order."""
        use = self.step_of(name)
        for step in self.bindings(name.id, use.function) if use is not None else ():
            expression = _assigned(step.statement, name.id)
            is_before = use is not None and (step.function is not use.function or step.statement.lineno < name.lineno)
            if expression is not None and is_before:
                yield step, expression

    def changes(self, name: str, use: Step, line: int) -> Iterator[Step]:
        """The statements that make and change a dict or list up to a line, in order."""
        for step in self.steps:
            if step.function is not None and step.function is not use.function:
                continue
            if step.function is use.function and step.statement.lineno > line:
                continue
            if name in _targets(step.statement) or _changes(step.statement, name):
                yield step


def _is_main(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"


def _targets(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.Assign):
        return [target.id for target in statement.targets if isinstance(target, ast.Name)]
    if isinstance(statement, (ast.AnnAssign, ast.AugAssign)) and isinstance(statement.target, ast.Name):
        return [statement.target.id]
    if isinstance(statement, (ast.For, ast.AsyncFor)) and isinstance(statement.target, ast.Name):
        return [statement.target.id]
    return []


def _assigned(statement: ast.stmt, name: str) -> ast.expr | None:
    if isinstance(statement, ast.Assign) and any(isinstance(target, ast.Name) and target.id == name for target in statement.targets):
        return statement.value
    if isinstance(statement, ast.AnnAssign):
        return statement.value
    return None


def _parameter(function: Function, name: str) -> ast.expr | bool | None:
    """The default of a parameter, None where it has none, False where it is no parameter."""
    ordinary = [*function.args.posonlyargs, *function.args.args]
    defaults = [None] * (len(ordinary) - len(function.args.defaults)) + list(function.args.defaults)
    for parameter, default in [
        *zip(ordinary, defaults, strict=True),
        *zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True),
    ]:
        if parameter.arg == name:
            return default
    extra = [parameter.arg for parameter in (function.args.vararg, function.args.kwarg) if parameter is not None]
    return None if name in extra else False


def _changes(statement: ast.stmt, name: str) -> bool:
    """Whether a statement is ``name[…] = …`` or ``name.update(…)``, ``.append``, ``.extend``, ``.setdefault``, ``.pop``."""
    if isinstance(statement, ast.Assign):
        return any(
            isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and target.value.id == name
            for target in statement.targets
        )
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and isinstance(statement.value.func, ast.Attribute):
        owner = statement.value.func.value
        return isinstance(owner, ast.Name) and owner.id == name
    return False


def _own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """The expressions of a statement, without the statements in it."""
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        yield node
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)):
                continue
            stack.append(child)
