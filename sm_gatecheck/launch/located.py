"""Text that remembers where every character of it was written, however it was quoted, joined or substituted on the way."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from sm_gatecheck.launch.model import Extent


@dataclass(frozen=True, eq=False)
class SourceText:
    """A file's text. ``path`` is where it lies (None for standard input), ``skipped`` the bytes before the text (a byte order mark)."""

    name: str
    text: str
    path: Path | None = None
    skipped: int = 0

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    @cached_property
    def _line_bytes(self) -> list[int]:
        """The byte at which each line starts."""
        total, found = self.skipped, []
        starts = [*self._line_starts, len(self.text)]
        for start, end in pairwise(starts):
            found.append(total)
            total += len(encoded(self.text[start:end]))
        return found

    @cached_property
    def _is_ascii(self) -> bool:
        return self.text.isascii()

    @property
    def directory(self) -> Path | None:
        return self.path.parent if self.path is not None else None

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column, from 1."""
        line = bisect_right(self._line_starts, offset) - 1
        return line + 1, offset - self._line_starts[line] + 1

    def byte(self, offset: int) -> int:
        if self._is_ascii:
            return offset + self.skipped
        line = bisect_right(self._line_starts, offset) - 1
        return self._line_bytes[line] + len(encoded(self.text[self._line_starts[line] : offset]))

    def extent(self, start: int, end: int) -> Extent:
        return Extent(self.name, *self.place(start), *self.place(end), self.byte(start), self.byte(end))

    def located(self, start: int = 0, end: int | None = None) -> Located:
        """A part of the text, the whole unless told."""
        end = len(self.text) if end is None else end
        return Located((Run(self.text[start:end], self, start, end),)) if end > start else Located((), self.extent(start, start))


@dataclass(frozen=True)
class Run:
    """Characters that came from one stretch of a source: one to one where the lengths agree, else all from all of it.

    ``unresolved`` is what stands here as written where its value is not known, ``assumed`` a note on why it has this value.
    """

    text: str
    source: SourceText
    start: int
    end: int
    unresolved: str | None = None
    assumed: str | None = None
    is_quoted: bool = False

    def quoted(self, is_quoted: bool) -> Run:
        return Run(self.text, self.source, self.start, self.end, self.unresolved, self.assumed, is_quoted)

    def part(self, start: int, end: int) -> Run:
        if end - start == len(self.text):
            return self
        if self.end - self.start != len(self.text):
            return replace(self, text=self.text[start:end])
        return replace(self, text=self.text[start:end], start=self.start + start, end=self.start + end)


@dataclass(frozen=True)
class Located:
    """Runs in reading order; ``anchor`` says where an empty text stands."""

    runs: tuple[Run, ...] = ()
    anchor: Extent | None = field(default=None, compare=False)

    @cached_property
    def text(self) -> str:
        return "".join(run.text for run in self.runs)

    @cached_property
    def _starts(self) -> list[int]:
        starts, total = [], 0
        for run in self.runs:
            starts.append(total)
            total += len(run.text)
        return starts

    @cached_property
    def extent(self) -> Extent | None:
        """From the first character to the last; where they come from different places, the first stretch that is of one piece."""
        if not self.runs:
            return self.anchor
        first = self.runs[0]
        last = first
        for run in self.runs[1:]:
            if run.source is not first.source or run.start < last.end:
                break
            last = run
        return first.source.extent(first.start, last.end)

    @property
    def unresolved(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(run.unresolved for run in self.runs if run.unresolved is not None))

    @property
    def assumed(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(run.assumed for run in self.runs if run.assumed is not None))

    @property
    def source(self) -> SourceText | None:
        return self.runs[0].source if self.runs else None

    def __len__(self) -> int:
        return len(self.text)

    @property
    def cost(self) -> int:
        """What it takes to handle: characters, and more for each piece that the text is made of."""
        return len(self.text) + 16 * len(self.runs)

    def __add__(self, other: Located) -> Located:
        if not self.runs:
            return other if other.runs else self
        return Located((*self.runs, *other.runs), self.anchor)

    def part(self, start: int, end: int | None = None) -> Located:
        """Characters ``start`` to ``end``, as a slice of the text would be."""
        end = len(self.text) if end is None else min(end, len(self.text))
        if start == 0 and end == len(self.text):
            return self
        if start >= end:
            return Located((), self.place(min(start, max(len(self.text) - 1, 0))))
        index = bisect_right(self._starts, start) - 1
        found: list[Run] = []
        while index < len(self.runs) and self._starts[index] < end:
            run, offset = self.runs[index], self._starts[index]
            low, high = max(start - offset, 0), min(end - offset, len(run.text))
            if low < high:
                found.append(run.part(low, high))
            index += 1
        return Located(tuple(found))

    def place(self, index: int) -> Extent | None:
        """Where the character at ``index`` was written."""
        if not self.runs:
            return self.anchor
        position = max(bisect_right(self._starts, index) - 1, 0)
        run = self.runs[position]
        if run.end - run.start == len(run.text):
            start = run.start + min(index - self._starts[position], len(run.text))
            return run.source.extent(start, min(start + 1, run.end))
        return run.source.extent(run.start, run.end)

    def run_at(self, index: int) -> Run:
        return self.runs[bisect_right(self._starts, index) - 1]

    def strip(self, characters: str | None = None) -> Located:
        text = self.text
        left = len(text) - len(text.lstrip(characters))
        return self.part(left, len(text.rstrip(characters)) if text.strip(characters) else left)

    def quoted(self, is_quoted: bool = True) -> Located:
        """The same text, counted as quoted (never split at its blanks) or as not quoted."""
        if all(run.is_quoted is is_quoted for run in self.runs):
            return self
        return Located(tuple(run if run.is_quoted is is_quoted else run.quoted(is_quoted) for run in self.runs), self.anchor)

    def noted(self, assumed: str) -> Located:
        """The same text with a note on what it rests on."""
        return Located(tuple(replace(run, assumed=run.assumed or assumed) for run in self.runs), self.anchor)

    def lines(self) -> Iterator[Located]:
        start = 0
        for match in re.finditer("\n", self.text):
            yield self.part(start, match.start())
            start = match.end()
        if start < len(self.text):
            yield self.part(start)


MAX_WORDS = 20_000
"""Words of one command that are read; who takes words apart stops one later, so that it shows."""


@dataclass(frozen=True)
class Word:
    """One argument of a command. ``written`` is where the command takes it in, if its text comes from elsewhere."""

    value: Located
    written: Extent | None = None

    @property
    def text(self) -> str:
        return self.value.text

    @property
    def extent(self) -> Extent:
        found = self.value.extent or self.written
        if found is None:
            raise ValueError("a word without a place")
        return found

    @property
    def unresolved(self) -> tuple[str, ...]:
        return self.value.unresolved

    @property
    def assumed(self) -> tuple[str, ...]:
        return self.value.assumed

    @property
    def is_empty_default(self) -> bool:
        """Whether there is no word here, and would be one if a variable were set (``${EXTRA:-}``)."""
        return bool(self.value.runs) and not self.value.text

    @property
    def starts_unresolved(self) -> bool:
        """Whether not even the first character is known."""
        return bool(self.value.runs) and self.value.runs[0].unresolved is not None

    def part(self, start: int, end: int | None = None) -> Word:
        return Word(self.value.part(start, end), self.written)


def substitute(
    text: str,
    place: Located,
    start: int = 0,
    end: int | None = None,
    *,
    unresolved: str | None = None,
    assumed: str | None = None,
    is_quoted: bool = False,
) -> Located:
    """``text`` standing for the characters ``start`` to ``end`` of ``place`` (all of it unless told)."""
    covered = place.part(start, end)
    if not covered.runs:
        return Located((), covered.anchor)
    first, last = covered.runs[0], covered.runs[-1]
    stretch_end = last.end if last.source is first.source and last.end >= first.end else first.end
    run = Run(text, first.source, first.start, stretch_end, unresolved, assumed, is_quoted)
    return Located((run,) if text or assumed else (), first.source.extent(first.start, stretch_end))


def before(text: str, place: Located) -> Located:
    """``text`` that stands nowhere, put before ``place``."""
    if not place.runs:
        return Located((), place.anchor)
    first = place.runs[0]
    return Located((Run(text, first.source, first.start, first.start),))


def join(parts: Iterable[Located]) -> Located:
    runs: list[Run] = []
    anchor: Extent | None = None
    for part in parts:
        runs.extend(part.runs)
        anchor = anchor or part.anchor
    return Located(tuple(runs), anchor)


_NO_CHARACTER = re.compile("[\ud800-\udfff]")
_NO_BYTE = re.compile("[\ud800-\udc7f\udd00-\udfff]")


def encoded(text: str) -> bytes:
    """The bytes of a text read from a file, those that were no UTF-8 included; half a character (of an escape) becomes a whole one."""
    return _NO_BYTE.sub("\ufffd", text).encode("utf-8", "surrogateescape")


def printable(text: str) -> str:
    """A text fit for any output: bytes that were no UTF-8 become the replacement character."""
    return _NO_CHARACTER.sub("\ufffd", text)
