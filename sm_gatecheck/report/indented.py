"""JSON text exactly as ``json.dumps(…, indent=2)`` writes it, for documents of millions of lines in which parts recur.

The standard library indents in Python, node by node. Here whatever holds only scalars is left to its C encoder with the line
breaks as separators, and a part that stands in several places of a document is written once.
"""

from __future__ import annotations

import json
from functools import lru_cache
from json.encoder import JSONEncoder, encode_basestring_ascii
from typing import Any

INDENT = 2
_CONTAINERS = (dict, list, tuple)


def dumps(document: Any) -> str:
    """ASCII text without a final newline. ValueError for what JSON lacks (NaN, an object)."""
    return _text(document, 0, {})


def _text(value: Any, level: int, known: dict[tuple[int, int], str]) -> str:
    if isinstance(value, str):
        return encode_basestring_ascii(value)
    if not isinstance(value, _CONTAINERS):
        return json.dumps(value, allow_nan=False)
    if not value:
        return "{}" if isinstance(value, dict) else "[]"
    key = (id(value), level)  # the document keeps its parts alive, so identity is enough
    found = known.get(key)
    if found is None:
        found = known[key] = _written(value, level, known)
    return found


def _written(value: Any, level: int, known: dict[tuple[int, int], str]) -> str:
    outer, inner = "\n" + " " * INDENT * level, "\n" + " " * INDENT * (level + 1)
    items = value.values() if isinstance(value, dict) else value
    if not any(isinstance(item, _CONTAINERS) for item in items):
        flat = _encoder(level + 1).encode(value)
        return f"{flat[0]}{inner}{flat[1:-1]}{outer}{flat[-1]}"
    if isinstance(value, dict):
        body = [f"{encode_basestring_ascii(key)}: {_text(item, level + 1, known)}" for key, item in value.items()]
        return "{" + inner + ("," + inner).join(body) + outer + "}"
    return "[" + inner + ("," + inner).join([_text(item, level + 1, known) for item in value]) + outer + "]"


@lru_cache(maxsize=64)
def _encoder(level: int) -> JSONEncoder:
    return JSONEncoder(allow_nan=False, separators=(",\n" + " " * INDENT * level, ": "))
