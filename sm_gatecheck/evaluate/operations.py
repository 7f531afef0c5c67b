"""Operators over payloads and guarded values: comparisons to conditions, arithmetic to values, truth.

Pure functions over one ``Space``. An operation that cannot be decided gives ``None`` (the caller names the unknown).
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from sm_gatecheck.evaluate.values import (
    ALTERNATIVE_LIMIT,
    BoundMethod,
    Choice,
    ClassValue,
    EnumMember,
    FunctionValue,
    Instance,
    Known,
    Mapping,
    ModuleValue,
    Opaque,
    OptionValue,
    Partial,
    Payload,
    Sequence,
    Truth,
    Value,
    alternatives,
    choice,
    from_python,
    is_constant,
    to_python,
)
from sm_gatecheck.model.condition import Condition, Space

COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
SYMBOLS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.Pow: operator.pow,
}
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Div: "/", ast.Mod: "%", ast.BitOr: "|", ast.BitAnd: "&",
    ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>", ast.Pow: "**",
}  # fmt: skip
NEGATIVE = (ast.NotEq, ast.IsNot, ast.NotIn)
_SOLID = (FunctionValue, BoundMethod, Partial, ClassValue, Instance, ModuleValue, EnumMember, Sequence, Mapping)


def lift(space: Space, operation: Callable[[Payload], Payload | None], value: Value, unknown: Callable[[], Opaque]) -> Value:
    """Apply a function of one payload to each alternative; None becomes the unknown."""
    if not isinstance(value, Choice):
        result = operation(value)
        return unknown() if result is None else result
    results: list[tuple[Condition, Payload]] = []
    for condition, payload in value.alternatives:
        result = operation(payload)
        results.append((condition, unknown() if result is None else result))
    return choice(results, unknown())


def lift2(
    space: Space, operation: Callable[[Payload, Payload], Payload | None], left: Value, right: Value, unknown: Callable[[], Opaque]
) -> Value:
    """The same for two payloads: every compatible pair of alternatives."""
    if not isinstance(left, Choice) and not isinstance(right, Choice):
        result = operation(left, right)
        return unknown() if result is None else result
    lefts, rights = alternatives(left, space.true), alternatives(right, space.true)
    if len(lefts) * len(rights) > ALTERNATIVE_LIMIT * 8:
        return unknown()
    results: list[tuple[Condition, Payload]] = []
    for left_condition, left_payload in lefts:
        for right_condition, right_payload in rights:
            both = left_condition & right_condition
            if both.is_false:
                continue
            result = operation(left_payload, right_payload)
            results.append((both, unknown() if result is None else result))
    return choice(results, unknown())


def truth(space: Space, value: Value) -> Condition:
    """The condition under which ``if value:`` is taken."""
    if not isinstance(value, Choice):
        return _payload_truth(space, value)
    result = space.false
    for condition, payload in value.alternatives:
        result = result | (condition & _payload_truth(space, payload))
    return space.widen(result)


def _payload_truth(space: Space, payload: Payload) -> Condition:
    if isinstance(payload, Truth):
        return payload.condition
    if isinstance(payload, Known):
        return space.true if payload.value else space.false
    if isinstance(payload, (Sequence,)):
        return space.true if payload.items else space.false
    if isinstance(payload, Mapping):
        return space.true if payload.entries else space.false
    if isinstance(payload, OptionValue):
        compute = payload.of
        return space.option_test(payload.field, payload.text, lambda value: bool(compute(value)))
    if isinstance(payload, Opaque):
        return space.free(payload.key, payload.text, payload.fields)
    if isinstance(payload, EnumMember):
        return space.true
    if isinstance(payload, Instance) or not isinstance(payload, _SOLID):
        return space.true if isinstance(payload, Instance) else space.free(f"?{payload!r}", repr(payload))
    return space.true


def truth_value(condition: Condition) -> Payload:
    """A boolean payload for a condition."""
    if condition.is_true:
        return Known(True)
    if condition.is_false:
        return Known(False)
    return Truth(condition)


def compare(
    space: Space,
    op: ast.cmpop,
    left: Value,
    right: Value,
    unknown: Callable[[], Opaque],
    about_externals: Callable[[ast.cmpop, Payload, Payload], Condition | None] | None = None,
) -> Condition:
    """The condition under which ``left op right`` holds; ``about_externals`` is asked where the payloads alone do not say."""
    lefts, rights = alternatives(expanded(space, left), space.true), alternatives(expanded(space, right), space.true)
    if len(lefts) * len(rights) > ALTERNATIVE_LIMIT * 8:
        return truth(space, unknown())
    result = space.false
    for left_condition, left_payload in lefts:
        for right_condition, right_payload in rights:
            both = left_condition & right_condition
            if both.is_false:
                continue
            held = _compare_payloads(space, op, left_payload, right_payload)
            if held is None and about_externals is not None:
                held = about_externals(op, left_payload, right_payload)
            result = result | (both & (truth(space, unknown()) if held is None else held))
    return space.widen(result)


def expanded(space: Space, value: Value) -> Value:
    """A sequence of guarded items as guarded sequences of plain items, where that stays small."""
    results: list[tuple[Condition, Payload]] = []
    for condition, payload in alternatives(value, space.true):
        if isinstance(payload, Sequence) and any(isinstance(item, Choice) for item in payload.items):
            results += [(condition & c, p) for c, p in _expand_items(space, payload)]
        else:
            results.append((condition, payload))
    return choice(results, Known(None)) if len(results) > 1 else value


def _expand_items(space: Space, sequence: Sequence) -> list[tuple[Condition, Payload]]:
    rows: list[tuple[Condition, tuple[Value, ...]]] = [(space.true, ())]
    for item in sequence.items:
        rows = [
            (reached & condition, (*items, payload))
            for reached, items in rows
            for condition, payload in alternatives(item, space.true)
            if not (reached & condition).is_false
        ]
        if len(rows) > ALTERNATIVE_LIMIT:
            return [(space.true, sequence)]
    return [
        (
            condition,
            Known(tuple(item.value for item in items if isinstance(item, Known)))
            if sequence.kind == "tuple" and all(isinstance(item, Known) for item in items)
            else Sequence(sequence.kind, items),
        )
        for condition, items in rows
    ]


def _compare_payloads(space: Space, op: ast.cmpop, left: Payload, right: Payload) -> Condition | None:
    if isinstance(op, NEGATIVE):
        positive: ast.cmpop = {ast.NotEq: ast.Eq, ast.IsNot: ast.Is, ast.NotIn: ast.In}[type(op)]()
        held = _compare_payloads(space, positive, left, right)
        return None if held is None else ~held
    if isinstance(op, ast.In):
        return _contains(space, left, right)
    if isinstance(left, OptionValue) and is_constant(right):
        return _option_against_constant(space, op, left, to_python(right), swapped=False)
    if isinstance(right, OptionValue) and is_constant(left):
        return _option_against_constant(space, op, right, to_python(left), swapped=True)
    if isinstance(left, EnumMember) or isinstance(right, EnumMember):
        return _compare_members(space, op, left, right)
    if isinstance(left, Truth) or isinstance(right, Truth):
        return _compare_truths(space, op, left, right)
    if is_constant(left) and is_constant(right):
        return _decide(space, op, to_python(left), to_python(right))
    if isinstance(op, (ast.Is, ast.Eq)):
        if left is right:
            return space.true
        if (left == Known(None) and isinstance(right, _SOLID)) or (right == Known(None) and isinstance(left, _SOLID)):
            return space.false
        if isinstance(op, ast.Is) and isinstance(left, Instance) and isinstance(right, Instance) and not (left.escaped or right.escaped):
            return space.false
        if isinstance(left, (ClassValue, ModuleValue)) and isinstance(right, (ClassValue, ModuleValue)):
            return space.true if left == right else space.false
        if left == right and not isinstance(left, (Sequence, Mapping)):
            return space.true
    return None


def _decide(space: Space, op: ast.cmpop, left: Any, right: Any) -> Condition | None:
    if isinstance(op, ast.Is):
        if left is None or right is None or isinstance(left, bool) or isinstance(right, bool):
            return space.true if left is right else space.false
        return space.true if left == right else space.false
    try:
        return space.true if COMPARISONS[type(op)](left, right) else space.false
    except (TypeError, ValueError):
        return None


def _option_against_constant(space: Space, op: ast.cmpop, option: OptionValue, constant: Any, *, swapped: bool) -> Condition:
    if option.compute is None and isinstance(op, (ast.Eq, ast.Is)) and _is_plain(constant):
        return space.option_is(option.field, (constant,))
    function = COMPARISONS[ast.Eq if isinstance(op, ast.Is) and constant is not None else type(op)]
    symbol = SYMBOLS[type(op)]
    if swapped:
        return space.option_test(
            option.field, f"{constant!r} {symbol} {option.text}", lambda value: bool(function(constant, option.of(value)))
        )
    return space.option_test(option.field, f"{option.text} {symbol} {constant!r}", lambda value: bool(function(option.of(value), constant)))


def _is_plain(constant: Any) -> bool:
    return constant is None or isinstance(constant, (str, bool, int, float))


def _contains(space: Space, item: Payload, container: Payload) -> Condition | None:
    if isinstance(container, Sequence):
        result = space.false
        for member in container.items:
            for condition, payload in alternatives(member, space.true):
                held = _compare_payloads(space, ast.Eq(), item, payload)
                if held is None:
                    return None
                result = result | (condition & held)
        return result
    if isinstance(container, Mapping):
        return _contains(space, item, Sequence("tuple", tuple(key for key, _ in container.entries)))
    if isinstance(container, Known) and isinstance(container.value, tuple):
        constants = container.value
        if isinstance(item, OptionValue) and item.compute is None and all(map(_is_plain, constants)):
            return space.option_is(item.field, constants)
        members = tuple(from_python(constant) for constant in constants)
        if any(member is None for member in members):
            return None
        return _contains(space, item, Sequence("tuple", tuple(member for member in members if member is not None)))
    if isinstance(container, OptionValue) and is_constant(item):
        constant = to_python(item)
        return space.option_test(
            container.field, f"{constant!r} in {container.text}", lambda value: bool(constant in (container.of(value) or ()))
        )
    if isinstance(item, OptionValue) and is_constant(container):
        members_of = to_python(container)
        return space.option_test(item.field, f"{item.text} in {members_of!r}", lambda value: bool(item.of(value) in members_of))
    if is_constant(item) and is_constant(container):
        return _decide(space, ast.In(), to_python(item), to_python(container))
    return None


def _compare_members(space: Space, op: ast.cmpop, left: Payload, right: Payload) -> Condition | None:
    if not isinstance(op, (ast.Eq, ast.Is)):
        return None
    if isinstance(left, EnumMember) and isinstance(right, EnumMember):
        if left.cls is not right.cls:
            return space.false
        return _compare_payloads(space, ast.Eq(), left.raw, right.raw)
    member, other = (left, right) if isinstance(left, EnumMember) else (right, left)
    if other == Known(None):
        return space.false
    if isinstance(member, EnumMember) and is_constant(other):
        # A plain Enum never equals its raw value, a str or int Enum does.
        mixed_in = any(
            getattr(base, "dotted", "") in ("str", "int", "enum.IntEnum", "enum.StrEnum", "IntEnum", "StrEnum") for base in member.cls.bases
        )
        return _compare_payloads(space, ast.Eq(), member.raw, other) if mixed_in else space.false
    return None


def _compare_truths(space: Space, op: ast.cmpop, left: Payload, right: Payload) -> Condition | None:
    if not isinstance(op, (ast.Eq, ast.Is)):
        return None
    if isinstance(left, Truth) and isinstance(right, Truth):
        return (left.condition & right.condition) | (~left.condition & ~right.condition)
    boolean, other = (left, right) if isinstance(left, Truth) else (right, left)
    if isinstance(boolean, Truth) and isinstance(other, Known):
        if other.value is True or (isinstance(op, ast.Eq) and other.value == 1):
            return boolean.condition
        if other.value is False or (isinstance(op, ast.Eq) and other.value == 0):
            return ~boolean.condition
        return space.false
    return None


def arithmetic(space: Space, op: ast.operator, left: Payload, right: Payload) -> Payload | None:
    """``left op right`` where it can be computed, exactly or as an expression over one option."""
    function = ARITHMETIC.get(type(op))
    if function is None:
        return None
    if isinstance(left, OptionValue) and is_constant(right):
        constant = to_python(right)
        return OptionValue(
            left.field, f"({left.text} {_OPERATORS[type(op)]} {constant!r})", lambda value: function(left.of(value), constant)
        )
    if isinstance(right, OptionValue) and is_constant(left):
        constant = to_python(left)
        return OptionValue(
            right.field, f"({constant!r} {_OPERATORS[type(op)]} {right.text})", lambda value: function(constant, right.of(value))
        )
    if isinstance(left, Sequence) and isinstance(right, (Sequence, Known)) and isinstance(op, ast.Add):
        other = right if isinstance(right, Sequence) else from_python(list(right.value)) if isinstance(right.value, tuple) else None
        return Sequence(left.kind, left.items + other.items) if isinstance(other, Sequence) else None
    if isinstance(left, Truth) and isinstance(right, (Truth, Known)) and isinstance(op, (ast.BitAnd, ast.BitOr)):
        first, second = truth(space, left), truth(space, right)
        return truth_value(first & second if isinstance(op, ast.BitAnd) else first | second)
    if is_constant(left) and is_constant(right):
        a, b = to_python(left), to_python(right)
        if isinstance(op, (ast.Pow, ast.LShift)) and not (isinstance(b, (int, float)) and abs(b) < 256):
            return None
        if isinstance(op, ast.Mult) and not (isinstance(a, (int, float)) and isinstance(b, (int, float))):
            return _bounded_repeat(a, b)
        try:
            return from_python(function(a, b))
        except (TypeError, ValueError, ArithmeticError, OverflowError):
            return None
    return None


def _bounded_repeat(a: Any, b: Any) -> Payload | None:
    """``[x] * n`` and ``"-" * n``, unless a hostile source asks for gigabytes."""
    items, count = (a, b) if isinstance(b, int) else (b, a)
    if not isinstance(count, int) or not isinstance(items, (str, list, tuple)) or len(items) * count > 4096:
        return None
    return from_python(items * count)
