"""``$((…))`` over whole numbers."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from typing import Any

_NAME = re.compile(r"\$?\{?\b([A-Za-z_]\w*)\b\}?")
_LIMIT = 1 << 62
_BINARY: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.LShift: lambda left, right: left << min(right, 64),
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
}
_COMPARED: dict[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def evaluate(source: str, lookup: Callable[[str], str | None]) -> int | None:
    """The value of an expression, a comparison giving 0 or 1; None where a name is not known or the form is not followed."""
    unknown: list[str] = []

    def value(match: re.Match[str]) -> str:
        text = lookup(match[1])
        if text is None or not re.fullmatch(r"\s*-?\d{1,18}\s*", text):
            unknown.append(match[1])
            return "0"
        return f"({int(text)})"

    expression = _NAME.sub(value, source).strip().replace("&&", " and ").replace("||", " or ")
    if unknown or not expression or "**" in expression:
        return None
    try:
        return _value(ast.parse(expression, mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, OverflowError, RecursionError, MemoryError):
        return None


def _value(node: ast.expr) -> int:
    found: Any = None
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        found = node.value
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        found = -_value(node.operand) if isinstance(node.op, ast.USub) else _value(node.operand)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.FloorDiv, ast.Mod)):
        left, right = _value(node.left), _value(node.right)
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        found = left - quotient * right if isinstance(node.op, ast.Mod) else quotient
    elif isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        found = _BINARY[type(node.op)](_value(node.left), _value(node.right))
    elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARED:
        found = int(_COMPARED[type(node.ops[0])](_value(node.left), _value(node.comparators[0])))
    elif isinstance(node, ast.BoolOp):
        values = [bool(_value(part)) for part in node.values]
        found = int(all(values) if isinstance(node.op, ast.And) else any(values))
    if not isinstance(found, int) or abs(found) > _LIMIT:
        raise ValueError("not followed")
    return found
