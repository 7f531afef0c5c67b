"""Whether a file may read an attribute of some object, and whether all that comes of it can be seen, told by how its name stands there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Set

from sm_gatecheck.program.modules import Module


def may_read(module: Module, name: str) -> bool:
    """An attribute that is loaded, whatever the object; the name as a text, which ``getattr`` or a subscript may be given; a
    parameter, which fields that are spread out may fill; a pattern that takes it.

    A function, a variable or a keyword of that name, and an attribute that is only stored, read nothing.
    """
    word = re.compile(rf"[\w.]*\b{re.escape(name)}\b[\w.]*")
    return any(_reads(node, name, word) for node in ast.walk(module.syntax))


def _reads(node: ast.AST, name: str, word: re.Pattern[str]) -> bool:
    match node:
        case ast.Attribute(attr=attribute, ctx=context):
            return attribute == name and not isinstance(context, ast.Store)
        case ast.Constant(value=str(text)):
            return word.fullmatch(text) is not None
        case ast.arg(arg=parameter):
            return parameter == name
        case ast.MatchClass(kwd_attrs=attributes):
            return name in attributes
    return False


def loads(module: Module, name: str, classes: Set[str]) -> list[ast.Attribute]:
    """Where a file loads an attribute. One of a class in ``classes`` is the declared default, not what was given."""
    found = (node for node in ast.walk(module.syntax) if isinstance(node, ast.Attribute) and node.attr == name)
    return [
        node for node in found if isinstance(node.ctx, ast.Load) and not (isinstance(node.value, ast.Name) and node.value.id in classes)
    ]


def shown_by_fields(module: Module, name: str, classes: Set[str]) -> bool:
    """Whether everything that comes of an attribute in a file is an attribute stored or a refusal.

    A copy in a variable, an argument of a call, an answer: where those lead is not said by what is stored in the end.
    """
    within = {id(node) for node in _plain_reads(module.syntax)}
    return all(id(node) in within for node in loads(module, name, classes))


def _plain_reads(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes of all tests whose branches only store attributes and refuse, and of the values that are so stored."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and _only_stores(node.body) and _only_stores(node.orelse):
            yield from ast.walk(node.test)
        elif isinstance(node, ast.Assert):
            yield from ast.walk(node)
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and node.value is not None and _is_stored(node):
            yield from ast.walk(node.value)
        elif isinstance(node, ast.Raise) or (isinstance(node, ast.Expr) and _speaks(node.value)):
            yield from ast.walk(node)


def _only_stores(body: Iterable[ast.stmt]) -> bool:
    for statement in body:
        match statement:
            case ast.If(body=then, orelse=otherwise):
                if not (_only_stores(then) and _only_stores(otherwise)):
                    return False
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                if not _is_stored(statement):
                    return False
            case ast.Raise() | ast.Assert() | ast.Pass():
                pass
            case ast.Expr(value=value) if _speaks(value):
                pass
            case _:
                return False
    return True


def _is_stored(statement: ast.Assign | ast.AnnAssign | ast.AugAssign) -> bool:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return all(isinstance(target, ast.Attribute) for target in targets)


def _speaks(value: ast.expr) -> bool:
    """A message, or a text that stands alone."""
    if isinstance(value, ast.Constant):
        return True
    return isinstance(value, ast.Call) and ast.unparse(value.func).startswith(("logger.", "logging.", "warnings."))
