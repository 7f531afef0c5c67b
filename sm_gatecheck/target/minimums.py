"""Classes that name the least capability they run on, chosen by the value of an option and asked where the model is loaded.

Between the option and the question lie checkpoints and their files, which nobody can follow; the table, the classes and the
question itself are read from the tree, and only what connects them is a rule (``rules/sglang/registries.toml``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from sm_gatecheck.evaluate import classes
from sm_gatecheck.evaluate.frames import Frame
from sm_gatecheck.evaluate.interpreter import Interpreter
from sm_gatecheck.evaluate.values import ClassValue, Known, Mapping, payloads
from sm_gatecheck.model.condition import Condition
from sm_gatecheck.program.modules import Module
from sm_gatecheck.rulebook import Rulebook


@dataclass(frozen=True)
class MinimumRule:
    """``tables`` and ``checks`` are dotted names; ``method`` answers with ``major * 10 + minor``."""

    tables: tuple[str, ...]
    method: str
    checks: tuple[str, ...]
    options: tuple[str, ...]


@dataclass(frozen=True)
class Refusal:
    """Where a GPU is refused, the test that does it, and when that holds for one option."""

    option: str
    module: Module
    function: str
    test: ast.expr
    node: ast.Raise
    condition: Condition


def load_minimums(rules: Rulebook) -> tuple[MinimumRule, ...]:
    """RulesError where ``sglang/registries.toml`` is missing or no TOML."""
    rows = rules.read("sglang/registries.toml").get("minimum", [])
    return tuple(MinimumRule(tuple(r["tables"]), r["method"], tuple(r["checks"]), tuple(r["options"])) for r in rows)


class Minimums:
    """The refusals of a tree that such rules describe."""

    def __init__(self, interpreter: Interpreter, rules: tuple[MinimumRule, ...]) -> None:
        self._interpreter = interpreter
        self._rules = rules

    @cached_property
    def refusals(self) -> tuple[Refusal, ...]:
        return tuple(refusal for rule in self._rules for refusal in self._of(rule))

    def _of(self, rule: MinimumRule) -> Iterator[Refusal]:
        least = self._least(rule)
        place = next((found for check in rule.checks if (found := self._question(check, rule.method)) is not None), None)
        if place is None or not least:
            return
        module, function, test, node = place
        for option in rule.options:
            refused = self._interpreter.space.false
            for value, capability in least.items():
                below = self._interpreter.space.targets(self._below(capability))
                refused = refused | (self._interpreter.space.option_is(option, (value,)) & below)
            yield Refusal(option, module, function, test, node, refused)

    def _below(self, capability: int) -> int:
        return sum(1 << index for index, sm in enumerate(self._interpreter.space.sms) if sm < capability)

    def _least(self, rule: MinimumRule) -> dict[str, int]:
        """The least capability by the value of the option, where the tree tells it for sure."""
        found: dict[str, int] = {}
        for dotted in rule.tables:
            owner, _, name = dotted.rpartition(".")
            module = self._interpreter.program.module(owner)
            table = None if module is None else self._interpreter.global_value(module, name)
            for key, entry in table.entries if isinstance(table, Mapping) else ():
                if isinstance(key, Known) and isinstance(key.value, str) and isinstance(entry, ClassValue):
                    capability = self._asked(entry, rule.method)
                    if capability is not None:
                        found[key.value] = capability
        return found

    def _asked(self, cls: ClassValue, method: str) -> int | None:
        interpreter = self._interpreter
        function = classes.class_attribute(interpreter, cls, method)
        if function is None:
            return None
        answer = interpreter.call(function, (), {}, Frame(cls.module, cls.qualname, interpreter.space.true))
        answers = [payload.value for payload in payloads(answer) if isinstance(payload, Known) and type(payload.value) is int]
        # A class that asks for more with some checkpoints than with others refuses for sure what is below all of its answers.
        return min(answers) if answers and len(answers) == len(list(payloads(answer))) else None

    def _question(self, dotted: str, method: str) -> tuple[Module, str, ast.expr, ast.Raise] | None:
        """The ``if capability < ….method(): raise`` of a function, with its module and name."""
        owner, _, name = dotted.rpartition(".")
        module = self._interpreter.program.module(owner)
        for function in [] if module is None else module.bindings.get(name, []):
            for node in ast.walk(function):
                if isinstance(node, ast.If) and _asks_for_more(node.test, method) and isinstance(node.body[0], ast.Raise):
                    assert module is not None
                    return module, name, node.test, node.body[0]
        return None


def _asks_for_more(test: ast.expr, method: str) -> bool:
    """Whether a test says that something is less than what the method answers."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return False
    greater = {ast.Lt: test.comparators[0], ast.Gt: test.left}.get(type(test.ops[0]))
    return isinstance(greater, ast.Call) and isinstance(greater.func, ast.Attribute) and greater.func.attr == method
