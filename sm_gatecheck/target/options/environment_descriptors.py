"""Variables declared by descriptors: a class whose attributes are made by ``EnvBool(False)`` and the like.

Read as syntax, but only in files that hold such a class: the attribute's name is the variable's.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from sm_gatecheck.evaluate.literals import Evaluator, Scope, Unresolved
from sm_gatecheck.model.option import Option
from sm_gatecheck.program.modules import Module, Program
from sm_gatecheck.target.options.rules import EnvironmentRules
from sm_gatecheck.target.options.variables import row_for, shortest, variable

_DECLARES = re.compile(rb"^[ \t]+[A-Z][A-Z0-9_]+[ \t]*(?::[^=\n]+)?=[ \t]*\w+\(", re.MULTILINE)


def declared_variables(program: Program, evaluator: Evaluator, rules: EnvironmentRules) -> Iterator[Option]:
    """Every variable that a descriptor or a table of old names declares, in the order of files."""
    marks = shortest(name.partition("[")[0].partition("*")[0] for row in rules.descriptors for name in row.names)
    for module in program.modules():
        if not any(mark.encode() in module.source for mark in marks) or not _DECLARES.search(module.source):
            continue
        for statement in module.syntax.body:
            if isinstance(statement, ast.ClassDef):
                for member in statement.body:
                    yield from _descriptor(member, module, evaluator, rules)
            elif isinstance(statement, (ast.Assign, ast.AnnAssign)) and isinstance(statement.value, ast.Dict):
                yield from _old_names(statement.value, module, rules)


def _descriptor(statement: ast.stmt, module: Module, evaluator: Evaluator, rules: EnvironmentRules) -> Iterator[Option]:
    target = (
        statement.targets[0] if isinstance(statement, ast.Assign) else statement.target if isinstance(statement, ast.AnnAssign) else None
    )
    call = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
    if not isinstance(target, ast.Name) or not isinstance(call, ast.Call):
        return
    row = row_for(rules.descriptors, ast.unparse(call.func))
    if row is None:
        return
    given = call.args[0] if call.args else next((keyword.value for keyword in call.keywords if keyword.arg == "default"), None)
    default = evaluator.literal(given, Scope(module)) if given is not None else row.default
    source = None
    if isinstance(default, Unresolved):
        default, source = None, ast.unparse(given) if given is not None else None
    yield variable(target.id, row.type, default, source, module.path, statement.lineno)
    for keyword in call.keywords:
        if keyword.arg in rules.aliases and isinstance(keyword.value, ast.Constant):
            alias = variable(str(keyword.value.value), row.type, None, None, module.path, keyword.value.lineno)
            yield replace(alias, action="deprecated")


def _old_names(table: ast.Dict, module: Module, rules: EnvironmentRules) -> Iterator[Option]:
    for key, value in zip(table.keys, table.values, strict=True):
        is_old = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in rules.deprecated
        if is_old and isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield replace(variable(key.value, None, None, None, module.path, key.lineno), action="deprecated")
