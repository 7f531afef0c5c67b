"""What the interpreter asks about everything that is not in the tree's own source.

The interpreter knows Python; a ``World`` knows the platform (torch, CUDA, installed packages) and the special objects of
the program under analysis. ``target/`` provides the one for SGLang out of ``rules/``.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Protocol

from sm_gatecheck.evaluate.values import ClassValue, FunctionValue, Instance, Value
from sm_gatecheck.model.condition import Condition

if TYPE_CHECKING:
    from sm_gatecheck.evaluate.frames import Frame
    from sm_gatecheck.evaluate.interpreter import Interpreter


class World(Protocol):
    """Every method answers None for "nothing special": the interpreter then does what Python would."""

    def external_value(self, dotted: str) -> Value | None:
        """The value of an attribute of another package (``torch.version.cuda``)."""

    def external_call(
        self, interpreter: Interpreter, dotted: str, args: tuple[Value, ...], keywords: dict[str, Value], text: str
    ) -> Value | None:
        """The result of calling something of another package."""

    def external_exists(self, dotted: str) -> bool | None:
        """Whether ``hasattr`` finds an attribute of another package."""

    def external_contains(self, dotted: str, text: str) -> Condition | None:
        """The condition under which a text of the platform (the GPU's name, say) contains another; None where it cannot be told."""

    def never_fails(self, name: str) -> bool:
        """Whether a call by this dotted name, of another package or as the source spells it, cannot raise."""

    def importable(self, module: str) -> bool | None:
        """Whether a module of another package can be imported."""

    def function_call(
        self,
        interpreter: Interpreter,
        function: FunctionValue,
        args: tuple[Value, ...],
        keywords: dict[str, Value],
        node: ast.Call | None,
        frame: Frame,
    ) -> Value | None:
        """The result of a function of the tree that the rules describe (an accessor of the options, say)."""

    def instantiate(self, interpreter: Interpreter, cls: ClassValue, args: tuple[Value, ...], keywords: dict[str, Value]) -> Value | None:
        """The result of calling a class that the rules describe."""

    def attribute(self, interpreter: Interpreter, receiver: Instance, name: str) -> Value | None:
        """An attribute of a special object."""

    def stored(self, interpreter: Interpreter, frame: Frame, receiver: Instance, name: str, value: Value, node: ast.AST) -> bool:
        """A write to a special object; True when it was taken care of."""

    def item(self, interpreter: Interpreter, receiver: Value, key: Value) -> Value | None:
        """A subscript of a special object."""

    def is_instance(self, interpreter: Interpreter, receiver: Instance, kind: Value) -> bool | None:
        """Whether a special object is one of a class."""

    def equal(self, left: Value, right: Value) -> Condition | None:
        """When two objects are equal, where the world knows what they hold."""

    def unknown_attribute(self, interpreter: Interpreter, name: str) -> Value | None:
        """An attribute that is special whatever object it is asked of (``anything.server_args``)."""

    def parameter(self, interpreter: Interpreter, function: FunctionValue, name: str, annotation: str | None) -> Value | None:
        """What a parameter stands for when the caller is not known."""

    def global_value(self, interpreter: Interpreter, module: str, name: str) -> Value | None:
        """A module-level name that the rules describe."""

    def worth_following(self, function: FunctionValue, args: tuple[Value, ...] = ()) -> bool:
        """Whether a call's result can depend on the target or on an option, so that its body is worth running."""

    def follow_effects(self, frame: Frame, function: FunctionValue, args: tuple[Value, ...]) -> bool:
        """Whether a listener wants to hear what the body of a callee does, as part of its caller."""

    def receiver(self, interpreter: Interpreter, cls: ClassValue) -> Value | None:
        """What ``self`` stands for in a method of a class when the caller is not known."""

    def replay(self, frame: Frame, function: FunctionValue, args: tuple[Value, ...], keywords: dict[str, Value]) -> Value | None:
        """The result of an effectful call whose effects are known and have just been applied; None to run it."""

    def finished(self, frame: Frame, result: Value) -> None:
        """An effectful call that was run has come to its end."""

    def acts(self, name: str) -> bool:
        """Whether calling something by this dotted name does anything, rather than compute or say something."""
