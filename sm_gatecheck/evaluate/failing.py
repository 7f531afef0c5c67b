"""Whether a ``try`` body can raise at all: what the platform answers for certain needs no handler.

Everything that is not understood may raise; a body is cleared only where each of its calls is known not to, and each of
its other operations was computed.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from sm_gatecheck.evaluate import classes
from sm_gatecheck.evaluate.frames import Frame
from sm_gatecheck.evaluate.values import (
    ClassValue,
    EnumMember,
    External,
    FunctionValue,
    Instance,
    Known,
    Mapping,
    ModuleValue,
    Sequence,
    Truth,
    Value,
    payloads,
)

if TYPE_CHECKING:
    from sm_gatecheck.evaluate.interpreter import Interpreter

CALLED_DEPTH = 3
_SAFE_BUILTINS = frozenset({"bool", "isinstance", "hasattr", "callable", "print", "any", "all", "str", "repr", "id", "type"})
_SAFE_STATEMENTS = (ast.Pass, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
_SAFE_EXPRESSIONS = (ast.Constant, ast.Name, ast.Lambda)
_PLAIN_PARTS = (ast.BoolOp, ast.Compare, ast.IfExp, ast.Tuple, ast.List, ast.Set, ast.JoinedStr, ast.FormattedValue, ast.Starred)


def may_fail(interp: Interpreter, body: list[ast.stmt], frame: Frame, depth: int = CALLED_DEPTH) -> bool:
    """Whether running ``body`` may raise, judged in the state that it left in ``frame``. Its imports are judged elsewhere."""
    quiet = Frame(
        frame.module,
        frame.qualname,
        interp.space.true,
        dict(frame.variables),
        frame.owner,
        frame.closure,
        depth=frame.depth,
        global_names=frame.global_names,
        global_writes=dict(frame.global_writes),
    )
    return any(_statement(interp, statement, quiet, depth) for statement in body)


def _statement(interp: Interpreter, node: ast.stmt, frame: Frame, depth: int) -> bool:
    if isinstance(node, _SAFE_STATEMENTS):
        return False
    if isinstance(node, (ast.Expr, ast.Return)):
        return node.value is not None and _expression(interp, node.value, frame, depth)
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return not all(map(_plain_target, targets)) or (node.value is not None and _expression(interp, node.value, frame, depth))
    if isinstance(node, ast.If):
        if _expression(interp, node.test, frame, depth):
            return True
        held = interp.test(node.test, frame)
        taken = [*(() if held.is_false else node.body), *(() if held.is_true else node.orelse)]
        return any(_statement(interp, statement, frame, depth) for statement in taken)
    return True


def _plain_target(target: ast.expr) -> bool:
    if isinstance(target, (ast.Tuple, ast.List)):
        return all(map(_plain_target, target.elts))
    return isinstance(target, ast.Name)


def _expression(interp: Interpreter, node: ast.expr, frame: Frame, depth: int) -> bool:
    if isinstance(node, _SAFE_EXPRESSIONS):
        return False
    if isinstance(node, ast.Call):
        return _call(interp, node, frame, depth)
    if isinstance(node, ast.Attribute):
        return _expression(interp, node.value, frame, depth) or not _has_attributes(interp, node, frame)
    if isinstance(node, _PLAIN_PARTS):
        return any(_expression(interp, part, frame, depth) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr))
    if isinstance(node, (ast.UnaryOp, ast.BinOp, ast.Subscript)):
        parts = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
        return any(_expression(interp, part, frame, depth) for part in parts) or not _is_known(interp.evaluate(node, frame))
    return True


def _has_attributes(interp: Interpreter, node: ast.Attribute, frame: Frame) -> bool:
    """Packages and modules have what is asked of them; of anything else the attribute must have been found."""
    held = interp.evaluate(node.value, frame)
    return all(isinstance(payload, (External, ModuleValue)) for payload in payloads(held)) or _is_known(interp.evaluate(node, frame))


def _call(interp: Interpreter, node: ast.Call, frame: Frame, depth: int) -> bool:
    if interp.world.never_fails(interp.text(node.func, frame.module)):
        return False
    if any(_expression(interp, part, frame, depth) for part in [*node.args, *(keyword.value for keyword in node.keywords)]):
        return True
    callee = interp.evaluate(node.func, frame)
    if isinstance(callee, External):
        name = callee.dotted.removeprefix("builtins.")
        return not (name in _SAFE_BUILTINS or interp.world.never_fails(callee.dotted) or _is_known(interp.evaluate(node, frame)))
    if isinstance(callee, FunctionValue) and not isinstance(callee.node, ast.Lambda) and depth > 0:
        inner = Frame(callee.module, callee.qualname, interp.space.true, owner=callee.owner, closure=callee.closure, depth=frame.depth + 1)
        return may_fail(interp, callee.node.body, inner, depth - 1)
    if isinstance(callee, ClassValue):
        return any(interp.find_member(callee, name) for name in ("__init__", "__new__", "__post_init__")) or classes.is_enum(interp, callee)
    return True


def _is_known(value: Value) -> bool:
    """Whether every part of a value was computed, so that computing it did not raise."""
    return all(
        all(map(_is_known, payload.items))
        if isinstance(payload, Sequence)
        else all(_is_known(item) for _, item in payload.entries)
        if isinstance(payload, Mapping)
        else isinstance(payload, (Known, Truth, Instance, FunctionValue, ClassValue, ModuleValue))
        or (isinstance(payload, EnumMember) and _is_known(payload.raw))
        for payload in payloads(value)
    )


__all__ = ["may_fail"]
