"""Frozen dataclasses as JSON and back: equal parts once, nothing but data, nothing that runs.

A document is ``{"classes": [...], "rows": [[class, field, ...], ...]}``, parts before the whole, the last row the object
itself. A field is a JSON scalar, or a list whose first item says what the rest is.
"""

from __future__ import annotations

import json
import marshal
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from enum import Enum
from types import ModuleType
from typing import Any

_OBJECT, _TUPLE, _LIST, _DICT, _ENUM = range(5)


class CannotEncode(Exception):
    """A value of a kind that documents do not have."""


class Codec:
    """Encodes the dataclasses and enums that some modules define, and refuses every other class."""

    def __init__(self, modules: Iterable[ModuleType]) -> None:
        self._classes = {
            value.__qualname__: value
            for module in modules
            for value in vars(module).values()
            if isinstance(value, type) and value.__module__ == module.__name__ and (is_dataclass(value) or issubclass(value, Enum))
        }

    def encode(self, value: Any) -> bytes:
        """CannotEncode where some part is neither plain data nor of a known class."""
        encoder = _Encoder(self._classes)
        encoder.add(value)
        return json.dumps({"classes": list(encoder.classes), "rows": encoder.rows}, separators=(",", ":")).encode()

    def decode(self, document: bytes) -> Any:
        """What was encoded. ValueError for anything else."""
        try:
            read = json.loads(document)
            return _decoded(read["rows"], [self._classes[name] for name in read["classes"]])
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise ValueError(f"no document of these classes: {error}") from error


class _Encoder:
    def __init__(self, known: dict[str, type]) -> None:
        self.classes: dict[str, int] = {}
        self.rows: list[tuple[Any, ...]] = []
        self._known = known
        self._by_identity: dict[int, int] = {}
        self._by_content: dict[bytes, int] = {}

    def add(self, value: Any) -> int:
        """The number of the row of a dataclass."""
        found = self._by_identity.get(id(value))
        if found is not None:
            return found
        row = (self._number(type(value)), *[self._field(getattr(value, part.name)) for part in fields(value)])
        content = marshal.dumps(row)  # tells True from 1, which equality does not
        found = self._by_content.get(content)
        if found is None:
            found = self._by_content[content] = len(self.rows)
            self.rows.append(row)
        self._by_identity[id(value)] = found
        return found

    def _number(self, cls: type) -> int:
        name = cls.__qualname__
        if self._known.get(name) is not cls:
            raise CannotEncode(f"{name} is of no known class")
        return self.classes.setdefault(name, len(self.classes))

    def _field(self, value: Any) -> Any:
        if value is None or type(value) in (bool, int, float, str):
            return value
        if isinstance(value, Enum):
            return (_ENUM, self._number(type(value)), value.value)
        if is_dataclass(value):
            return (_OBJECT, self.add(value))
        if type(value) is tuple:
            return (_TUPLE, *map(self._field, value))
        if type(value) is list:
            return (_LIST, *map(self._field, value))
        if type(value) is dict:
            return (_DICT, *[(self._field(key), self._field(item)) for key, item in value.items()])
        raise CannotEncode(f"{type(value).__name__} is no plain data")


def _decoded(rows: list[list[Any]], classes: list[type]) -> Any:
    objects: list[Any] = []

    def value_of(item: Any) -> Any:
        return readers[item[0]](item) if type(item) is list else item

    readers: list[Callable[[list[Any]], Any]] = [
        lambda item: objects[item[1]],
        lambda item: tuple([value_of(part) for part in item[1:]]),
        lambda item: [value_of(part) for part in item[1:]],
        lambda item: {value_of(key): value_of(part) for key, part in item[1:]},
        lambda item: classes[item[1]](item[2]),
    ]
    for row in rows:
        objects.append(classes[row[0]](*[readers[item[0]](item) if type(item) is list else item for item in row[1:]]))
    return objects[-1]
