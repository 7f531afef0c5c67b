"""Functions that run when an option has the value under which a decorator registered them."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from sm_gatecheck.model.condition import Condition, Space
from sm_gatecheck.rulebook import Rulebook


@dataclass(frozen=True)
class Registry:
    decorators: frozenset[str]
    options: tuple[str, ...]


def load_registries(rules: Rulebook) -> tuple[Registry, ...]:
    """RulesError where ``sglang/registries.toml`` is missing or no TOML."""
    document = rules.read("sglang/registries.toml")
    return tuple(Registry(frozenset(row["decorators"]), tuple(row["options"])) for row in document.get("registry", []))


def entry_condition(registries: tuple[Registry, ...], node: ast.FunctionDef | ast.AsyncFunctionDef, space: Space) -> Condition | None:
    """When a registered function runs; None for a function that is in no registry."""
    for decorator in node.decorator_list:
        if not isinstance(decorator, ast.Call) or not decorator.args:
            continue
        name = decorator.func.attr if isinstance(decorator.func, ast.Attribute) else getattr(decorator.func, "id", "")
        key = decorator.args[0]
        for registry in registries:
            if name in registry.decorators and isinstance(key, ast.Constant) and isinstance(key.value, str):
                held = space.false
                for option in registry.options:
                    held = held | space.option_is(option, (key.value,))
                return held
    return None
