"""Sources of a few lines, evaluated without being run."""

from __future__ import annotations

import ast
from textwrap import dedent
from typing import Any

from sm_gatecheck.evaluate.literals import Evaluator, Scope
from sm_gatecheck.program.modules import Program


def literal(expression: str, head: str = "", known: dict[str, Any] | None = None, **modules: str) -> Any:
    """The literal of an expression in a module that begins with ``head``; ``modules`` lie beside it in package ``tree``."""
    files = {"main.py": head, **{f"{name}.py": text for name, text in modules.items()}}
    program = Program({path: dedent(text).encode() for path, text in files.items()}, root="tree")
    module = program.module("tree.main")
    assert module is not None
    return Evaluator(program, known).literal(ast.parse(expression.strip(), mode="eval").body, Scope(module))
