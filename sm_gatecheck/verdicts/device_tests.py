"""The device tests of a tree: every expression that asks which GPU this is and was evaluated on the way, with the SMs on which it holds.

They are overheard while the definitions are run for the verdicts: nothing is evaluated for their sake.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from sm_gatecheck.evaluate.frames import Frame
from sm_gatecheck.evaluate.interpreter import Interpreter
from sm_gatecheck.model.condition import Condition
from sm_gatecheck.program.modules import Module


@dataclass(frozen=True, eq=False)
class DeviceTest:
    """One expression of one function (``qualname`` is empty at a module's top level) in one situation.

    ``reached``, ``held`` and ``decided`` are sets of SMs: those on which it may be asked, those of them on which it may hold, and
    those on which it holds whatever else is so.
    """

    module: Module
    node: ast.expr
    qualname: str
    reached: int
    held: int
    decided: int

    @property
    def line(self) -> int:
        return self.node.lineno

    @property
    def is_plain(self) -> bool:
        """Whether nothing but the SM decides it."""
        return self.held == self.decided


class DeviceTests:
    """Listens to an interpreter. One expression may be met in several situations: with other arguments, behind other tests."""

    def __init__(self, interpreter: Interpreter) -> None:
        self._interpreter = interpreter
        self._found: dict[int, dict[tuple[int, int, int], DeviceTest]] = {}
        interpreter.on_test = self._hear

    def stop(self) -> None:
        """Listen no longer."""
        self._interpreter.on_test = None

    def _hear(self, frame: Frame, node: ast.expr, condition: Condition) -> None:
        reached, held, decided = frame.pc.exists, condition.exists, condition.forall
        situations = self._found.setdefault(id(node), {})
        if (reached, held, decided) not in situations:
            situations[reached, held, decided] = DeviceTest(frame.module, node, frame.qualname, reached, held & reached, decided & reached)

    def of(self, node: ast.AST) -> tuple[DeviceTest, ...]:
        """The situations in which an expression was met; none for one that the target does not decide, or that nobody met."""
        return tuple(self._found.get(id(node), {}).values())

    @cached_property
    def by_place(self) -> tuple[tuple[DeviceTest, ...], ...]:
        """The situations of each expression, in the order of files, lines and columns."""
        found = [tuple(situations.values()) for situations in self._found.values()]
        return tuple(sorted(found, key=lambda tests: (tests[0].module.path, tests[0].line, tests[0].node.col_offset)))

    @cached_property
    def by_function(self) -> Mapping[tuple[str, str], tuple[DeviceTest, ...]]:
        """Every situation of every expression, by the path and the qualified name of the function."""
        found: dict[tuple[str, str], list[DeviceTest]] = {}
        for tests in self.by_place:
            for test in tests:
                found.setdefault((test.module.path, test.qualname), []).append(test)
        return {key: tuple(tests) for key, tests in found.items()}
