"""SGLang's special objects for the interpreter: the options, the namespaces, the environment, the platform.

Everything here is read from ``rules/sglang``; this module only knows what kinds of objects there are.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from sm_gatecheck.evaluate.classes import ABSTRACT, abstract_instance
from sm_gatecheck.evaluate.values import (
    Choice,
    ClassValue,
    EnumMember,
    External,
    FunctionValue,
    Instance,
    Known,
    Opaque,
    OptionValue,
    Sequence,
    Truth,
    Value,
    fields_of,
    is_constant,
)
from sm_gatecheck.model.condition import Condition, Space
from sm_gatecheck.program.modules import Program
from sm_gatecheck.target.environment import Environment
from sm_gatecheck.target.platform import Platform
from sm_gatecheck.target.reading import Reading
from sm_gatecheck.target.relevance import Relevance

if TYPE_CHECKING:
    from sm_gatecheck.evaluate.frames import Frame
    from sm_gatecheck.evaluate.interpreter import Interpreter

OPTIONS = "options"
NAMESPACE = "namespace"
ENVIRONMENT = "environment"
VARIABLE = "variable"
GET_OPTION = "gatecheck.get option"
FACTORY_LINES = 40
TINY_LINES = 4
_WORD = re.compile(r"\w+")


class SglangWorld:
    """The ``World`` of an SGLang tree.

    ``options`` maps each field to what its value is: symbolic (``OptionValue``) when every value is judged at once, a
    constant where a setting is given.
    """

    def __init__(
        self,
        program: Program,
        space: Space,
        reading: Reading,
        platform: Platform,
        environment: Environment,
        options: Mapping[str, Value],
    ) -> None:
        self.program = program
        self.space = space
        self.reading = reading
        self.platform = platform
        self.environment = environment
        self.options = options
        facts = (*platform.facts.values, *platform.facts.calls)
        roots = reading.device_roots + reading.option_roots + reading.environment_roots + reading.platform_roots
        self.relevance = Relevance(program, roots, facts)
        self.asks_device = Relevance(
            program, reading.device_roots, [fact for fact in facts if fact.rsplit(".", 1)[-1] in reading.device_roots]
        )
        self.follows: Callable[[Frame, FunctionValue, tuple[Value, ...]], bool] = lambda frame, function, args: False
        self.on_store: Callable[[Frame, Instance, str, Value, ast.AST], bool] | None = None
        self.facts: dict[str, Any] = {}
        self.does_something: Callable[[str], bool] = lambda name: False
        self._options_object: Instance | None = None
        platform.environment = lambda name, default: environment.read(name, "str", default)

    # -- other packages ---------------------------------------------------------------------------------------------

    def external_value(self, dotted: str) -> Value | None:
        return self.platform.value(dotted)

    def external_call(
        self, interpreter: Interpreter, dotted: str, args: tuple[Value, ...], keywords: dict[str, Value], text: str
    ) -> Value | None:
        if dotted == GET_OPTION and args and isinstance(args[0], Known) and isinstance(args[0].value, str):
            return self.options.get(args[0].value)
        return self.platform.call(dotted, args, text)

    def external_exists(self, dotted: str) -> bool | None:
        return self.platform.exists(dotted)

    def external_contains(self, dotted: str, text: str) -> Condition | None:
        return self.platform.contains(dotted, text)

    def never_fails(self, name: str) -> bool:
        return self.platform.never_fails(name)

    def importable(self, module: str) -> bool | None:
        return self.platform.importable(module)

    # -- the tree's own special names ---------------------------------------------------------------------------------

    def options_object(self, interpreter: Interpreter) -> Instance:
        """The one object that holds the options, of the tree's own class when it can be found."""
        if self._options_object is None:
            cls: ClassValue | None = None
            for dotted in sorted(self.reading.option_classes):
                cls = cls or interpreter.class_named(dotted)
            self._options_object = Instance(cls, OPTIONS, escaped=True)
        return self._options_object

    def global_value(self, interpreter: Interpreter, module: str, name: str) -> Value | None:
        dotted = f"{module}.{name}"
        if dotted in self.reading.option_dictionaries:
            return self.options_object(interpreter)
        if dotted in self.reading.environment_holders:
            return Instance(None, ENVIRONMENT)
        for class_name in self.platform.facts.objects.get(dotted, ()):
            cls = interpreter.class_named(class_name)
            if cls is not None:
                return Instance(cls, escaped=True)
        return None

    def function_call(
        self,
        interpreter: Interpreter,
        function: FunctionValue,
        args: tuple[Value, ...],
        keywords: dict[str, Value],
        node: ast.Call | None,
        frame: Frame,
    ) -> Value | None:
        if function.owner is not None:
            return None
        dotted = f"{function.module.name}.{function.qualname}"
        if dotted in self.platform.facts.calls:
            return self.platform.call(dotted, args, "")
        if dotted in self.reading.option_functions:
            return args[0] if args and isinstance(args[0], Instance) else self.options_object(interpreter)
        if dotted in self.reading.namespace_functions:
            return Instance(None, NAMESPACE)
        reader = self.reading.environment_functions.get(function.qualname)
        if reader is not None and args and isinstance(args[0], Known) and isinstance(args[0].value, str):
            default = args[1] if len(args) > 1 else keywords.get("default", Known(reader.default))
            return self.environment.read(args[0].value, reader.kind, default)
        return None

    def instantiate(self, interpreter: Interpreter, cls: ClassValue, args: tuple[Value, ...], keywords: dict[str, Value]) -> Value | None:
        return None

    def attribute(self, interpreter: Interpreter, receiver: Instance, name: str) -> Value | None:
        if receiver.name == OPTIONS:
            return External(GET_OPTION) if name == "get" else self.options.get(name)
        if receiver.name == NAMESPACE:
            return self.options.get(name) or receiver
        if receiver.name == ENVIRONMENT:
            return Instance(None, f"{VARIABLE} {name}")
        if receiver.name.startswith(VARIABLE) and name in (*self.reading.environment_reads, *self.reading.environment_set_tests):
            return self._variable_reader(interpreter, receiver.name.split()[1], name)
        return None

    def _variable_reader(self, interpreter: Interpreter, variable: str, method: str) -> Value:
        from sm_gatecheck.evaluate.calls import IDENTITY
        from sm_gatecheck.evaluate.values import Partial

        if method in self.reading.environment_set_tests:
            return Partial(IDENTITY, (self.environment.is_set(variable),), ())
        kind, default = self._descriptor(interpreter, variable)
        return Partial(IDENTITY, (self.environment.read(variable, kind, default),), ())

    def _descriptor(self, interpreter: Interpreter, variable: str) -> tuple[str, Value]:
        """The kind and default that the holder's class declares for a variable."""
        for holder in self.reading.environment_holders:
            module = self.program.module(holder.rpartition(".")[0])
            for statement in [] if module is None else module.syntax.body:
                if not isinstance(statement, ast.ClassDef):
                    continue
                for line in statement.body:
                    if isinstance(line, ast.Assign) and any(isinstance(t, ast.Name) and t.id == variable for t in line.targets):
                        return self._declared(interpreter, line.value, module)
        return "str", Known(None)

    def _declared(self, interpreter: Interpreter, call: ast.expr, module: Any) -> tuple[str, Value]:
        from sm_gatecheck.evaluate.frames import Frame

        if not isinstance(call, ast.Call):
            return "str", Known(None)
        descriptor = interpreter.text(call.func, module)
        kind = next((kind for prefix, kind in self.reading.environment_descriptors.items() if descriptor.startswith(prefix)), "str")
        default = interpreter.evaluate(call.args[0], Frame(module, "", self.space.true)) if call.args else Known(None)
        return kind, default if not isinstance(default, Choice) and is_constant(default) else Known(None)

    def stored(self, interpreter: Interpreter, frame: Frame, receiver: Instance, name: str, value: Value, node: ast.AST) -> bool:
        if self.on_store is not None:
            return self.on_store(frame, receiver, name, value, node)
        return receiver.name in (OPTIONS, ABSTRACT)

    def item(self, interpreter: Interpreter, receiver: Value, key: Value) -> Value | None:
        if isinstance(receiver, Instance) and receiver.name == OPTIONS and isinstance(key, Known) and isinstance(key.value, str):
            return self.options.get(key.value)
        return None

    def is_instance(self, interpreter: Interpreter, receiver: Instance, kind: Value) -> bool | None:
        return None

    def equal(self, left: Value, right: Value) -> Condition | None:
        return None

    def unknown_attribute(self, interpreter: Interpreter, name: str) -> Value | None:
        if name in self.reading.option_attributes:
            return self.options_object(interpreter)
        fact = self.reading.listed_facts.get(name)
        return None if fact is None else self._listed(fact)

    def _listed(self, fact: str) -> Value:
        """A list of which only the first item is known by name."""
        value = self.facts.get(fact)
        return Sequence("list", (OptionValue(fact, fact) if value is None else Known(value),))

    def parameter(self, interpreter: Interpreter, function: FunctionValue, name: str, annotation: str | None) -> Value | None:
        if name in self.reading.option_parameters or (annotation and self.reading.option_annotations & set(_WORD.findall(annotation))):
            return self.options_object(interpreter)
        dotted = self.reading.parameter_classes.get(name)
        cls = None if dotted is None else interpreter.class_named(dotted)
        return None if cls is None else abstract_instance(interpreter, cls)

    def receiver(self, interpreter: Interpreter, cls: ClassValue) -> Value | None:
        holder = self.options_object(interpreter)
        return holder if holder.cls is cls else None

    def worth_following(self, function: FunctionValue, args: tuple[Value, ...] = ()) -> bool:
        if any(_carries(arg) for arg in args):
            return True
        if args and isinstance(args[0], ClassValue) and (function.node.end_lineno or 0) - function.node.lineno < FACTORY_LINES:
            return True  # a class method that hands out an object of its class
        if (function.node.end_lineno or 0) - function.node.lineno <= TINY_LINES:
            return True
        return self.relevance.of(function)

    def follow_effects(self, frame: Frame, function: FunctionValue, args: tuple[Value, ...]) -> bool:
        return self.follows(frame, function, args)

    def acts(self, name: str) -> bool:
        return self.does_something(name)

    def replay(self, frame: Frame, function: FunctionValue, args: tuple[Value, ...], keywords: dict[str, Value]) -> Value | None:
        return None

    def finished(self, frame: Frame, result: Value) -> None:
        return None


def _carries(value: Value) -> bool:
    """Whether a value lets a callee's answer depend on an option or the target."""
    if isinstance(value, (OptionValue, EnumMember, Truth, Choice)):
        return True
    return not isinstance(value, (Known, Opaque, Instance)) and bool(fields_of(value))
