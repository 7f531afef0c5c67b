"""Options that decide about what another option writes: those in the tests around the writes, told by their text."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from sm_gatecheck.target.session import Session


def options_beside(session: Session, field: str) -> frozenset[str]:
    """The options in the tests under which resolution writes what it also writes under a test of ``field``."""
    files = session.resolution_rules.files
    places = [path for path, _ in session.mentions.mentioning([field]) if path.startswith(files)]
    tests = [pair for path in dict.fromkeys(places) for pair in _tests(session.program.by_path[path].syntax)]
    written = {name for names, stored in tests if field in names for name in stored}
    beside = {name for names, stored in tests if not written.isdisjoint(stored) for name in names}
    return frozenset(name for name in beside - written if name in session.options.by_field and name != field)


def _tests(tree: ast.AST) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """The names in each ``if`` test of a file, and the attributes that its branches store."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If):
            yield _names([node.test], ast.Load), _names([*node.body, *node.orelse], ast.Store)


def _names(nodes: Iterable[ast.AST], context: type[ast.expr_context]) -> frozenset[str]:
    found = (inner for node in nodes for inner in ast.walk(node) if isinstance(inner, ast.Attribute))
    return frozenset(inner.attr for inner in found if isinstance(inner.ctx, context))
