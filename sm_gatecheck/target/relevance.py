"""Whether running a function can tell anything about targets or options, judged by the names in its source.

Resolved names, not global ones: an identifier counts when it is a root, or when this module binds it to a definition
that itself counts. Asked lazily, of the functions that analysed code really calls. Definitions are searched in rings around
the one that is asked about, so that no answer depends on what was asked before.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from sm_gatecheck.evaluate.values import ClassValue, FunctionValue
from sm_gatecheck.program.modules import Module, Program, imported_name

_IDENTIFIER = re.compile(r"[A-Za-z_]\w{2,}")
_STORE = re.compile(r"\bself\.(\w+)[ \t]*(?::[^=\n]+)?=(?!=)[ \t]*(.+)")
REACH = 5

Key = tuple[str, int]


@dataclass(frozen=True, eq=False)
class _Definition:
    """A definition by path and line, with its source and the identifiers in it."""

    key: Key
    module: Module
    node: ast.AST
    owner: ClassValue | None
    source: str
    identifiers: frozenset[str]


class References:
    """Which definitions the names in a definition mean; found when first asked for, and the same for whatever is looked for."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._definitions: dict[Key, _Definition] = {}
        self._next: dict[Key, tuple[frozenset[str], tuple[_Definition, ...]]] = {}
        self._meant: dict[tuple[str, str], tuple[frozenset[str], tuple[_Definition, ...]]] = {}
        self._attributes: dict[int, dict[str, list[frozenset[str]]]] = {}

    def definition(self, module: Module, node: ast.AST, owner: ClassValue | None) -> _Definition:
        key = (module.path, getattr(node, "lineno", 0))
        found = self._definitions.get(key)
        if found is None:
            source = _source(module, node)
            found = self._definitions[key] = _Definition(key, module, node, owner, source, frozenset(_IDENTIFIER.findall(source)))
        return found

    def following(self, definition: _Definition) -> tuple[frozenset[str], tuple[_Definition, ...]]:
        """One step further: the names under which other modules of the tree know what is mentioned, and the definitions meant."""
        found = self._next.get(definition.key)
        if found is None:
            names: set[str] = set()
            definitions: dict[Key, _Definition] = {}
            for name in sorted(definition.identifiers):
                self._add(definition.module, name, names, definitions)
            if definition.owner is not None:
                self._add_members(definition, definition.owner, names, definitions)
            found = self._next[definition.key] = (frozenset(names), tuple(definitions.values()))
        return found

    def _add(self, module: Module, name: str, names: set[str], definitions: dict[Key, _Definition]) -> None:
        more, meant = self._meaning(module, name)
        names |= more
        for definition in meant:
            definitions.setdefault(definition.key, definition)

    def _meaning(self, module: Module, name: str) -> tuple[frozenset[str], tuple[_Definition, ...]]:
        key = (module.path, name)
        found = self._meant.get(key)
        if found is not None:
            return found
        self._meant[key] = (frozenset(), ())  # imports that go round in a circle mean nothing
        names: set[str] = set()
        definitions: dict[Key, _Definition] = {}
        bindings = module.bindings.get(name, ())
        for writer in module.global_writers.get(name, ()) if bindings else ():
            definition = self.definition(module, writer, None)
            definitions.setdefault(definition.key, definition)
        for statement in bindings:
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                source = imported_name(module, statement, name)
                if source is None or source.name is None or not self._program.owns(source.module):
                    continue
                names.add(source.name)
                place = self._program.defining_module(source.module, source.name)
                if place is not None and place[0] is not module:
                    self._add(place[0], place[1], names, definitions)
            elif not isinstance(statement, ast.ClassDef):
                definition = self.definition(module, statement, None)
                definitions.setdefault(definition.key, definition)
        found = self._meant[key] = (frozenset(names), tuple(definitions.values()))
        return found

    def _add_members(self, definition: _Definition, owner: ClassValue, names: set[str], definitions: dict[Key, _Definition]) -> None:
        attributes = self._stored(owner)
        for attribute in sorted(definition.identifiers & attributes.keys()):
            for stored in attributes[attribute]:
                names |= stored
                for name in sorted(stored):
                    self._add(owner.module, name, names, definitions)
        for member in owner.node.body:
            if not isinstance(member, (ast.FunctionDef, ast.AsyncFunctionDef)) or member is definition.node:
                continue
            if member.name in definition.identifiers:
                found = self.definition(owner.module, member, owner)
                definitions.setdefault(found.key, found)

    def _stored(self, owner: ClassValue) -> dict[str, list[frozenset[str]]]:
        """The identifiers of what a class body stores in each of its attributes, line by line."""
        key = id(owner.node)
        found = self._attributes.get(key)
        if found is None:
            found = self._attributes[key] = {}
            for match in _STORE.finditer(_source(owner.module, owner.node)):
                found.setdefault(match.group(1), []).append(frozenset(_IDENTIFIER.findall(match.group(2))))
        return found


_REFERENCES: WeakKeyDictionary[Program, References] = WeakKeyDictionary()


class Relevance:
    """Remembers the answer for each definition."""

    def __init__(self, program: Program, roots: Iterable[str], facts: Iterable[str]) -> None:
        self._references = _REFERENCES.setdefault(program, References(program))
        self._facts = re.compile("|".join(rf"\b{re.escape(fact)}\b" for fact in sorted(facts)))
        self._roots = frozenset(roots)
        self._answers: dict[Key, bool] = {}
        self._mentions: dict[Key, bool] = {}

    def of(self, function: FunctionValue) -> bool:
        """Whether the function's source reaches a root within ``REACH`` definitions."""
        definition = self._references.definition(function.module, function.node, function.owner)
        answer = self._answers.get(definition.key)
        if answer is None:
            answer = self._answers[definition.key] = self._reaches(definition)
        return answer

    def _reaches(self, definition: _Definition) -> bool:
        ring, seen = [definition], {definition.key}
        for step in range(REACH + 1):
            if any(self._is_near(found) for found in ring):
                return True
            further: dict[Key, _Definition] = {}
            for found in ring if step < REACH else ():
                names, definitions = self._references.following(found)
                if not self._roots.isdisjoint(names):
                    return True
                further.update((other.key, other) for other in definitions if other.key not in seen)
            seen |= further.keys()
            ring = list(further.values())
        return False

    def _is_near(self, definition: _Definition) -> bool:
        """Whether a root stands in the definition itself."""
        found = self._mentions.get(definition.key)
        if found is None:
            found = not self._roots.isdisjoint(definition.identifiers) or self._facts.search(definition.source) is not None
            self._mentions[definition.key] = found
        return found


def _source(module: Module, node: ast.AST) -> str:
    return "\n".join(module.lines[getattr(node, "lineno", 1) - 1 : getattr(node, "end_lineno", 1)])
