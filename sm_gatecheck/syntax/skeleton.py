"""Parse a file without the bodies of its functions; each body is parsed when somebody first looks at it.

An analysis looks into one function of ten, and parsing is a large part of its time and most of its memory. A body is found
by its indentation. Wherever that could mislead (tabs, a string left open, a form that no formatter writes) the body stays in
its place, and a file whose skeleton does not parse is parsed whole: what comes out is what ``ast.parse`` gives.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable

SHORT_BODY_LINES = 3
_DEFINITION = re.compile(rb"^( *)(?:async +)?def +\w+[^\n]*\n", re.MULTILINE)
_SIGNATURE_ENDS = re.compile(rb":[ ]*(?:#[^\n]*)?\n$")
_CLOSED_SIGNATURE = re.compile(rb"^ *\)[^\n]*:[ ]*(?:#[^\n]*)?\n", re.MULTILINE)
_OUTSIDE: dict[int, re.Pattern[bytes]] = {}

Failed = Callable[[int, str], None]


class _Body:
    """Where a function stands, and its real body once that was needed."""

    def __init__(self, segment: bytes, line: int, indented: bool, failed: Failed) -> None:
        self.segment = segment
        self.line = line
        self.indented = indented
        self.failed = failed
        self.statements: list[ast.stmt] | None = None

    def load(self) -> list[ast.stmt]:
        if self.statements is None:
            self.statements = self._parse()
        return self.statements

    def _parse(self) -> list[ast.stmt]:
        padding = b"\n" * (self.line - 2) + b"if 1:\n" if self.indented else b"\n" * (self.line - 1)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                (statement,) = ast.parse(padding + self.segment).body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            self.failed(self.line, str(error))
            return []
        inner = statement.body[0] if isinstance(statement, ast.If) else statement
        assert isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef))
        return inner.body


class _LazyBody:
    """``node.body`` of a function whose body was left out."""

    def __get__(self, node: ast.AST, owner: type | None = None) -> list[ast.stmt]:
        kept: _Body = node.__dict__["gatecheck_body"]
        return kept.load()


class LazyFunction(ast.FunctionDef):
    """A function definition that parses its body when asked for it."""

    __slots__ = ()


class LazyAsyncFunction(ast.AsyncFunctionDef):
    """The same for ``async def``."""

    __slots__ = ()


LazyFunction.body = _LazyBody()  # type: ignore[assignment]
LazyAsyncFunction.body = _LazyBody()  # type: ignore[assignment]


def may_contain(node: ast.AST, word: bytes) -> bool:
    """Whether a word stands in the text of a function, as far as that can be told without parsing it."""
    kept: _Body | None = node.__dict__.get("gatecheck_body")
    return kept is None or word in kept.segment


def parse_skeleton(source: bytes, failed: Failed) -> ast.Module | None:
    """The syntax tree of a file with lazy bodies; None where the file has to be parsed whole.

    ``failed`` is told the line of a body that turns out not to parse, and why.
    """
    if any(mark in source for mark in (b"\n\t", b"\r", b"\x0c")) or b"coding" in source[:200] or source.startswith(b"\xef\xbb\xbf"):
        return None
    bodies: dict[int, _Body] = {}
    pieces: list[bytes] = []
    kept_until = 0
    line, counted = 1, 0
    for match in _DEFINITION.finditer(source):
        if match.start() < kept_until:
            continue
        span = _body_span(source, match)
        if span is None:
            continue
        start, end = span
        line += source.count(b"\n", counted, match.start())
        counted = match.start()
        body = source[start:end]
        indent = len(match.group(1))
        bodies[line] = _Body(source[match.start() : end], line, indent > 0, failed)
        pieces += [source[kept_until:start], b" " * (indent + 1) + b"...", b"\n" * body.count(b"\n")]
        kept_until = end
    pieces.append(source[kept_until:])
    try:
        tree = ast.parse(b"".join(pieces))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return tree if _attach(tree, bodies) else None


def _body_span(source: bytes, match: re.Match[bytes]) -> tuple[int, int] | None:
    """The bytes of the body of the function that a match begins; None where it is short, or cannot be told for sure."""
    indent = len(match.group(1))
    start = match.end()
    outside = _OUTSIDE.setdefault(indent, re.compile(rb"^ {0,%d}[^ \n#]" % indent, re.MULTILINE))
    if not _SIGNATURE_ENDS.search(match.group()):
        closing = outside.search(source, start)
        closed = None if closing is None else _CLOSED_SIGNATURE.match(source, closing.start())
        if closed is None or match.group().count(b"(") == match.group().count(b")"):
            return None
        start = closed.end()
    after = outside.search(source, start)
    end = after.start() if after is not None else len(source)
    body = source[start:end]
    if body.count(b"\n") <= SHORT_BODY_LINES or not body.endswith(b"\n"):
        return None
    if body.count(b'"""') % 2 or body.count(b"'''") % 2 or body.rstrip().endswith(b"\\"):
        return None
    return start, end


def _attach(tree: ast.Module, bodies: dict[int, _Body]) -> bool:
    """Make the functions that were cut lazy; False where one of them was not found again, and the cut was a mistake."""
    left = dict(bodies)
    stack: list[ast.AST] = list(tree.body)
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.lineno in left:
            kept = left.pop(node.lineno)
            del node.body
            node.end_lineno = kept.line + kept.segment.rstrip().count(b"\n")
            node.__class__ = LazyFunction if isinstance(node, ast.FunctionDef) else LazyAsyncFunction
            node.__dict__["gatecheck_body"] = kept
        else:
            stack.extend(child for child in ast.iter_child_nodes(node) if isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)))
    return not left
