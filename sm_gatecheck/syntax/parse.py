"""Parse one source file, whatever it contains.

The fast path is the standard library's ``ast``: it gives positions for nothing and measured 30 times libcst's speed.
What this interpreter's grammar refuses goes through libcst, which knows the grammars of newer Pythons: a definition that
``ast`` cannot read then costs that definition alone, not the file (see ``recover.py``).
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable

from sm_gatecheck.model.report import Diagnostic
from sm_gatecheck.syntax.skeleton import parse_skeleton

MAX_FILE_BYTES = 8_000_000


def parse_module(path: str, source: bytes, later: Callable[[Diagnostic], None]) -> tuple[ast.Module, tuple[Diagnostic, ...]]:
    """The syntax tree of a file, and what of it was left out. Never raises for bad source.

    Bodies of functions are parsed when first looked at; ``later`` is told of one that then cannot be.
    """
    if len(source) > MAX_FILE_BYTES:
        return _empty(), (Diagnostic(path, 1, f"could not be parsed: {len(source):,} bytes is over the limit of {MAX_FILE_BYTES:,}"),)

    def failed(line: int, why: str) -> None:
        later(Diagnostic(path, line, f"the function's body could not be parsed: {why}"))

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return parse_skeleton(source, failed) or ast.parse(source, filename=path), ()
    except SyntaxError as error:
        from sm_gatecheck.syntax.recover import recover_module  # libcst takes longer to load than most trees need it

        try:
            return recover_module(path, source, error)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return _empty(), (Diagnostic(path, error.lineno or 1, f"could not be parsed: {error.msg}"),)
    except (ValueError, RecursionError, MemoryError) as error:
        return _empty(), (Diagnostic(path, 1, f"could not be parsed: {type(error).__name__}: {error}"),)


def _empty() -> ast.Module:
    return ast.Module(body=[], type_ignores=[])
