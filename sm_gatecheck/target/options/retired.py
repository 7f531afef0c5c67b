"""Whether a tree's parser refuses a retired flag or only warns: told by the first thing that the action of such flags does."""

from __future__ import annotations

import ast
from fnmatch import fnmatchcase

from sm_gatecheck.program.modules import Program
from sm_gatecheck.target.options.rules import OptionRules

ACTION = b"argparse.Action"
CALL = "__call__"


def refuses_retired_flags(program: Program, rules: OptionRules) -> bool:
    """Whether some action of deprecated flags, by its class's name, does nothing but raise."""
    return any(
        isinstance(node, ast.ClassDef) and any(fnmatchcase(node.name, pattern) for pattern in rules.deprecated_actions) and _raises(node)
        for module in program.modules()
        if ACTION in module.source
        for node in module.syntax.body
    )


def _raises(action: ast.ClassDef) -> bool:
    for member in action.body:
        if isinstance(member, ast.FunctionDef) and member.name == CALL:
            body = [statement for statement in member.body if not _is_text(statement)]
            return bool(body) and isinstance(body[0], ast.Raise)
    return False


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
