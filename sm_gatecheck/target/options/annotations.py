"""Arguments made from annotated fields: ``name: Annotated[type, Metadata(help=…, choices=…)] = default``.

The convention: the flag is the field's name with dashes unless the metadata gives one; a bare text is the help; ``bool``
stores true, ``Literal`` gives the choices, ``list`` takes several values, an ``Optional`` counts as what it wraps.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from sm_gatecheck.evaluate.literals import ClassValue, Evaluator, External, NotLiteral, Scope, TypeForm, Unresolved, plain
from sm_gatecheck.target.options.arguments import Argument, Keywords, read_argument
from sm_gatecheck.target.options.fields import Field
from sm_gatecheck.target.options.rules import OptionRules

_LISTS = frozenset({"typing.List", "builtins.list"})


@dataclass(frozen=True)
class Annotation:
    """What a field's annotation says beside its type; ``keywords`` is None where it describes no argument."""

    type: ast.expr
    scope: Scope
    keywords: Keywords | None = None
    namespace: str | None = None
    is_excluded: bool = False


def read_annotation(field: Field, evaluator: Evaluator, rules: OptionRules) -> Annotation:
    """The annotation of a field taken apart."""
    scope = evaluator.class_scope(field.owner)
    bare = Annotation(field.annotation, scope)
    if not isinstance(field.annotation, ast.Subscript):
        return bare
    form = evaluator.tolerant(field.annotation, scope)
    if not isinstance(form, TypeForm) or form.head not in rules.heads:
        return bare
    keywords: Keywords | None = None
    namespace: str | None = None
    is_excluded = False
    for metadata in form.arguments[1:]:
        if not isinstance(metadata, ast.Call):
            if keywords is None and isinstance(evaluator.tolerant(metadata, form.scope), str):
                keywords = Keywords(evaluator, form.scope, {_keyword(rules, "help"): metadata})
            continue
        maker = evaluator.tolerant(metadata.func, form.scope)
        if not isinstance(maker, (ClassValue, External)):
            continue
        name = maker.name.rsplit(".", 1)[-1]
        if name in rules.metadata and keywords is None:
            keywords = _metadata_keywords(metadata, maker, form.scope, evaluator)
        elif name in rules.namespace_markers and metadata.args:
            value = evaluator.tolerant(metadata.args[0], form.scope)
            namespace = value if isinstance(value, str) else None
        elif name in rules.excluded:
            is_excluded = True
    return Annotation(form.arguments[0], form.scope, keywords, namespace, is_excluded)


def read_annotated(field: Field, annotation: Annotation, evaluator: Evaluator, rules: OptionRules) -> Argument | None:
    """The argument that is made from an annotated field; None where it gets none."""
    keywords = annotation.keywords
    if keywords is None or annotation.is_excluded or keywords.value(_keyword(rules, "hidden")) is True:
        return None
    flag = keywords.value(_keyword(rules, "flag")) or "--" + field.name.replace("_", "-")
    aliases = keywords.value(_keyword(rules, "aliases")) or []
    if not isinstance(flag, str) or not isinstance(aliases, (list, tuple)):
        raise NotLiteral(Unresolved(f"the flags of {field.name} cannot be read", field.file, field.line))
    given: dict[str, Any] = {"dest": field.name, "help": keywords.text(_keyword(rules, "help"))}
    default = field.default(evaluator)
    if field.has_default:
        given["default"] = default
    if _keyword(rules, "action") in keywords:
        given["action"] = keywords.value(_keyword(rules, "action"))
        extra = keywords.value(_keyword(rules, "action_arguments"))
        given.update(extra if isinstance(extra, dict) else {})
    else:
        given.update(_by_type(annotation, keywords, evaluator, rules))
    argument = read_argument((flag, *aliases), Keywords(evaluator, annotation.scope, {}, given), evaluator, rules)
    if argument is None:
        return None
    source = field.default_source if isinstance(default, Unresolved) else None
    return replace(argument, file=field.file, line=field.line, default_source=source)


def literal_values(expression: ast.expr, scope: Scope, evaluator: Evaluator) -> list[Any] | None:
    """The values of a ``Literal`` type, an ``Optional`` around it ignored; None for another type."""
    form = _unwrapped(evaluator.tolerant(expression, scope), evaluator)
    if not isinstance(form, TypeForm) or form.head != "typing.Literal":
        return None
    try:
        return [plain(evaluator.value(argument, form.scope)) for argument in form.arguments]
    except NotLiteral:
        return None


def _by_type(annotation: Annotation, keywords: Keywords, evaluator: Evaluator, rules: OptionRules) -> dict[str, Any]:
    """The keywords of ``add_argument`` that follow from the type and the metadata."""
    choices, nargs = _keyword(rules, "choices"), _keyword(rules, "nargs")
    given: dict[str, Any] = {}
    if choices in keywords and keywords.value(choices) is not None:
        given["choices"] = keywords.value(choices)
    literals = literal_values(annotation.type, annotation.scope, evaluator)
    if literals is not None:
        return {"choices": literals, **given}
    if nargs in keywords:
        given["nargs"] = keywords.value(nargs)
    kind = _unwrapped(evaluator.tolerant(annotation.type, annotation.scope), evaluator)
    if kind == External("builtins.bool"):
        return {"action": "store_true"}
    head = kind.head if isinstance(kind, TypeForm) else kind.name if isinstance(kind, External) else ""
    if head in _LISTS and _keyword(rules, "parser") not in keywords:
        given.setdefault("nargs", "+")
    return given


def _unwrapped(value: Any, evaluator: Evaluator) -> Any:
    """The type itself, out of an ``Optional`` or a union with None of one member."""
    if isinstance(value, TypeForm) and value.head in ("typing.Optional", "typing.Union"):
        members = list(_members(value, evaluator))
        if len(members) == 1:
            return _unwrapped(evaluator.tolerant(*members[0]), evaluator)
    return value


def _members(form: TypeForm, evaluator: Evaluator) -> Iterator[tuple[ast.expr, Scope]]:
    """The members of a union but None; nested unions are opened. Members are not evaluated further than that asks for."""
    for argument in form.arguments:
        if isinstance(argument, ast.Constant) and argument.value is None:
            continue
        inner = evaluator.tolerant(argument, form.scope) if isinstance(argument, (ast.Subscript, ast.BinOp)) else None
        if isinstance(inner, TypeForm) and inner.head in ("typing.Optional", "typing.Union"):
            yield from _members(inner, evaluator)
        else:
            yield argument, form.scope


def _metadata_keywords(call: ast.Call, maker: ClassValue | External, scope: Scope, evaluator: Evaluator) -> Keywords:
    """The arguments of a metadata object by name: those given by position are named after the fields of its class."""
    written = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
    given: dict[str, Any] = {}
    for keyword in call.keywords:
        if keyword.arg is None:
            spread = evaluator.tolerant(keyword.value, scope)
            given.update(spread if isinstance(spread, dict) else {})
    if isinstance(maker, ClassValue):
        names = [statement.target.id for statement, _ in evaluator.fields(maker) if isinstance(statement.target, ast.Name)]
        written.update(zip(names, call.args, strict=False))
    return Keywords(evaluator, scope, written, given)


def _keyword(rules: OptionRules, meaning: str) -> str:
    return rules.keywords.get(meaning, meaning)
