"""Whether a file may read an attribute of some object, told by how its name stands there."""

from __future__ import annotations

import ast
import re

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
