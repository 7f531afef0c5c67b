"""The fields of the class (or classes) whose objects hold the options."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sm_gatecheck.evaluate.literals import ClassValue, Evaluator

_TYPING = frozenset({"typing", "t", "typing_extensions"})


@dataclass(frozen=True, eq=False)
class Field:
    """One annotated field; ``namespace`` is where it is read when that is said for its whole class."""

    name: str
    annotation: ast.expr
    default_expression: ast.expr | None
    owner: ClassValue
    file: str
    line: int
    namespace: str | None = None

    @property
    def has_default(self) -> bool:
        return self.default_expression is not None

    @property
    def default_source(self) -> str | None:
        return ast.unparse(self.default_expression) if self.default_expression is not None else None

    def default(self, evaluator: Evaluator) -> Any:
        """The literal default, ``Unresolved`` where it is none, None where there is none."""
        if self.default_expression is None:
            return None
        return evaluator.literal(self.default_expression, evaluator.class_scope(self.owner))


def class_fields(cls: ClassValue, evaluator: Evaluator, namespace: str | None = None) -> Iterator[Field]:
    """The fields of a class and its bases, in the order in which a dataclass has them; class variables are none."""
    for statement, owner in evaluator.fields(cls):
        annotation = _unquoted(statement.annotation)
        if isinstance(statement.target, ast.Name) and not _is_class_variable(annotation):
            default = evaluator.field_default(statement, owner)
            yield Field(statement.target.id, annotation, default, owner, owner.module.path, statement.lineno, namespace)


def type_text(expression: ast.expr) -> str:
    """A type as source text in one spelling: no ``typing.``, ``Optional[X]`` for every union of X and None."""
    return ast.unparse(_Normalised().visit(ast.fix_missing_locations(_copied(expression))))


def _copied(expression: ast.expr) -> ast.expr:
    return ast.parse(ast.unparse(_unquoted(expression)), mode="eval").body


class _Normalised(ast.NodeTransformer):
    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id in _TYPING:
            return ast.Name(node.attr, ast.Load())
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, ast.BitOr):
            return _union([*_parts(node.left), *_parts(node.right)])
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id == "Union" and isinstance(node.slice, ast.Tuple):
            return _union([part for element in node.slice.elts for part in _parts(element)])
        return node


def _parts(expression: ast.expr) -> list[ast.expr]:
    if isinstance(expression, ast.Subscript) and isinstance(expression.value, ast.Name):
        if expression.value.id == "Optional":
            return [*_parts(expression.slice), ast.Constant(None)]
        if expression.value.id == "Union" and isinstance(expression.slice, ast.Tuple):
            return list(expression.slice.elts)
    return [expression]


def _union(parts: list[ast.expr]) -> ast.expr:
    members = [part for part in parts if not (isinstance(part, ast.Constant) and part.value is None)]
    inner = members[0] if len(members) == 1 else _subscript("Union", ast.Tuple(members, ast.Load()))
    return _subscript("Optional", inner) if len(members) < len(parts) else inner


def _subscript(name: str, inner: ast.expr) -> ast.expr:
    return ast.Subscript(ast.Name(name, ast.Load()), inner, ast.Load())


def _unquoted(annotation: ast.expr) -> ast.expr:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            parsed = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return annotation
        return ast.copy_location(parsed, annotation)
    return annotation


def _is_class_variable(annotation: ast.expr) -> bool:
    head = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    name = head.attr if isinstance(head, ast.Attribute) else head.id if isinstance(head, ast.Name) else ""
    return name in ("ClassVar", "KW_ONLY", "InitVar")
