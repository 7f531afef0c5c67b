"""Names, modules and classes: what a name means, followed through imports and in-place changes of module constants."""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sm_gatecheck.evaluate.literals import calls, expressions, statements
from sm_gatecheck.evaluate.literals.changes import changes_by_name
from sm_gatecheck.evaluate.literals.scope import Scope
from sm_gatecheck.evaluate.literals.values import (
    ClassValue,
    EnumMember,
    External,
    FunctionValue,
    ImportedName,
    Instance,
    ModuleValue,
    NotLiteral,
    Thunk,
    Unresolved,
    plain,
)
from sm_gatecheck.program.modules import Module, Program, bound_names, imported_name

MAX_STEPS = 400_000
MAX_TOTAL_STEPS = 5_000_000
MAX_DEPTH = 240
ENUM_BASES = frozenset({"enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag"})
TRANSPARENT_BASES = frozenset({"enum.IntEnum", "enum.StrEnum", "enum.IntFlag", "builtins.str", "builtins.int"})
FIELD_MAKERS = frozenset({"dataclasses.field", "msgspec.field", "msgspec.structs.field", "attr.ib", "attrs.field", "pydantic.Field"})

Intercept = Callable[["Evaluator", ast.Call, Scope], Any]


class Evaluator:
    """Static evaluation over one ``Program``; results are cached for its life.

    ``known`` gives values for dotted external names; ``intercepts`` takes over the calls of functions by bare name (of the
    tree) or dotted name (external). ``notes`` collects what was passed over while code was run for its effect on a ``Native``.
    """

    def __init__(self, program: Program, known: Mapping[str, Any] | None = None, intercepts: Mapping[str, Intercept] | None = None) -> None:
        self.program = program
        self.known = dict(known or {})
        self.intercepts = dict(intercepts or {})
        self.notes: list[Unresolved] = []
        self._globals: dict[tuple[str, str], Any] = {}
        self._building: dict[tuple[str, str], Scope] = {}
        self._attributes: dict[tuple[ast.ClassDef, str], Any] = {}
        self._bodies: dict[ast.ClassDef, dict[str, list[ast.stmt]]] = {}
        self._lineages: dict[ast.ClassDef, list[ClassValue | External]] = {}
        self._importing: set[ImportedName] = set()
        self._changes: dict[str, dict[str, list[ast.stmt]]] = {}
        self._steps = self._total = self._depth = 0
        self.calls = 0

    # -- entry points ---------------------------------------------------------------------------------------------------

    def literal(self, expression: ast.expr, scope: Scope) -> Any:
        """The JSON-like literal of an expression, or ``Unresolved``. Never raises for bad source."""
        try:
            return plain(self.value(expression, scope), scope.module.path, expression.lineno)
        except NotLiteral as error:
            return error.unresolved

    def value(self, expression: ast.expr, scope: Scope) -> Any:
        """The value of an expression. NotLiteral where the source alone does not give one."""
        if self._depth > MAX_DEPTH:
            raise self.refusal("nested too deeply", expression, scope)
        self._enter()
        try:
            self.step(expression, scope)
            return self.forced(expressions.evaluate(self, expression, scope))
        except RecursionError:
            raise self.refusal("nested too deeply", expression, scope) from None
        finally:
            self._depth -= 1

    def tolerant(self, expression: ast.expr, scope: Scope) -> Any:
        """As ``value``, with ``Unresolved`` as a value."""
        try:
            return self.value(expression, scope)
        except NotLiteral as error:
            return error.unresolved

    def run(self, function: FunctionValue, arguments: Mapping[str, Any]) -> None:
        """Run a function of the tree for what it tells the ``Native`` objects among its arguments; each statement on its own steps."""
        scope = Scope(function.scope.module, dict(arguments), function.scope, function.owner)
        body = [] if isinstance(function.node, ast.Lambda) else function.node.body
        for statement in body:
            with self._inside():
                try:
                    outcome = statements.run_block(self, [statement], scope)
                except NotLiteral as error:
                    self.notes.append(error.unresolved)
                    continue
            if outcome.kind != "end":
                return

    def module_value(self, module: str, name: str) -> Any:
        """What ``from module import name`` gives. NotLiteral where the tree does not tell."""
        return self.forced(ImportedName(module, name))

    # -- what the rules for expressions and statements ask of each other --------------------------------------------------

    def iterate(self, value: Any, node: ast.AST, scope: Scope) -> Iterator[Any]:
        return expressions.iterate(self, value, node, scope)

    def truth(self, value: Any, node: ast.AST, scope: Scope) -> bool:
        return expressions.truth(self, value, node, scope)

    def attribute(self, value: Any, name: str, node: ast.AST, scope: Scope) -> Any:
        return expressions.attribute(self, value, name, node, scope)

    def call(self, function: Any, positional: list[Any], named: dict[str, Any], node: ast.AST, scope: Scope) -> Any:
        return calls.call(self, function, positional, named, node, scope)

    def run_body(self, body: list[ast.stmt], frame: Scope) -> Any:
        """Run a function's body and give what it returns."""
        return statements.run_block(self, body, frame).value

    def assign(self, target: ast.expr, value: Any, scope: Scope) -> None:
        statements.assign(self, target, value, scope)

    # -- bookkeeping ----------------------------------------------------------------------------------------------------

    def step(self, node: ast.AST, scope: Scope) -> None:
        """Count one step of the evaluation that was asked for from outside. NotLiteral when it takes too many."""
        self._steps += 1
        if self._steps > MAX_STEPS or self._total + self._steps > MAX_TOTAL_STEPS:
            raise self.refusal(f"takes more than {MAX_STEPS:,} steps", node, scope)

    def _enter(self) -> None:
        """One evaluation deeper; the count of steps begins with the outermost."""
        if self._depth == 0:
            self._total, self._steps = self._total + self._steps, 0
        self._depth += 1

    @contextmanager
    def _inside(self) -> Iterator[None]:
        self._enter()
        try:
            yield
        finally:
            self._depth -= 1

    def refusal(self, reason: str, node: ast.AST, scope: Scope) -> NotLiteral:
        return NotLiteral(Unresolved(reason, scope.module.path, getattr(node, "lineno", 0)))

    def forced(self, value: Any) -> Any:
        """A value itself, behind what stands for it until it is read."""
        if isinstance(value, Unresolved):
            raise NotLiteral(value)
        if isinstance(value, Thunk):
            return self.value(value.expression, value.scope)
        if isinstance(value, ImportedName):
            return self._imported(value)
        if isinstance(value, External) and value.name in self.known:
            return copy.deepcopy(self.known[value.name])
        return value

    # -- names ----------------------------------------------------------------------------------------------------------

    def name(self, name: str, node: ast.AST, scope: Scope) -> Any:
        """The value of a bare name, as Python looks it up."""
        frame: Scope | None = scope
        while frame is not None:
            if name in frame.names:
                return self.forced(frame.names[name])
            if frame.is_class_body and frame.owner is not None and name in self.body(frame.owner.node):
                return self.class_attribute(frame.owner, name, node, scope)
            frame = frame.parent
        module = scope.module
        if name in module.bindings:
            return self.forced(self.global_value(module, name))
        if name == "__name__":
            return module.name
        if hasattr(builtins, name):
            return External(f"builtins.{name}")
        found = self.program.defining_module(module.name, name)
        if found is not None:
            return self.forced(self.global_value(*found))
        raise self.refusal(f"{name} is not defined in {module.name}", node, scope)

    def global_value(self, module: Module, name: str) -> Any:
        """The value of a module's global once the module has been run, in-place changes included."""
        key = (module.name, name)
        if key in self._globals:
            return self._globals[key]
        if key in self._building:
            partial = self._building[key].names
            if name in partial:
                return partial[name]
            raise NotLiteral(Unresolved(f"{name} is defined in terms of itself", module.path))
        changes = self._changes_of(module).get(name, [])
        statements_of_name = module.bindings.get(name, [])
        if len(statements_of_name) == 1 and not changes:
            imported = imported_name(module, statements_of_name[0], name)
            if imported is not None:
                value = ImportedName(imported.module, imported.name)
                self._globals[key] = value
                return value
        frame = Scope(module)
        self._building[key] = frame
        try:
            value = self._run_bindings([*statements_of_name, *changes], name, frame)
        finally:
            del self._building[key]
        self._globals[key] = value
        return value

    def _run_bindings(self, binding: list[ast.stmt], name: str, frame: Scope) -> Any:
        """Run the statements that bind or change a name, in order; a class that is rebuilt from itself stays that class."""
        for statement in sorted(binding, key=lambda found: found.lineno):
            before = frame.names.get(name)
            try:
                with self._inside():
                    statements.run_statement(self, statement, frame)
            except NotLiteral as error:
                frame.names[name] = error.unresolved
            except RecursionError:
                frame.names[name] = Unresolved("nested too deeply", frame.module.path, statement.lineno)
            if isinstance(before, ClassValue) and not isinstance(frame.names.get(name), ClassValue):
                frame.names[name] = before
        return frame.names.get(name, Unresolved(f"{name} is never bound", frame.module.path))

    def _changes_of(self, module: Module) -> dict[str, list[ast.stmt]]:
        if module.name not in self._changes:
            self._changes[module.name] = changes_by_name(module)
        return self._changes[module.name]

    def _imported(self, imported: ImportedName) -> Any:
        module = self.program.module(imported.module)
        if imported.name is None:
            if module is not None:
                return ModuleValue(module)
            return self.forced(External(imported.module))
        if module is not None:
            if imported in self._importing:
                raise NotLiteral(Unresolved(f"{imported.name} is imported in a circle", module.path))
            self._importing.add(imported)
            try:
                return self.module_attribute(module, imported.name)
            finally:
                self._importing.discard(imported)
        if self.program.owns(imported.module):
            raise NotLiteral(Unresolved(f"{imported.module} is not in the tree"))
        return self.forced(External(f"{imported.module}.{imported.name}"))

    def module_attribute(self, module: Module, name: str) -> Any:
        if name in module.bindings:
            return self.forced(self.global_value(module, name))
        submodule = self.program.module(f"{module.name}.{name}")
        if submodule is not None:
            return ModuleValue(submodule)
        found = self.program.defining_module(module.name, name)
        if found is not None:
            return self.forced(self.global_value(*found))
        raise NotLiteral(Unresolved(f"{name} is not defined in {module.name}", module.path))

    # -- classes --------------------------------------------------------------------------------------------------------

    def body(self, node: ast.ClassDef) -> dict[str, list[ast.stmt]]:
        """The statements of a class body that bind each name."""
        if node not in self._bodies:
            found: dict[str, list[ast.stmt]] = {}
            for statement in node.body:
                for name in bound_names(statement):
                    found.setdefault(name, []).append(statement)
            self._bodies[node] = found
        return self._bodies[node]

    def lineage(self, cls: ClassValue) -> list[ClassValue | External]:
        """The class and its bases, nearest first (depth first; what cannot be followed is left out)."""
        if cls.node not in self._lineages:
            self._lineages[cls.node] = [cls]
            result: list[ClassValue | External] = [cls]
            for base in cls.node.bases:
                value = self.tolerant(base.value if isinstance(base, ast.Subscript) else base, cls.scope)
                if isinstance(value, ClassValue):
                    result.extend(ancestor for ancestor in self.lineage(value) if ancestor not in result)
                elif isinstance(value, External):
                    result.append(value)
            self._lineages[cls.node] = result
        return self._lineages[cls.node]

    def is_enum(self, cls: ClassValue) -> bool:
        return any(isinstance(base, External) and base.name in ENUM_BASES for base in self.lineage(cls))

    def members(self, cls: ClassValue) -> list[EnumMember]:
        """The members of an enumeration in order. NotLiteral where a value cannot be told."""
        bases = {base.name for base in self.lineage(cls) if isinstance(base, External)}
        result: list[EnumMember] = []
        scope = self.class_scope(cls)
        for statement in cls.node.body:
            if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or not isinstance(statement.targets[0], ast.Name):
                continue
            name = statement.targets[0].id
            if name.startswith("_"):
                continue
            if _is_auto(self, statement.value, scope):
                numbers = [member.value for member in result if isinstance(member.value, int)]
                value: Any = name.lower() if "enum.StrEnum" in bases else max(numbers, default=0) + 1
            else:
                value = self.value(statement.value, scope)
            scope.names[name] = value
            if not isinstance(value, FunctionValue):
                result.append(EnumMember(cls, name, value, bool(bases & TRANSPARENT_BASES)))
        return result

    def class_scope(self, cls: ClassValue) -> Scope:
        return Scope(cls.module, {}, cls.scope, cls, is_class_body=True)

    def class_attribute(self, cls: ClassValue, name: str, node: ast.AST, scope: Scope, receiver: Any = None) -> Any:
        """``cls.name``, or ``receiver.name`` found on its class: methods bound, properties called, field defaults unwrapped."""
        found = self.find_attribute(cls, name, receiver, self.lineage(cls))
        if found is not None:
            return found[0]
        raise self.refusal(f"{cls.name} has no attribute {name}", node, scope)

    def find_attribute(self, cls: ClassValue, name: str, receiver: Any, lineage: list[ClassValue | External]) -> tuple[Any] | None:
        """The attribute in a one-element tuple, None where no class of ``lineage`` that can be read defines it."""
        if receiver is None and self.is_enum(cls):
            for member in self.members(cls):
                if member.name == name:
                    return (member,)
        for ancestor in lineage:
            if isinstance(ancestor, ClassValue) and name in self.body(ancestor.node):
                return (self._own_attribute(ancestor, cls, name, receiver),)
        return None

    def _own_attribute(self, ancestor: ClassValue, cls: ClassValue, name: str, receiver: Any) -> Any:
        last = self.body(ancestor.node)[name][-1]
        if isinstance(last, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return self._method(last, ancestor, cls, receiver)
        key = (ancestor.node, name)
        if key not in self._attributes:
            self._attributes[key] = Unresolved(f"{ancestor.name}.{name} is defined in terms of itself", ancestor.module.path, last.lineno)
            frame = self.class_scope(ancestor)
            value = self._run_bindings(self.body(ancestor.node)[name], name, frame)
            self._attributes[key] = value
            if isinstance(value, Instance):
                self._announce(value, ancestor, name)
        return self.forced(self._attributes[key])

    def _announce(self, value: Instance, owner: ClassValue, name: str) -> None:
        """A descriptor is told its name when its class is made."""
        found = self.find_attribute(value.cls, "__set_name__", value, self.lineage(value.cls))
        if found is not None and isinstance(found[0], FunctionValue):
            try:
                self.call(found[0], [owner, name], {}, value.cls.node, value.cls.scope)
            except NotLiteral as error:
                self.notes.append(error.unresolved)

    def _method(self, node: ast.FunctionDef | ast.AsyncFunctionDef, ancestor: ClassValue, cls: ClassValue, receiver: Any) -> Any:
        decorators = {decorator.id for decorator in node.decorator_list if isinstance(decorator, ast.Name)}
        decorators |= {decorator.attr for decorator in node.decorator_list if isinstance(decorator, ast.Attribute)}
        if "staticmethod" in decorators:
            return FunctionValue(node, ancestor.scope, owner=ancestor)
        if "classmethod" in decorators:
            return FunctionValue(node, ancestor.scope, receiver=cls, owner=ancestor)
        function = FunctionValue(node, ancestor.scope, receiver=receiver, owner=ancestor)
        if receiver is not None and decorators & {"property", "cached_property"}:
            return self.call(function, [], {}, node, ancestor.scope)
        return function

    # -- fields ---------------------------------------------------------------------------------------------------------

    def fields(self, cls: ClassValue) -> Iterator[tuple[ast.AnnAssign, ClassValue]]:
        """The annotated fields of a class, bases first as a dataclass orders them, each with the class that declares it."""
        declared: dict[str, tuple[ast.AnnAssign, ClassValue]] = {}
        for ancestor in reversed(self.lineage(cls)):
            if isinstance(ancestor, ClassValue):
                for statement in ancestor.node.body:
                    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                        declared[statement.target.id] = (statement, ancestor)
        yield from declared.values()

    def field_default(self, statement: ast.AnnAssign, owner: ClassValue) -> ast.expr | None:
        """The expression of a field's default: of its factory's result where it has a factory. None without default."""
        value = statement.value
        if isinstance(value, ast.Call):
            maker = self.tolerant(value.func, owner.scope)
            if isinstance(maker, External) and maker.name in FIELD_MAKERS:
                return field_maker_default(value)
        return value


def field_maker_default(call: ast.Call) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == "default":
            return keyword.value
        if keyword.arg in ("default_factory", "factory"):
            return ast.copy_location(ast.Call(func=keyword.value, args=[], keywords=[]), keyword.value)
    return None


def _is_auto(evaluator: Evaluator, expression: ast.expr, scope: Scope) -> bool:
    if not isinstance(expression, ast.Call):
        return False
    return bool(evaluator.tolerant(expression.func, scope) == External("enum.auto"))
