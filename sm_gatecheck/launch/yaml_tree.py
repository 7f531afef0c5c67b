"""YAML as a tree of nodes that know their place: composed by ruamel.yaml and never made into objects, aliases followed within bounds.

Go templates (``{{ .Values.x }}``) are no YAML; each is replaced before parsing by as many characters that can stand anywhere,
and comes back as a part of the text that is not known. Lines that hold nothing else become comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

from sm_gatecheck.launch.located import Located, Run, join, substitute
from sm_gatecheck.launch.model import Extent
from sm_gatecheck.launch.yaml_scalars import scalar_text

MAX_CHARACTERS = 2_000_000
MAX_DOCUMENTS = 500
MAX_ENTRIES = 100_000
"""Entries that one walk looks at. An alias is entered once however often it is named, so that no bomb goes off."""

_OPEN, _MORE = "\ue000", "\ue001"
_ACTION = re.compile(r"\{\{(?:[^{}\n]|\{[^{}\n]*\})*\}\}")
_ACTION_LINE = re.compile(r"^([ \t]*)(\{\{-?(?:[^{}\n]|\{[^{}\n]*\})*-?\}\})[ \t]*(?:#.*)?$", re.MULTILINE)
_PLACEHOLDER = re.compile(f"{_OPEN}{_MORE}*")
_NESTED = re.compile(r"(?:[\[{]\s*){200}")
_LONGEST_NUMBER = 100
_BOOLEANS = {"yes": True, "no": False, "on": True, "off": False, "true": True, "false": False}


class YamlProblem(ValueError):
    """The text is no YAML; ``line`` counts from 1."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, eq=False)
class YamlNode:
    """A mapping, a list or a scalar."""

    raw: Any
    tree: YamlTree = field(repr=False)

    @property
    def is_mapping(self) -> bool:
        return isinstance(self.raw, MappingNode)

    @property
    def is_list(self) -> bool:
        return isinstance(self.raw, SequenceNode)

    @property
    def is_scalar(self) -> bool:
        return isinstance(self.raw, ScalarNode)

    @property
    def extent(self) -> Extent:
        return self.tree.extent(self.raw.start_mark.index, self.raw.end_mark.index)

    @property
    def items(self) -> list[YamlNode]:
        """The elements of a list; none for anything else."""
        return [self.tree.node(raw) for raw in self.raw.value] if self.is_list else []

    @cached_property
    def entries(self) -> dict[str, tuple[YamlNode, YamlNode]]:
        """Key and value nodes of a mapping by the key's text, merge keys followed, the last of equal keys; none for anything else."""
        return self.tree.entries(self.raw) if self.is_mapping else {}

    def get(self, *path: str) -> YamlNode | None:
        """The value under keys, one below the other."""
        node: YamlNode | None = self
        for key in path:
            found = node.entries.get(key) if node is not None else None
            node = found[1] if found is not None else None
        return node

    def key(self, name: str) -> YamlNode | None:
        found = self.entries.get(name)
        return found[0] if found is not None else None

    @cached_property
    def located(self) -> Located:
        """A scalar's text with its places; empty for a list, a mapping and null."""
        if not self.is_scalar or self.is_null:
            return Located((), self.extent)
        return self.tree.text(self.raw)

    @property
    def text(self) -> str:
        return self.located.text

    @property
    def is_null(self) -> bool:
        return self.is_scalar and str(self.raw.tag).endswith(":null")

    @property
    def value(self) -> Any:
        """A scalar as the value it stands for; text where it is not known, or is of no simple kind."""
        text = self.text
        kind = str(self.raw.tag).rsplit(":", 1)[-1] if self.is_scalar else ""
        if self.is_null:
            return None
        if self.located.unresolved:
            return text
        if kind == "bool" and text.lower() in _BOOLEANS:
            return _BOOLEANS[text.lower()]
        try:
            if kind == "int" and len(text) <= _LONGEST_NUMBER:
                return _integer(text)
            if kind == "float":
                return float(text.replace("_", "").lower().replace(".inf", "inf").replace(".nan", "nan"))
        except ValueError:
            pass
        return text

    def walk(self) -> Iterator[YamlNode]:
        """This node and all below it, each once."""
        seen: set[int] = set()
        stack: list[YamlNode] = [self]
        while stack and len(seen) < MAX_ENTRIES:
            node = stack.pop()
            if id(node.raw) in seen:
                continue
            seen.add(id(node.raw))
            yield node
            below = node.items if node.is_list else [value for _, value in node.entries.values()]
            stack.extend(reversed(below))

    def plain(self, depth: int = 20) -> Any:
        """Everything as plain values; what is too deep, or too much, is left out."""
        budget = [MAX_ENTRIES // 10]
        return self._plain(depth, budget)

    def _plain(self, depth: int, budget: list[int]) -> Any:
        budget[0] -= 1
        if depth <= 0 or budget[0] <= 0:
            return None
        if self.is_list:
            return [item._plain(depth - 1, budget) for item in self.items]
        if self.is_mapping:
            return {key: value._plain(depth - 1, budget) for key, (_, value) in self.entries.items()}
        return self.value


class YamlTree:
    """The documents of one text. ``version`` is that of YAML: (1, 1) reads ``yes`` as true, (1, 2) as a text."""

    def __init__(self, text: Located, version: tuple[int, int] = (1, 2)) -> None:
        self.readable = _without_templates(text.text)
        self.base = _reworded(text, self.readable)
        self._entries: dict[int, dict[str, tuple[YamlNode, YamlNode]]] = {}
        self._nodes: dict[int, YamlNode] = {}
        self.problem: YamlProblem | None = None
        self._version = version
        self.documents: list[YamlNode] = list(self._compose())

    def _compose(self) -> Iterator[YamlNode]:
        if len(self.readable) > MAX_CHARACTERS:
            self.problem = YamlProblem(f"more than {MAX_CHARACTERS:,} characters of YAML", 1)
            return
        if (nested := _NESTED.search(self.readable)) is not None:
            self.problem = YamlProblem("nested too deep", self.readable.count("\n", 0, nested.start()) + 1)
            return
        yaml = YAML(typ="safe", pure=True)
        yaml.version = self._version
        try:
            for number, raw in enumerate(yaml.compose_all(self.readable)):
                if number >= MAX_DOCUMENTS:
                    self.problem = YamlProblem(f"more than {MAX_DOCUMENTS} documents", 1)
                    return
                if raw is not None:
                    yield self.node(raw)
        except MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark is not None else 1
            self.problem = YamlProblem(" ".join(str(error.problem or error.context or "cannot be read").split()), line)
        except YAMLError as error:
            self.problem = YamlProblem(" ".join(str(error).split())[:160], 1)
        except (RecursionError, ValueError, AttributeError, TypeError, IndexError, KeyError, AssertionError, NotImplementedError) as error:
            self.problem = YamlProblem("nested too deep" if isinstance(error, RecursionError) else "cannot be read", 1)

    def extent(self, start: int, end: int) -> Extent:
        found = self.base.part(start, max(end, start)).extent or self.base.extent
        if found is None:
            raise ValueError("a document without a place")
        return found

    def node(self, raw: Any) -> YamlNode:
        found = self._nodes.get(id(raw))
        if found is None:
            found = self._nodes[id(raw)] = YamlNode(raw, self)
        return found

    def entries(self, raw: Any) -> dict[str, tuple[YamlNode, YamlNode]]:
        found = self._entries.get(id(raw))
        if found is None:
            self._entries[id(raw)] = {}  # a mapping merged into itself adds nothing
            found = self._entries[id(raw)] = self._merged(raw)
        return found

    def _merged(self, raw: Any) -> dict[str, tuple[YamlNode, YamlNode]]:
        merged: dict[str, tuple[YamlNode, YamlNode]] = {}
        own: dict[str, tuple[YamlNode, YamlNode]] = {}
        for key, value in raw.value:
            if not isinstance(key, ScalarNode):
                continue
            if key.value == "<<" and not key.style:
                sources = value.value if isinstance(value, SequenceNode) else [value]
                for source in sources:
                    if isinstance(source, MappingNode):
                        merged = {**self.entries(source), **merged}
            else:
                own[str(key.value)] = (self.node(key), self.node(value))
        return {**merged, **own}

    def text(self, raw: Any) -> Located:
        """A scalar's text, template actions put back as what is not known."""
        start, end = raw.start_mark.index, raw.end_mark.index
        text = scalar_text(self.base, self.readable, start, end, str(raw.value), raw.style)
        if _OPEN not in text.text:
            return text
        parts: list[Located] = []
        position = 0
        for match in _PLACEHOLDER.finditer(text.text):
            parts.append(text.part(position, match.start()))
            action = text.part(match.start(), match.end())
            first, last = action.runs[0], action.runs[-1]
            written = first.source.text[first.start : last.end]
            parts.append(substitute(written, action, unresolved=written))
            position = match.end()
        parts.append(text.part(position))
        return join(parts)


def _reworded(text: Located, words: str) -> Located:
    """The places of a text with as many other characters."""
    if words == text.text:
        return text
    runs: list[Run] = []
    position = 0
    for run in text.runs:
        runs.append(replace(run, text=words[position : position + len(run.text)]))
        position += len(run.text)
    return Located(tuple(runs), text.anchor)


def _without_templates(text: str) -> str:
    if "{{" not in text:
        return text
    text = _ACTION_LINE.sub(lambda match: match[1] + "#" + " " * (len(match[0]) - len(match[1]) - 1), text)
    return _ACTION.sub(lambda match: _OPEN + _MORE * (len(match[0]) - 1), text)


def _integer(text: str) -> int:
    plain = text.replace("_", "")
    sign = -1 if plain.startswith("-") else 1
    digits = plain.lstrip("+-")
    if digits.startswith(("0x", "0X")):
        return sign * int(digits[2:], 16)
    if digits.startswith(("0o", "0O")):
        return sign * int(digits[2:], 8)
    if digits.startswith(("0b", "0B")):
        return sign * int(digits[2:], 2)
    if len(digits) > 1 and digits.startswith("0"):
        return sign * int(digits, 8)
    return sign * int(digits)
