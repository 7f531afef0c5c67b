"""Environment variables as options: the value of a variable is its text, or None where it is unset."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from sm_gatecheck.evaluate.operations import compare, truth_value
from sm_gatecheck.evaluate.values import (
    FALSE,
    Choice,
    Known,
    Opaque,
    OptionValue,
    Payload,
    Value,
    alternatives,
    choice,
    is_constant,
    to_python,
)
from sm_gatecheck.model.condition import Condition, Space

PREFIX = "env:"


class Environment:
    """Makes the value of a variable, under the settings that are given for it."""

    def __init__(self, space: Space, true_words: frozenset[str], settings: dict[str, Any], *, unset: bool) -> None:
        self._space = space
        self._true_words = true_words
        self._settings = settings
        self._unset = unset
        self.current: Callable[[str], Value] | None = None
        """What a variable (``env:NAME``) holds at this point of a run, None where it is unset; without it, what it was given."""

    def read(self, name: str, kind: str, default: Value) -> Value:
        """What a reader of ``kind`` (``bool``, ``int``, ``float``, ``str``) makes of the variable."""
        parse = self._parser(kind, default)
        field = PREFIX + name
        if self.current is not None:
            return self._held(self.current(field), parse, default, name)
        if field in self._settings or self._unset:
            return self._made(self._settings.get(field), parse, default)
        if kind == "bool":
            return truth_value(self._space.option_test(field, f"{name} is true", lambda given: bool(parse(given))))
        plain = kind == "str" and default == Known(None)
        return OptionValue(field, name, None if plain else parse)

    def _made(self, given: Any, parse: Callable[[Any], Any], default: Value) -> Value:
        if given is None and not is_constant_value(default):
            return default
        return _constant(parse(given))

    def _held(self, value: Value, parse: Callable[[Any], Any], default: Value, name: str) -> Value:
        results: list[tuple[Condition, Payload]] = []
        for condition, payload in alternatives(value, self._space.true):
            made = self._made(payload.value, parse, default) if isinstance(payload, Known) else Opaque(f"9:{PREFIX}{name}", name)
            results += [(condition & c, p) for c, p in alternatives(made, self._space.true)]
        return choice(results, Known(None))

    def is_set(self, name: str) -> Value:
        field = PREFIX + name
        if self.current is not None:
            return truth_value(~compare(self._space, ast.Is(), self.current(field), Known(None), lambda: Opaque(f"9:{field}", name)))
        if field in self._settings or self._unset:
            return Known(self._settings.get(field) is not None)
        return truth_value(~self._space.option_is(field, (None,)))

    def _parser(self, kind: str, default: Value) -> Callable[[Any], Any]:
        fallback = to_python(default) if is_constant(default) else None  # type: ignore[arg-type]

        def parse(given: Any) -> Any:
            if given is None:
                return self._word(kind, fallback)
            return self._word(kind, given)

        return parse

    def _word(self, kind: str, text: Any) -> Any:
        if kind == "bool":
            return text if isinstance(text, bool) else str(text).lower() in self._true_words
        if kind in ("int", "float") and isinstance(text, str):
            try:
                return int(text) if kind == "int" else float(text)
            except ValueError:
                return None
        return text


def is_constant_value(value: Value) -> bool:
    return not isinstance(value, Choice) and is_constant(value)


def _constant(value: Any) -> Value:
    from sm_gatecheck.evaluate.values import from_python

    payload = from_python(value)
    return FALSE if payload is None else payload
