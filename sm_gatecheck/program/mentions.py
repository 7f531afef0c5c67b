"""Which definitions mention what, by bytes alone: the index that decides what is worth parsing and following."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Set
from dataclasses import dataclass

from sm_gatecheck.program.modules import Program

_DEFINITION = re.compile(rb"^[ \t]*(?:async[ \t]+)?(def|class)[ \t]+(\w+)|^(\w+)[ \t]*(?::[^=\n]+)?=(?!=)|^(?=[@A-Za-z_(])", re.MULTILINE)
_BLOCK = re.compile(rb"(?:if|elif|else|try|except|finally|with)\b")
_WITHIN_BLOCK = re.compile(rb"^[ \t]+(\w+)[ \t]*(?::[^=\n]+)?=(?!=)", re.MULTILINE)
_IDENTIFIER = re.compile(rb"[A-Za-z_]\w{3,}")
_COMPUTED_NAME = re.compile(rb"""getattr\(([^,\n]+),\s*(?:f["'](\w+)\{|["'](\w+)["']\s*\+)""")
SHORT_BODY_LINES = 60
COMMON_NAME_LIMIT = 3
WORD_MENTIONS = 40
NAME_MENTIONS = 200


@dataclass(frozen=True)
class Definition:
    """A function, class or module constant as bytes show it: its name and the identifiers between it and the next one."""

    path: str
    kind: bytes
    name: bytes
    line: int
    lines: int
    identifiers: frozenset[bytes]
    span: tuple[int, int]
    """Where it stands in its file, in bytes."""


class Mentions:
    """The definitions of a program and the identifiers in each."""

    def __init__(self, program: Program, left_out: tuple[str, ...] = ()) -> None:
        self._definitions: list[Definition] = []
        for module in program.modules():
            if not module.path.startswith(left_out):
                self._definitions.extend(definitions(module.path, module.source))
        self._computed_prefixes = frozenset(
            (module.path if match.group(1) == b"self" else "", prefix.decode())
            for module in program.modules()
            if b"getattr(" in module.source
            for match in _COMPUTED_NAME.finditer(module.source)
            for prefix in match.groups()[1:]
            if prefix
        )
        self._count = Counter(definition.name for definition in self._definitions)
        self._spans = {(d.path, d.line): d.span for d in self._definitions}
        self._index: dict[bytes, list[Definition]] = {}
        for definition in self._definitions:
            for identifier in definition.identifiers:
                self._index.setdefault(identifier, []).append(definition)

    def mentioning(self, names: Iterable[str]) -> list[tuple[str, int]]:
        """The (path, line) of every definition that mentions one of the names, in source order."""
        found = {(d.path, d.line) for name in names for d in self._index.get(name.encode(), ())}
        return sorted(found)

    def mentioning_both(self, names: Iterable[str], others: Set[str]) -> list[tuple[str, int]]:
        """The definitions that mention one of the names and one of the others too."""
        wanted = {other.encode() for other in others}
        found = {(d.path, d.line) for name in names for d in self._index.get(name.encode(), ()) if not wanted.isdisjoint(d.identifiers)}
        return sorted(found)

    def constants_mentioning(self, names: Iterable[str]) -> list[tuple[str, str]]:
        """The (path, name) of the module constants in whose definition one of the names stands."""
        found = {
            (d.path, d.name) for name in names for d in self._index.get(name.encode(), ()) if d.kind == b"=" and d.name != name.encode()
        }
        return sorted((path, name.decode()) for path, name in found)

    def defining(self, name: str) -> list[tuple[str, int]]:
        """The (path, line) of every definition that has a name."""
        wanted = name.encode()
        return sorted((d.path, d.line) for d in self._index.get(wanted, ()) if d.name == wanted)

    def span_of(self, path: str, line: int) -> tuple[int, int]:
        """Where the definition that begins at a line stands in its file, in bytes. KeyError where none begins there."""
        return self._spans[path, line]

    def count(self, name: str) -> int:
        """How many definitions mention a name."""
        return len(self._index.get(name.encode(), ()))

    def defined(self, name: str) -> int:
        """How many definitions have a name."""
        return self._count[name.encode()]

    def may_be_computed(self, name: str, path: str | None = None) -> bool:
        """Whether some ``getattr`` with a computed name (``"run_" + kind``, ``f"run_{kind}"``) could mean this one.

        One on ``self`` means a definition of its own file; ``path`` is where the name is defined, None for anywhere.
        """
        return any(name.startswith(prefix) and (not place or path is None or place == path) for place, prefix in self._computed_prefixes)

    def reaching(self, roots: Iterable[str], rounds: int) -> frozenset[str]:
        """Names of short definitions from which a root can be reached in so many steps.

        A name that many definitions share says nothing about any of them, and is not followed.
        """
        known = {root.encode() for root in roots}
        frontier = set(known)
        for _ in range(rounds):
            found: set[bytes] = set()
            for definition in (d for name in frontier for d in self._index.get(name, ())):
                if definition.name in known or definition.kind == b"class" or definition.lines > SHORT_BODY_LINES:
                    continue
                if self._is_followed(definition.name):
                    found.add(definition.name)
            frontier = found - known
            if not frontier:
                break
            known |= frontier
        return frozenset(name.decode() for name in known)

    def is_followed(self, name: str) -> bool:
        """Whether those who mention a name are likely to mean its definition."""
        return self._count[name.encode()] > 0 and self._is_followed(name.encode())

    def _is_followed(self, name: bytes) -> bool:
        """A name that many definitions share says nothing; plain words mean variables and methods of all kinds."""
        if self._count[name] > COMMON_NAME_LIMIT or name.startswith(b"__"):
            return False
        mentions = len(self._index.get(name, ()))
        is_word = name.islower() and b"_" not in name
        return mentions <= (WORD_MENTIONS if is_word else NAME_MENTIONS)


def definitions(path: str, source: bytes) -> list[Definition]:
    """The definitions of a file, split where the next one starts."""
    marks = [(match.start(), match.group(1) or b"=", match.group(2) or match.group(3) or b"") for match in _DEFINITION.finditer(source)]
    found: list[Definition] = []
    line = 1 + source[: marks[0][0]].count(b"\n") if marks else 1
    for index, (start, kind, name) in enumerate(marks):
        end = marks[index + 1][0] if index + 1 < len(marks) else len(source)
        body = source[start:end]
        lines = body.count(b"\n")
        if name:
            found.append(Definition(path, kind, name, line, lines, frozenset(_IDENTIFIER.findall(body)), (start, end)))
        elif _BLOCK.match(body):
            # Constants that a module sets under a condition; what the condition asks for counts as theirs.
            identifiers = frozenset(_IDENTIFIER.findall(body))
            found += [
                Definition(path, b"=", constant, line, lines, identifiers, (start, end))
                for constant in dict.fromkeys(match.group(1) for match in _WITHIN_BLOCK.finditer(body))
            ]
        line += lines
    return found
