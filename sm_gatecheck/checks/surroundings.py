"""Where an expression stands: what encloses it, and which device tests a statement or a condition is made of."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from sm_gatecheck.program.modules import Module
from sm_gatecheck.verdicts.device_tests import DeviceTest, DeviceTests

Position = tuple[int, int]


def ancestors(module: Module, node: ast.AST) -> list[ast.AST]:
    """What encloses a node of a module, the outermost first and the module itself left out; functions beside it stay unparsed."""
    wanted = _start(node)
    found: list[ast.AST] = []
    nodes: list[ast.AST] = list(module.syntax.body)
    while True:
        inner = next((child for child in nodes if _encloses(child, wanted)), None)
        if inner is None or inner is node:
            return found
        found.append(inner)
        nodes = [part for child in ast.iter_child_nodes(inner) for part in _with_position(child)]


def tests_in(tests: DeviceTests, node: ast.AST) -> Iterator[DeviceTest]:
    """Every situation of every device test in an expression."""
    for inner in ast.walk(node):
        yield from tests.of(inner)


@dataclass(frozen=True)
class Outcomes:
    """What the target makes of a condition: the SMs on which it may hold, and those on which it may fail."""

    holds: int
    fails: int


def outcomes(tests: DeviceTests, node: ast.expr, everything: int) -> Outcomes:
    """The outcomes of a condition; what the target does not decide may do both."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = outcomes(tests, node.operand, everything)
        return Outcomes(inner.fails, inner.holds)
    if isinstance(node, ast.BoolOp):
        parts = [outcomes(tests, value, everything) for value in node.values]
        holds, fails = parts[0].holds, parts[0].fails
        for part in parts[1:]:
            if isinstance(node.op, ast.And):
                holds, fails = holds & part.holds, fails | part.fails
            else:
                holds, fails = holds | part.holds, fails & part.fails
        return Outcomes(holds, fails)
    met = tests.of(node)
    if not met:
        return Outcomes(everything, everything)
    reached = held = decided = 0
    for test in met:
        reached, held, decided = reached | test.reached, held | test.held, decided | test.decided
    outside = everything & ~reached  # never asked there, so it cannot be what decides
    return Outcomes(held | outside, (reached & ~decided) | outside)


def _with_position(node: ast.AST) -> Iterator[ast.AST]:
    if hasattr(node, "lineno"):
        yield node
    else:  # arguments, comprehensions, cases and the like have none of their own
        for child in ast.iter_child_nodes(node):
            yield from _with_position(child)


def _start(node: ast.AST) -> Position:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _encloses(node: ast.AST, position: Position) -> bool:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return node.lineno <= position[0] <= _last_line(node)
    return _start(node) <= position < (_last_line(node), getattr(node, "end_col_offset", 0) or 0)


def _last_line(node: ast.AST) -> int:
    """Where a statement ends, functions at its end included whose bodies were left out of the syntax tree."""
    line = getattr(node, "end_lineno", 0) or 0
    if isinstance(node, (ast.ClassDef, ast.If, ast.Try, ast.With)):
        blocks = [node.body, getattr(node, "orelse", []), getattr(node, "finalbody", [])]
        return max([line, *(_last_line(block[-1]) for block in blocks if block)])
    return line
