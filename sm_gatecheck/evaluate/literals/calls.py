"""Calls: of functions and classes of the tree, of methods of plain containers, of the few external helpers that are known."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from sm_gatecheck.evaluate.literals import limits
from sm_gatecheck.evaluate.literals.builtin_calls import Request, call_external, call_method
from sm_gatecheck.evaluate.literals.scope import Scope
from sm_gatecheck.evaluate.literals.values import (
    BoundMethod,
    ClassValue,
    External,
    FunctionValue,
    Instance,
    Native,
    ParentOf,
    describe,
)

if TYPE_CHECKING:
    from sm_gatecheck.evaluate.literals.evaluator import Evaluator


def call_expression(evaluator: Evaluator, node: ast.Call, scope: Scope) -> Any:
    if isinstance(node.func, ast.Attribute):
        receiver = evaluator.value(node.func.value, scope)
        function = evaluator.forced(evaluator.attribute(receiver, node.func.attr, node.func, scope))
    else:
        function = evaluator.value(node.func, scope)
    if isinstance(function, BoundMethod) and isinstance(function.receiver, Native):
        return function.receiver.call_method(function.name, node, scope, evaluator)
    key = function.name if isinstance(function, (External, FunctionValue)) else None
    if key is not None and key in evaluator.intercepts:
        return evaluator.intercepts[key](evaluator, node, scope)
    if function == External("builtins.super") and not node.args:
        return _super(evaluator, node, scope)
    positional, named = arguments(evaluator, node, scope)
    return call(evaluator, function, positional, named, node, scope)


def call(evaluator: Evaluator, function: Any, positional: list[Any], named: dict[str, Any], node: ast.AST, scope: Scope) -> Any:
    """Call anything that can be followed with evaluated arguments."""
    if isinstance(function, FunctionValue):
        return call_function(evaluator, function, positional, named, node, scope)
    if isinstance(function, ClassValue):
        return _instantiate(evaluator, function, positional, named, node, scope)
    if isinstance(function, BoundMethod):
        return call_method(function, Request(evaluator, node, scope, positional, named))
    if isinstance(function, External):
        return call_external(function.name, Request(evaluator, node, scope, positional, named))
    raise evaluator.refusal(f"{describe(function)} is called", node, scope)


def arguments(evaluator: Evaluator, node: ast.Call, scope: Scope) -> tuple[list[Any], dict[str, Any]]:
    """The evaluated arguments of a call; one that cannot be told is there as ``Unresolved``."""
    positional: list[Any] = []
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            positional.extend(evaluator.iterate(evaluator.value(argument.value, scope), argument, scope))
        else:
            positional.append(evaluator.tolerant(argument, scope))
    named: dict[str, Any] = {}
    for keyword in node.keywords:
        if keyword.arg is not None:
            named[keyword.arg] = evaluator.tolerant(keyword.value, scope)
            continue
        spread = evaluator.value(keyword.value, scope)
        if not isinstance(spread, dict):
            raise evaluator.refusal(f"{describe(spread)} is spread into a call", node, scope)
        named.update(spread)
    return positional, named


def call_function(
    evaluator: Evaluator, function: FunctionValue, positional: list[Any], named: dict[str, Any], node: ast.AST, scope: Scope
) -> Any:
    """Run a function of the tree and give what it returns."""
    definition = function.node
    if isinstance(definition, ast.AsyncFunctionDef):
        raise evaluator.refusal(f"{function.name} is a coroutine", node, scope)
    if function.receiver is not None:
        positional = [function.receiver, *positional]
    names = _bind(evaluator, function, positional, named, node, scope)
    frame = Scope(function.scope.module, names, function.scope, function.owner)
    if isinstance(definition, ast.Lambda):
        return evaluator.value(definition.body, frame)
    if any(isinstance(inner, (ast.Yield, ast.YieldFrom)) for inner in ast.walk(definition)):
        raise evaluator.refusal(f"{function.name} is a generator", node, scope)
    with limits.deeper(evaluator, node, scope):
        return evaluator.run_body(definition.body, frame)


def _bind(
    evaluator: Evaluator, function: FunctionValue, positional: list[Any], named: dict[str, Any], node: ast.AST, scope: Scope
) -> dict[str, Any]:
    parameters = function.node.args
    names: dict[str, Any] = {}
    ordinary = [*parameters.posonlyargs, *parameters.args]
    defaults: list[ast.expr | None] = [*([None] * (len(ordinary) - len(parameters.defaults))), *parameters.defaults]
    named = dict(named)
    for index, (parameter, default) in enumerate(zip(ordinary, defaults, strict=True)):
        if index < len(positional):
            names[parameter.arg] = positional[index]
        elif parameter.arg in named:
            names[parameter.arg] = named.pop(parameter.arg)
        elif default is not None:
            names[parameter.arg] = evaluator.tolerant(default, function.scope)
        else:
            raise evaluator.refusal(f"{function.name} is called without {parameter.arg}", node, scope)
    if parameters.vararg is not None:
        names[parameters.vararg.arg] = tuple(positional[len(ordinary) :])
    elif len(positional) > len(ordinary):
        raise evaluator.refusal(f"{function.name} is called with too many arguments", node, scope)
    for parameter, default in zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True):
        if parameter.arg in named:
            names[parameter.arg] = named.pop(parameter.arg)
        elif default is not None:
            names[parameter.arg] = evaluator.tolerant(default, function.scope)
        else:
            raise evaluator.refusal(f"{function.name} is called without {parameter.arg}", node, scope)
    if parameters.kwarg is not None:
        names[parameters.kwarg.arg] = named
    elif named:
        raise evaluator.refusal(f"{function.name} has no parameter {next(iter(named))}", node, scope)
    return names


def _instantiate(evaluator: Evaluator, cls: ClassValue, positional: list[Any], named: dict[str, Any], node: ast.AST, scope: Scope) -> Any:
    if evaluator.is_enum(cls):
        for member in evaluator.members(cls):
            if positional and (member.value == positional[0] or member == positional[0]):
                return member
        raise evaluator.refusal(f"{cls.name} has no member with this value", node, scope)
    instance = Instance(cls)
    found = evaluator.find_attribute(cls, "__init__", instance, evaluator.lineage(cls))
    if found is not None:
        call(evaluator, found[0], positional, named, node, scope)
        return instance
    fields = list(evaluator.fields(cls))
    names = [statement.target.id for statement, _ in fields if isinstance(statement.target, ast.Name)]
    if len(positional) > len(names) or any(name not in names for name in named):
        raise evaluator.refusal(f"how {cls.name} is made is not followed", node, scope)
    given = {**dict(zip(names, positional, strict=False)), **named}
    for name, (statement, owner) in zip(names, fields, strict=True):
        if name in given:
            instance.attributes[name] = given[name]
        else:
            default = evaluator.field_default(statement, owner)
            if default is not None:
                instance.attributes[name] = evaluator.tolerant(default, evaluator.class_scope(owner))
    return instance


def _super(evaluator: Evaluator, node: ast.Call, scope: Scope) -> ParentOf:
    if scope.owner is not None:
        for value in scope.names.values():
            return ParentOf(scope.owner, value)
    raise evaluator.refusal("super() outside a method", node, scope)
