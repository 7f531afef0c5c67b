"""Where the source of a tree writes an option, whatever resolution makes of it: found by name, so that no place is left out."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from sm_gatecheck.program.modules import Module
from sm_gatecheck.target.session import Session


@dataclass(frozen=True)
class WrittenPlace:
    """A place that stores the option, or names a value for it: ``node`` is the statement or the argument."""

    module: Module
    node: ast.AST
    value: ast.expr | None
    in_resolution: bool


def places_that_write(session: Session, field: str) -> list[WrittenPlace]:
    """Every place by name, in source order."""
    found: list[WrittenPlace] = []
    name = field.removeprefix("env:")
    for module in session.program.modules():
        resolving = module.path.startswith(session.resolution_rules.files)
        if module.path.startswith(session.reading.left_out) or not _may_write(session, module.source, name, resolving):
            continue
        nodes = _variable_writes(module, name) if field.startswith("env:") else _option_writes(session, module, name, resolving)
        found.extend(WrittenPlace(module, node, value, resolving) for node, value in nodes)
    return sorted(found, key=lambda place: (place.module.path, getattr(place.node, "lineno", 0)))


def _may_write(session: Session, source: bytes, name: str, resolving: bool) -> bool:
    """Judged by the bytes alone: most files only read an option, and need not be parsed."""
    if name.encode() not in source:
        return False
    objects = b"|".join(sorted(word.encode() for word in session.reading.option_parameters | session.reading.option_attributes))
    text = re.escape(name.encode())
    stored = rb"(?:\b(?:%s)|\))\.%s\b[ \t]*(?::[^=\n]*)?[-+*/|&]?=(?!=)" % (objects, text)
    quoted = rb"(?:setattr|environ|setdefault|putenv)\b[^\n]*\n?[^\n]*[\"']%s[\"']|\b%s\.set\b" % (text, text)
    named = rb"\b%s[ \t]*(?::[^=\n]*)?[-+*/|&]?=(?!=)|[\"']%s[\"']" % (text, text)
    return re.search(named if resolving else stored + b"|" + quoted, source) is not None


def _option_writes(session: Session, module: Module, field: str, resolving: bool) -> Iterator[tuple[ast.AST, ast.expr | None]]:
    objects = session.reading.option_parameters | session.reading.option_attributes
    functions = frozenset(dotted.rsplit(".", 1)[-1] for dotted in session.reading.option_functions)
    declaring = {dotted.rsplit(".", 1)[-1] for dotted in session.resolution_rules.declares}
    for node in ast.walk(module.syntax):
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Attribute) and target.attr == field and _is_options(target.value, objects, functions, resolving):
                    yield node, node.value
        elif isinstance(node, ast.Call):
            called = _last_name(node.func)
            if called == "setattr" and len(node.args) == 3 and _is_text(node.args[1], field):
                if _is_options(node.args[0], objects, functions, resolving):
                    yield node, node.args[2]
            elif called in declaring:
                yield from ((keyword.value, keyword.value) for keyword in node.keywords if keyword.arg == field)
        elif isinstance(node, ast.Dict) and resolving:
            yield from ((key, value) for key, value in zip(node.keys, node.values) if key is not None and _is_text(key, field))


def _variable_writes(module: Module, name: str) -> Iterator[tuple[ast.AST, ast.expr | None]]:
    for node in ast.walk(module.syntax):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Subscript) and _last_name(target.value) == "environ" and _is_text(target.slice, name):
                    yield node, node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            setting = node.func.attr in ("setdefault", "putenv") and len(node.args) == 2 and _is_text(node.args[0], name)
            holder = node.func.attr == "set" and len(node.args) == 1 and _last_name(node.func.value) == name
            if setting or holder:
                yield node, node.args[-1]


def _is_options(node: ast.expr, objects: frozenset[str], functions: frozenset[str], resolving: bool) -> bool:
    if isinstance(node, ast.Call):
        return _last_name(node.func) in functions
    name = _last_name(node)
    return name in objects or (resolving and name == "self")


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _is_text(node: ast.expr, text: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == text
