"""What a script has set so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tree_sitter import Node

from sm_gatecheck.launch.job import Setting
from sm_gatecheck.launch.located import Located, Word
from sm_gatecheck.launch.model import Extent
from sm_gatecheck.launch.shell.syntax import Script


@dataclass(frozen=True)
class Variable:
    """A scalar (``value``), an array, or a name known to be unset (neither). ``place`` is where it was named last."""

    value: Located | None = None
    array: tuple[Word, ...] | None = None
    place: Extent | None = None
    is_exported: bool = False

    @property
    def is_set(self) -> bool:
        return self.value is not None or self.array is not None


@dataclass
class Scope:
    """Variables by name; those of the machine (``inherited``) are looked up last. ``positional`` is None where it is not known."""

    variables: dict[str, Variable] = field(default_factory=dict)
    functions: dict[str, tuple[Script, Node]] = field(default_factory=dict)
    positional: tuple[Word, ...] | None = None
    inherited: Mapping[str, str] = field(default_factory=dict)
    exports_all: bool = False

    def copy(self) -> Scope:
        return replace(self, variables=dict(self.variables), functions=dict(self.functions))

    def get(self, name: str) -> Variable | None:
        """None where nothing is known about the name."""
        return self.variables.get(name)

    def set(self, name: str, variable: Variable) -> None:
        earlier = self.variables.get(name)
        is_exported = variable.is_exported or self.exports_all or (earlier is not None and earlier.is_exported)
        self.variables[name] = replace(variable, is_exported=is_exported)

    def export(self, name: str) -> None:
        """Mark a name as seen by the commands that follow; what it is worth may be unknown."""
        found = self.variables.get(name)
        if found is not None:
            self.variables[name] = replace(found, is_exported=True)

    def unset(self, name: str) -> None:
        self.variables[name] = Variable()
        self.functions.pop(name, None)

    def environment(self) -> dict[str, Setting]:
        """The variables that a command is given."""
        return {
            name: Setting(variable.value, variable.place or variable.value.extent)  # type: ignore[arg-type]
            for name, variable in self.variables.items()
            if variable.is_exported and variable.value is not None and (variable.place or variable.value.extent) is not None
        }

    def with_environment(self, settings: Mapping[str, Setting]) -> Scope:
        for name, setting in settings.items():
            self.variables[name] = Variable(value=setting.value, place=setting.name, is_exported=True)
        return self
