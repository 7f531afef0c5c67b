"""``value.name``: modules, classes, enums, instances, and what a class is known to store on itself."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from sm_gatecheck.evaluate import classes
from sm_gatecheck.evaluate.frames import Frame, visible
from sm_gatecheck.evaluate.operations import lift
from sm_gatecheck.evaluate.values import (
    NONE,
    BoundMethod,
    Choice,
    ClassValue,
    EnumMember,
    External,
    FunctionValue,
    Instance,
    Known,
    ModuleValue,
    Opaque,
    OptionValue,
    Partial,
    Payload,
    Value,
    alternatives,
    choice,
)
from sm_gatecheck.model.condition import Condition

if TYPE_CHECKING:
    from sm_gatecheck.evaluate.interpreter import Interpreter

SUPER = External("gatecheck.super")


def get(interp: Interpreter, receiver: Value, name: str, node: ast.AST, frame: Frame) -> Value:
    """The attribute ``name`` of each alternative of ``receiver``."""
    if not isinstance(receiver, Choice):
        return _get(interp, receiver, name, node, frame)
    results: list[tuple[Condition, Payload]] = []
    for condition, payload in receiver.alternatives:
        if frame.pc.excludes(condition):
            continue
        if frame.asking and payload == NONE:
            frame.absent = frame.absent | (frame.pc & condition)
        results += [(condition & c, p) for c, p in alternatives(_get(interp, payload, name, node, frame), interp.space.true)]
    return choice(results, interp.unknown(node, frame, receiver))


def _get(interp: Interpreter, receiver: Payload, name: str, node: ast.AST, frame: Frame) -> Value:
    found = lookup(interp, receiver, name, frame)
    if found is not None:
        return found
    special = interp.world.unknown_attribute(interp, name)
    if special is not None:
        return special
    return interp.unknown(node, frame, receiver if isinstance(receiver, (Opaque, OptionValue)) else Known(None))


def lookup(interp: Interpreter, receiver: Payload, name: str, frame: Frame) -> Value | None:
    """The attribute where it can be told, else None."""
    if isinstance(receiver, External):
        return interp.external(f"{receiver.dotted}.{name}")
    if isinstance(receiver, ModuleValue):
        return _module_attribute(interp, receiver, name)
    if isinstance(receiver, Instance):
        special = interp.world.attribute(interp, receiver, name)
        if special is not None:
            return visible(frame.pc, special)
        return classes.instance_attribute(interp, receiver, name, frame)
    if isinstance(receiver, ClassValue):
        return classes.class_attribute(interp, receiver, name)
    if isinstance(receiver, EnumMember):
        return _enum_attribute(interp, receiver, name)
    if isinstance(receiver, FunctionValue) and name in ("__name__", "__qualname__"):
        return Known(receiver.qualname)
    if isinstance(receiver, OptionValue) and name == "value":
        return receiver
    if isinstance(receiver, Partial) and receiver.function == SUPER:
        return _inherited(interp, receiver, name)
    return None


def _inherited(interp: Interpreter, proxy: Partial, name: str) -> Value | None:
    """``super().name``: a method as the bases of the class around it define it."""
    owner = dict(proxy.keywords)["owner"]
    assert isinstance(owner, ClassValue)
    for base in owner.bases:
        found = interp.find_member(base, name) if isinstance(base, ClassValue) else None
        if found is not None and isinstance(found[1][-1], (ast.FunctionDef, ast.AsyncFunctionDef)):
            return classes.method(interp, found[0], found[1][-1], proxy.args[0])
    return None


def _module_attribute(interp: Interpreter, receiver: ModuleValue, name: str) -> Value | None:
    module = interp.program.module(receiver.name)
    if module is not None:
        value = interp.global_value(module, name)
        if value is not None:
            return value
    if interp.program.module(f"{receiver.name}.{name}") is not None:
        return ModuleValue(f"{receiver.name}.{name}")
    if any(known.name.startswith(f"{receiver.name}.{name}.") for known in interp.program.modules()):
        return ModuleValue(f"{receiver.name}.{name}")
    return None


def _enum_attribute(interp: Interpreter, member: EnumMember, name: str) -> Value | None:
    if name in ("value", "_value_"):
        return member.raw
    if name == "name":
        return classes.enum_name(interp, member)
    found = interp.find_member(member.cls, name)
    if found is not None:
        owner, statements = found
        last = statements[-1]
        if isinstance(last, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return classes.method(interp, owner, last, member)
    return None


def has(interp: Interpreter, receiver: Value, name: str, frame: Frame) -> Condition | None:
    """The condition under which ``hasattr`` is true, None where it cannot be told."""
    space = interp.space
    result = space.false
    for condition, payload in alternatives(receiver, space.true):
        if isinstance(payload, External):
            known = interp.world.external_exists(f"{payload.dotted}.{name}")
            if known is None:
                return None
            held = space.true if known else space.false
        elif isinstance(payload, Known):
            held = space.true if hasattr(payload.value, name) else space.false
        elif isinstance(payload, ClassValue):
            held = space.true if classes.class_attribute(interp, payload, name) is not None else space.false
        elif (
            isinstance(payload, Instance)
            and payload.cls is not None
            and (interp.find_member(payload.cls, name) is not None or interp.world.attribute(interp, payload, name) is not None)
        ):
            held = space.true
        elif isinstance(payload, Instance) and not payload.escaped and (payload.cls is not None or payload.attributes):
            held = space.false if lookup(interp, payload, name, frame) is None else space.true
        else:
            return None
        result = result | (condition & held)
    return result


__all__ = ["BoundMethod", "get", "has", "lift", "lookup"]
