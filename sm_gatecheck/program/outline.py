"""What surrounds a place in a module: the function it stands in, and on which side of a test it lies."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from sm_gatecheck.program.modules import Module

_Branching = (ast.If, ast.While, ast.IfExp)
_Function = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Outline:
    """The functions and tests of one module."""

    def __init__(self, module: Module) -> None:
        self._module = module

    def function_at(self, line: int) -> str:
        """The qualified name of the innermost function around a line; empty outside of all."""
        found = ""
        for first, last, name, is_function in self._scopes:
            if is_function and first <= line <= last:
                found = name
        return found

    def function_lines(self, line: int) -> tuple[int, int]:
        """First and last line of the innermost function around a line; that line alone outside of all."""
        around = [(first, last) for first, last, _, is_function in self._scopes if is_function and first <= line <= last]
        return around[-1] if around else (line, line)

    def passes_if(self, test: ast.AST, line: int) -> bool | None:
        """Which answer of ``test`` leads to a line of the same function; None where that cannot be told."""
        found = self._tests.get(id(test))
        if isinstance(found, ast.BoolOp):
            return isinstance(found.op, ast.And)
        if isinstance(found, ast.Assert) or isinstance(test, ast.pattern):
            return True
        if found is None or self.function_at(getattr(test, "lineno", 0)) != self.function_at(line):
            return None
        if _covers(_body(found.body), line):
            return True
        if _covers(_body(found.orelse), line):
            return False
        if isinstance(found, ast.If) and line > (found.end_lineno or 0):
            return _leaves(found.orelse) if _leaves(found.orelse) != _leaves(found.body) else None
        return None

    def tests_around(self, line: int) -> list[tuple[ast.expr, bool]]:
        """The tests of the same function whose branches hold a line, from the outside in, each with the answer that leads there."""
        found = [node for node in self._branching if node.lineno <= line <= (node.end_lineno or 0)]
        tests = [(node.test, True) for node in found if _covers(_body(node.body), line)]
        tests += [(node.test, False) for node in found if _covers(_body(node.orelse), line)]
        function = self.function_at(line)
        inside = [(test, answer) for test, answer in tests if self.function_at(test.lineno) == function]
        return sorted(inside, key=lambda item: (item[0].lineno, item[0].col_offset))

    @cached_property
    def _branching(self) -> list[ast.If | ast.While]:
        return [node for node in ast.walk(self._module.syntax) if isinstance(node, (ast.If, ast.While))]

    @cached_property
    def _scopes(self) -> list[tuple[int, int, str, bool]]:
        return list(_scopes(self._module.syntax.body, ""))

    @cached_property
    def _tests(self) -> dict[int, ast.If | ast.While | ast.IfExp | ast.BoolOp | ast.Assert]:
        found: dict[int, ast.If | ast.While | ast.IfExp | ast.BoolOp | ast.Assert] = {}
        for node in ast.walk(self._module.syntax):
            if isinstance(node, ast.BoolOp):
                for operand in node.values:
                    found.setdefault(id(operand), node)
        for node in ast.walk(self._module.syntax):
            if isinstance(node, (*_Branching, ast.Assert)):
                found[id(node.test)] = node
        return found


def _scopes(body: list[ast.stmt], prefix: str) -> Iterator[tuple[int, int, str, bool]]:
    stack: list[tuple[ast.AST, str]] = [(statement, prefix) for statement in reversed(body)]
    while stack:
        node, name = stack.pop()
        if isinstance(node, _Function):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            name = f"{name}.{node.name}" if name else node.name
            yield first, node.end_lineno or node.lineno, name, not isinstance(node, ast.ClassDef)
        if isinstance(node, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            stack.extend((child, name) for child in reversed(list(ast.iter_child_nodes(node))))


def _body(body: list[ast.stmt] | ast.expr) -> list[ast.AST]:
    return list(body) if isinstance(body, list) else [body]


def _covers(nodes: list[ast.AST], line: int) -> bool:
    return bool(nodes) and getattr(nodes[0], "lineno", 0) <= line <= (getattr(nodes[-1], "end_lineno", 0) or 0)


def _leaves(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))
