"""Expressions: one function a node type, all of them pure but for the in-place methods of plain containers."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from sm_gatecheck.evaluate.literals import limits
from sm_gatecheck.evaluate.literals.builtin_calls import has_method
from sm_gatecheck.evaluate.literals.calls import call_expression
from sm_gatecheck.evaluate.literals.scope import Scope
from sm_gatecheck.evaluate.literals.values import (
    BoundMethod,
    ClassValue,
    EnumMember,
    External,
    FunctionValue,
    Instance,
    ModuleValue,
    Native,
    ParentOf,
    TypeForm,
    describe,
)

if TYPE_CHECKING:
    from sm_gatecheck.evaluate.literals.evaluator import Evaluator

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.BitXor: operator.xor,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}
_ORDERINGS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_PLAIN = (type(None), bool, int, float, str, bytes, list, tuple, set, frozenset, dict, EnumMember)


def evaluate(evaluator: Evaluator, node: ast.expr, scope: Scope) -> Any:
    """The value of one expression. NotLiteral where it cannot be told."""
    rule = _RULES.get(type(node))
    if rule is None:
        raise evaluator.refusal(f"{type(node).__name__} expressions are not followed", node, scope)
    return rule(evaluator, node, scope)


def truth(evaluator: Evaluator, value: Any, node: ast.AST, scope: Scope) -> bool:
    """Whether a value is true. NotLiteral where only running the tree would tell."""
    if isinstance(value, _PLAIN):
        return bool(value.value) if isinstance(value, EnumMember) and value.transparent else bool(value)
    if isinstance(value, (ClassValue, FunctionValue, ModuleValue, Native)):
        return True
    raise evaluator.refusal(f"whether {describe(value)} is true is not known", node, scope)


def iterate(evaluator: Evaluator, value: Any, node: ast.AST, scope: Scope) -> Iterator[Any]:
    """The elements of a container or an enumeration, each counted as a step."""
    if isinstance(value, ClassValue) and evaluator.is_enum(value):
        value = evaluator.members(value)
    if not isinstance(value, Iterable) or isinstance(value, Instance):
        raise evaluator.refusal(f"cannot go through {describe(value)}", node, scope)
    for element in sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value:
        evaluator.step(node, scope)
        yield element


def attribute(evaluator: Evaluator, value: Any, name: str, node: ast.AST, scope: Scope) -> Any:
    """``value.name``."""
    if isinstance(value, External):
        return External(f"{value.name}.{name}")
    if isinstance(value, ModuleValue):
        return evaluator.module_attribute(value.module, name)
    if isinstance(value, ClassValue):
        return _class_attribute(evaluator, value, name, node, scope)
    if isinstance(value, Instance):
        if name in value.attributes:
            return value.attributes[name]
        return evaluator.class_attribute(value.cls, name, node, scope, receiver=value)
    if isinstance(value, ParentOf):
        return _parent_attribute(evaluator, value, name, node, scope)
    if isinstance(value, EnumMember):
        if name in ("value", "_value_"):
            return value.value
        if name in ("name", "_name_"):
            return value.name
        if value.transparent and has_method(value.value, name):
            return BoundMethod(value.value, name)
        return evaluator.class_attribute(value.cls, name, node, scope, receiver=value)
    if isinstance(value, FunctionValue) and name == "__name__":
        return value.name
    if has_method(value, name) or isinstance(value, Native):
        return BoundMethod(value, name)
    raise evaluator.refusal(f"{describe(value)} has no attribute that is followed: {name}", node, scope)


def _class_attribute(evaluator: Evaluator, cls: ClassValue, name: str, node: ast.AST, scope: Scope) -> Any:
    if name in ("__name__", "__qualname__"):
        return cls.name
    if name == "__members__" and evaluator.is_enum(cls):
        return {member.name: member for member in evaluator.members(cls)}
    for statement, owner in evaluator.fields(cls):
        if isinstance(statement.target, ast.Name) and statement.target.id == name:
            default = evaluator.field_default(statement, owner)
            if default is not None:
                return evaluator.value(default, evaluator.class_scope(owner))
    return evaluator.class_attribute(cls, name, node, scope)


def _parent_attribute(evaluator: Evaluator, parent: ParentOf, name: str, node: ast.AST, scope: Scope) -> Any:
    cls = parent.receiver.cls if isinstance(parent.receiver, Instance) else parent.owner
    lineage = evaluator.lineage(cls)
    after = lineage[lineage.index(parent.owner) + 1 :] if parent.owner in lineage else []
    found = evaluator.find_attribute(cls, name, parent.receiver, after)
    if found is not None:
        return found[0]
    if name == "__init__":
        return External("builtins.object.__init__")
    raise evaluator.refusal(f"no base of {parent.owner.name} that can be read has {name}", node, scope)


def _attribute(evaluator: Evaluator, node: ast.Attribute, scope: Scope) -> Any:
    return attribute(evaluator, evaluator.value(node.value, scope), node.attr, node, scope)


def _sequence(evaluator: Evaluator, node: ast.List | ast.Tuple | ast.Set, scope: Scope) -> Any:
    elements: list[Any] = []
    for element in node.elts:
        if isinstance(element, ast.Starred):
            elements.extend(iterate(evaluator, evaluator.value(element.value, scope), element, scope))
        else:
            elements.append(evaluator.tolerant(element, scope))
    if isinstance(node, ast.List):
        return elements
    return tuple(elements) if isinstance(node, ast.Tuple) else limits.checked(evaluator, lambda: set(elements), node, scope)


def _dict(evaluator: Evaluator, node: ast.Dict, scope: Scope) -> dict[Any, Any]:
    result: dict[Any, Any] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            spread = evaluator.value(value, scope)
            if not isinstance(spread, dict):
                raise evaluator.refusal(f"{describe(spread)} is spread into a dict", node, scope)
            result.update(spread)
        else:
            result[_hashable(evaluator, evaluator.value(key, scope), key, scope)] = evaluator.tolerant(value, scope)
    return result


def _binary(evaluator: Evaluator, node: ast.BinOp, scope: Scope) -> Any:
    left, right = evaluator.value(node.left, scope), evaluator.value(node.right, scope)
    if isinstance(node.op, ast.BitOr) and (_is_type(left) or _is_type(right)):
        return TypeForm("typing.Union", (node.left, node.right), scope)
    left, right = _transparent(left), _transparent(right)
    if not isinstance(left, _PLAIN) or not isinstance(right, _PLAIN):
        raise evaluator.refusal(f"{type(node.op).__name__} of {describe(left)} and {describe(right)}", node, scope)
    limits.check_operands(evaluator, node.op, left, right, node, scope)
    return limits.checked(evaluator, lambda: _BINARY[type(node.op)](left, right), node, scope)


def _transparent(value: Any) -> Any:
    return value.value if isinstance(value, EnumMember) and value.transparent else value


def _is_type(value: Any) -> bool:
    if isinstance(value, External):
        return value.name.startswith(("builtins.", "typing."))
    return isinstance(value, (TypeForm, ClassValue))


def _unary(evaluator: Evaluator, node: ast.UnaryOp, scope: Scope) -> Any:
    value = evaluator.value(node.operand, scope)
    if isinstance(node.op, ast.Not):
        return not truth(evaluator, value, node, scope)
    return limits.checked(evaluator, lambda: _UNARY[type(node.op)](value), node, scope)


def _boolean(evaluator: Evaluator, node: ast.BoolOp, scope: Scope) -> Any:
    value: Any = None
    for operand in node.values:
        value = evaluator.value(operand, scope)
        if truth(evaluator, value, operand, scope) is isinstance(node.op, ast.Or):
            return value
    return value


def _compare(evaluator: Evaluator, node: ast.Compare, scope: Scope) -> bool:
    left = evaluator.value(node.left, scope)
    for test, comparator in zip(node.ops, node.comparators, strict=True):
        right = evaluator.value(comparator, scope)
        for value in (left, right):
            if not isinstance(value, (*_PLAIN, ClassValue)):
                raise evaluator.refusal(f"{describe(value)} is compared", node, scope)
        if isinstance(test, (ast.Is, ast.IsNot)) and not any(
            value is None or isinstance(value, (bool, EnumMember)) for value in (left, right)
        ):
            raise evaluator.refusal("identity of values is not followed", node, scope)
        if isinstance(left, EnumMember) and isinstance(right, EnumMember) and isinstance(test, (ast.Is, ast.IsNot)):
            holds = (left == right) is isinstance(test, ast.Is)
        else:
            a, b = (_transparent(left), _transparent(right)) if isinstance(test, _ORDERINGS) else (left, right)
            holds = bool(limits.checked(evaluator, lambda a=a, b=b, test=test: _COMPARE[type(test)](a, b), node, scope))  # type: ignore[misc]
        if not holds:
            return False
        left = right
    return True


def _conditional(evaluator: Evaluator, node: ast.IfExp, scope: Scope) -> Any:
    test = truth(evaluator, evaluator.value(node.test, scope), node.test, scope)
    return evaluator.value(node.body if test else node.orelse, scope)


def _subscript(evaluator: Evaluator, node: ast.Subscript, scope: Scope) -> Any:
    value = evaluator.value(node.value, scope)
    if isinstance(value, External):
        arguments_ = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return TypeForm(value.name, tuple(arguments_), scope)
    if isinstance(value, ClassValue):
        key = evaluator.value(node.slice, scope)
        if evaluator.is_enum(value):
            for member in evaluator.members(value):
                if member.name == key:
                    return member
        raise evaluator.refusal(f"{value.name} is subscripted", node, scope)
    if not isinstance(value, (str, list, tuple, dict)):
        raise evaluator.refusal(f"{describe(value)} is subscripted", node, scope)
    index = evaluator.value(node.slice, scope)
    return limits.checked(evaluator, lambda: value[index], node, scope)


def _slice(evaluator: Evaluator, node: ast.Slice, scope: Scope) -> slice:
    parts = [evaluator.value(part, scope) if part is not None else None for part in (node.lower, node.upper, node.step)]
    return slice(*parts)


def _text(evaluator: Evaluator, node: ast.JoinedStr, scope: Scope) -> str:
    parts: list[str] = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            parts.append(str(part.value))
        elif isinstance(part, ast.FormattedValue):
            parts.append(_formatted(evaluator, part, scope))
    text = "".join(parts)
    limits.checked_size(evaluator, text, node, scope)
    return text


def _formatted(evaluator: Evaluator, node: ast.FormattedValue, scope: Scope) -> str:
    value = evaluator.value(node.value, scope)
    if not isinstance(value, _PLAIN):
        raise evaluator.refusal(f"{describe(value)} is put into a text", node, scope)
    if isinstance(value, EnumMember):
        value = value.value if value.transparent else f"{value.cls.name}.{value.name}"
    if node.conversion > 0:
        value = repr(value) if chr(node.conversion) in "ra" else str(value)
    layout = evaluator.value(node.format_spec, scope) if node.format_spec is not None else ""
    limits.check_layout(evaluator, layout, node, scope)
    return str(limits.checked(evaluator, lambda: format(value, layout), node, scope))


def _comprehension(evaluator: Evaluator, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, scope: Scope) -> Any:
    elements = [evaluator.tolerant(node.elt, inner) for inner in _frames(evaluator, node.generators, scope)]
    return limits.checked(evaluator, lambda: set(elements), node, scope) if isinstance(node, ast.SetComp) else elements


def _dict_comprehension(evaluator: Evaluator, node: ast.DictComp, scope: Scope) -> dict[Any, Any]:
    return {
        _hashable(evaluator, evaluator.value(node.key, inner), node, scope): evaluator.tolerant(node.value, inner)
        for inner in _frames(evaluator, node.generators, scope)
    }


def _frames(evaluator: Evaluator, generators: list[ast.comprehension], scope: Scope) -> Iterator[Scope]:
    """A frame for every round of the ``for`` clauses of a comprehension."""
    if not generators:
        yield scope
        return
    first, *rest = generators
    for element in iterate(evaluator, evaluator.value(first.iter, scope), first.iter, scope):
        inner = scope.inner({})
        evaluator.assign(first.target, element, inner)
        if all(truth(evaluator, evaluator.value(test, inner), test, inner) for test in first.ifs):
            yield from _frames(evaluator, rest, inner)


def _named(evaluator: Evaluator, node: ast.NamedExpr, scope: Scope) -> Any:
    value = evaluator.value(node.value, scope)
    evaluator.assign(node.target, value, scope)
    return value


def _hashable(evaluator: Evaluator, value: Any, node: ast.AST, scope: Scope) -> Any:
    try:
        hash(value)
    except TypeError:
        raise evaluator.refusal(f"{describe(value)} is used as a key", node, scope) from None
    return value


_RULES: dict[type[ast.expr], Callable[[Evaluator, Any, Scope], Any]] = {
    ast.Constant: lambda evaluator, node, scope: node.value,
    ast.Name: lambda evaluator, node, scope: evaluator.name(node.id, node, scope),
    ast.Attribute: _attribute,
    ast.Call: call_expression,
    ast.List: _sequence,
    ast.Tuple: _sequence,
    ast.Set: _sequence,
    ast.Dict: _dict,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: _compare,
    ast.IfExp: _conditional,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.JoinedStr: _text,
    ast.FormattedValue: _formatted,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.DictComp: _dict_comprehension,
    ast.NamedExpr: _named,
    ast.Lambda: lambda evaluator, node, scope: FunctionValue(node, scope),
}
