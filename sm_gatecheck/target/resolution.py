"""Resolution as it runs: the tree's own code applied to an options object, step by step, for all SMs at once.

The object starts with the declared defaults and the given settings. Every write keeps its path condition, so at the end each
field is a guarded value: what it becomes on each SM, and under which remaining condition.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from sm_gatecheck.evaluate.calls import run_function
from sm_gatecheck.evaluate.frames import Event, EventKind, Frame, Guard, guarded_write
from sm_gatecheck.evaluate.interpreter import BudgetExceeded, Interpreter
from sm_gatecheck.evaluate.values import ClassValue, FunctionValue, Instance, Known, Opaque, Value, from_python
from sm_gatecheck.evaluate.values import Mapping as MappingValue
from sm_gatecheck.model.condition import Condition
from sm_gatecheck.model.gaps import Reason
from sm_gatecheck.program.modules import Module
from sm_gatecheck.rulebook import Rulebook
from sm_gatecheck.target.replay import Replay
from sm_gatecheck.target.world import SglangWorld

RESOLVING = "resolving"
HELPER_LINES = 40
_RECEIVER = "the options object"


@dataclass(frozen=True)
class ResolutionRules:
    """``sglang/resolution.toml``."""

    entries: tuple[tuple[str, str, SpecifierSet], ...]
    classes: frozenset[str]
    files: tuple[str, ...]
    declares: frozenset[str]
    passes: frozenset[str]
    hooks: frozenset[str]
    skipped: frozenset[str]


def load_resolution_rules(rules: Rulebook) -> ResolutionRules:
    document = rules.read("sglang/resolution.toml")
    return ResolutionRules(
        tuple((row["class"], row["method"], SpecifierSet(row.get("versions", ""))) for row in document["entry"]),
        frozenset(document["code"]["classes"]),
        tuple(document["code"]["files"]),
        frozenset(document["declare"]["fields"]),
        frozenset(document["declare"]["passes"]),
        frozenset(document["declare"]["hooks"]),
        frozenset(document["skip"]["functions"]),
    )


@dataclass(frozen=True)
class Write:
    """Resolution storing ``value`` in ``field`` under ``condition``, after passing ``guards``."""

    field: str
    value: Value
    condition: Condition
    module: Module
    node: ast.AST
    guards: tuple[Guard, ...] = ()


@dataclass
class Outcome:
    """What resolution left: each field's final value, the writes in order, and what else happened on the way."""

    fields: dict[str, Value]
    writes: list[Write] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    unfinished: str | None = None
    left: Reason | None = None


class _Listener:
    def __init__(self, outcome: Outcome) -> None:
        self._outcome = outcome

    def wants(
        self, kind: EventKind, name: str, condition: Condition, values: tuple[Value, ...], keywords: tuple[tuple[str, Value], ...]
    ) -> bool:
        return kind in ("raise", "assert", "key_error", "environment") or (kind == "call" and _logs(name))

    def record(self, event: Event) -> None:
        self._outcome.events.append(event)


def _logs(name: str) -> bool:
    return name.startswith(("logger.", "logging.", "warnings."))


class ResolvingWorld(SglangWorld):
    """The world while resolution runs: the options object is an ordinary object whose attributes change."""

    def __init__(self, rules: ResolutionRules, *args: Any) -> None:
        super().__init__(*args)
        self.rules = rules
        self.memory = Replay()
        self.instance = Instance(None, RESOLVING)
        self.outcome = Outcome({})

    def start(self, instance: Instance, outcome: Outcome) -> None:
        self.instance, self.outcome = instance, outcome
        self.memory.abandon()
        self._options_object = instance
        self.follows = self._concerns

    def _concerns(self, frame: Frame, function: FunctionValue, args: tuple[Value, ...]) -> bool:
        return any(arg is self.instance for arg in args) and function.qualname.rsplit(".", 1)[-1] not in self.rules.skipped

    def attribute(self, interpreter: Interpreter, receiver: Instance, name: str) -> Value | None:
        if receiver is self.instance:
            return self._read(name)
        if receiver.name == "namespace":
            return self._read(name) or receiver
        return super().attribute(interpreter, receiver, name)

    def item(self, interpreter: Interpreter, receiver: Value, key: Value) -> Value | None:
        if receiver is self.instance and isinstance(key, Known) and isinstance(key.value, str):
            return self._read(key.value)
        return None

    def worth_following(self, function: FunctionValue, args: tuple[Value, ...] = ()) -> bool:
        """Here nearly everything is known: resolution's own helpers, and short functions of others, give plain answers."""
        short = (function.node.end_lineno or 0) - function.node.lineno <= HELPER_LINES
        return short or function.module.path.startswith(self.rules.files) or super().worth_following(function, args)

    def _read(self, name: str) -> Value | None:
        value = self.instance.attributes.get(name)
        self.memory.note_read(name, value)
        return value

    def replay(self, frame: Frame, function: FunctionValue, args: tuple[Value, ...], keywords: dict[str, Value]) -> Value | None:
        key: Hashable = (
            id(function.node),
            tuple(_RECEIVER if arg is self.instance else arg for arg in args),
            tuple(keywords.items()),
            id(frame.pc),
            bool(frame.catches),
        )
        try:
            step = self.memory.find(key, self.instance.attributes)
        except TypeError:
            step, key = None, (id(function.node), object(), (), 0, False)
        if step is None:
            self.memory.begin(key, len(self.outcome.events), len(self.outcome.writes))
            return None
        for name, value, condition in step.stores:
            self._apply(name, value, condition)
        self.outcome.events.extend(step.events)
        self.outcome.writes.extend(step.writes)
        self.memory.absorb(step)
        frame.pc = step.pc
        return step.result

    def finished(self, frame: Frame, result: Value) -> None:
        self.memory.finish(self.outcome.events, self.outcome.writes, result, frame.pc)

    def _apply(self, name: str, value: Value, condition: Condition) -> None:
        fallback = Opaque(f"9:{name}", name)
        self.instance.attributes[name] = guarded_write(condition, value, self.instance.attributes.get(name), fallback)

    def function_call(
        self,
        interpreter: Interpreter,
        function: FunctionValue,
        args: tuple[Value, ...],
        keywords: dict[str, Value],
        node: ast.Call | None,
        frame: Frame,
    ) -> Value | None:
        dotted = f"{function.module.name}.{function.qualname}"
        if args and args[0] is self.instance:
            if dotted in self.rules.declares:
                for name, value in keywords.items():
                    self.declare(interpreter, frame, name, value, node or function.node)
                return Known(None)
            if dotted in self.rules.passes and len(args) >= 2:
                declared = interpreter.call(args[1], (self.instance, *args[2:]), keywords, frame, node)
                self._declare_all(interpreter, frame, declared, node or function.node)
                return Known(None)
        if dotted in self.rules.hooks and len(args) >= 2:
            return interpreter.call(args[0], args[1:], keywords, frame, node)
        return super().function_call(interpreter, function, args, keywords, node, frame)

    def _declare_all(self, interpreter: Interpreter, frame: Frame, declared: Value, node: ast.AST) -> None:
        from sm_gatecheck.evaluate.values import alternatives

        before = frame.pc
        for condition, payload in alternatives(declared, self.space.true):
            frame.pc = before & condition
            if frame.pc.is_false or not isinstance(payload, MappingValue):
                continue
            for key, value in payload.entries:
                if isinstance(key, Known) and isinstance(key.value, str):
                    self.declare(interpreter, frame, key.value, value, node)
        frame.pc = before

    def declare(self, interpreter: Interpreter, frame: Frame, name: str, value: Value, node: ast.AST) -> None:
        """Write a field as the running code does, and remember who did."""
        if name in self.options:
            self.outcome.writes.append(Write(name, value, frame.pc, frame.module, node, tuple(frame.guards)))
        self.memory.note_store(name, value, frame.pc)
        self._apply(name, value, frame.pc)

    def stored(self, interpreter: Interpreter, frame: Frame, receiver: Instance, name: str, value: Value, node: ast.AST) -> bool:
        if receiver is not self.instance:
            return False
        self.declare(interpreter, frame, name, value, node)
        return True


class Resolver:
    """Runs resolution for one tree under one context; ``make_world`` builds a fresh world for a run."""

    def __init__(
        self, interpreter: Interpreter, world: ResolvingWorld, rules: ResolutionRules, defaults: Mapping[str, Any], version: str | None
    ) -> None:
        self._interpreter = interpreter
        self._world = world
        self._rules = rules
        self._defaults = defaults
        self._version = version

    def run(self, settings: Mapping[str, Any]) -> Outcome:
        """Resolve the declared defaults with ``settings`` over them. Values are Python data, or guarded values."""
        cls = self._class()
        instance = Instance(cls, RESOLVING)
        for name, value in {**self._defaults, **settings}.items():
            instance.attributes[name] = _as_value(name, value)
        outcome = Outcome(instance.attributes)
        if cls is None:
            outcome.unfinished, outcome.left = "the options class was not found", Reason.NO_RESOLUTION
            return outcome
        self._world.start(instance, outcome)
        interpreter = self._interpreter
        interpreter.steps = 0
        frame = Frame(cls.module, "", interpreter.space.true, recorder=_Listener(outcome))
        try:
            for dotted, method, versions in self._rules.entries:
                if self._applies(versions):
                    self._enter(cls, dotted, method, frame, instance)
        except (BudgetExceeded, RecursionError) as error:
            outcome.unfinished, outcome.left = f"resolution was not followed to its end: {error}", Reason.RESOLUTION_STEPS
        return outcome

    def _applies(self, versions: SpecifierSet) -> bool:
        if not self._version or not str(versions):
            return True
        try:
            return versions.contains(Version(self._version), prereleases=True)
        except InvalidVersion:
            return True

    def _enter(self, cls: ClassValue, dotted: str, method: str, frame: Frame, instance: Instance) -> None:
        found = self._interpreter.find_member(cls, method)
        if found is None or not isinstance(found[1][-1], (ast.FunctionDef, ast.AsyncFunctionDef)):
            return
        owner, node = found[0], found[1][-1]
        assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        function = FunctionValue(owner.module, node, owner, None, f"{owner.qualname}.{method}")
        run_function(self._interpreter, function, (instance,), {}, frame, None, effectful=True)

    def _class(self) -> ClassValue | None:
        found = (self._interpreter.class_named(dotted) for dotted, _, _ in self._rules.entries)
        return next((cls for cls in found if cls is not None), None)


def _as_value(name: str, value: Any) -> Value:
    if isinstance(value, (Known, Opaque)) or type(value).__module__.endswith("evaluate.values"):
        return value  # type: ignore[no-any-return]
    payload = from_python(value)
    return Opaque(f"9:{name}", name) if payload is None else payload
