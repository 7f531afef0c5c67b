"""Resolution as it runs: the tree's own code applied to an options object, step by step, for all SMs at once.

The object starts with the declared defaults and the given settings. Every write keeps its path condition, so at the end each
field is a guarded value: what it becomes on each SM, and under which remaining condition.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Mapping
from functools import cached_property
from typing import Any

from sm_gatecheck.evaluate.calls import run_function
from sm_gatecheck.evaluate.classes import abstract_instance
from sm_gatecheck.evaluate.frames import Frame
from sm_gatecheck.evaluate.interpreter import BudgetExceeded, Interpreter
from sm_gatecheck.evaluate.operations import lift
from sm_gatecheck.evaluate.values import Choice, ClassValue, FunctionValue, Instance, Known, Opaque, Payload, Value, from_python
from sm_gatecheck.model.condition import SpaceExhausted
from sm_gatecheck.model.gaps import Reason
from sm_gatecheck.target.outcome import Outcome, Write
from sm_gatecheck.target.resolution_rules import Entry, ResolutionRules, load_resolution_rules
from sm_gatecheck.target.resolving import RESOLVING, Listener, ResolvingWorld

NODE_LIMIT = 200_000
"""How much the conditions of one run may grow: a context in which little is known must not take the machine's memory."""


class Resolver:
    """Runs resolution for one tree under one context; ``make_world`` builds a fresh world for a run."""

    def __init__(
        self,
        interpreter: Interpreter,
        world: ResolvingWorld,
        rules: ResolutionRules,
        defaults: Mapping[str, Any],
        version: str | None,
        fallbacks: Mapping[str, Any] | None = None,
    ) -> None:
        """``fallbacks``: what a field is worth that neither the user nor resolution gave a value."""
        self._interpreter = interpreter
        self._world = world
        world.interpreter = interpreter
        self._rules = rules
        # Made once: runs are held against each other, and what is the same object need not be compared.
        self._defaults: dict[str, Value] = {name: _as_value(name, value) for name, value in defaults.items()}
        self._version = version
        self._fallbacks = {name: _as_value(name, value) for name, value in (fallbacks or {}).items()}

    def run(self, settings: Mapping[str, Any]) -> Outcome:
        """Resolve the declared defaults with ``settings`` over them. Values are Python data, or guarded values."""
        cls = self._class()
        instance = self._instance
        state: dict[Hashable, Value] = {}
        state.update(self._defaults)
        state.update((name, _as_value(name, value)) for name, value in settings.items())
        outcome = Outcome(state)
        if cls is None:
            outcome.unfinished, outcome.left = "the options class was not found", Reason.NO_RESOLUTION
            return outcome
        self._world.start(instance, outcome)
        interpreter = self._interpreter
        interpreter.steps = 0
        interpreter.space.make_room(NODE_LIMIT)
        frame = Frame(cls.module, "", interpreter.space.true, recorder=Listener(self._world))
        try:
            for entry in self._rules.entries:
                if entry.applies_to(self._version):
                    if entry.is_check and outcome.resolved is None:
                        outcome.resolved = outcome.snapshot()
                    begun = len(outcome.events), len(outcome.writes)
                    self._enter(entry, frame, instance)
                    if entry.on_holder:
                        outcome.later.update(map(id, (*outcome.events[begun[0] :], *outcome.writes[begun[1] :])))
        except (BudgetExceeded, RecursionError, SpaceExhausted) as error:
            outcome.unfinished, outcome.left = f"resolution was not followed to its end: {error}", Reason.RESOLUTION_STEPS
        finally:
            interpreter.space.make_room(None)
        if outcome.resolved is None:
            outcome.resolved = outcome.snapshot()
        for name, fallback in self._fallbacks.items():
            held = outcome.resolved.get(name)
            if held is not None:
                outcome.resolved[name] = lift(interpreter.space, _or_else(fallback), held, lambda: Opaque(f"9:{name}", name))  # noqa: B023
        return outcome

    def sees(self, variable: str) -> bool | None:
        """Whether a run may be asked what a variable changes: None where no run so far has read it, so that it changes nothing;
        False where it was read once for all runs."""
        if variable in self._world.hidden_variables:
            return False
        return True if variable in self._world.traced_variables else None

    def _enter(self, entry: Entry, frame: Frame, instance: Instance) -> None:
        cls = self._interpreter.class_named(entry.owner)
        found = None if cls is None else self._interpreter.find_member(cls, entry.method)
        if cls is None or found is None or not isinstance(found[1][-1], (ast.FunctionDef, ast.AsyncFunctionDef)):
            return
        owner, node = found[0], found[1][-1]
        assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        function = FunctionValue(owner.module, node, owner, None, f"{owner.qualname}.{entry.method}")
        if not entry.on_holder:
            run_function(self._interpreter, function, (instance,), {}, frame, None, effectful=True)
            return
        with self._interpreter.forgetting():  # what the holder has taken from the options is what they are in this run
            run_function(self._interpreter, function, (abstract_instance(self._interpreter, cls),), {}, frame, None, effectful=True)

    @cached_property
    def _instance(self) -> Instance:
        """The options object. One for all runs: steps of earlier runs that hand it on are replayed in later ones."""
        return Instance(self._class(), RESOLVING)

    def _class(self) -> ClassValue | None:
        found = (self._interpreter.class_named(entry.owner) for entry in self._rules.entries)
        return next((cls for cls in found if cls is not None), None)


def _or_else(fallback: Value) -> Callable[[Payload], Payload | None]:
    """The fallback for None; fallbacks are plain constants."""
    assert not isinstance(fallback, Choice)
    return lambda payload: fallback if payload == Known(None) else payload


def _as_value(name: str, value: Any) -> Value:
    if isinstance(value, (Known, Opaque)) or type(value).__module__.endswith("evaluate.values"):
        return value  # type: ignore[no-any-return]
    payload = from_python(value)
    return Opaque(f"9:{name}", name) if payload is None else payload


__all__ = ["Outcome", "ResolutionRules", "Resolver", "ResolvingWorld", "Write", "load_resolution_rules"]
