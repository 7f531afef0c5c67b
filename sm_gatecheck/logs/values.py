"""Whether two values are the same setting: one from a log, the other from a log too or from a tree."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from sm_gatecheck.logs.model import Unread

TOLERANCE = 1e-6


def is_same(a: Any, b: Any) -> bool:
    """Equal as settings: a tuple is a list, floats to a millionth, ``1`` is not ``True``."""
    if isinstance(a, Unread) or isinstance(b, Unread):
        return _text(a) == _text(b)
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == b or math.isclose(a, b, rel_tol=TOLERANCE) or (a != a and b != b)
    if isinstance(a, (set, frozenset)) or isinstance(b, (set, frozenset)):
        return _is_same_list(sorted(_items(a), key=repr), sorted(_items(b), key=repr))
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return _is_same_list(list(a), list(b))
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(is_same(a[key], b[key]) for key in a)
    if isinstance(a, (list, Mapping)) and isinstance(b, (list, Mapping)):
        return not a and not b  # an empty set and an empty dictionary read the same
    return bool(type(a) is type(b) and a == b)


def _is_same_list(a: list[Any], b: list[Any]) -> bool:
    return len(a) == len(b) and all(map(is_same, a, b))


def _items(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (set, frozenset, list, tuple)) else [value]


def _text(value: Any) -> str:
    return value.text if isinstance(value, Unread) else value if isinstance(value, str) else repr(value)
