"""What keeps evaluation of a hostile tree small: sizes, depths, and Python's own errors turned into refusals."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sm_gatecheck.evaluate.literals.scope import Scope

if TYPE_CHECKING:
    from sm_gatecheck.evaluate.literals.evaluator import Evaluator

MAX_SIZE = 200_000
MAX_BITS = 4_096
MAX_CALLS = 40
MAX_ROUNDS = 10_000


def checked_size(evaluator: Evaluator, value: Any, node: ast.AST, scope: Scope) -> Any:
    """The value itself, refused when it is unreasonably large."""
    if isinstance(value, (str, bytes, list, tuple, set, frozenset, dict, range)) and len(value) > MAX_SIZE:
        raise evaluator.refusal(f"a value of more than {MAX_SIZE:,} elements", node, scope)
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise evaluator.refusal(f"a number of more than {MAX_BITS:,} bits", node, scope)
    return value


def checked(evaluator: Evaluator, compute: Callable[[], Any], node: ast.AST, scope: Scope) -> Any:
    """The result of a primitive operation; what Python refuses (types, keys, overflow) is refused with its message."""
    try:
        value = compute()
    except (TypeError, ValueError, KeyError, IndexError, ArithmeticError, AttributeError, MemoryError, StopIteration) as error:
        raise evaluator.refusal(f"{type(error).__name__}: {error}", node, scope) from None
    return checked_size(evaluator, value, node, scope)


def check_operands(evaluator: Evaluator, operation: ast.operator, left: Any, right: Any, node: ast.AST, scope: Scope) -> None:
    """Refuse, before they are computed, the operations whose result may be unreasonably large."""
    too_large = False
    if isinstance(operation, ast.Mult):
        for one, other in ((left, right), (right, left)):
            if isinstance(one, (str, bytes, list, tuple)) and isinstance(other, int):
                too_large = too_large or len(one) * max(other, 0) > MAX_SIZE
    elif isinstance(operation, ast.Pow) and isinstance(left, int) and isinstance(right, int):
        too_large = left.bit_length() * max(right, 0) > MAX_BITS
    elif isinstance(operation, ast.LShift) and isinstance(left, int) and isinstance(right, int):
        too_large = left.bit_length() + max(right, 0) > MAX_BITS
    elif isinstance(operation, ast.Mod) and isinstance(left, (str, bytes)):
        check_layout(evaluator, str(left), node, scope)
    if too_large:
        raise evaluator.refusal("the result would be unreasonably large", node, scope)


def check_layout(evaluator: Evaluator, layout: str, node: ast.AST, scope: Scope) -> None:
    """Refuse a format that pads to thousands of characters."""
    if re.search(r"\d{4}", layout) and re.search(r"[%:<>^=.]|^\d", layout):
        raise evaluator.refusal("a format of unreasonable width", node, scope)


@contextmanager
def deeper(evaluator: Evaluator, node: ast.AST, scope: Scope) -> Iterator[None]:
    """One call deeper; refused when calls nest without end."""
    if evaluator.calls >= MAX_CALLS:
        raise evaluator.refusal(f"calls nest more than {MAX_CALLS} deep", node, scope)
    evaluator.calls += 1
    try:
        yield
    finally:
        evaluator.calls -= 1
