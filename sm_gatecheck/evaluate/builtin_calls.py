"""Python's builtins and the methods of constants, computed where every part is known."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sm_gatecheck.evaluate.frames import Frame
from sm_gatecheck.evaluate.operations import lift, truth, truth_value
from sm_gatecheck.evaluate.standard_library import apply_to_all
from sm_gatecheck.evaluate.values import (
    BoundMethod,
    Choice,
    ClassValue,
    EnumMember,
    External,
    FunctionValue,
    Instance,
    Known,
    Mapping,
    OptionValue,
    Partial,
    Payload,
    Sequence,
    Truth,
    Value,
    alternatives,
    from_python,
    is_constant,
    payloads,
    to_python,
)
from sm_gatecheck.model.condition import Condition

if TYPE_CHECKING:
    from sm_gatecheck.evaluate.interpreter import Interpreter

_PURE: dict[str, Callable[..., Any]] = {
    "int": int, "float": float, "str": str, "abs": abs, "len": len, "min": min, "max": max, "sum": sum, "round": round,
    "sorted": sorted, "tuple": tuple, "list": list, "set": set, "frozenset": frozenset, "dict": dict, "divmod": divmod,
    "range": lambda *bounds: list(range(*bounds)) if len(range(*bounds)) <= 512 else None,
    "reversed": lambda items: list(reversed(items)), "enumerate": lambda items, start=0: [tuple(pair) for pair in enumerate(items, start)],
    "zip": lambda *items: [tuple(group) for group in zip(*items)], "bin": bin, "hex": hex, "ord": ord, "chr": chr,
}  # fmt: skip
_STRING_METHODS = frozenset(
    {"lower", "upper", "strip", "lstrip", "rstrip", "split", "rsplit", "startswith", "endswith", "replace", "removeprefix", "removesuffix",
     "isdigit", "isnumeric", "partition", "rpartition", "title", "capitalize", "splitlines", "find", "count", "join", "format", "index"}
)  # fmt: skip
_MAPPING_METHODS = frozenset({"keys", "values", "items", "get", "copy"})
_SEQUENCE_METHODS = frozenset({"index", "count", "copy"})
_TYPES: dict[str, type | tuple[type, ...]] = {
    "builtins.str": str, "builtins.int": int, "builtins.float": float, "builtins.bool": bool, "builtins.list": list,
    "builtins.tuple": tuple, "builtins.dict": dict, "builtins.set": set, "builtins.bytes": bytes,
}  # fmt: skip
_ABSTRACT_TYPES = ("builtins.", "collections.", "typing.", "numbers.", "types.", "enum.")
RESULT_LIMIT = 100_000


def call_builtin(interp: Interpreter, name: str, args: tuple[Value, ...], keywords: dict[str, Value], frame: Frame) -> Value | None:
    """A builtin on guarded arguments; None where it cannot be computed."""
    if name == "bool" and len(args) == 1:
        return truth_value(truth(interp.space, args[0]))
    if name in ("any", "all") and len(args) == 1:
        return _any_all(interp, name, args[0])
    if name == "map" and len(args) == 2:
        return _map(interp, args[0], args[1], frame)
    if name in ("list", "tuple", "set", "frozenset", "sorted") and len(args) == 1 and not keywords:
        return _collect(interp, name, args[0])
    if name == "dict" and len(args) == 1 and not keywords and all(isinstance(payload, Mapping) for payload in payloads(args[0])):
        return args[0]
    if name == "dict" and not args:
        return Mapping(tuple((Known(key), value) for key, value in keywords.items()))
    if name == "len" and len(args) == 1 and isinstance(args[0], (Sequence, Mapping)):
        return Known(len(args[0].items if isinstance(args[0], Sequence) else args[0].entries))
    if name == "callable" and len(args) == 1:
        return _callable(interp, args[0])
    if name == "type" and len(args) == 1 and isinstance(args[0], Instance) and args[0].cls is not None:
        return args[0].cls
    if name == "print":
        return Known(None)
    if name == "object.__getattribute__" and len(args) == 2:
        return _own_attribute(args)
    function = _PURE.get(name)
    if function is None or keywords:
        return None
    return _pure(interp, name, function, args)


def _callable(interp: Interpreter, value: Value) -> Value | None:
    """Functions and classes of the tree are; of another package, what exists and is asked about is taken to be."""
    solid = (FunctionValue, BoundMethod, Partial, ClassValue)
    held = interp.space.false
    for condition, payload in alternatives(value, interp.space.true):
        if isinstance(payload, solid) or (isinstance(payload, External) and interp.world.external_exists(payload.dotted)):
            held = held | condition
        elif not is_constant(payload):
            return None
    return truth_value(held)


def _own_attribute(args: tuple[Value, ...]) -> Value | None:
    """``object.__getattribute__``: an object's own attribute, past any override."""
    receiver, attribute = args
    if isinstance(receiver, Instance) and isinstance(attribute, Known) and isinstance(attribute.value, str):
        return receiver.attributes.get(attribute.value)
    return None


def _pure(interp: Interpreter, name: str, function: Callable[..., Any], args: tuple[Value, ...]) -> Value | None:
    if len(args) == 1:
        result = lift(interp.space, lambda payload: _apply(name, function, (payload,)), args[0], lambda: _NOTHING)
        return None if _has_nothing(result) else result
    if all(not isinstance(arg, Choice) for arg in args):
        return _apply(name, function, args)  # type: ignore[arg-type]
    return apply_to_all(interp.space, function, args)


class _Nothing:
    """Marks an alternative that could not be computed."""


_NOTHING: Any = _Nothing()


def _has_nothing(value: Value) -> bool:
    return value is _NOTHING or (isinstance(value, Choice) and any(payload is _NOTHING for _, payload in value.alternatives))


def _apply(name: str, function: Callable[..., Any], payloads: tuple[Payload, ...]) -> Payload | None:
    options = [payload for payload in payloads if isinstance(payload, OptionValue)]
    if len(options) == 1 and all(payload is options[0] or is_constant(payload) for payload in payloads):
        option = options[0]
        rest = [None if payload is option else to_python(payload) for payload in payloads]
        place = payloads.index(option)
        text = f"{name}({', '.join(option.text if payload is option else repr(to_python(payload)) for payload in payloads)})"
        return OptionValue(option.field, text, lambda given: function(*rest[:place], option.of(given), *rest[place + 1 :]))
    if not all(is_constant(payload) and not isinstance(payload, EnumMember) for payload in payloads):
        return None
    try:
        return from_python(function(*(to_python(payload) for payload in payloads)))
    except Exception:  # whatever the analysed code would have raised, here it is merely not known
        return None


def _any_all(interp: Interpreter, name: str, argument: Value) -> Value | None:
    from sm_gatecheck.evaluate.expressions import sequence_items

    items = sequence_items(argument)
    if items is None:
        return None
    result = interp.space.false if name == "any" else interp.space.true
    for item in items:
        held = truth(interp.space, item)
        result = result | held if name == "any" else result & held
    return truth_value(result)


def _map(interp: Interpreter, function: Value, argument: Value, frame: Frame) -> Value | None:
    from sm_gatecheck.evaluate.calls import iterate

    items = iterate(interp, argument)
    if items is None or len(items) > 64:
        return None
    return Sequence("list", tuple(interp.call(function, (item,), {}, frame) for item in items))


def _collect(interp: Interpreter, name: str, argument: Value) -> Value | None:
    from sm_gatecheck.evaluate.calls import iterate

    if isinstance(argument, OptionValue):
        return _pure(interp, name, _PURE[name], (argument,))
    items = iterate(interp, argument)
    if items is None:
        return _pure(interp, name, _PURE[name], (argument,))
    if name == "tuple" and all(isinstance(item, Known) for item in items):
        return Known(tuple(item.value for item in items if isinstance(item, Known)))
    if name == "sorted":
        return _pure(interp, name, sorted, (Sequence("list", tuple(items)),))
    return Sequence("set" if name in ("set", "frozenset") else name, tuple(items))


def call_method_of_constant(interp: Interpreter, node: ast.Call, receiver: Value, name: str, args: list[Value], frame: Frame) -> Value:
    """A method of a string, list, dict or option value."""
    if isinstance(receiver, Mapping) and name == "get" and args:
        return _mapping_get(interp, node, receiver, args, frame)
    if isinstance(receiver, (Sequence, Mapping)):
        changed = _mutate(interp, node, receiver, name, args, frame)
        if changed:
            return Known(None)
    if isinstance(receiver, Mapping) and name in ("keys", "values", "items"):
        rows: dict[str, tuple[Value, ...]] = {
            "keys": tuple(key for key, _ in receiver.entries),
            "values": tuple(value for _, value in receiver.entries),
            "items": tuple(Sequence("tuple", entry) for entry in receiver.entries),
        }
        return Sequence("list", rows[name])
    if all(not isinstance(arg, Choice) and is_constant(arg) for arg in args):
        constants = [to_python(arg) for arg in args]
        allowed = _STRING_METHODS | _SEQUENCE_METHODS

        def apply(payload: Payload) -> Payload | None:
            if name not in allowed:
                return None
            if isinstance(payload, OptionValue):
                text = f"{payload.text}.{name}({', '.join(map(repr, constants))})"
                return OptionValue(payload.field, text, lambda given: getattr(payload.of(given), name)(*constants))
            if not is_constant(payload):
                return None
            try:
                result = getattr(to_python(payload), name)(*constants)
            except Exception:  # the analysed call would have failed; it is merely not known here
                return None
            return from_python(result) if not isinstance(result, str) or len(result) < RESULT_LIMIT else None

        return lift(interp.space, apply, receiver, lambda: interp.unknown(node, frame, receiver, *args))
    return interp.unknown(node, frame, receiver, *args)


def _mapping_get(interp: Interpreter, node: ast.Call, receiver: Mapping, args: list[Value], frame: Frame) -> Value:
    from sm_gatecheck.evaluate.expressions import MISSING, subscript
    from sm_gatecheck.evaluate.values import choice

    default = args[1] if len(args) > 1 else Known(None)
    results: list[tuple[Condition, Payload]] = []
    for condition, key in alternatives(args[0], interp.space.true):
        found = subscript(receiver, key)
        if found is None:
            value: Value = interp.unknown(node, frame, args[0])
        else:
            value = default if found is MISSING else found  # type: ignore[assignment]
        results += [(condition & c, p) for c, p in alternatives(value, interp.space.true)]
    return choice(results, interp.unknown(node, frame, args[0]))


def _mutate(interp: Interpreter, node: ast.Call, receiver: Sequence | Mapping, name: str, args: list[Value], frame: Frame) -> bool:
    """``xs.append(x)`` and its like on a variable or an attribute, which gets the longer list."""
    if not isinstance(node.func, ast.Attribute) or not isinstance(receiver, Sequence):
        return False
    from sm_gatecheck.evaluate.expressions import sequence_items

    if name in ("append", "add") and len(args) == 1:
        longer = Sequence(receiver.kind, (*receiver.items, args[0]))
    elif name in ("extend", "update") and len(args) == 1:
        items = sequence_items(args[0])
        if items is None:
            return False
        longer = Sequence(receiver.kind, receiver.items + items)
    else:
        return False
    holder = node.func.value
    if isinstance(holder, ast.Name) and holder.id in frame.variables:
        frame.write(holder.id, longer, interp.unknown(node, frame))
        return True
    if isinstance(holder, ast.Attribute) and frame.recorder is not None:
        from sm_gatecheck.evaluate.statements import store_attribute

        store_attribute(interp, interp.evaluate(holder.value, frame), holder.attr, longer, frame, node)
        return True
    return False


def is_instance(interp: Interpreter, value: Value, kinds: Value) -> Condition | None:
    """The condition under which ``isinstance`` is true."""
    from sm_gatecheck.evaluate.expressions import sequence_items

    items = sequence_items(kinds) or (kinds,)
    result = interp.space.false
    for condition, payload in alternatives(value, interp.space.true):
        held = False
        for kind in items:
            special = interp.world.is_instance(interp, payload, kind) if isinstance(payload, Instance) else None
            answer = _is_instance(interp, payload, kind) if special is None else special
            if answer is None:
                return None
            held = held or answer
        if held:
            result = result | condition
    return result


def _is_instance(interp: Interpreter, payload: Payload, kind: Value) -> bool | None:
    if isinstance(kind, External) and kind.dotted in _TYPES and (is_constant(payload) or isinstance(payload, Truth)):
        wanted = _TYPES[kind.dotted]
        if isinstance(payload, Truth):
            return wanted in (bool, int)
        return isinstance(to_python(payload), wanted) and not isinstance(payload, EnumMember)
    if isinstance(kind, External) and kind.dotted in _TYPES and isinstance(payload, Instance) and payload.cls is None and payload.name:
        return False  # a special object is nothing that Python has of its own
    if isinstance(kind, External) and kind.dotted not in _TYPES and is_constant(payload) and not kind.dotted.startswith(_ABSTRACT_TYPES):
        return False
    if isinstance(kind, ClassValue) and isinstance(payload, (Instance, EnumMember)) and payload.cls is not None:
        return kind in interp.mro(payload.cls)
    if isinstance(kind, ClassValue) and (is_constant(payload) or isinstance(payload, FunctionValue)):
        return False
    return None
