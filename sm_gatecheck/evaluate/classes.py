"""Classes: members through bases, enums, and abstract instances whose attributes are what the class stores on itself."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from sm_gatecheck.evaluate.frames import Frame, visible
from sm_gatecheck.evaluate.values import (
    BoundMethod,
    Choice,
    ClassValue,
    EnumMember,
    External,
    FunctionValue,
    Instance,
    Known,
    Opaque,
    OptionValue,
    Payload,
    Sequence,
    Value,
    alternatives,
    choice,
    is_constant,
    to_python,
)
from sm_gatecheck.model.condition import Condition
from sm_gatecheck.program.modules import Module

if TYPE_CHECKING:
    from sm_gatecheck.evaluate.interpreter import Interpreter

ABSTRACT = "abstract"
"""The name of the instance that stands for any object of a class: nothing is stored on it."""
ENUM_BASES = frozenset({"enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag"})
_PROPERTIES = frozenset({"property", "cached_property", "functools.cached_property"})


def is_enum(interp: Interpreter, cls: ClassValue) -> bool:
    return any(isinstance(base, External) and base.dotted in ENUM_BASES for known in interp.mro(cls) for base in known.bases)


def as_sequence(interp: Interpreter, value: Value) -> Value:
    """A value whose objects of ``NamedTuple`` classes are the tuples that they are."""
    if isinstance(value, Choice):
        if any(isinstance(payload, Instance) for _, payload in value.alternatives):
            results = [(condition, _as_tuple(interp, payload)) for condition, payload in value.alternatives]
            return choice(results, results[0][1])
        return value
    return _as_tuple(interp, value)


def _as_tuple(interp: Interpreter, payload: Payload) -> Payload:
    if not isinstance(payload, Instance) or payload.cls is None or payload.cls.bases != (External("typing.NamedTuple"),):
        return payload
    names = [line.target.id for line in payload.cls.node.body if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name)]
    items = [payload.attributes.get(name) for name in names]
    return payload if any(item is None for item in items) else Sequence("tuple", tuple(item for item in items if item is not None))


def is_record(node: ast.ClassDef) -> bool:
    """Whether a class compares by its fields: it is a dataclass."""
    names = [ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator) for decorator in node.decorator_list]
    return any(name.rsplit(".", 1)[-1] == "dataclass" for name in names)


def enum_members(interp: Interpreter, cls: ClassValue) -> list[tuple[str, Value]]:
    """The (name, raw value) pairs of an enum, in order; ``auto()`` counts from 1."""
    members: list[tuple[str, Value]] = []
    frame = Frame(cls.module, cls.qualname, interp.space.true)
    for statement in cls.node.body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
            name = statement.targets[0].id
            if name.startswith("_"):
                continue
            if isinstance(statement.value, ast.Call) and interp.text(statement.value.func, cls.module).split(".")[-1] == "auto":
                members.append((name, Known(len(members) + 1)))
            else:
                members.append((name, interp.evaluate(statement.value, frame)))
    return members


def make_member(interp: Interpreter, cls: ClassValue, raw: Value) -> Value:
    """``Cls(raw)`` of an enum."""
    results: list[tuple[Condition, Payload]] = []
    for condition, payload in alternatives(raw, interp.space.true):
        if isinstance(payload, EnumMember) and payload.cls is cls:
            results.append((condition, payload))
        elif isinstance(payload, OptionValue) or is_constant(payload):
            results.append((condition, EnumMember(cls, payload)))
        else:
            key = payload.key if isinstance(payload, Opaque) else repr(payload)
            results.append(
                (
                    condition,
                    EnumMember(
                        cls, Opaque(f"9:{cls.qualname}({key})", getattr(payload, "text", "?"), getattr(payload, "fields", frozenset()))
                    ),
                )
            )
    return choice(results, results[0][1])


def enum_name(interp: Interpreter, member: EnumMember) -> Value | None:
    if not is_constant(member.raw):
        return None
    for name, raw in enum_members(interp, member.cls):
        if not isinstance(raw, Choice) and is_constant(raw) and to_python(raw) == to_python(member.raw):
            return Known(name)
    return None


def decorator_names(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """The dotted names of a function's decorators (of the called expression where a decorator is a call)."""
    names: list[str] = []
    for decorator in node.decorator_list:
        expression = decorator.func if isinstance(decorator, ast.Call) else decorator
        parts: list[str] = []
        while isinstance(expression, ast.Attribute):
            parts.append(expression.attr)
            expression = expression.value
        if isinstance(expression, ast.Name):
            parts.append(expression.id)
        names.append(".".join(reversed(parts)))
    return names


def is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a method is read without being called."""
    return any(name in _PROPERTIES or name.endswith("cached_property") for name in decorator_names(node))


def method(interp: Interpreter, owner: ClassValue, node: ast.FunctionDef | ast.AsyncFunctionDef, receiver: Value) -> Value:
    """A method as found on ``receiver``: bound, static, class-bound, or the value of a property."""
    function = FunctionValue(owner.module, node, owner, None, f"{owner.qualname}.{node.name}")
    names = decorator_names(node)
    if "staticmethod" in names:
        return function
    if "classmethod" in names:
        cls = receiver.cls if isinstance(receiver, (Instance, EnumMember)) and receiver.cls is not None else receiver
        return BoundMethod(function, cls)
    if is_property(node):
        return interp.call(BoundMethod(function, receiver), (), {}, Frame(owner.module, function.qualname, interp.space.true))
    return BoundMethod(function, receiver)


def class_attribute(interp: Interpreter, cls: ClassValue, name: str) -> Value | None:
    """``Cls.name``: an enum member, a method, or what the body assigns."""
    if name == "__name__":
        return Known(cls.node.name)
    if name == "__mro__" and all(isinstance(base, ClassValue) for known in interp.mro(cls) for base in known.bases):
        return Sequence("tuple", tuple(interp.mro(cls)))
    found = interp.find_member(cls, name)
    if found is None:
        return None
    owner, statements = found
    last = statements[-1]
    if isinstance(last, (ast.FunctionDef, ast.AsyncFunctionDef)):
        function = FunctionValue(owner.module, last, owner, None, f"{owner.qualname}.{last.name}")
        return BoundMethod(function, cls) if "classmethod" in decorator_names(last) else function
    if is_enum(interp, owner) and isinstance(last, ast.Assign):
        for member, raw in enum_members(interp, owner):
            if member == name:
                return make_member(interp, owner, raw)
    return body_value(interp, owner, name)


def body_value(interp: Interpreter, owner: ClassValue, name: str) -> Value | None:
    """What a class body leaves in a name."""
    key = ("body", id(owner.node), name)
    if key not in interp.summaries:
        if key in interp.running:
            return None
        interp.running.add(key)
        frame = Frame(owner.module, owner.qualname, interp.space.true, owner=owner)
        from sm_gatecheck.evaluate.statements import run_binding

        for statement in _needed(owner, name):
            run_binding(interp, statement, {name}, frame)
        interp.running.discard(key)
        interp.summaries[key] = frame.variables.get(name, Opaque(f"9:{owner.qualname}.{name}", f"{owner.node.name}.{name}"))
    return interp.summaries[key]


def _needed(owner: ClassValue, name: str) -> list[ast.stmt]:
    from sm_gatecheck.evaluate.interpreter import class_bindings

    return class_bindings(owner.node).get(name, [])


def instance_attribute(interp: Interpreter, instance: Instance, name: str, frame: Frame) -> Value | None:
    """``obj.name``: stored on this object, found on its class, or stored by some method of its class."""
    stored = instance.attributes.get(name)
    if stored is not None:
        return visible(frame.pc, stored)
    if instance.cls is None:
        return None
    found = interp.find_member(instance.cls, name)
    if found is not None:
        owner, statements = found
        last = statements[-1]
        if isinstance(last, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return method(interp, owner, last, instance)
        if not any(interp.attribute_writers(known, name) for known in interp.mro(instance.cls)):
            return class_attribute(interp, instance.cls, name)
    if instance.escaped:
        stored_somewhere = abstract_attribute(interp, instance.cls, name)
        if stored_somewhere is not None:
            return stored_somewhere
    return _dynamic_attribute(interp, instance, name, frame)


def _dynamic_attribute(interp: Interpreter, instance: Instance, name: str, frame: Frame) -> Value | None:
    """What a ``__getattr__`` of the class answers for a name that nothing else provides."""
    assert instance.cls is not None
    found = None if name.startswith("__") else interp.find_member(instance.cls, "__getattr__")
    if found is None or not isinstance(found[1][-1], ast.FunctionDef):
        return None
    owner = found[0]
    function = FunctionValue(owner.module, found[1][-1], owner, None, f"{owner.qualname}.__getattr__")
    from sm_gatecheck.evaluate.calls import run_function

    caller = Frame(owner.module, function.qualname, interp.space.true, depth=frame.depth)
    value = run_function(interp, function, (instance, Known(name)), {}, caller, None, effectful=False)
    return None if isinstance(value, Opaque) else value


def annotated_class(interp: Interpreter, annotation: ast.expr, module: Module) -> ClassValue | None:
    """The class of the tree that a plain annotation names (``Config``, ``"Config"``, ``Optional[Config]``); None for any other."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        name = annotation.value.strip()
    elif isinstance(annotation, ast.Name):
        name = annotation.id
    elif isinstance(annotation, ast.Subscript) and isinstance(annotation.value, ast.Name) and annotation.value.id == "Optional":
        return annotated_class(interp, annotation.slice, module)
    else:
        return None
    if not name.isidentifier() or name not in module.bindings:
        return None
    value = interp.global_value(module, name)
    return value if isinstance(value, ClassValue) and not is_enum(interp, value) else None


def abstract_instance(interp: Interpreter, cls: ClassValue) -> Instance:
    """Some object of a class, in whatever state its methods may have left it."""
    found: Instance | None = interp.abstract_instances.get(id(cls.node))
    if found is None:
        found = interp.abstract_instances[id(cls.node)] = Instance(cls, ABSTRACT, escaped=True)
    return found


def abstract_attribute(interp: Interpreter, cls: ClassValue, name: str) -> Value | None:
    """What the methods of a class may store in an attribute: each writer's value, freely chosen; None if no method stores it."""
    key = ("attribute", id(cls.node), name)
    if key in interp.summaries:
        return interp.summaries[key]
    if key in interp.running:
        return Opaque(f"9:{cls.qualname}.{name}", f"self.{name}")
    interp.running.add(key)
    value = _written_value(interp, cls, name)
    interp.running.discard(key)
    if value is not None:
        interp.summaries[key] = value
    return value


def _written_value(interp: Interpreter, cls: ClassValue, name: str) -> Value | None:
    written: list[Value] = []
    for owner in interp.mro(cls):
        for writer in interp.attribute_writers(owner, name):
            state = method_effects(interp, cls, owner, writer)
            if state is not None and name in state:
                written.append(state[name])
        if written:
            break
    if not written:
        return None
    placeholder = [value for value in written if value != Known(None)]
    kept = placeholder or written[:1]
    if len(kept) > 4:
        return Opaque(f"9:{cls.qualname}.{name}", f"self.{name}")
    result = kept[0]
    for index, other in enumerate(kept[1:]):
        free = interp.space.free(f"8:{cls.qualname}.{name}:{index}", f"self.{name} as set elsewhere")
        joined = [(free & c, p) for c, p in alternatives(other, interp.space.true)]
        joined += [(~free & c, p) for c, p in alternatives(result, interp.space.true)]
        result = choice(joined, Opaque(f"9:{cls.qualname}.{name}", f"self.{name}"))
    return result


def method_effects(
    interp: Interpreter, cls: ClassValue, owner: ClassValue, node: ast.FunctionDef | ast.AsyncFunctionDef
) -> dict[str, Value] | None:
    """The attributes that one method leaves on a fresh object when run with unknown arguments."""
    key = ("effects", id(cls.node), id(node))
    if key in interp.summaries:
        state = interp.summaries[key]
        return state.attributes if isinstance(state, Instance) else None
    if key in interp.running:
        return None
    interp.running.add(key)
    instance = Instance(cls, escaped=True, transient=True)
    function = FunctionValue(owner.module, node, owner, None, f"{owner.qualname}.{node.name}")
    from sm_gatecheck.evaluate.calls import run_with_unknown_arguments

    run_with_unknown_arguments(interp, function, instance)
    interp.running.discard(key)
    interp.summaries[key] = instance
    return instance.attributes
