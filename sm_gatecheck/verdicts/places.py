"""Places of a tree as explanations show them: the function around, the source of the node, the line as it is written."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from sm_gatecheck.evaluate.frames import Guard
from sm_gatecheck.evaluate.interpreter import source_text
from sm_gatecheck.model.condition import Space
from sm_gatecheck.model.explanation import Place, Test
from sm_gatecheck.program.modules import Module, Program
from sm_gatecheck.program.outline import Outline

SOURCE_LIMIT = 240
LINE_LIMIT = 200


class Places:
    """Makes places and remembers the line of each: ``lines`` is by ``file:line``."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._outlines: dict[str, Outline] = {}
        self.lines: dict[str, str] = {}

    def of(self, module: Module, node: ast.AST) -> Place:
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1
        self.note(module.path, line)
        return Place(module.path, line, column, shortened(source_text(module, node)), self.outline(module).function_at(line))

    def note(self, file: str, line: int) -> None:
        """Remember a line of the tree that something refers to."""
        module = self._program.by_path.get(file)
        if module is not None and 0 < line <= len(module.lines):
            self.lines[f"{file}:{line}"] = shortened(module.lines[line - 1].strip(), LINE_LIMIT)

    def tests(self, space: Space, guards: Iterable[Guard], leads_to: Callable[[Guard], int]) -> tuple[Test, ...]:
        """The tests on the way to a place; ``leads_to`` is the line of a test's own function that it leads to.

        Left out are those that neither ask for the GPU nor lead on by one known answer: a branch before the place may have left.
        """
        found = []
        for guard in guards:
            passing = guard.condition.exists if guard.condition.depends_on_target() else space.all_bits
            answer = self.outline(guard.module).passes_if(guard.node, leads_to(guard))
            if answer is not None or passing != space.all_bits:
                on = None if passing == space.all_bits else space.members(passing)
                found.append(Test(self.of(guard.module, guard.node), on, answer))
        return tuple(dict.fromkeys(found))

    def outline(self, module: Module) -> Outline:
        found = self._outlines.get(module.path)
        if found is None:
            found = self._outlines[module.path] = Outline(module)
        return found


def shortened(text: str, limit: int = SOURCE_LIMIT) -> str:
    return text if len(text) <= limit else text[:limit] + " …"
