"""One function a kind of expression: syntax to guarded value."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sm_gatecheck.evaluate import attributes, calls, classes
from sm_gatecheck.evaluate.frames import Frame, Guard, escape, is_caught, visible
from sm_gatecheck.evaluate.operations import NEGATIVE, arithmetic, compare, lift, lift2, truth, truth_value
from sm_gatecheck.evaluate.values import (
    Choice,
    ClassValue,
    External,
    FunctionValue,
    Instance,
    Known,
    Mapping,
    Opaque,
    OptionValue,
    Payload,
    Sequence,
    Truth,
    Value,
    alternatives,
    choice,
    fields_of,
    from_python,
    is_constant,
    to_python,
)
from sm_gatecheck.model.condition import Condition

if TYPE_CHECKING:
    from sm_gatecheck.evaluate.interpreter import Interpreter

BUILTINS = frozenset(dir(builtins))
COMPREHENSION_LIMIT = 128


def test(interp: Interpreter, node: ast.expr, frame: Frame) -> Condition:
    """The condition under which ``node`` is true; operands are evaluated under those to their left."""
    frame.asking += 1
    try:
        return _test(interp, node, frame)
    finally:
        frame.asking -= 1


def _test(interp: Interpreter, node: ast.expr, frame: Frame) -> Condition:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return ~_test(interp, node.operand, frame)
    if isinstance(node, ast.BoolOp):
        return _bool_op_condition(interp, node, frame)
    held = truth(interp.space, interp.evaluate(node, frame))
    _tell(interp, node, held, frame)
    return held


def _tell(interp: Interpreter, node: ast.expr, held: Condition, frame: Frame) -> None:
    """Let whoever listens know of a test that the target decides; comparisons tell of themselves."""
    if interp.on_test is not None and not isinstance(node, (ast.Compare, ast.BoolOp, ast.UnaryOp)) and held.depends_on_target():
        interp.on_test(frame, node, held)


def _bool_op_condition(interp: Interpreter, node: ast.BoolOp, frame: Frame) -> Condition:
    is_and = isinstance(node.op, ast.And)
    before, guards = frame.pc, len(frame.guards)
    result = interp.space.true if is_and else interp.space.false
    for operand in node.values:
        reached = result if is_and else ~result
        frame.pc = before & reached
        if frame.pc.is_false:
            break
        held = _test(interp, operand, frame)
        result = result & held if is_and else result | held
        frame.guards.append(Guard(frame.module, operand, held if is_and else ~held))
    frame.pc = before
    del frame.guards[guards:]
    return interp.space.widen(result)


def _bool_op(interp: Interpreter, node: ast.BoolOp, frame: Frame) -> Value:
    """``a and b``: a value, not only a truth; becomes a boolean where all operands are booleans."""
    is_and = isinstance(node.op, ast.And)
    before, guards = frame.pc, len(frame.guards)
    frame.asking += 1
    remaining = interp.space.true
    results: list[tuple[Condition, Payload]] = []
    for index, operand in enumerate(node.values):
        frame.pc = before & remaining
        if frame.pc.is_false:
            break
        value = interp.evaluate(operand, frame)
        if index == len(node.values) - 1:
            _tell(interp, operand, truth(interp.space, value), frame)
            results += [(remaining & c, p) for c, p in alternatives(value, interp.space.true)]
            break
        for condition, payload in alternatives(value, interp.space.true):
            held = truth(interp.space, payload)
            stops = remaining & condition & (~held if is_and else held)
            results.append((stops, _narrowed(payload, not is_and)))
        held = truth(interp.space, value)
        _tell(interp, operand, held, frame)
        remaining = remaining & (held if is_and else ~held)
        frame.guards.append(Guard(frame.module, operand, held if is_and else ~held))
    frame.asking -= 1
    frame.pc = before
    del frame.guards[guards:]
    return _simplify_booleans(interp, results, node, frame)


def _narrowed(payload: Payload, outcome: bool) -> Payload:
    """A boolean that is known to have stopped a chain is that boolean."""
    return Known(outcome) if isinstance(payload, Truth) else payload


def _simplify_booleans(interp: Interpreter, results: list[tuple[Condition, Payload]], node: ast.AST, frame: Frame) -> Value:
    if all(isinstance(p, Truth) or (isinstance(p, Known) and isinstance(p.value, bool)) for _, p in results):
        held = interp.space.false
        for condition, payload in results:
            held = held | (condition & truth(interp.space, payload))
        return truth_value(interp.space.widen(held))
    return choice(results, interp.unknown(node, frame))


def _constant(interp: Interpreter, node: ast.Constant, frame: Frame) -> Value:
    return Known(node.value) if node.value is not Ellipsis else interp.unknown(node, frame)


def _name(interp: Interpreter, node: ast.Name, frame: Frame) -> Value:
    name = node.id
    if name in frame.global_writes:
        return visible(frame.pc, frame.global_writes[name])
    if name not in frame.global_names:
        found = frame.variables.get(name)
        if found is not None:
            return visible(frame.pc, found)
        if frame.closure is not None and name in frame.closure:
            return frame.closure[name]
        if frame.owner is not None and frame.qualname == frame.owner.qualname:
            # The body of a class: what it binds elsewhere is seen here.
            bound = classes.body_value(interp, frame.owner, name)
            if bound is not None and not isinstance(bound, Opaque):
                return bound
    value = interp.global_value(frame.module, name)
    if value is not None:
        return value
    if name in BUILTINS:
        return External(f"builtins.{name}")
    return interp.unknown(node, frame)


def _attribute(interp: Interpreter, node: ast.Attribute, frame: Frame) -> Value:
    return attributes.get(interp, interp.evaluate(node.value, frame), node.attr, node, frame)


def _call(interp: Interpreter, node: ast.Call, frame: Frame) -> Value:
    return calls.call_expression(interp, node, frame)


def _compare(interp: Interpreter, node: ast.Compare, frame: Frame) -> Value:
    left = classes.as_sequence(interp, interp.evaluate(node.left, frame))
    result = interp.space.true
    for op, comparator in zip(node.ops, node.comparators):
        right = classes.as_sequence(interp, interp.evaluate(comparator, frame))
        equal = interp.world.equal(left, right) if isinstance(op, (ast.Eq, ast.NotEq)) else None
        if equal is None:
            unknown = _made_from(interp, node, frame, left, right)
            held = compare(interp.space, op, left, right, unknown, _AboutExternals(interp))
        else:
            held = equal if isinstance(op, ast.Eq) else ~equal
        result = result & held
        left = right
    if interp.on_test is not None and result.depends_on_target():
        interp.on_test(frame, node, result)
    return truth_value(result)


class _AboutExternals:
    """What can be said of things of other packages: those that exist are not None, and some texts are known in part."""

    def __init__(self, interp: Interpreter) -> None:
        self._interp = interp

    def __call__(self, op: ast.cmpop, left: Payload, right: Payload) -> Condition | None:
        space, world = self._interp.space, self._interp.world
        held: Condition | None = None
        if isinstance(op, (ast.In, ast.NotIn)) and isinstance(left, Known) and isinstance(left.value, str) and isinstance(right, External):
            held = world.external_contains(right.dotted, left.value)
        elif isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)) and Known(None) in (left, right):
            other = right if left == Known(None) else left
            held = space.false if isinstance(other, External) and world.external_exists(other.dotted) else None
        return held if held is None or not isinstance(op, NEGATIVE) else ~held


def _unary(interp: Interpreter, node: ast.UnaryOp, frame: Frame) -> Value:
    if isinstance(node.op, ast.Not):
        return truth_value(~test(interp, node.operand, frame))
    value = interp.evaluate(node.operand, frame)

    def apply(payload: Payload) -> Payload | None:
        if isinstance(payload, OptionValue) and isinstance(node.op, ast.USub):
            return OptionValue(payload.field, f"-{payload.text}", lambda given: -payload.of(given))
        if isinstance(payload, Known) and isinstance(payload.value, (int, float)):
            if isinstance(node.op, ast.USub):
                return Known(-payload.value)
            if isinstance(node.op, ast.UAdd):
                return payload
            if isinstance(node.op, ast.Invert) and isinstance(payload.value, int):
                return Known(~payload.value)
        return None

    return lift(interp.space, apply, value, lambda: interp.unknown(node, frame, value))


def _binary(interp: Interpreter, node: ast.BinOp, frame: Frame) -> Value:
    left, right = interp.evaluate(node.left, frame), interp.evaluate(node.right, frame)
    if isinstance(left, Opaque) and isinstance(right, Opaque):
        return interp.unknown(node, frame, left, right)
    return lift2(
        interp.space,
        lambda a, b: arithmetic(interp.space, node.op, a, b),
        left,
        right,
        lambda: interp.unknown(node, frame, left, right),
    )


def _if_expression(interp: Interpreter, node: ast.IfExp, frame: Frame) -> Value:
    held = test(interp, node.test, frame)
    before = frame.pc
    results: list[tuple[Condition, Payload]] = []
    for branch, condition in ((node.body, held), (node.orelse, ~held)):
        frame.pc = before & condition
        if frame.pc.is_false:
            continue
        frame.guards.append(Guard(frame.module, node.test, condition))
        value = interp.evaluate(branch, frame)
        frame.guards.pop()
        results += [(condition & c, p) for c, p in alternatives(value, interp.space.true)]
    frame.pc = before
    return _simplify_booleans(interp, results, node, frame)


def _sequence(kind: str) -> Callable[[Interpreter, Any, Frame], Value]:
    def build(interp: Interpreter, node: ast.Tuple | ast.List | ast.Set, frame: Frame) -> Value:
        items: list[Value] = []
        for element in node.elts:
            if isinstance(element, ast.Starred):
                spread = interp.evaluate(element.value, frame)
                inner = sequence_items(spread)
                if inner is None:
                    return interp.unknown(node, frame, spread)
                items.extend(inner)
            else:
                items.append(interp.evaluate(element, frame))
        if kind == "tuple" and all(isinstance(item, Known) for item in items):
            return Known(tuple(item.value for item in items if isinstance(item, Known)))
        return Sequence(kind, tuple(items))

    return build


def sequence_items(value: Value) -> tuple[Value, ...] | None:
    """The items of a sequence known one by one; None if it is not."""
    if isinstance(value, Sequence):
        return value.items
    if isinstance(value, Mapping):
        return tuple(key for key, _ in value.entries)
    if isinstance(value, Known) and isinstance(value.value, (tuple, str)) and len(value.value) <= 4096:
        converted = [from_python(item) for item in value.value]
        return tuple(item for item in converted if item is not None) if all(item is not None for item in converted) else None
    return _items_of_choice(value) if isinstance(value, Choice) else None


def _items_of_choice(value: Choice) -> tuple[Value, ...] | None:
    """The items of sequences of one length, each a choice of its own."""
    rows = [(condition, sequence_items(payload)) for condition, payload in value.alternatives]
    lengths = {None if items is None else len(items) for _, items in rows}
    if len(lengths) != 1 or None in lengths:
        return None
    results: list[Value] = []
    for index in range(lengths.pop() or 0):
        options: list[tuple[Condition, Payload]] = []
        for condition, items in rows:
            item = items[index] if items is not None else Known(None)
            options += [(condition & c, p) for c, p in item.alternatives] if isinstance(item, Choice) else [(condition, item)]
        results.append(choice(options, options[0][1]))
    return tuple(results)


def _dict(interp: Interpreter, node: ast.Dict, frame: Frame) -> Value:
    entries: list[tuple[Value, Value]] = []
    for key, item in zip(node.keys, node.values):
        value = interp.evaluate(item, frame)
        if key is None:
            if not isinstance(value, Mapping):
                return interp.unknown(node, frame, value)
            entries.extend(value.entries)
        else:
            entries.append((interp.evaluate(key, frame), value))
    return Mapping(tuple(entries))


def _subscript(interp: Interpreter, node: ast.Subscript, frame: Frame) -> Value:
    container = classes.as_sequence(interp, interp.evaluate(node.value, frame))
    if isinstance(node.slice, ast.Slice):
        return _slice(interp, node, node.slice, container, frame)
    key = interp.evaluate(node.slice, frame)
    special = interp.world.item(interp, container, key)
    if special is not None:
        return special
    if isinstance(container, ClassValue) and isinstance(key, Known) and classes.is_enum(interp, container):
        return _member_named(interp, node, container, key, frame)
    missing: list[Condition] = []

    def pick(box: Payload, index: Payload) -> Payload | None:
        found = subscript(box, index)
        return None if isinstance(found, (_Missing, Choice)) else found

    if isinstance(container, (Mapping, Sequence)) or isinstance(key, Choice) or isinstance(container, Choice):
        value = _pick_guarded(interp, node, container, key, frame, missing)
    else:
        value = lift2(interp.space, pick, container, key, lambda: interp.unknown(node, frame, container, key))
        if isinstance(value, Opaque) and subscript(container, key) is MISSING:
            missing.append(interp.space.true)
    for condition in missing:
        reached = frame.pc & condition
        if not reached.is_false:
            if interp.tracks_escapes:
                escape(frame, "KeyError" if isinstance(container, Mapping) else "LookupError", reached)
            interp.record("key_error", node, interp.text(node, frame.module), frame, (container, key), reached)
            frame.pc = frame.pc & ~condition
    return value


def _member_named(interp: Interpreter, node: ast.Subscript, cls: ClassValue, key: Known, frame: Frame) -> Value:
    """``Enum["NAME"]``; KeyError where there is none of that name."""
    for name, raw in classes.enum_members(interp, cls):
        if name == key.value:
            return classes.make_member(interp, cls, raw)
    if not is_caught(frame, "KeyError", frame.pc):
        interp.record("key_error", node, interp.text(node, frame.module), frame, (cls, key))
    frame.pc = interp.space.false
    return interp.unknown(node, frame)


class _Missing:
    """A subscript that raises."""


MISSING = _Missing()


def subscript(container: Payload, key: Payload) -> Value | _Missing | None:
    """``container[key]``; MISSING where it certainly raises, None where it cannot be told."""
    if isinstance(container, Mapping):
        if not container.entries:
            return MISSING
        if isinstance(key, ClassValue) and all(isinstance(candidate, ClassValue) for candidate, _ in container.entries):
            return next((item for candidate, item in container.entries if candidate is key), MISSING)
        if not is_constant(key):
            return None
        wanted = to_python(key)
        for candidate, item in container.entries:
            if isinstance(candidate, Choice) or not is_constant(candidate):
                return None
            if to_python(candidate) == wanted:
                return item
        return MISSING
    if isinstance(key, Known) and isinstance(key.value, int):
        items = sequence_items(container)
        if items is not None:
            if -len(items) <= key.value < len(items):
                return items[key.value]
            # A list may have been filled where nobody watched.
            return None if isinstance(container, Sequence) and container.kind == "list" else MISSING
    if isinstance(container, OptionValue) and isinstance(key, Known):
        index = key.value
        return OptionValue(container.field, f"{container.text}[{index!r}]", lambda given: container.of(given)[index])
    return None


def _pick_guarded(interp: Interpreter, node: ast.Subscript, container: Value, key: Value, frame: Frame, missing: list[Condition]) -> Value:
    results: list[tuple[Condition, Payload]] = []
    for box_condition, box in alternatives(container, interp.space.true):
        for key_condition, index in alternatives(key, interp.space.true):
            both = box_condition & key_condition
            if both.is_false:
                continue
            found = subscript(box, index)
            if isinstance(found, _Missing):
                missing.append(both)
            elif found is None:
                results += _by_option(interp, box, index, both) or [(both, interp.unknown(node, frame, container, key))]
            else:
                results += [(both & c, p) for c, p in alternatives(found, interp.space.true)]
    return choice(results, interp.unknown(node, frame, container, key))


def _by_option(interp: Interpreter, box: Payload, index: Payload, condition: Condition) -> list[tuple[Condition, Payload]]:
    """``TABLE[option]``: one alternative an entry."""
    if not (isinstance(box, Mapping) and isinstance(index, OptionValue)) or len(box.entries) > 64:
        return []
    results: list[tuple[Condition, Payload]] = []
    for candidate, item in box.entries:
        if isinstance(candidate, Choice) or not is_constant(candidate):
            return []
        held = compare(interp.space, ast.Eq(), index, candidate, lambda: Opaque("", ""))
        results += [(condition & held & c, p) for c, p in alternatives(item, interp.space.true)]
    return results


def _slice(interp: Interpreter, node: ast.Subscript, bounds: ast.Slice, container: Value, frame: Frame) -> Value:
    parts = [None if part is None else interp.evaluate(part, frame) for part in (bounds.lower, bounds.upper, bounds.step)]
    if any(part is not None and not isinstance(part, Known) for part in parts):
        return interp.unknown(node, frame, container)
    bounds_given: list[Any] = [part.value if isinstance(part, Known) else None for part in parts]
    cut = slice(bounds_given[0], bounds_given[1], bounds_given[2])

    def apply(payload: Payload) -> Payload | None:
        try:
            if isinstance(payload, Sequence):
                return Sequence(payload.kind, payload.items[cut])
            if isinstance(payload, Known) and isinstance(payload.value, (str, tuple, bytes)):
                return from_python(payload.value[cut])
        except (TypeError, ValueError):
            return None
        if isinstance(payload, OptionValue):
            return OptionValue(payload.field, f"{payload.text}[{cut.start}:{cut.stop}:{cut.step}]", lambda given: payload.of(given)[cut])
        return None

    return lift(interp.space, apply, container, lambda: interp.unknown(node, frame, container))


def _joined_string(interp: Interpreter, node: ast.JoinedStr, frame: Frame) -> Value:
    result: Value = Known("")
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            piece = interp.evaluate(part.value, frame)
            plain = part.conversion == -1 and part.format_spec is None
            text = lift(interp.space, _formatted if plain else _not_formatted, piece, _made_from(interp, node, frame, piece))
        else:
            text = interp.evaluate(part, frame)
        before = result
        result = lift2(
            interp.space,
            lambda a, b: arithmetic(interp.space, ast.Add(), a, b),
            before,
            text,
            _made_from(interp, node, frame, before, text),
        )
        if isinstance(result, Opaque):
            return interp.unknown(node, frame, before, text)
    return result


def _made_from(interp: Interpreter, node: ast.AST, frame: Frame, *parts: Value) -> Callable[[], Opaque]:
    return lambda: interp.unknown(node, frame, *parts)


def _not_formatted(payload: Payload) -> Payload | None:
    return None


def _formatted(payload: Payload) -> Payload | None:
    if isinstance(payload, Known):
        return Known(format(payload.value))
    if isinstance(payload, OptionValue):
        return OptionValue(payload.field, f"format({payload.text})", lambda given: format(payload.of(given)))
    return None


def _lambda(interp: Interpreter, node: ast.Lambda, frame: Frame) -> Value:
    return FunctionValue(frame.module, node, frame.owner, {**(frame.closure or {}), **frame.variables}, f"{frame.qualname}.<lambda>")


def _comprehension(interp: Interpreter, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, frame: Frame) -> Value:
    if len(node.generators) != 1:
        return interp.unknown(node, frame)
    generator = node.generators[0]
    source = interp.evaluate(generator.iter, frame)
    items = calls.iterate(interp, source)
    if items is None or len(items) > COMPREHENSION_LIMIT:
        return interp.unknown(node, frame, source)
    inner = Frame(
        frame.module,
        frame.qualname,
        frame.pc,
        dict(frame.variables),
        frame.owner,
        frame.closure,
        None,
        depth=frame.depth,
        global_names=frame.global_names,
    )
    results: list[Value] = []
    entries: list[tuple[Value, Value]] = []
    for item in items:
        calls.bind_target(interp, generator.target, item, inner)
        kept = interp.space.true
        for condition in generator.ifs:
            kept = kept & test(interp, condition, inner)
        if kept.is_false:
            continue
        if not kept.is_true:
            return interp.unknown(node, frame, source)
        if isinstance(node, ast.DictComp):
            entries.append((interp.evaluate(node.key, inner), interp.evaluate(node.value, inner)))
        else:
            results.append(interp.evaluate(node.elt, inner))
    if isinstance(node, ast.DictComp):
        return Mapping(tuple(entries))
    kind = "set" if isinstance(node, ast.SetComp) else "list"
    return Sequence(kind, tuple(results))


def _named(interp: Interpreter, node: ast.NamedExpr, frame: Frame) -> Value:
    value = interp.evaluate(node.value, frame)
    if isinstance(node.target, ast.Name):
        frame.write(node.target.id, value, interp.unknown(node, frame, value))
    return value


def _await(interp: Interpreter, node: ast.Await, frame: Frame) -> Value:
    return interp.evaluate(node.value, frame)


def _starred(interp: Interpreter, node: ast.Starred, frame: Frame) -> Value:
    return interp.unknown(node, frame, interp.evaluate(node.value, frame))


def _yield(interp: Interpreter, node: ast.Yield | ast.YieldFrom, frame: Frame) -> Value:
    value = interp.evaluate(node.value, frame) if node.value is not None else Known(None)
    return interp.unknown(node, frame, value)


HANDLERS: dict[type[ast.expr], Callable[[Interpreter, Any, Frame], Value]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.Compare: _compare,
    ast.BoolOp: _bool_op,
    ast.UnaryOp: _unary,
    ast.BinOp: _binary,
    ast.IfExp: _if_expression,
    ast.Tuple: _sequence("tuple"),
    ast.List: _sequence("list"),
    ast.Set: _sequence("set"),
    ast.Dict: _dict,
    ast.Subscript: _subscript,
    ast.JoinedStr: _joined_string,
    ast.Lambda: _lambda,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.DictComp: _comprehension,
    ast.NamedExpr: _named,
    ast.Await: _await,
    ast.Starred: _starred,
    ast.Yield: _yield,
    ast.YieldFrom: _yield,
}

__all__ = ["HANDLERS", "Instance", "fields_of", "sequence_items", "subscript", "test"]
