"""Statements: enough of the language to run a small function, or a function that declares things to a ``Native``.

A test that cannot be decided ends the evaluation of a plain function. In a function within reach of a ``Native`` both
branches are run, each on its own copy of the locals, for what they declare; what they assign is dropped, and noted.
"""

from __future__ import annotations

import ast
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from sm_gatecheck.evaluate.literals import expressions, limits
from sm_gatecheck.evaluate.literals.scope import Scope
from sm_gatecheck.evaluate.literals.values import (
    ClassValue,
    FunctionValue,
    ImportedName,
    Instance,
    Native,
    NotLiteral,
    Unresolved,
    describe,
)

if TYPE_CHECKING:
    from sm_gatecheck.evaluate.literals.evaluator import Evaluator


@dataclass(frozen=True)
class Outcome:
    """How a block ended; ``value`` is what it returns, where it does."""

    kind: Literal["end", "return", "break", "continue"] = "end"
    value: Any = None


_END = Outcome()
_IN_PLACE = frozenset({"add", "append", "clear", "discard", "extend", "insert", "pop", "remove", "setdefault", "update"})


def run_block(evaluator: Evaluator, block: list[ast.stmt], scope: Scope) -> Outcome:
    """Run statements in order until one leaves the block."""
    for statement in block:
        try:
            outcome = run_statement(evaluator, statement, scope)
        except NotLiteral as error:
            if not scope.declares:
                raise
            if _mentions_native(statement, scope):
                evaluator.notes.append(error.unresolved)
            continue
        if outcome.kind != "end":
            return outcome
    return _END


def run_statement(evaluator: Evaluator, statement: ast.stmt, scope: Scope) -> Outcome:
    """Run one statement. NotLiteral where what it does cannot be told."""
    evaluator.step(statement, scope)
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        _assignment(evaluator, statement, scope)
    elif isinstance(statement, ast.AugAssign):
        _augmented(evaluator, statement, scope)
    elif isinstance(statement, ast.Expr):
        _expression(evaluator, statement, scope)
    elif isinstance(statement, ast.Return):
        return Outcome("return", evaluator.value(statement.value, scope) if statement.value is not None else None)
    elif isinstance(statement, ast.If):
        return _if(evaluator, statement, scope)
    elif isinstance(statement, ast.For):
        return _for(evaluator, statement, scope)
    elif isinstance(statement, ast.While):
        return _while(evaluator, statement, scope)
    elif isinstance(statement, ast.With):
        return _with(evaluator, statement, scope)
    elif isinstance(statement, ast.Try):
        outcome = run_block(evaluator, statement.body, scope)
        outcome = run_block(evaluator, statement.orelse, scope) if outcome.kind == "end" else outcome
        final = run_block(evaluator, statement.finalbody, scope)
        return final if final.kind != "end" else outcome
    elif isinstance(statement, ast.Break):
        return Outcome("break")
    elif isinstance(statement, ast.Continue):
        return Outcome("continue")
    elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        scope.names[statement.name] = FunctionValue(statement, scope)
    elif isinstance(statement, ast.ClassDef):
        scope.names[statement.name] = ClassValue(statement, scope)
    elif isinstance(statement, (ast.Import, ast.ImportFrom)):
        _import(statement, scope)
    elif isinstance(statement, ast.Raise):
        raise evaluator.refusal("it raises", statement, scope)
    elif not isinstance(statement, (ast.Pass, ast.Assert, ast.Global, ast.Nonlocal)):
        raise evaluator.refusal(f"{type(statement).__name__} statements are not followed", statement, scope)
    return _END


def assign(evaluator: Evaluator, target: ast.expr, value: Any, scope: Scope) -> None:
    """Give a target its value. NotLiteral where the target cannot be told."""
    if isinstance(target, ast.Name):
        scope.names[target.id] = value
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(evaluator, target, value, scope)
    elif isinstance(target, ast.Subscript):
        container = evaluator.value(target.value, scope)
        if not isinstance(container, (list, dict)):
            raise evaluator.refusal(f"an element of {describe(container)} is assigned", target, scope)
        index = evaluator.value(target.slice, scope)
        limits.checked(evaluator, lambda: operator.setitem(container, index, value), target, scope)
    elif isinstance(target, ast.Attribute):
        receiver = evaluator.value(target.value, scope)
        if not isinstance(receiver, Instance):
            raise evaluator.refusal(f"an attribute of {describe(receiver)} is assigned", target, scope)
        receiver.attributes[target.attr] = value
    else:
        raise evaluator.refusal("an assignment that is not followed", target, scope)


def _unpack(evaluator: Evaluator, target: ast.Tuple | ast.List, value: Any, scope: Scope) -> None:
    elements = list(expressions.iterate(evaluator, value, target, scope))
    stars = [index for index, element in enumerate(target.elts) if isinstance(element, ast.Starred)]
    if stars:
        before, after = stars[0], len(target.elts) - stars[0] - 1
        middle = elements[before : len(elements) - after]
        elements = [*elements[:before], middle, *elements[len(elements) - after :]]
    if len(elements) != len(target.elts):
        raise evaluator.refusal("a tuple of another length is unpacked", target, scope)
    for element, part in zip(target.elts, elements, strict=True):
        assign(evaluator, element.value if isinstance(element, ast.Starred) else element, part, scope)


def _assignment(evaluator: Evaluator, statement: ast.Assign | ast.AnnAssign, scope: Scope) -> None:
    if statement.value is None:
        return
    value = evaluator.tolerant(statement.value, scope)
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    for target in targets:
        if isinstance(value, Unresolved) and isinstance(target, (ast.Tuple, ast.List)):
            for name in ast.walk(target):
                if isinstance(name, ast.Name):
                    scope.names[name.id] = value
        else:
            assign(evaluator, target, value, scope)


def _augmented(evaluator: Evaluator, statement: ast.AugAssign, scope: Scope) -> None:
    target = statement.target
    loaded: ast.expr
    if isinstance(target, ast.Name):
        loaded = ast.Name(target.id, ast.Load())
    elif isinstance(target, ast.Attribute):
        loaded = ast.Attribute(target.value, target.attr, ast.Load())
    else:
        loaded = ast.Subscript(target.value, target.slice, ast.Load())
    ast.copy_location(loaded, target)
    current = evaluator.value(loaded, scope)
    if isinstance(statement.op, ast.Add) and isinstance(current, list):
        added = list(expressions.iterate(evaluator, evaluator.value(statement.value, scope), statement, scope))
        current.extend(added)
        limits.checked_size(evaluator, current, statement, scope)
        value: Any = current
    else:
        value = evaluator.value(ast.copy_location(ast.BinOp(loaded, statement.op, statement.value), statement), scope)
    assign(evaluator, target, value, scope)


def _expression(evaluator: Evaluator, statement: ast.Expr, scope: Scope) -> None:
    """An expression statement counts for what it changes; one that changes nothing we hold may fail unheard."""
    if isinstance(statement.value, ast.Constant):
        return
    try:
        evaluator.value(statement.value, scope)
    except NotLiteral:
        if _mentions_native(statement, scope) or _may_change(statement.value, scope):
            raise


def _may_change(expression: ast.expr, scope: Scope) -> bool:
    """Whether a call that could not be followed is an in-place method of, or is given, a container that is held by name."""
    if not isinstance(expression, ast.Call):
        return False
    held = {name for name, value in scope.names.items() if isinstance(value, (list, dict, set, Instance))}
    if isinstance(expression.func, ast.Attribute):
        root: ast.expr = expression.func.value
        while isinstance(root, (ast.Attribute, ast.Subscript)):
            root = root.value
        is_global = isinstance(root, ast.Name) and root.id in scope.module.bindings and expression.func.attr in _IN_PLACE
        if is_global or (isinstance(root, ast.Name) and root.id in held):
            return True
    return any(isinstance(argument, ast.Name) and argument.id in held for argument in expression.args)


def _if(evaluator: Evaluator, statement: ast.If, scope: Scope) -> Outcome:
    try:
        test = expressions.truth(evaluator, evaluator.value(statement.test, scope), statement.test, scope)
    except NotLiteral as error:
        if not scope.declares:
            raise
        evaluator.notes.append(error.unresolved)
        for branch in (statement.body, statement.orelse):
            run_block(evaluator, branch, scope.copy())
        return _END
    return run_block(evaluator, statement.body if test else statement.orelse, scope)


def _for(evaluator: Evaluator, statement: ast.For, scope: Scope) -> Outcome:
    for element in expressions.iterate(evaluator, evaluator.value(statement.iter, scope), statement.iter, scope):
        assign(evaluator, statement.target, element, scope)
        outcome = run_block(evaluator, statement.body, scope)
        if outcome.kind == "break":
            return _END
        if outcome.kind == "return":
            return outcome
    return run_block(evaluator, statement.orelse, scope)


def _while(evaluator: Evaluator, statement: ast.While, scope: Scope) -> Outcome:
    rounds = 0
    while expressions.truth(evaluator, evaluator.value(statement.test, scope), statement.test, scope):
        rounds += 1
        if rounds > limits.MAX_ROUNDS:
            raise evaluator.refusal(f"a loop of more than {limits.MAX_ROUNDS:,} rounds", statement, scope)
        outcome = run_block(evaluator, statement.body, scope)
        if outcome.kind == "break":
            return _END
        if outcome.kind == "return":
            return outcome
    return run_block(evaluator, statement.orelse, scope)


def _with(evaluator: Evaluator, statement: ast.With, scope: Scope) -> Outcome:
    for item in statement.items:
        value = evaluator.tolerant(item.context_expr, scope)
        if item.optional_vars is not None:
            assign(evaluator, item.optional_vars, value if isinstance(value, Native) else Unresolved("a context manager"), scope)
    return run_block(evaluator, statement.body, scope)


def _import(statement: ast.Import | ast.ImportFrom, scope: Scope) -> None:
    for alias in statement.names:
        if isinstance(statement, ast.ImportFrom):
            module = scope.module.absolute(statement.module, statement.level)
            scope.names[alias.asname or alias.name] = ImportedName(module, alias.name)
        elif alias.asname:
            scope.names[alias.asname] = ImportedName(alias.name, None)
        else:
            root = alias.name.split(".")[0]
            scope.names[root] = ImportedName(root, None)


def _mentions_native(node: ast.AST, scope: Scope) -> bool:
    natives: set[str] = set()
    frame: Scope | None = scope
    while frame is not None:
        natives.update(name for name, value in frame.names.items() if isinstance(value, Native))
        frame = frame.parent
    return any(isinstance(inner, ast.Name) and inner.id in natives for inner in ast.walk(node))
