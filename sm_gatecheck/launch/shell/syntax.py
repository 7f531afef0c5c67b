"""A script parsed by tree-sitter; nodes give their text with the places where it was written."""

from __future__ import annotations

import re
from array import array
from functools import cached_property, lru_cache

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from sm_gatecheck.launch.located import Located, encoded

_BACKTICK_COMMENT = re.compile(rb"(?<=\s)`\s*#[^`\n]*`")
"""A comment between back-ticks, put between continued lines; the grammar takes it for a comment that hides the closing back-tick."""

_WINDOWS_LINE = re.compile(rb"(\\?)\r\n")


@lru_cache(maxsize=1)
def _parser() -> Parser:
    return Parser(Language(tree_sitter_bash.language()))


class Script:
    """A parsed script. Nodes are tree-sitter's. What is not known of the text (a chart's action) is a plain word to the grammar."""

    def __init__(self, text: Located) -> None:
        self.text = text
        self._bytes = encoded(text.text)
        shown = b"".join(b"x" * len(encoded(run.text)) if run.unresolved is not None else encoded(run.text) for run in text.runs)
        self.root: Node = _parser().parse(_readable(shown)).root_node

    @cached_property
    def _characters(self) -> array[int] | None:
        """For each byte the number of characters before it; None where every character is a byte."""
        if len(self._bytes) == len(self.text.text):
            return None
        found = array("L")
        for index, character in enumerate(self.text.text):
            found.extend([index] * len(encoded(character)))
        found.append(len(self.text.text))
        return found

    def character(self, byte: int) -> int:
        return byte if self._characters is None else self._characters[byte]

    def part(self, start: int, end: int) -> Located:
        """The text between two bytes."""
        return self.text.part(self.character(start), self.character(end))

    def locate(self, node: Node) -> Located:
        return self.part(node.start_byte, node.end_byte)

    def source(self, node: Node) -> str:
        """A node's text on one line."""
        return " ".join(self.locate(node).text.split())


def _readable(data: bytes) -> bytes:
    """The same bytes in number, with what the grammar cannot take made blank: comments in back-ticks, Windows line ends."""
    data = _BACKTICK_COMMENT.sub(lambda match: b" " * len(match[0]), data)
    return _WINDOWS_LINE.sub(lambda match: b" \\\n" if match[1] else b" \n", data)


def first_error(root: Node) -> Node:
    """The first node, in reading order, that did not parse."""
    node = root
    while not (node.is_error or node.is_missing):
        inner = next((child for child in node.children if child.has_error), None)
        if inner is None:
            break
        node = inner
    return node
