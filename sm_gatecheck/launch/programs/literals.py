"""Expressions as values. What rests on the environment, on a parameter or on a computation says so and stays as written."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sm_gatecheck.launch.programs.places import Program

_MAX_DEPTH = 40
_MAX_STEPS = 200_000
_MAX_LENGTH = 20_000
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
}
_CONVERSIONS: dict[str, Callable[[Any], Any]] = {"int": int, "float": float, "str": str, "bool": bool, "Path": str}


@dataclass(frozen=True)
class Value:
    """``value`` is a literal; where ``unresolved`` names something, it is the source text instead."""

    value: Any
    unresolved: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()

    def over(self, value: Any) -> Value:
        return Value(value, self.unresolved, self.assumed)


class Unknown(Exception):
    """An expression has no value that the file alone tells; ``reference`` is what to call it."""

    def __init__(self, reference: str) -> None:
        super().__init__(reference)
        self.reference = reference


@dataclass
class Literals:
    """Evaluates the expressions of one program. ``lookup`` finds what a name was bound to, ``variables`` are the machine's."""

    program: Program
    lookup: Callable[[ast.Name], ast.expr | None]
    dotted: Callable[[ast.expr], str | None]
    variables: Mapping[str, str] = field(default_factory=dict)
    left: int = _MAX_STEPS

    def value(self, node: ast.expr) -> Value:
        """The value, or the source text with what it rests on."""
        notes: list[str] = []
        try:
            return Value(self._of(node, notes, 0), (), tuple(dict.fromkeys(notes)))
        except Unknown as unknown:
            return Value(self.program.shown(node), (unknown.reference,), tuple(dict.fromkeys(notes)))

    def _of(self, node: ast.expr, notes: list[str], depth: int) -> Any:
        self.left -= 1
        if depth > _MAX_DEPTH or self.left < 0:
            raise Unknown(self.program.shown(node))
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise Unknown(self.program.shown(node))
        return method(node, notes, depth + 1)

    def _constant(self, node: ast.Constant, notes: list[str], depth: int) -> Any:
        if node.value is None or isinstance(node.value, (str, int, float, bool)):
            return node.value
        raise Unknown(self.program.shown(node))

    def _list(self, node: ast.List | ast.Tuple | ast.Set, notes: list[str], depth: int) -> list[Any]:
        found: list[Any] = []
        for element in node.elts:
            if isinstance(element, ast.Starred):
                inner = self._of(element.value, notes, depth)
                if not isinstance(inner, list):
                    raise Unknown(self.program.shown(element))
                found.extend(inner)
            else:
                found.append(self._of(element, notes, depth))
        return found

    _tuple = _set = _list

    def _dict(self, node: ast.Dict, notes: list[str], depth: int) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                inner = self._of(value, notes, depth)
                if not isinstance(inner, dict):
                    raise Unknown(self.program.shown(value))
                found.update(inner)
                continue
            name = self._of(key, notes, depth)
            if not isinstance(name, (str, int, float, bool, type(None))):
                raise Unknown(self.program.shown(key))
            found[name] = self._of(value, notes, depth)
        return found

    def _name(self, node: ast.Name, notes: list[str], depth: int) -> Any:
        bound = self.lookup(node)
        if bound is None:
            raise Unknown(node.id)
        return self._of(bound, notes, depth)

    def _unaryop(self, node: ast.UnaryOp, notes: list[str], depth: int) -> Any:
        value = self._of(node.operand, notes, depth)
        if isinstance(node.op, ast.Not):
            return not value
        if isinstance(value, (int, float)):
            return -value if isinstance(node.op, ast.USub) else value if isinstance(node.op, ast.UAdd) else ~int(value)
        raise Unknown(self.program.shown(node))

    def _binop(self, node: ast.BinOp, notes: list[str], depth: int) -> Any:
        left, right = self._of(node.left, notes, depth), self._of(node.right, notes, depth)
        if isinstance(node.op, ast.BitOr) and isinstance(left, dict) and isinstance(right, dict):
            return {**left, **right}
        method = _OPERATORS.get(type(node.op))
        sizes = [
            len(side) if isinstance(side, (str, list)) else abs(side) if isinstance(side, (int, float)) else 0 for side in (left, right)
        ]
        if method is None or (isinstance(node.op, ast.Mult) and max(sizes) > _MAX_LENGTH) or max(sizes) > 10**12:
            raise Unknown(self.program.shown(node))
        try:
            return method(left, right)
        except (TypeError, ValueError, ArithmeticError):
            raise Unknown(self.program.shown(node)) from None

    def _boolop(self, node: ast.BoolOp, notes: list[str], depth: int) -> Any:
        """``os.environ.get("X") or "y"``: the first that counts; an unset variable is taken for unset, with a note."""
        value: Any = None
        for operand in node.values:
            variable = self._variable_name(operand)
            if variable is not None and variable not in self.variables and isinstance(node.op, ast.Or):
                notes.append(f"${variable} is not set")
                value = None
                continue
            value = self._of(operand, notes, depth)
            if bool(value) == isinstance(node.op, ast.Or):
                return value
        return value

    def _joinedstr(self, node: ast.JoinedStr, notes: list[str], depth: int) -> str:
        parts: list[str] = []
        for piece in node.values:
            if isinstance(piece, ast.Constant):
                parts.append(str(piece.value))
            elif isinstance(piece, ast.FormattedValue) and piece.format_spec is None and piece.conversion in (-1, 115):
                value = self._of(piece.value, notes, depth)
                parts.append(str(value))
            else:
                raise Unknown(self.program.shown(node))
        return "".join(parts)

    def _subscript(self, node: ast.Subscript, notes: list[str], depth: int) -> Any:
        if self.dotted(node.value) == "os.environ" and isinstance(node.slice, ast.Constant):
            return self._variable(str(node.slice.value), None, notes, node)
        container, key = self._of(node.value, notes, depth), self._of(node.slice, notes, depth)
        try:
            return container[key]
        except (TypeError, KeyError, IndexError):
            raise Unknown(self.program.shown(node)) from None

    def _call(self, node: ast.Call, notes: list[str], depth: int) -> Any:
        name = self.dotted(node.func) or ""
        if name in ("os.environ.get", "os.getenv") and node.args and isinstance(node.args[0], ast.Constant):
            return self._variable(str(node.args[0].value), node.args[1] if len(node.args) > 1 else None, notes, node, depth)
        if name == "dict":
            return self._made_dict(node, notes, depth)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "copy" and not node.args:
            return self._of(node.func.value, notes, depth)
        values = [self._of(argument, notes, depth) for argument in node.args if not isinstance(argument, ast.Starred)]
        if node.keywords or len(values) != len(node.args):
            raise Unknown(self.program.shown(node))
        last = name.rsplit(".", 1)[-1]
        try:
            if last in _CONVERSIONS and len(values) == 1:
                return _CONVERSIONS[last](values[0])
            if name in ("list", "tuple", "set", "sorted") and len(values) == 1 and isinstance(values[0], list):
                return sorted(values[0]) if name == "sorted" else list(values[0])
            if name == "os.path.join" and values and all(isinstance(value, str) for value in values):
                return "/".join(value.rstrip("/") for value in values)
            if name == "range" and values and all(isinstance(value, int) for value in values) and len(range(*values)) <= _MAX_LENGTH:
                return list(range(*values))
        except (TypeError, ValueError, OverflowError):
            pass
        raise Unknown(self.program.shown(node))

    def _made_dict(self, node: ast.Call, notes: list[str], depth: int) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for argument in node.args:
            inner = self._of(argument, notes, depth)
            if not isinstance(inner, dict):
                raise Unknown(self.program.shown(argument))
            found.update(inner)
        for keyword in node.keywords:
            value = self._of(keyword.value, notes, depth)
            if keyword.arg is None and isinstance(value, dict):
                found.update(value)
            elif keyword.arg is not None:
                found[keyword.arg] = value
        return found

    def _variable_name(self, node: ast.expr) -> str | None:
        """The variable that ``os.environ.get("X")`` asks for, without a default."""
        if isinstance(node, ast.Call) and self.dotted(node.func) in ("os.environ.get", "os.getenv") and len(node.args) == 1:
            return str(node.args[0].value) if isinstance(node.args[0], ast.Constant) else None
        return None

    def _variable(self, name: str, default: ast.expr | None, notes: list[str], node: ast.expr, depth: int = 0) -> Any:
        if name in self.variables:
            return self.variables[name]
        if default is None:
            raise Unknown(f"${name}")
        notes.append(f"${name} is not set")
        return self._of(default, notes, depth)
