"""The repr of an object as plain data, read by a parser of literals: nothing is evaluated, nothing is looked up.

``Name(a=1, b=[2])`` and ``{'a': 1}`` give their fields; a nested object is a dictionary of its fields, an enum member its value,
anything else the text as it stands. Depth is limited, and time grows with the length of the text alone.
"""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass, field
from typing import Any, Literal

from sm_gatecheck.logs.model import Unread

DEPTH_LIMIT = 40
_TEXT_LIMIT = 4000
_NUMBER_LIMIT = 400

_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<string>[bBrRuU]{0,2}(?:'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*"))
      | (?P<number>[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)
      | (?P<name>[A-Za-z_][\w.]*)
      | (?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)
_OPENING = {"(": ")", "[": "]", "{": "}", "<": ">"}
_CLOSING = frozenset(_OPENING.values())
_WORDS: dict[str, Any] = {"None": None, "True": True, "False": False, "nan": float("nan"), "inf": float("inf")}


class Cut(Exception):
    """The text ends before the value does."""


class _Strange(Exception):
    """Not a literal."""


@dataclass
class Fields:
    """The fields of the outermost object; ``end`` is where it ended in the text, None where the text ended first."""

    form: Literal["repr", "dict"]
    values: dict[str, Any] = field(default_factory=dict)
    end: int | None = None


def read_fields(text: str, start: int) -> Fields | None:
    """The object that begins at ``start``: ``Name(…)`` or ``{…}``. None where no such thing stands there."""
    head = re.compile(r"\s{0,8}(?:[A-Za-z_][\w.]{0,200}\(|\{)").match(text, start)
    if head is None:
        return None
    is_dict = head.group().endswith("{")
    fields = Fields("dict" if is_dict else "repr")
    parser = _Parser(text, head.end())
    try:
        parser.fields_until("}" if is_dict else ")", fields)
        fields.end = parser.at
    except Cut:
        pass
    return fields


class _Parser:
    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at

    # -- the outermost object: a field that cannot be read costs that field alone

    def fields_until(self, closing: str, fields: Fields) -> None:
        while True:
            token = self.peek()[1]
            if token == closing:
                self.take()
                return
            if token == ",":
                self.take()
                continue
            begin = self.at
            try:
                name = self.key(fields.form)
            except _Strange:
                self.at = begin
                self.skip(stray=True)
                continue
            value_at = self.at
            try:
                value = self.value(0)
                if self.peek()[1] not in (",", closing):
                    raise _Strange
            except _Strange:
                self.at = value_at
                value = Unread(self.skip())
            fields.values[name] = value

    def key(self, form: str) -> str:
        kind, token = self.take()
        name = _string(token) if kind == "string" else token if kind == "name" else None
        if not isinstance(name, str) or self.take()[1] != (":" if form == "dict" else "="):
            raise _Strange
        return name

    def skip(self, stray: bool = False) -> str:
        """Passes over everything up to the comma or bracket that ends this value; the text passed over.

        ``stray``: a bracket that stands first closes nothing, and is passed over too.
        """
        self.blank()
        begin = self.at
        depth = 0
        while True:
            token = self.peek()[1]
            if depth == 0 and (token == "," or token in _CLOSING):
                if stray and self.at == begin:
                    self.take()
                return self.text[begin : min(self.at, begin + _TEXT_LIMIT)].strip()
            depth += (token in _OPENING) - (token in _CLOSING)
            self.take()

    # -- values

    def value(self, depth: int) -> Any:
        if depth > DEPTH_LIMIT:
            raise _Strange
        kind, token = self.take()
        if kind == "string":
            return _string(token)
        if kind == "number":
            return _number(token)
        if kind == "name":
            return self.named(token, depth)
        if token == "-" and self.peek()[1] == "inf":
            self.take()
            return float("-inf")
        if token == "[":
            return self.items("]", depth)
        if token == "(":
            return self.items(")", depth)
        if token == "{":
            return self.braces(depth)
        if token == "<":
            return self.angle()
        raise _Strange

    def named(self, name: str, depth: int) -> Any:
        if self.peek(quiet=True)[1] != "(":
            return _WORDS[name] if name in _WORDS else Unread(name)
        self.take()
        plain, fields = self.arguments(depth)
        if fields:
            return fields
        if not plain:
            return [] if name in ("set", "frozenset", "list", "tuple") else {} if name == "dict" else Unread(f"{name}()")
        if len(plain) > 1:
            raise _Strange
        if name == "float" and plain[0] in ("inf", "-inf", "nan"):
            return float(plain[0])
        return plain[0]

    def arguments(self, depth: int) -> tuple[list[Any], dict[str, Any]]:
        """What stands in a call, and its closing bracket."""
        plain: list[Any] = []
        fields: dict[str, Any] = {}
        while True:
            kind, token = self.peek()
            if token == ")":
                self.take()
                return plain, fields
            if token == ",":
                self.take()
                continue
            begin = self.at
            if kind == "name":
                self.take()
                if self.peek()[1] == "=":
                    self.take()
                    fields[token] = self.value(depth + 1)
                    continue
                self.at = begin
            plain.append(self.value(depth + 1))

    def items(self, closing: str, depth: int) -> list[Any]:
        found: list[Any] = []
        while True:
            token = self.peek()[1]
            if token == closing:
                self.take()
                return found
            if token == ",":
                self.take()
                continue
            found.append(self.value(depth + 1))

    def braces(self, depth: int) -> Any:
        """A dictionary, or a set as a list."""
        pairs: dict[str, Any] = {}
        members: list[Any] = []
        while True:
            token = self.peek()[1]
            if token == "}":
                self.take()
                return members or pairs
            if token == ",":
                self.take()
                continue
            key = self.value(depth + 1)
            if self.peek()[1] == ":":
                self.take()
                pairs[key if isinstance(key, str) else str(key)] = self.value(depth + 1)
            else:
                members.append(key)

    def angle(self) -> Any:
        """``<Mode.FAST: 'fast'>`` is ``'fast'``; any other ``<…>`` is its text."""
        begin = self.at
        last: tuple[str, str] = ("", "")
        before: tuple[str, str] = ("", "")
        depth = 1
        while depth:
            kind, token = self.take()
            depth += (token == "<") - (token == ">")
            if depth:
                before, last = last, (kind, token)
        if before[1] == ":" and last[0] == "string":
            return _string(last[1])
        if before[1] == ":" and last[0] == "number":
            return _number(last[1])
        return Unread("<" + self.text[begin : min(self.at, begin + _TEXT_LIMIT)])

    # -- tokens

    def blank(self) -> None:
        while True:
            found = _TOKEN.match(self.text, self.at)
            if found is None or found.lastgroup != "space":
                return
            self.at = found.end()

    def peek(self, quiet: bool = False) -> tuple[str, str]:
        before = self.at
        try:
            token = self.take()
        except Cut:
            if quiet:
                return ("", "")
            raise
        self.at = before
        return token

    def take(self) -> tuple[str, str]:
        self.blank()
        found = _TOKEN.match(self.text, self.at)
        if found is None:
            raise Cut
        if found["sign"] in ("'", '"'):  # a quote that nothing closes
            raise Cut
        self.at = found.end()
        return str(found.lastgroup), found.group()


def _string(token: str) -> Any:
    if "\\" not in token and token[0] in "'\"":
        return token[1:-1]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes that Python will refuse one day
            value = ast.literal_eval(token)
    except (ValueError, SyntaxError):  # an escape that is none
        return Unread(token[:_TEXT_LIMIT])
    return value if isinstance(value, str) else Unread(token[:_TEXT_LIMIT])


def _number(token: str) -> Any:
    if len(token) > _NUMBER_LIMIT:
        return Unread(token[:_TEXT_LIMIT])
    for convert in (int, float):
        try:
            return convert(token)
        except ValueError:
            continue
    return Unread(token)
