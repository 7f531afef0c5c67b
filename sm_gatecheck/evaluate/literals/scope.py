"""Where names are looked up: the locals of a frame, the frames around it, the module."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sm_gatecheck.evaluate.literals.values import ClassValue, Native
from sm_gatecheck.program.modules import Module


@dataclass(eq=False)
class Scope:
    """One frame. ``owner`` is the class whose body or method this is (for ``super()``), None elsewhere; in the body
    itself (``is_class_body``) the names of the class are in reach, in its methods they are not.
    """

    module: Module
    names: dict[str, Any] = field(default_factory=dict)
    parent: Scope | None = None
    owner: ClassValue | None = None
    is_class_body: bool = False

    def inner(self, names: dict[str, Any]) -> Scope:
        """A frame inside this one: a comprehension, a lambda."""
        return Scope(self.module, names, self, self.owner)

    def copy(self) -> Scope:
        """This frame with its own copies of the containers in it, to run what may or may not happen."""
        names = {name: value.copy() if isinstance(value, (list, dict, set)) else value for name, value in self.names.items()}
        return Scope(self.module, names, self.parent, self.owner, self.is_class_body)

    @property
    def declares(self) -> bool:
        """Whether a ``Native`` object is within reach, so that code is run for what it tells that object."""
        scope: Scope | None = self
        while scope is not None:
            if any(isinstance(value, Native) for value in scope.names.values()):
                return True
            scope = scope.parent
        return False
