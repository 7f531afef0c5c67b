"""Nodes of Python's syntax tree as text that knows its place."""

from __future__ import annotations

import ast
import re
from functools import cached_property

from sm_gatecheck.launch.located import Located, SourceText, join, substitute
from sm_gatecheck.launch.model import Extent

_LINE_END = re.compile(r"\r\n|\r|\n")
_NO_TEXT = re.compile("[\udc80-\udcff]")
_SHOWN = 80


class Program:
    """A parsed program. SyntaxError, ValueError, RecursionError or MemoryError where it does not parse."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self._text = _NO_TEXT.sub("?", source.text)
        self.tree = ast.parse(self._text)

    @cached_property
    def _lines(self) -> list[tuple[int, int]]:
        ends = [match.span() for match in _LINE_END.finditer(self._text)]
        starts = [0, *(end for _, end in ends)]
        stops = [*(start for start, _ in ends), len(self._text)]
        return list(zip(starts, stops, strict=True))

    def offset(self, line: int, column: int) -> int:
        """The character of a line (from 1) and a column (bytes, from 0)."""
        start, stop = self._lines[min(line, len(self._lines)) - 1]
        text = self._text[start:stop]
        if text.isascii():
            return start + min(column, len(text))
        return start + len(text.encode("utf-8")[:column].decode("utf-8", "ignore"))

    def bounds(self, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        start = self.offset(node.lineno, node.col_offset)
        end = self.offset(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
        return start, end

    def extent(self, node: ast.expr | ast.stmt | ast.keyword) -> Extent:
        return self.source.extent(*self.bounds(node))

    def located(self, node: ast.expr | ast.stmt) -> Located:
        return self.source.located(*self.bounds(node))

    def shown(self, node: ast.expr) -> str:
        """A node's source on one line."""
        text = " ".join(self.located(node).text.split())
        return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"

    def keyword_extent(self, keyword: ast.keyword) -> Extent:
        """The name before the equals sign."""
        start = self.offset(keyword.lineno, keyword.col_offset)
        return self.source.extent(start, start + len(keyword.arg or "**"))

    def string(self, node: ast.expr, value: str) -> Located:
        """A string literal's value, by its characters where they stand in the source as they are."""
        start, end = self.bounds(node)
        return _found(self.source, start, end, value)

    def pieces(self, node: ast.expr, values: list[tuple[str, str | None]]) -> Located:
        """An f-string: texts in order, those with a second part being what is not known."""
        position, end = self.bounds(node)
        parts: list[Located] = []
        for value, reference in values:
            if reference is not None:
                stop = self._text.find("}", position, end)
                parts.append(
                    substitute(value, self.source.located(position, stop + 1 if stop >= 0 else end), unresolved=reference)
                    if position < end
                    else Located()
                )
                position = stop + 1 if stop >= 0 else position
                continue
            found = self._text.find(value, position, end)
            if found >= 0:
                parts.append(self.source.located(found, found + len(value)))
                position = found + len(value)
            else:
                parts.append(_found(self.source, *self.bounds(node), value))
        return join(parts)


def _found(source: SourceText, start: int, end: int, value: str) -> Located:
    """A literal's value in its source: as a whole where it stands there once as it is, else line by line, else all from all of it."""
    whole = source.located(start, end)
    if not value:
        return Located((), whole.extent)
    written = source.text[start:end]
    index = written.find(value)
    if index >= 0 and written.find(value, index + 1) < 0:
        return source.located(start + index, start + index + len(value))
    parts: list[Located] = []
    position = 0
    for line in value.splitlines(keepends=True):
        index = written.find(line, position)
        if index >= 0:
            parts.append(source.located(start + index, start + index + len(line)))
            position = index + len(line)
            continue
        # An escape in this line: its characters stand anywhere in the line of the source.
        stop = written.find("\n", position)
        stop = len(written) if stop < 0 else stop + 1
        parts.append(substitute(line, source.located(start + position, start + stop)))
        position = stop
    return join(parts) if all(part.runs for part in parts) else substitute(value, whole)
