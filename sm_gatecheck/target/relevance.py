"""Whether running a function can tell anything about targets or options, judged by the names in its source.

Resolved names, not global ones: an identifier counts when it is a root, or when this module binds it to a definition
that itself counts. Asked lazily, of the functions that analysed code really calls.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from sm_gatecheck.evaluate.values import ClassValue, FunctionValue
from sm_gatecheck.program.modules import Module, Program, imported_name

_IDENTIFIER = re.compile(r"[A-Za-z_]\w{2,}")
_STORE = re.compile(r"\bself\.(\w+)[ \t]*(?::[^=\n]+)?=(?!=)[ \t]*(.+)")
REACH = 5


class Relevance:
    """Remembers the answer for each definition."""

    def __init__(self, program: Program, roots: Iterable[str], facts: Iterable[str]) -> None:
        self._program = program
        self._facts = re.compile("|".join(rf"\b{re.escape(fact)}\b" for fact in sorted(facts)))
        self._roots = frozenset(roots)
        self._attributes: dict[int, dict[str, list[frozenset[str]]]] = {}
        self._answers: dict[tuple[str, int], bool] = {}
        self._identifiers: dict[tuple[str, int], frozenset[str]] = {}

    def of(self, function: FunctionValue) -> bool:
        """Whether the function's source reaches a root within ``REACH`` definitions."""
        return self._counts(function.module, function.node, function.owner, REACH)

    def _counts(self, module: Module, node: ast.AST, owner: ClassValue | None, reach: int) -> bool:
        key = (module.path, getattr(node, "lineno", 0))
        if key in self._answers:
            return self._answers[key]
        identifiers = self._mentioned(module, node)
        if not self._roots.isdisjoint(identifiers) or self._facts.search(self._source(module, node)):
            self._answers[key] = True
            return True
        if reach == 0:
            return False
        self._answers[key] = False
        answer = any(self._name_counts(module, name, reach - 1) for name in sorted(identifiers))
        if not answer and owner is not None:
            answer = self._member_counts(owner, identifiers, node, reach - 1)
        self._answers[key] = answer
        return answer

    def _mentioned(self, module: Module, node: ast.AST) -> frozenset[str]:
        key = (module.path, getattr(node, "lineno", 0))
        found = self._identifiers.get(key)
        if found is None:
            found = self._identifiers[key] = frozenset(_IDENTIFIER.findall(self._source(module, node)))
        return found

    def _source(self, module: Module, node: ast.AST) -> str:
        return "\n".join(module.lines[getattr(node, "lineno", 1) - 1 : getattr(node, "end_lineno", 1)])

    def _name_counts(self, module: Module, name: str, reach: int) -> bool:
        statements = module.bindings.get(name)
        if not statements:
            return False
        if any(self._counts(module, writer, None, reach) for writer in module.global_writers.get(name, ())):
            return True
        for statement in statements:
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                source = imported_name(module, statement, name)
                if source is None or source.name is None or not self._program.owns(source.module):
                    continue
                if source.name in self._roots:
                    return True
                found = self._program.defining_module(source.module, source.name)
                if found is not None and found[0] is not module and self._name_counts(found[0], found[1], reach):
                    return True
            elif not isinstance(statement, ast.ClassDef) and self._counts(module, statement, None, reach):
                return True
        return False

    def _member_counts(self, owner: ClassValue, identifiers: frozenset[str], node: ast.AST, reach: int) -> bool:
        attributes = self._stored(owner)
        for attribute in sorted(identifiers & attributes.keys()):
            for stored in attributes[attribute]:
                if not self._roots.isdisjoint(stored) or any(self._name_counts(owner.module, name, reach) for name in sorted(stored)):
                    return True
        for member in owner.node.body:
            if not isinstance(member, (ast.FunctionDef, ast.AsyncFunctionDef)) or member is node or member.name not in identifiers:
                continue
            if self._counts(owner.module, member, owner, reach):
                return True
        return False

    def _stored(self, owner: ClassValue) -> dict[str, list[frozenset[str]]]:
        """The identifiers of what a class body stores in each of its attributes, line by line."""
        key = id(owner.node)
        found = self._attributes.get(key)
        if found is None:
            found = self._attributes[key] = {}
            for match in _STORE.finditer(self._source(owner.module, owner.node)):
                found.setdefault(match.group(1), []).append(frozenset(_IDENTIFIER.findall(match.group(2))))
        return found
