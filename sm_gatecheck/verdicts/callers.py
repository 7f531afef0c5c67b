"""Who calls a function, followed back by name to where nobody is found or too many are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from sm_gatecheck.model.condition import Condition
from sm_gatecheck.model.explanation import Call
from sm_gatecheck.target.reach import CALLER_LIMIT
from sm_gatecheck.target.scan import Summary
from sm_gatecheck.target.session import Session
from sm_gatecheck.verdicts.places import Places

DEPTH = 6


@dataclass(frozen=True)
class _Caller:
    summary: Summary
    node: ast.Call
    condition: Condition | None


class Callers:
    """Follows calls of one tree; callers are remembered by function."""

    def __init__(self, session: Session, places: Places) -> None:
        self._session = session
        self._places = places
        self._known: dict[tuple[str, int], tuple[list[_Caller], str | None]] = {}

    def chain(self, summary: Summary) -> tuple[tuple[Call, ...], str | None]:
        """The calls that lead to a function, the nearest first, by its first caller, and why they end; None at a module's top level."""
        calls: list[Call] = []
        seen: set[tuple[str, int]] = set()
        current = summary
        while current.node is not None:
            key = (current.module.path, current.node.lineno)
            if key in seen:
                return tuple(calls), None
            seen.add(key)
            if current.entry is not None:
                return tuple(calls), f"{called_name(current)} is registered, and called where its name in the registry is asked for"
            if len(calls) >= DEPTH:
                return tuple(calls), "and so on"
            callers, end = self._of(current)
            if not callers:
                return tuple(calls), end
            first = callers[0]
            calls.append(self._call(current, first))
            if len(callers) > 1:
                return (*calls, *self._others(current, callers[1:])), None
            current = first.summary
        return tuple(calls), None

    def _others(self, callee: Summary, callers: list[_Caller]) -> list[Call]:
        """The other callers of the same function: where there are several ways, each is named and none is followed."""
        return [self._call(callee, caller) for caller in callers]

    def _call(self, callee: Summary, caller: _Caller) -> Call:
        on = None if caller.condition is None else self._session.space.members(caller.condition.exists)
        return Call(self._places.of(caller.summary.module, caller.node), called_name(callee), on)

    def _of(self, summary: Summary) -> tuple[list[_Caller], str | None]:
        assert summary.node is not None
        key = (summary.module.path, summary.node.lineno)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._find(summary)
        return found

    def _find(self, summary: Summary) -> tuple[list[_Caller], str | None]:
        mentions, program = self._session.mentions, self._session.program
        name = called_name(summary)
        if name.startswith("__"):
            return [], f"{name} is called by Python itself"
        if mentions.defined(name) > 1:
            return [], f"{name} is the name of {mentions.defined(name)} definitions: who calls this one was not followed"
        if mentions.count(name) > CALLER_LIMIT:
            return [], f"{name} is mentioned in {mentions.count(name)} definitions: its callers were not followed"
        callers: list[_Caller] = []
        passed: str | None = None
        for path, line in mentions.mentioning([name]):
            caller = self._session.scan.at(program.by_path[path], line)
            if caller is None or (caller.module is summary.module and caller.node is summary.node):
                continue
            calls, uses = _calls(caller, name)
            if uses and not calls:
                passed = f"{name} is handed on at {path}:{uses[0]}, and who calls it then was not followed"
            if calls and all(known.node is not calls[0] for known in callers):
                callers.append(_Caller(caller, calls[0], self._reached(caller, name)))
        return callers, passed or (None if callers else f"no caller of {name} was found: the framework calls it, or nobody")

    def _reached(self, caller: Summary, name: str) -> Condition | None:
        """When a function makes its calls of a name; None where they were not seen (within a test, say)."""
        conditions = caller.calls.get(name)
        if not conditions:
            return None
        result = self._session.space.false
        for reached in conditions:
            result = result | reached
        return result


def called_name(summary: Summary) -> str:
    """The name by which a function is called: its class's for a constructor."""
    if summary.name == "__init__" and summary.owner is not None:
        return summary.owner.qualname.rsplit(".", 1)[-1]
    return summary.name


def _calls(caller: Summary, name: str) -> tuple[list[ast.Call], list[int]]:
    """The calls of a name in a function, and the lines where the name stands without being called."""
    calls: list[ast.Call] = []
    called: set[int] = set()
    other: list[int] = []
    for node in _outside_functions(caller.module.syntax) if caller.node is None else ast.walk(caller.node):
        if isinstance(node, ast.Call) and _named(node.func, name):
            calls.append(node)
            called.add(id(node.func))
        elif id(node) not in called and isinstance(node, (ast.Name, ast.Attribute)) and _named(node, name):
            other.append(node.lineno)
    return calls, other


def _named(node: ast.expr, name: str) -> bool:
    return (isinstance(node, ast.Name) and node.id == name) or (isinstance(node, ast.Attribute) and node.attr == name)


def _outside_functions(module: ast.Module) -> Iterator[ast.AST]:
    stack: list[ast.AST] = [module]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(child for child in ast.iter_child_nodes(node) if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)))
