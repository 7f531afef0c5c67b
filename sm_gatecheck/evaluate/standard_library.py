"""Functions of Python's standard library that only compute: called for real where every argument is known."""

from __future__ import annotations

import itertools
import json
import math
import posixpath
import re
from collections.abc import Callable
from typing import Any

from sm_gatecheck.evaluate.values import (
    ALTERNATIVE_LIMIT,
    Instance,
    Known,
    Payload,
    Value,
    alternatives,
    choice,
    from_python,
    is_constant,
    to_python,
)
from sm_gatecheck.model.condition import Condition, Space

MATCH = "match"
"""The name of the object that stands for a match of a regular expression."""
TEXT_LIMIT = 400
_NESTED_REPEAT = re.compile(r"[+*}]\s*\)[+*{]")


def call_standard(space: Space, dotted: str, args: tuple[Value, ...], keywords: dict[str, Value]) -> Value | None:
    """The result on every combination of known arguments; None where the function is not listed or something is not known."""
    function = PURE.get(dotted)
    if function is None or keywords:
        return None
    return apply_to_all(space, function, args)


def apply_to_all(space: Space, function: Callable[..., Any], args: tuple[Value, ...]) -> Value | None:
    """``function`` on plain data, for each combination of the alternatives of its arguments; None where one is not plain data."""
    rows = [alternatives(arg, space.true) for arg in args]
    if math.prod(len(row) for row in rows) > ALTERNATIVE_LIMIT:
        return None
    results: list[tuple[Condition, Payload]] = []
    for combination in itertools.product(*rows):
        condition = space.true
        for held, _ in combination:
            condition = condition & held
        if condition.is_false:
            continue
        payloads = [payload for _, payload in combination]
        if not all(is_constant(payload) for payload in payloads):
            return None
        result = _result(function, [to_python(payload) for payload in payloads])
        if result is None:
            return None
        results.append((condition, result))
    return choice(results, results[0][1]) if results else None


def _result(function: Callable[..., Any], given: list[Any]) -> Payload | None:
    try:
        value = function(*given)
    except Exception:  # whatever the analysed code would have raised, here it is merely not known
        return None
    if isinstance(value, re.Match):
        return Instance(None, MATCH)
    return from_python(value)


def _search(name: str) -> Callable[..., Any]:
    def search(pattern: str, text: str) -> Any:
        if len(pattern) > TEXT_LIMIT or len(text) > TEXT_LIMIT or _NESTED_REPEAT.search(pattern):
            raise ValueError("a pattern that may take for ever")
        return getattr(re, name)(pattern, text)

    return search


def _loads(text: str) -> Any:
    if len(text) > 100_000:
        raise ValueError("too long")
    return json.loads(text)


PURE: dict[str, Callable[..., Any]] = {
    **{f"math.{name}": getattr(math, name) for name in ("ceil", "floor", "sqrt", "log2", "log", "gcd", "isclose", "prod")},
    **{f"os.path.{name}": getattr(posixpath, name) for name in ("join", "basename", "dirname", "splitext", "normpath")},
    **{f"re.{name}": _search(name) for name in ("match", "fullmatch", "search")},
    "json.loads": _loads,
    "copy.copy": lambda value: value,
    "copy.deepcopy": lambda value: value,
}

__all__ = ["MATCH", "PURE", "Known", "apply_to_all", "call_standard"]
