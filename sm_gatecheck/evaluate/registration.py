"""What the import of a tree puts into a module's containers: by statements at the top level, and by decorators and calls
of functions that fill them, wherever in the tree those stand.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sm_gatecheck.evaluate.frames import Frame
from sm_gatecheck.evaluate.values import FunctionValue, Known, Mapping, Payload, Sequence, Value, is_constant
from sm_gatecheck.program.modules import Module

if TYPE_CHECKING:
    from sm_gatecheck.evaluate.interpreter import Interpreter

STATEMENT_LIMIT = 2000
_FILLING = frozenset({"append", "add", "extend", "update", "setdefault", "insert"})


@dataclass
class Collection:
    """A container that is being filled. ``is_certain`` is lost where something is put in under a condition, or out of sight."""

    module: str
    name: str
    entries: list[tuple[Value, Value]] = field(default_factory=list)
    items: list[Value] = field(default_factory=list)
    is_certain: bool = True


def registered(interp: Interpreter, module: Module, name: str, start: Payload) -> Value | None:
    """The container as imports leave it; None where that cannot be told."""
    collection = Collection(module.name, name)
    if isinstance(start, Mapping):
        collection.entries.extend(start.entries)
    elif isinstance(start, Sequence):
        collection.items.extend(start.items)
    else:
        return None
    earlier, interp.collecting = interp.collecting, collection
    try:
        for count, (owner, statement) in enumerate(_statements(interp, module, name)):
            if count >= STATEMENT_LIMIT:
                return None
            _run(interp, owner, statement, _fillers(interp, module, name))
    finally:
        interp.collecting = earlier
    if not collection.is_certain:
        return None
    return Mapping(tuple(collection.entries)) if isinstance(start, Mapping) else Sequence(start.kind, tuple(collection.items))


def collect_item(interp: Interpreter, target: ast.Subscript, value: Value, frame: Frame) -> bool:
    """``NAME[key] = value`` on the container that is being filled; True when it was taken care of."""
    if not _is_wanted(interp, target.value, frame):
        return False
    collection = interp.collecting
    assert collection is not None
    _put(collection, Known(None) if isinstance(target.slice, ast.Slice) else interp.evaluate(target.slice, frame), value, frame)
    return True


def collect_call(interp: Interpreter, node: ast.Call, frame: Frame) -> bool:
    """``NAME.append(x)`` and its like on the container that is being filled; True when it was taken care of."""
    collection = interp.collecting
    if collection is None or not isinstance(node.func, ast.Attribute) or node.func.attr not in _FILLING:
        return False
    receiver, method = node.func.value, node.func.attr
    if _is_wanted(interp, receiver, frame):
        args = [interp.evaluate(argument, frame) for argument in node.args]
        if method in ("append", "add") and len(args) == 1:
            collection.items.append(args[0])
        elif method == "update" and len(args) == 1 and isinstance(args[0], Mapping):
            for key, value in args[0].entries:
                _put(collection, key, value, frame)
        elif method == "setdefault" and len(args) == 2:
            if not any(key == args[0] for key, _ in collection.entries):
                _put(collection, args[0], args[1], frame)
        elif method == "extend" and len(args) == 1 and isinstance(args[0], Sequence):
            collection.items.extend(args[0].items)
        else:
            collection.is_certain = False
        collection.is_certain = collection.is_certain and frame.pc.is_true
        return True
    return _collect_under_key(interp, collection, node, receiver, method, frame)


def _collect_under_key(interp: Interpreter, collection: Collection, node: ast.Call, receiver: ast.expr, method: str, frame: Frame) -> bool:
    """``NAME.setdefault(key, []).append(x)`` and ``NAME[key].append(x)``."""
    key_node: ast.expr | None = None
    if isinstance(receiver, ast.Call) and isinstance(receiver.func, ast.Attribute) and receiver.func.attr == "setdefault" and receiver.args:
        key_node = receiver.args[0] if _is_wanted(interp, receiver.func.value, frame) else None
    elif isinstance(receiver, ast.Subscript) and not isinstance(receiver.slice, ast.Slice):
        key_node = receiver.slice if _is_wanted(interp, receiver.value, frame) else None
    if key_node is None or method not in ("append", "add") or len(node.args) != 1:
        return False
    key, item = interp.evaluate(key_node, frame), interp.evaluate(node.args[0], frame)
    known = next((value for given, value in collection.entries if given == key), Sequence("list", ()))
    if isinstance(known, Sequence):
        _put(collection, key, Sequence(known.kind, (*known.items, item)), frame)
    else:
        collection.is_certain = False
    return True


def _put(collection: Collection, key: Value, value: Value, frame: Frame) -> None:
    if not frame.pc.is_true or not is_constant_key(key):
        collection.is_certain = False
        return
    for index, (given, _) in enumerate(collection.entries):
        if given == key:
            collection.entries[index] = (key, value)
            return
    collection.entries.append((key, value))


def is_constant_key(key: Value) -> bool:
    from sm_gatecheck.evaluate.values import Choice, ClassValue, EnumMember

    return not isinstance(key, Choice) and (is_constant(key) or isinstance(key, (ClassValue, EnumMember)))


def _is_wanted(interp: Interpreter, node: ast.expr, frame: Frame) -> bool:
    collection = interp.collecting
    return (
        collection is not None
        and isinstance(node, ast.Name)
        and node.id == collection.name
        and frame.module.name == collection.module
        and node.id not in frame.variables
    )


# -- where the container is filled ------------------------------------------------------------------------------------------


def _fillers(interp: Interpreter, module: Module, name: str) -> frozenset[str]:
    """The functions, by their own name, through which the container is filled: those that do it, and those that call them."""
    key = ("fillers", module.name, name)
    found = interp.registrars.get(key)
    if found is None:
        direct = {statement.name for statement in module.syntax.body if isinstance(statement, ast.FunctionDef) and _fills(statement, name)}
        indirect = set(direct)
        for owner in _mentioning(interp, direct):
            for statement in owner.syntax.body:
                if (
                    isinstance(statement, ast.FunctionDef)
                    and statement.name not in direct
                    and any(_calls(line, direct) for line in statement.body)
                ):
                    indirect.add(statement.name)
        found = interp.registrars[key] = frozenset(indirect)
    return found


def _statements(interp: Interpreter, module: Module, name: str) -> Iterator[tuple[Module, ast.stmt]]:
    """The top-level statements that fill the container, its own module's first."""
    fillers = _fillers(interp, module, name)
    owners = [module, *(owner for owner in _mentioning(interp, fillers) if owner is not module)]
    for owner in owners:
        for statement in owner.syntax.body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                if any(_calls(decorator, fillers) for decorator in statement.decorator_list):
                    yield owner, statement
            elif isinstance(statement, (ast.Import, ast.ImportFrom)):
                continue
            elif _calls(statement, fillers) or (owner is module and _fills(statement, name)):
                yield owner, statement


def _mentioning(interp: Interpreter, names: frozenset[str] | set[str]) -> list[Module]:
    if not names:
        return []
    plain = sorted(name.encode() for name in names)
    wanted = re.compile(rb"\b(?:" + b"|".join(plain) + rb")\b")
    # The plain search is ten times as fast as the pattern, and rules nearly every file out.
    return [module for module in interp.program.modules() if any(name in module.source for name in plain) and wanted.search(module.source)]


def _fills(tree: ast.AST, name: str) -> bool:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Store)
            and isinstance(node.value, ast.Name)
            and node.value.id == name
        ):
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _FILLING:
            inner: ast.expr = node.func.value
            if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
                inner = inner.func.value
            elif isinstance(inner, ast.Subscript):
                inner = inner.value
            if isinstance(inner, ast.Name) and inner.id == name:
                return True
    return False


def _calls(tree: ast.AST, names: frozenset[str] | set[str]) -> bool:
    """Whether one of the functions is named in code that runs with ``tree``."""
    return any(
        (isinstance(node, ast.Name) and node.id in names) or (isinstance(node, ast.Attribute) and node.attr in names)
        for node in ast.walk(tree)
    )


def _run(interp: Interpreter, owner: Module, statement: ast.stmt, fillers: frozenset[str]) -> None:
    frame = Frame(owner, "", interp.space.true)
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        made: Value = (
            interp.class_value(owner, statement, statement.name)
            if isinstance(statement, ast.ClassDef)
            else FunctionValue(owner, statement, None, None, statement.name)
        )
        for decorator in reversed(statement.decorator_list):
            if _calls(decorator, fillers):
                interp.call(interp.evaluate(decorator, frame), (made,), {}, frame)
        return
    interp.run([statement], frame)
