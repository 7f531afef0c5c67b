"""What the checks for maintainers look at, and what they say: both know nothing of how findings are shown."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sm_gatecheck.checks.surroundings import ancestors
from sm_gatecheck.model.condition import Space
from sm_gatecheck.target.session import Session
from sm_gatecheck.verdicts.device_tests import DeviceTest, DeviceTests
from sm_gatecheck.verdicts.judging import Judge


@dataclass(frozen=True)
class Subject:
    """A tree that was followed as far as all of its options have in common, and the device tests met on the way."""

    session: Session
    judge: Judge
    tests: DeviceTests

    @property
    def space(self) -> Space:
        return self.session.space

    def bits(self, *sms: int) -> int:
        """The set of those of these SMs that the rules know."""
        return self.session.devices.bits(sm for sm in sms if sm in self.session.devices.sms)

    def bits_of_major(self, major: int) -> int:
        return self.session.devices.bits(sm for sm in self.session.devices.sms if sm // 10 == major)

    def named(self, bits: int) -> str:
        """``SM70 to SM89, SM100 and SM120``: runs of more than two neighbours by their ends."""
        names: list[str] = []
        run: list[int] = []
        for sm in (*self.session.devices.sms, None):
            if sm is not None and bits & self.session.devices.bit(sm):
                run.append(sm)
                continue
            names += [f"SM{one}" for one in run] if len(run) < 3 else [f"SM{run[0]} to SM{run[-1]}"]
            run = []
        return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else "no SM"

    @cached_property
    def option_classes(self) -> frozenset[str]:
        """The names of the classes whose fields are the options."""
        return frozenset(dotted.rpartition(".")[2] for dotted in self.session.reading.option_classes)

    def options_about(self, test: DeviceTest) -> frozenset[str]:
        """The options that the statement around a device test asks for or writes: those of its condition and of its own lines."""
        statement = next((node for node in reversed(ancestors(test.module, test.node)) if isinstance(node, (ast.If, ast.Assert))), None)
        nodes: list[ast.AST] = [] if statement is None else [statement.test]
        if isinstance(statement, ast.If):
            nodes += [line for line in (*statement.body, *statement.orelse) if not isinstance(line, ast.If)]
        names = {inner.attr for node in nodes for inner in ast.walk(node) if isinstance(inner, ast.Attribute)}
        return frozenset(names & self.session.options.by_field.keys())

    def is_served(self, path: str) -> bool:
        """Whether a file takes part in serving: tests and benchmarks do not."""
        return not path.startswith(self.session.reading.left_out) and not any(
            f"/{part}" in f"/{path}" for part in self.session.reading.left_out
        )


@dataclass(frozen=True)
class Remark:
    """One thing to look at. ``bits`` are the SMs that it is about; ``key`` tells it from others of its rule and outlives line numbers."""

    file: str
    line: int
    message: str
    bits: int
    key: tuple[str, ...]
    option: str = ""
    value: Any = None


Remarks = Iterable[Remark]
