"""Salvage a file that ``ast`` refuses: drop the statements it cannot read, keep the rest.

libcst's parser follows the newest grammars whatever Python runs it, so it can tell a file written for a newer Python from
a broken one, and it splits the file into statements without loss.
"""

from __future__ import annotations

import ast

import libcst

from sm_gatecheck.model.report import Diagnostic


def recover_module(path: str, source: bytes, error: SyntaxError) -> tuple[ast.Module, tuple[Diagnostic, ...]]:
    """The readable statements of ``source`` with their line numbers, and a diagnostic for each one dropped."""
    line = error.lineno or 1
    try:
        module = libcst.parse_module(source)
    except (libcst.ParserSyntaxError, UnicodeDecodeError, ValueError, RecursionError, MemoryError):
        return ast.Module(body=[], type_ignores=[]), (Diagnostic(path, line, f"could not be parsed: {error.msg}"),)
    return _keep_readable(path, module)


def _keep_readable(path: str, module: libcst.Module) -> tuple[ast.Module, tuple[Diagnostic, ...]]:
    kept: list[ast.stmt] = []
    dropped: list[Diagnostic] = []
    line = 1 + len(module.header)
    for statement in module.body:
        text = module.code_for_node(statement)
        try:
            parsed = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError) as error:
            dropped.append(Diagnostic(path, line, f"could not be parsed: needs a newer Python than this one ({error})"))
        else:
            kept.extend(ast.increment_lineno(parsed, line - 1).body)
        line += text.count("\n")
    return ast.Module(body=kept, type_ignores=[]), tuple(dropped)
