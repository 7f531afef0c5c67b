"""One tree under one set of assumptions, with everything that the verdicts ask it for."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from sm_gatecheck.evaluate.frames import Frame
from sm_gatecheck.evaluate.interpreter import Interpreter
from sm_gatecheck.evaluate.values import (
    Choice,
    FunctionValue,
    Known,
    OptionValue,
    Truth,
    Value,
    fields_in,
    fields_of,
    from_python,
    is_constant,
)
from sm_gatecheck.model.condition import Space
from sm_gatecheck.model.option import Option
from sm_gatecheck.model.target import Devices
from sm_gatecheck.model.verdict import EffectKind
from sm_gatecheck.program.mentions import Mentions
from sm_gatecheck.program.modules import Program
from sm_gatecheck.rulebook import Rulebook
from sm_gatecheck.syntax.checking import SyntaxCheck
from sm_gatecheck.target.effects import EffectRules, load_effect_rules
from sm_gatecheck.target.environment import Environment
from sm_gatecheck.target.minimums import Minimums, load_minimums
from sm_gatecheck.target.model_config import load_model_rules
from sm_gatecheck.target.options import OptionTable, read_environment, read_options
from sm_gatecheck.target.platform import Platform, load_facts
from sm_gatecheck.target.reach import Reach
from sm_gatecheck.target.reading import Reading, load_reading
from sm_gatecheck.target.registries import load_registries
from sm_gatecheck.target.resolution import Resolver
from sm_gatecheck.target.resolution_rules import ResolutionRules, load_resolution_rules
from sm_gatecheck.target.resolving import ResolvingWorld
from sm_gatecheck.target.rules import load_devices
from sm_gatecheck.target.scan import Scan
from sm_gatecheck.target.search import Search
from sm_gatecheck.target.world import SglangWorld

RESOLUTION_DEPTH = 24
DEVICE_STEPS = 4
FOLLOW_DEPTH = 3
FOLLOW_LINES = 150


class Session:
    """Parts are made when first asked for and kept. ``settings`` are given option values by field (``env:NAME`` too).

    ``model_config`` is the model's configuration as its file has it, ``gpu_memory`` that of one GPU in MiB; None: not known.
    """

    def __init__(
        self,
        files: Mapping[str, bytes],
        rules: Rulebook,
        *,
        cuda: str,
        settings: Mapping[str, Any],
        version: str | None,
        model_config: Mapping[str, Any] | None = None,
        gpu_memory: int | None = None,
    ) -> None:
        self.rules = rules
        self.cuda = cuda
        self.settings = dict(settings)
        self.version = version
        self.model_config = model_config
        self.gpu_memory = gpu_memory
        self.program = Program(files)
        self.devices: Devices = load_devices(rules)
        self.space = Space(self.devices.sms)
        self.reading: Reading = load_reading(rules)
        self.effects: EffectRules = load_effect_rules(rules)

    def with_model(self, model_config: Mapping[str, Any]) -> Session:
        """The same session for one model: all that does not hang on it is shared, resolution and the facts are its own."""
        session = copy.copy(self)
        session.model_config = model_config
        for part in ("facts", "resolver"):
            session.__dict__.pop(part, None)
        return session

    @cached_property
    def options(self) -> OptionTable:
        return read_options(self.program, self.rules)

    @cached_property
    def variables(self) -> tuple[Option, ...]:
        return tuple(read_environment(self.program, self.rules))

    @cached_property
    def resolution_rules(self) -> ResolutionRules:
        return load_resolution_rules(self.rules)

    def belongs_to_resolution(self, path: str, function: str) -> bool:
        """Whether a function (by its qualified name) is known by running it: it stands in a file of resolution, or is an entry."""
        return path.startswith(self.resolution_rules.files) or (path, function) in self._entered

    @cached_property
    def _entered(self) -> frozenset[tuple[str, str]]:
        """The path and qualified name of every entry that the tree has."""
        entries = (entry for entry in self.resolution_rules.entries if entry.applies_to(self.version))
        found = ((entry, self.interpreter.class_named(entry.owner)) for entry in entries)
        return frozenset((cls.module.path, f"{cls.qualname}.{entry.method}") for entry, cls in found if cls is not None)

    @cached_property
    def mentions(self) -> Mentions:
        return Mentions(self.program, self.reading.left_out)

    @cached_property
    def interpreter(self) -> Interpreter:
        """Options and variables symbolic, unless they are given."""
        given = {name: from_python(value) or OptionValue(name, name) for name, value in self.settings.items()}
        symbolic: dict[str, Value] = {
            option.field: given.get(option.field, OptionValue(option.field, option.field)) for option in self.options
        }
        environment = Environment(self.space, self.reading.true_words, self.settings, unset=False)
        world = SglangWorld(self.program, self.space, self.reading, self._platform(), environment, symbolic)

        world.facts = self.facts
        world.does_something = lambda name: self.effects.kind_of(name) not in (None, EffectKind.WARNS)

        def option_decides(frame: Frame, function: FunctionValue, args: tuple[Value, ...]) -> bool:
            """A call that an option decides, or that is given one, is followed where its body asks for the target; one that is
            told of the target, where it may refuse it."""
            if frame.asking or frame.depth > FOLLOW_DEPTH or (function.node.end_lineno or 0) - function.node.lineno > FOLLOW_LINES:
                return False
            if any(map(_tells_target, args)):
                return True
            return (bool(fields_in(frame.pc)) or any(fields_of(arg) for arg in args)) and world.asks_device.of(function)

        world.follows = option_decides
        return Interpreter(self.program, self.space, world)

    @cached_property
    def scan(self) -> Scan:
        return Scan(self.interpreter, self.program, self.mentions, load_registries(self.rules))

    @cached_property
    def device_names(self) -> frozenset[str]:
        """Names in the source from which the target can be reached."""
        return self.mentions.reaching(self.reading.device_roots, DEVICE_STEPS)

    @cached_property
    def syntax_check(self) -> SyntaxCheck:
        """Started when first asked for; its answer is waited for when that is asked for."""
        return SyntaxCheck({module.path: module.source for module in self.program.modules()})

    @cached_property
    def left_out(self) -> frozenset[str]:
        """The paths of files of which something does not parse."""
        return frozenset(diagnostic.file for diagnostic in self.syntax_check.result)

    @cached_property
    def minimums(self) -> Minimums:
        return Minimums(self.interpreter, load_minimums(self.rules))

    @cached_property
    def search(self) -> Search:
        reading = self.reading
        options = self.mentions.reaching(reading.option_roots + reading.environment_roots, 1)
        classes = (self.interpreter.class_named(dotted) for dotted in sorted(reading.option_classes))
        files = {cls.module.path for cls in classes if cls is not None}
        return Search(self.scan, self.program, self.mentions, reading.device_roots, options, files)

    @cached_property
    def reach(self) -> Reach:
        return Reach(self.program, self.mentions, self.scan, self.reading.transparent_decorators)

    @cached_property
    def resolver(self) -> Resolver:
        """Resolution with variables unset and options at their declared defaults, unless given."""
        return self.resolver_under({})

    def resolver_under(self, variables: Mapping[str, Any]) -> Resolver:
        """The same with variables that one launch sets (``env:NAME`` to its text)."""
        environment = Environment(self.space, self.reading.true_words, {**self.settings, **variables}, unset=True)
        symbolic: dict[str, Value] = {option.field: OptionValue(option.field, option.field) for option in self.options}
        model = load_model_rules(self.rules)
        platform = self._platform()
        platform.memory_mib = self.gpu_memory
        world = ResolvingWorld(
            self.resolution_rules,
            model,
            None if self.model_config is None else model.as_read(self.model_config, self.version),
            self.gpu_memory,
            self.program,
            self.space,
            self.reading,
            platform,
            environment,
            symbolic,
        )
        world.facts = self.facts
        interpreter = Interpreter(self.program, self.space, world)
        interpreter.depth_limit = RESOLUTION_DEPTH
        interpreter.registers = True
        return Resolver(interpreter, world, self.resolution_rules, {**self.defaults, **variables}, self.version, self.options.fallbacks)

    @cached_property
    def required(self) -> frozenset[str]:
        """Fields that must be given."""
        return frozenset(option.field for option in self.options if option.is_required)

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """The declared default of every field, a given value over it; what must be given is an unknown of its own."""
        values: dict[str, Any] = {option.field: option.default for option in self.options}
        for field in self.required:
            values[field] = Known(f"<{field}>")
        return {**values, **self.settings}

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What is given about the model, by the name of the fact."""
        known = {name: (self.model_config or {}).get(attribute) for attribute, name in self.reading.listed_facts.items()}
        listed = {name: values[0] for name, values in known.items() if isinstance(values, list) and values}
        return {**listed, **{name: self.settings[name] for name in self.reading.listed_facts.values() if name in self.settings}}

    def _platform(self) -> Platform:
        return Platform(self.space, self.devices, load_facts(self.rules), self.cuda)


def _tells_target(value: Value) -> bool:
    """Whether a value says what the target is, and nothing else: a capability, say."""
    return isinstance(value, Choice) and all(
        is_constant(payload) and not isinstance(payload, Truth) and condition.depends_on_target() and not condition.fields_and_taints()
        for condition, payload in value.alternatives
    )
