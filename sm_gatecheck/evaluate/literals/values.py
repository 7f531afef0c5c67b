"""The values that the static evaluator handles beside plain Python literals."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sm_gatecheck.program.modules import Module

if TYPE_CHECKING:
    from sm_gatecheck.evaluate.literals.evaluator import Evaluator
    from sm_gatecheck.evaluate.literals.scope import Scope


@dataclass(frozen=True)
class Unresolved:
    """Why an expression has no literal value, and where. A value like another until somebody needs what it stands for."""

    reason: str
    file: str = ""
    line: int = 0


class NotLiteral(Exception):
    """Raised inside the evaluator; ``Evaluator.literal`` turns it into the ``Unresolved`` that it carries."""

    def __init__(self, unresolved: Unresolved) -> None:
        super().__init__(unresolved.reason)
        self.unresolved = unresolved


@dataclass(frozen=True)
class External:
    """A name that the tree does not define: ``argparse.SUPPRESS``, ``builtins.int``."""

    name: str


@dataclass(frozen=True, eq=False)
class ModuleValue:
    """A module of the tree."""

    module: Module


@dataclass(frozen=True, eq=False)
class ClassValue:
    """A class of the tree; ``scope`` is where it was defined."""

    node: ast.ClassDef
    scope: Scope

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def module(self) -> Module:
        return self.scope.module


@dataclass(frozen=True, eq=False)
class FunctionValue:
    """A function or lambda of the tree; ``receiver`` is what it is bound to, ``owner`` the class that defines it."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Scope
    receiver: Any = None
    owner: ClassValue | None = None

    @property
    def name(self) -> str:
        return "<lambda>" if isinstance(self.node, ast.Lambda) else self.node.name


@dataclass(frozen=True, eq=False)
class BoundMethod:
    """A method of a plain container, string or ``Native``, not yet called: ``NAMES.extend``."""

    receiver: Any
    name: str


@dataclass(frozen=True, eq=False)
class ParentOf:
    """What ``super()`` gives in a method of ``owner`` that was called on ``receiver``."""

    owner: ClassValue
    receiver: Any


@dataclass(frozen=True)
class ImportedName:
    """A name bound by an import inside a function, followed when it is first read; ``name`` None for a module."""

    module: str
    name: str | None


@dataclass(eq=False)
class Instance:
    """An object of a class of the tree."""

    cls: ClassValue
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class EnumMember:
    """A member of an enumeration; equal to its value too where the class mixes in ``str`` or ``int``."""

    cls: ClassValue
    name: str
    value: Any
    transparent: bool = False

    def __eq__(self, other: object) -> bool:
        if isinstance(other, EnumMember):
            return self.cls.node is other.cls.node and self.name == other.name
        return self.transparent and bool(self.value == other)

    def __hash__(self) -> int:
        return hash(self.value) if self.transparent else hash((self.cls.name, self.name))


@dataclass(frozen=True, eq=False)
class TypeForm:
    """A subscripted type such as ``Optional[int]``: the dotted name of its head, its arguments not yet evaluated."""

    head: str
    arguments: tuple[ast.expr, ...]
    scope: Scope


@dataclass(eq=False)
class Thunk:
    """An attribute that is evaluated when it is first read."""

    expression: ast.expr
    scope: Scope


class Native:
    """An object of the caller's: calls of its methods are not evaluated but handed over with their syntax."""

    def call_method(self, method: str, call: ast.Call, scope: Scope, evaluator: Evaluator) -> Any:
        raise NotImplementedError


def plain(value: Any, file: str = "", line: int = 0) -> Any:
    """The JSON-like literal of a value: tuples become lists, sets sorted lists. NotLiteral where there is none."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(element, file, line) for element in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(element, file, line) for element in value), key=lambda element: (str(type(element)), str(element)))
    if isinstance(value, dict):
        return {plain(key, file, line): plain(element, file, line) for key, element in value.items()}
    if isinstance(value, EnumMember):
        return plain(value.value, file, line)
    if isinstance(value, Unresolved):
        raise NotLiteral(value)
    raise NotLiteral(Unresolved(f"{describe(value)} is not a literal", file, line))


def describe(value: Any) -> str:
    """A value in a few words, for reasons."""
    if isinstance(value, External):
        return value.name
    if isinstance(value, ClassValue):
        return f"class {value.name}"
    if isinstance(value, FunctionValue):
        return f"function {value.name}"
    if isinstance(value, Instance):
        return f"an object of {value.cls.name}"
    if isinstance(value, ModuleValue):
        return f"module {value.module.name}"
    return type(value).__name__
