"""The world while resolution runs: the options object, the environment and the objects made on the way change.

All of that is kept in one place (``Outcome.state``), so that a step can be replayed by what it read and wrote there.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Mapping
from functools import cached_property
from typing import Any

from sm_gatecheck.evaluate.classes import class_attribute, instance_attribute, is_record
from sm_gatecheck.evaluate.expressions import sequence_items
from sm_gatecheck.evaluate.frames import Event, EventKind, Frame, guarded_write
from sm_gatecheck.evaluate.interpreter import Interpreter
from sm_gatecheck.evaluate.operations import compare, lift
from sm_gatecheck.evaluate.values import (
    ClassValue,
    External,
    FunctionValue,
    Instance,
    Known,
    Opaque,
    Payload,
    Sequence,
    Value,
    alternatives,
    choice,
    is_constant,
    payloads,
    to_python,
)
from sm_gatecheck.evaluate.values import Mapping as MappingValue
from sm_gatecheck.model.condition import Condition
from sm_gatecheck.target.environment import PREFIX
from sm_gatecheck.target.files import PATH, ModelFiles
from sm_gatecheck.target.model_config import CONFIGURATION, ModelRules, configuration
from sm_gatecheck.target.outcome import INNER, Outcome, Write
from sm_gatecheck.target.replay import Replay
from sm_gatecheck.target.resolution_rules import ResolutionRules
from sm_gatecheck.target.world import VARIABLE, SglangWorld

RESOLVING = "resolving"
HELPER_LINES = 40
_RECEIVER = "the options object"
_PROCESS = External("os.environ")


class ResolvingWorld(SglangWorld):
    """``model_config`` is the model's configuration as its file has it, ``gpu_memory`` in MiB; None: not known."""

    def __init__(
        self, rules: ResolutionRules, model: ModelRules, model_config: Mapping[str, Any] | None, gpu_memory: int | None, *args: Any
    ) -> None:
        super().__init__(*args)
        self.rules = rules
        self.model = model
        self.model_config = model_config
        self.gpu_memory = gpu_memory
        self.memory = Replay()
        self.instance = Instance(None, RESOLVING)
        self.outcome = Outcome()
        self.environment.current = self._variable
        self.interpreter: Interpreter | None = None
        self.traced_variables: set[str] = set()
        self.hidden_variables: set[str] = set()
        """Variables that were read, and those read where a later run may not see it: by an import, or by a call that is remembered."""
        self.files: ModelFiles | None = None

    @cached_property
    def knows_model(self) -> bool:
        """Whether anything is known of the model: its configuration, or a fact such as its architecture."""
        return self.model_config is not None or bool(self.facts)

    @cached_property
    def _followed(self) -> tuple[str, ...]:
        return self.rules.files + (self.model.files if self.knows_model else ())

    def start(self, instance: Instance, outcome: Outcome) -> None:
        """Begin a run: ``outcome.state`` holds the fields as given."""
        self.instance, self.outcome = instance, outcome
        self.memory.abandon()
        self._options_object = instance
        self.follows = self._concerns
        path = outcome.state.get(self.model.path_field)
        if self.knows_model and isinstance(path, Known) and isinstance(path.value, str):
            self.files = ModelFiles(path.value)

    def external_call(
        self, interpreter: Interpreter, dotted: str, args: tuple[Value, ...], keywords: dict[str, Value], text: str
    ) -> Value | None:
        if dotted in ("copy.copy", "copy.deepcopy") and args and all(map(_is_object, payloads(args[0]))):
            return choice([(held, self._copy(record)) for held, record in alternatives(args[0], self.space.true)], Known(None))
        if dotted in ("dataclasses.replace", "msgspec.structs.replace") and args and all(map(_is_object, payloads(args[0]))):
            return choice([(held, self._changed(record, keywords)) for held, record in alternatives(args[0], self.space.true)], Known(None))
        if dotted == "dataclasses.is_dataclass" and args:
            cls = args[0].cls if isinstance(args[0], Instance) else args[0]
            return Known(is_record(cls.node)) if isinstance(cls, ClassValue) else None
        found = None if self.files is None or keywords else self.files.call(dotted, args)
        return found or super().external_call(interpreter, dotted, args, keywords, text)

    # -- what is followed -----------------------------------------------------------------------------------------------

    def _concerns(self, frame: Frame, function: FunctionValue, args: tuple[Value, ...]) -> bool:
        name = function.qualname.rsplit(".", 1)[-1]
        if name in self.rules.skipped and not self.knows_model:
            return False
        if function.module.path.startswith(self.rules.files) and not frame.asking:
            return True  # a check of resolution's own, whatever it is given: what it refuses, resolution refuses
        return any(arg is self.instance or self._is_own(arg) for arg in (*args, *(function.closure or {}).values()))

    def _is_own(self, value: Value) -> bool:
        """Whether a value is an object made by the code that is run, so that what is stored on it is part of the run."""
        if not isinstance(value, Instance) or value.escaped:
            return False
        return value.name == CONFIGURATION or (value.cls is not None and value.cls.module.path.startswith(self._followed))

    def worth_following(self, function: FunctionValue, args: tuple[Value, ...] = ()) -> bool:
        """Here nearly everything is known: resolution's own helpers, and short functions of others, give plain answers."""
        short = (function.node.end_lineno or 0) - function.node.lineno <= HELPER_LINES
        return short or function.module.path.startswith(self._followed) or super().worth_following(function, args)

    # -- state ------------------------------------------------------------------------------------------------------------

    def attribute(self, interpreter: Interpreter, receiver: Instance, name: str) -> Value | None:
        if receiver is self.instance:
            return self._read(name)
        if receiver.name == "namespace":
            return self._read(name) or receiver
        if receiver.name == PATH and self.files is not None:
            return self.files.attribute(receiver, name)
        if receiver.name in ("", CONFIGURATION):
            held = self._read((receiver, name))
            if held is not None:
                return held
        return super().attribute(interpreter, receiver, name)

    def item(self, interpreter: Interpreter, receiver: Value, key: Value) -> Value | None:
        if receiver is self.instance and isinstance(key, Known) and isinstance(key.value, str):
            return self._read(key.value)
        return None

    def _read(self, key: Hashable) -> Value | None:
        value = self.outcome.state.get(key)
        self.memory.note_read(key, value)
        return value

    def _variable(self, field: str) -> Value:
        interpreter = self.interpreter
        is_traced = interpreter is not None and not interpreter.remembering and not interpreter.is_importing
        (self.traced_variables if is_traced else self.hidden_variables).add(field)
        return self._read(field) or Known(None)

    def _apply(self, key: Hashable, value: Value, condition: Condition) -> None:
        old = self.outcome.state.get(key)
        if old is None and isinstance(key, str) and key.startswith(PREFIX):
            old = Known(None)
        name = key if isinstance(key, str) else str(key[1]) if isinstance(key, tuple) else "?"
        self.outcome.state[key] = guarded_write(condition, value, old, Opaque(f"9:{name}", name))

    def declare(self, frame: Frame, name: str, value: Value, node: ast.AST) -> None:
        """Write a field as the running code does, and remember who did."""
        if name in self.options or name.startswith(PREFIX):
            self.outcome.writes.append(Write(name, value, frame.pc, frame.module, node, tuple(frame.guards)))
        self._store(name, value, frame.pc)

    def _store(self, key: Hashable, value: Value, condition: Condition) -> None:
        self.memory.note_store(key, value, condition)
        self._apply(key, value, condition)

    def stored(self, interpreter: Interpreter, frame: Frame, receiver: Instance, name: str, value: Value, node: ast.AST) -> bool:
        if receiver is self.instance:
            if name in self.rules.stashes:
                self.declare_pairs(frame, value, node)
            self.declare(frame, name, value, node)
            return True
        if frame.recorder is None or receiver.name not in ("", CONFIGURATION) or receiver.transient:
            return False
        key = (receiver, name)
        if key not in self.outcome.state:
            old = instance_attribute(interpreter, receiver, name, frame) if receiver.cls is not None else receiver.attributes.get(name)
            if old is not None:
                self._store(key, old, self.space.true)
        self.outcome.writes.append(Write(f"{INNER}{name}", value, frame.pc, frame.module, node, tuple(frame.guards)))
        self._store(key, value, frame.pc)
        return True

    def is_instance(self, interpreter: Interpreter, receiver: Instance, kind: Value) -> bool | None:
        """A configuration is of the class that is declared for its model type, and of the one that all of them derive from."""
        if receiver.name != CONFIGURATION:
            return None
        if isinstance(kind, ClassValue):
            declared = class_attribute(interpreter, kind, self.model.type_entry)
            return isinstance(declared, Known) and declared == receiver.attributes.get(self.model.type_entry)
        return True if isinstance(kind, External) and kind.dotted.rsplit(".", 1)[-1] in self.model.base_classes else None

    def equal(self, left: Value, right: Value) -> Condition | None:
        """Objects of one class of records are equal where all of their fields are."""
        if not (isinstance(left, Instance) and isinstance(right, Instance) and _is_object(left) and _is_object(right)):
            return None
        if left is right or left.cls is not right.cls or left.cls is None or not is_record(left.cls.node):
            return self.space.true if left is right else None
        result = self.space.true
        for name in dict.fromkeys((*self.outcome.names(left), *self.outcome.names(right))):
            a, b = self._field(left, name), self._field(right, name)
            held = self.equal(a, b)
            unknown = Opaque(f"9:{name}=={name}", f"{name} is the same")
            result = result & (compare(self.space, ast.Eq(), a, b, _made(unknown)) if held is None else held)
        return result

    def _field(self, record: Instance, name: str) -> Value:
        self._read((record, name))
        return self.outcome.held(record, name)

    def external_contains(self, dotted: str, text: str) -> Condition | None:
        if dotted == _PROCESS.dotted:
            return ~compare(self.space, ast.Is(), self._variable(PREFIX + text), Known(None), lambda: Opaque(f"9:{PREFIX}{text}", text))
        return super().external_contains(dotted, text)

    def _changed(self, original: Payload, changes: Mapping[str, Value]) -> Instance:
        made = self._copy(original)
        for name, value in changes.items():
            self._store((made, name), value, self.space.true)
        return made

    def _copy(self, original: Payload) -> Instance:
        assert isinstance(original, Instance)
        made = Instance(original.cls, original.name, dict(original.attributes), original.escaped)
        for name, value in original.attributes.items():
            if isinstance(value, Instance) and _is_object(value):
                made.attributes[name] = self._copy(value)
        names = [key[1] for key in self.outcome.state if isinstance(key, tuple) and key[0] is original]
        for name in names:
            held = self._read((original, name))
            if held is not None:
                inner = self._copy(held) if isinstance(held, Instance) and _is_object(held) else held
                self._store((made, name), inner, self.space.true)
        return made

    # -- replay -----------------------------------------------------------------------------------------------------------

    def replay(self, frame: Frame, function: FunctionValue, args: tuple[Value, ...], keywords: dict[str, Value]) -> Value | None:
        key: Hashable = (
            id(function.node),
            tuple(_RECEIVER if arg is self.instance else arg for arg in args),
            tuple(keywords.items()),
            tuple(value for value in (function.closure or {}).values() if self._is_own(value)),
            id(frame.pc),
            bool(frame.catches),
        )
        try:
            step = self.memory.find(key, self.outcome.state)
        except TypeError:
            step, key = None, (id(function.node), object(), (), (), 0, False)
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

    # -- functions that the rules describe ----------------------------------------------------------------------------------

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
                    self.declare(frame, name, value, node or function.node)
                return Known(None)
            if dotted in self.rules.passes and len(args) >= 2:
                declared = interpreter.call(args[1], (self.instance, *args[2:]), keywords, frame, node)
                self.declare_all(frame, declared, node or function.node)
                return Known(None)
        if dotted in self.rules.hooks and len(args) >= 2:
            return interpreter.call(args[0], args[1:], keywords, frame, node)
        if self.gpu_memory is not None and dotted in self.model.memory:
            return Known(float(self.gpu_memory))
        if self.model_config is not None:
            if dotted in self.model.loaders:
                return configuration(self.model_config, self.model)
            if dotted in self.model.empty_loaders:
                return Known(None)
        elif self.knows_model and dotted in self.model.loaders:
            return Opaque("9:hf_config", "hf_config")  # unknown but for the facts
        return super().function_call(interpreter, function, args, keywords, node, frame)

    def declare_pairs(self, frame: Frame, value: Value, node: ast.AST) -> None:
        """Write what a list of (source, fields) pairs declares: it holds from here on."""
        before = frame.pc
        for condition, payload in alternatives(value, self.space.true):
            for pair in sequence_items(payload) or ():
                for held, inner in alternatives(pair, self.space.true):
                    parts = sequence_items(inner)
                    frame.pc = before & condition & held
                    if parts is not None and len(parts) == 2 and not frame.pc.is_false:
                        self.declare_all(frame, parts[1], node)
        frame.pc = before

    def declare_all(self, frame: Frame, declared: Value, node: ast.AST) -> None:
        """Write the fields that a mapping names."""
        before = frame.pc
        for condition, payload in alternatives(declared, self.space.true):
            frame.pc = before & condition
            if frame.pc.is_false or not isinstance(payload, MappingValue):
                continue
            for key, value in payload.entries:
                if isinstance(key, Known) and isinstance(key.value, str):
                    self.declare(frame, key.value, value, node)
        frame.pc = before


class Listener:
    """Hears what the running code does: refusals and warnings are kept, writes to the environment are carried out."""

    def __init__(self, world: ResolvingWorld) -> None:
        self._world = world

    def wants(
        self, kind: EventKind, name: str, condition: Condition, values: tuple[Value, ...], keywords: tuple[tuple[str, Value], ...]
    ) -> bool:
        if kind == "call":
            last = name.rsplit(".", 1)[-1]
            return name.startswith(("logger.", "logging.", "warnings.")) or last in self._writers or self._is_stash(name)
        return kind in ("raise", "assert", "key_error", "environment")

    def _is_stash(self, name: str) -> bool:
        """Whether a call puts declarations where resolution keeps them."""
        holder, _, last = name.rpartition(".")
        return last in ("append", "extend") and holder.rsplit(".", 1)[-1] in self._world.rules.stashes

    @property
    def _writers(self) -> frozenset[str]:
        return self._world.reading.environment_writes | {"setdefault", "pop"}

    def record(self, event: Event) -> None:
        if event.kind == "environment":
            self._write(event, event.values[0], event.values[1])
        elif event.kind == "call" and isinstance(event.receiver, Instance) and event.receiver.name.startswith(VARIABLE):
            if event.name.rsplit(".", 1)[-1] in self._world.reading.environment_writes and event.values:
                self._write(event, Known(event.receiver.name.split()[1]), event.values[0])
        elif event.kind == "call" and self._is_stash(event.name) and event.values:
            given = event.values[0] if event.name.endswith(".extend") else Sequence("list", (event.values[0],))
            self._world.declare_pairs(Frame(event.module, "", event.condition, guards=list(event.guards)), given, event.node)
        elif event.kind != "call" or event.name.startswith(("logger.", "logging.", "warnings.")):
            self._world.outcome.events.append(event)
        elif event.name == "os.environ.setdefault" and len(event.values) == 2:
            self._write(event, event.values[0], event.values[1], only_unset=True)
        elif event.name == "os.environ.pop" and event.values:
            self._write(event, event.values[0], Known(None))

    def _write(self, event: Event, name: Value, value: Value, *, only_unset: bool = False) -> None:
        if not (isinstance(name, Known) and isinstance(name.value, str)):
            return
        world, field = self._world, PREFIX + name.value
        condition = event.condition
        if only_unset:
            unset = world.space.false
            for held, payload in alternatives(world._variable(field), world.space.true):
                unset = unset | held if payload == Known(None) else unset
            condition = condition & unset
            if condition.is_false:
                return
        text = lift(world.space, _as_text, value, lambda: Opaque(f"9:{field}:{event.module.path}", field))
        world.outcome.writes.append(Write(field, text, condition, event.module, event.node, event.guards))
        world._store(field, text, condition)


def _is_object(payload: Payload) -> bool:
    return isinstance(payload, Instance) and (payload.cls is not None or payload.name == CONFIGURATION) and not payload.escaped


def _made(unknown: Opaque) -> Callable[[], Opaque]:
    return lambda: unknown


def _as_text(payload: Payload) -> Payload | None:
    """What the environment keeps of a value."""
    if not is_constant(payload):
        return None
    value = to_python(payload)
    return Known(None if value is None else str(value))


__all__ = ["RESOLVING", "Listener", "ResolvingWorld"]
