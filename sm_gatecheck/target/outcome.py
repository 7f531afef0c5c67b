"""What a run of resolution left behind."""

from __future__ import annotations

import ast
from collections.abc import Hashable
from dataclasses import dataclass, field

from sm_gatecheck.evaluate.frames import Event, Guard
from sm_gatecheck.evaluate.values import Value
from sm_gatecheck.model.condition import Condition
from sm_gatecheck.model.gaps import Reason
from sm_gatecheck.program.modules import Module


@dataclass(frozen=True)
class Write:
    """Resolution storing ``value`` in ``field`` (an option, or ``env:NAME``) under ``condition``, after passing ``guards``."""

    field: str
    value: Value
    condition: Condition
    module: Module
    node: ast.AST
    guards: tuple[Guard, ...] = ()


@dataclass
class Outcome:
    """Each field's final value, the writes in order, and what else happened on the way.

    ``state`` holds the fields by name, variables by ``env:NAME``, and what objects made on the way hold by (object, attribute).
    """

    state: dict[Hashable, Value] = field(default_factory=dict)
    writes: list[Write] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    unfinished: str | None = None
    left: Reason | None = None
    resolved: dict[str, Value] | None = None
    """The fields before the checks that follow resolution."""

    @property
    def fields(self) -> dict[str, Value]:
        """Options and variables by name, as resolution left them."""
        return self.snapshot() if self.resolved is None else self.resolved

    def snapshot(self) -> dict[str, Value]:
        return {name: value for name, value in self.state.items() if isinstance(name, str)}
