"""Which identifiers stand in which file and in which definition, by bytes and lines alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sm_gatecheck.program.modules import Module, Program

_IDENTIFIER = re.compile(rb"[A-Za-z_]\w{2,}")


@dataclass(frozen=True)
class Unit:
    """A statement that binds names in a module's or a class's scope, and the identifiers on its lines."""

    module: Module
    node: ast.stmt
    owner: ast.ClassDef | None
    identifiers: frozenset[bytes]


class Occurrences:
    """An index of a program's identifiers by file; files are parsed when their units are asked for.

    ``left_out`` are parts of paths (``test/``): a file whose path has one at a start of a name is not looked at.
    """

    def __init__(self, program: Program, left_out: tuple[str, ...] = ()) -> None:
        self._program = program
        parts = tuple(f"/{part}" for part in left_out)
        wanted = (module for module in program.modules() if not any(part in f"/{module.path}" for part in parts))
        self._in_file = {module.path: frozenset(_IDENTIFIER.findall(module.source)) for module in wanted}
        self._units: dict[str, list[Unit]] = {}

    def files(self, names: frozenset[bytes]) -> list[str]:
        """The files that mention one of the names, sorted."""
        return sorted(path for path, identifiers in self._in_file.items() if not names.isdisjoint(identifiers))

    def file_count(self, name: bytes) -> int:
        return sum(1 for identifiers in self._in_file.values() if name in identifiers)

    def units(self, names: Mapping[bytes, frozenset[bytes]]) -> Iterator[tuple[Unit, frozenset[bytes]]]:
        """The binding statements that mention one of the names, and the names they do, in the order of files and lines.

        A name stands beside the identifiers one of which its file must mention too (the class that it is a member of); with
        none, any file counts.
        """
        for path in self.files(frozenset(names)):
            here = self._in_file[path]
            meant = frozenset(name for name in names.keys() & here if not names[name] or not names[name].isdisjoint(here))
            if not meant:
                continue
            if path not in self._units:
                module = self._program.by_path[path]
                self._units[path] = list(_units(module, module.syntax.body, None, module.source.split(b"\n")))
            for unit in self._units[path]:
                mentioned = meant & unit.identifiers
                if mentioned:
                    yield unit, mentioned


def _units(module: Module, body: list[ast.stmt], owner: ast.ClassDef | None, lines: list[bytes]) -> Iterator[Unit]:
    for statement in body:
        if isinstance(statement, (ast.If, ast.Try, ast.With, ast.For, ast.While)):
            guards = _identifiers(lines, statement)
            tested = _identifiers(lines, statement.test) if isinstance(statement, ast.If) else frozenset()
            for block in ("body", "orelse", "finalbody"):
                for unit in _units(module, getattr(statement, block, []), owner, lines):
                    # What a block binds depends on the test above it, so a mention there counts.
                    extended = unit.identifiers | (tested if isinstance(unit.node, _DEFINITIONS) else guards)
                    yield Unit(module, unit.node, unit.owner, extended)
            for handler in getattr(statement, "handlers", []):
                yield from _units(module, handler.body, owner, lines)
        elif isinstance(statement, ast.ClassDef) and owner is None:
            yield from _units(module, statement.body, statement, lines)
        else:
            yield Unit(module, statement, owner, _identifiers(lines, statement))


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _identifiers(lines: list[bytes], node: ast.stmt | ast.expr) -> frozenset[bytes]:
    return frozenset(_IDENTIFIER.findall(b"\n".join(lines[node.lineno - 1 : node.end_lineno])))
