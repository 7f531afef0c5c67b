"""From the lines of a log to the starts of a server that it holds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from sm_gatecheck.logs.lines import Line, lines_of
from sm_gatecheck.logs.literals import read_fields
from sm_gatecheck.logs.model import Figure, Log, LogError, Reading, Start, Unread
from sm_gatecheck.logs.rules import FigureRule, LogRules
from sm_gatecheck.model.errors import UsageError

ARGUMENTS_LIMIT = 1 << 18
CONTINUATIONS = 400
"""Lines over which arguments may be spread: a terminal breaks a long line where its window ends."""
STARTS_LIMIT = 100
READINGS_LIMIT = 64
HIDDEN = "***"
"""What is kept of a value that is a secret."""

_RECORD = re.compile(r"\s{0,64}\[?(?:\d{4}-\d\d-\d\d|(?:INFO|WARNING|ERROR|DEBUG)\b)")
_RANK = re.compile(r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?((?: [A-Z_]{1,12}\d{1,5}){1,8})\]")
_NUMBER = re.compile(r"\s{0,4}(-?\d{1,15}(?:\.\d{1,9})?)")
_BRACKET = re.compile(r"['\"\\()\[\]{}]")
_NAME = re.compile(r"[A-Za-z_]\w{0,127}")


@contextmanager
def open_log(path: Path) -> Iterator[IO[bytes]]:
    """The file, for reading. UsageError, one line, where that is not possible."""
    try:
        stream = path.open("rb")
    except OSError as error:
        raise UsageError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    with stream:
        yield stream


def read_log(stream: IO[bytes], name: str, rules: LogRules) -> Log:
    """Every start in a log. LogError where there is none."""
    notes: list[str] = []
    reader = _Reader(rules, notes)
    try:
        for line in lines_of(stream, notes):
            reader.line(line)
    except OSError as error:
        raise UsageError(f"{name}: {(error.strerror or str(error)).lower()}") from None
    starts = reader.finished()
    if not starts:
        raise LogError(f"{name}: no start of a server is in it: neither its arguments ({rules.marker}…) nor a figure of its memory")
    return Log(name, starts, tuple(notes))


@dataclass
class _Open:
    """A start whose lines are still coming."""

    line: int
    arguments: Mapping[str, Any] | None = None
    form: Any = None
    is_cut: bool = False
    architecture: str | None = None
    gpu_memory: int | None = None
    readings: dict[str, dict[str, list[Reading]]] = field(default_factory=dict)


class _Brackets:
    """Whether the brackets of a text that comes in pieces are closed; quotes are understood, nothing is kept."""

    def __init__(self) -> None:
        self._depth = 0
        self._quote = ""
        self._escaped = -1

    def closed_by(self, text: str) -> bool:
        for found in _BRACKET.finditer(text):
            sign = found.group()
            if found.start() == self._escaped:
                continue
            if sign == "\\":
                self._escaped = found.end()
            elif self._quote:
                self._quote = "" if sign == self._quote else self._quote
            elif sign in "'\"":
                self._quote = sign
            elif sign in "([{":
                self._depth += 1
            else:
                self._depth -= 1
                if self._depth <= 0:
                    return True
        self._escaped -= len(text)
        return False


@dataclass
class _Pending:
    """Arguments whose end has not come yet: the line that they begin on, from where they begin, and the lines since."""

    line: Line
    text: str
    brackets: _Brackets
    more: list[Line] = field(default_factory=list)
    size: int = 0


class _Reader:
    def __init__(self, rules: LogRules, notes: list[str]) -> None:
        self._rules = rules
        self._notes = notes
        self._starts: list[_Open] = []
        self._pending: _Pending | None = None
        self._gpu_memory: int | None = None

    def line(self, line: Line) -> None:
        if self._pending is not None:
            if self._continued(self._pending, line):
                return
            self._give_up()
        self._whole(line)

    def finished(self) -> tuple[Start, ...]:
        self._give_up()
        return tuple(self._start(found) for found in self._starts)

    def _whole(self, line: Line) -> None:
        if not self._rules.interesting.search(line.text):
            return
        memory = line.text.find(self._rules.memory_marker)
        if memory >= 0:
            found = _after(line.text, self._rules.memory_key, _NUMBER, memory)
            self._gpu_memory = None if found is None else round(float(found))
        at = line.text.find(self._rules.marker)
        if at >= 0:
            self._arguments(line, at + len(self._rules.marker))
        self._figures(line)

    # -- arguments

    def _arguments(self, line: Line, at: int) -> None:
        text = line.text[at : at + ARGUMENTS_LIMIT]
        fields = read_fields(text, 0)
        if fields is None:
            return
        brackets = _Brackets()
        if fields.end is None and not brackets.closed_by(text):
            self._pending = _Pending(line, text, brackets)
        else:
            self._begin(line.number, fields.values, fields.form, is_cut=fields.end is None)

    def _continued(self, pending: _Pending, line: Line) -> bool:
        """Whether a line goes on with the arguments that are still open; where it closes them, they are read."""
        pending.size += len(line.text)
        if _RECORD.match(line.text) or len(pending.more) >= CONTINUATIONS or pending.size > ARGUMENTS_LIMIT:
            return False
        pending.more.append(line)
        if pending.brackets.closed_by(line.text):
            self._pending = None
            fields = read_fields(pending.text + "".join(more.text for more in pending.more), 0)
            if fields is not None:
                self._begin(pending.line.number, fields.values, fields.form, is_cut=fields.end is None)
        return True

    def _give_up(self) -> None:
        """The end of the arguments is not in the log: what stands on their first line counts, the lines since are lines."""
        pending, self._pending = self._pending, None
        if pending is None:
            return
        fields = read_fields(pending.text, 0)
        if fields is not None and fields.values:
            self._begin(pending.line.number, fields.values, fields.form, is_cut=True)
        for line in pending.more:
            if self._rules.marker not in line.text:
                self._whole(line)

    def _begin(self, line: int, values: Mapping[str, Any], form: Any, is_cut: bool) -> None:
        secrets = [name for name, value in values.items() if isinstance(value, str) and self._rules.is_secret(name)]
        values = {**values, **dict.fromkeys(secrets, Unread(HIDDEN))}
        last = self._starts[-1] if self._starts else None
        if last is not None and not last.readings and last.arguments == values:
            return  # the engine and the process below it both say it
        if len(self._starts) >= STARTS_LIMIT:
            self._starts.pop(0)
            note = f"the log holds more than {STARTS_LIMIT} starts: only the last {STARTS_LIMIT} were kept"
            if note not in self._notes:
                self._notes.append(note)
        self._starts.append(_Open(line, values, form, is_cut, gpu_memory=self._gpu_memory))
        self._gpu_memory = None

    # -- figures

    def _figures(self, line: Line) -> None:
        rank = _RANK.search(line.text[:200])
        for rule in self._rules.figures:
            value = _figure_in(line.text, rule)
            if value is None:
                continue
            readings = self._current(line).readings.setdefault(rule.name, {}).setdefault(rank[1] if rank else "", [])
            if len(readings) < READINGS_LIMIT:
                readings.append(Reading(value, line.number))
        if self._rules.architecture_marker in line.text:
            name = _after(line.text, self._rules.architecture_key, _NAME, line.text.find(self._rules.architecture_marker))
            current = self._current(line)
            current.architecture = current.architecture or name

    def _current(self, line: Line) -> _Open:
        if not self._starts:
            self._starts.append(_Open(line.number))
        return self._starts[-1]

    def _start(self, found: _Open) -> Start:
        figures = []
        for rule in self._rules.figures:
            by_rank = found.readings.get(rule.name)
            if by_rank:
                readings = tuple(by_rank[min(by_rank)])
                figures.append(Figure(rule.name, rule.title, rule.unit, rule.kind, readings, rule.bears, rule.before_options))
        return Start(found.line, found.arguments, tuple(figures), found.form, found.is_cut, found.architecture, found.gpu_memory)


def _figure_in(text: str, rule: FigureRule) -> float | None:
    at = next((at for at in map(text.find, rule.markers) if at >= 0), -1)
    if at < 0 or rule.also not in text:
        return None
    number = _after(text, rule.key, _NUMBER, at)
    return None if number is None else float(number)


def _after(text: str, key: str, pattern: re.Pattern[str], at: int) -> str | None:
    """What stands right behind ``key``, at or after a place."""
    begin = text.find(key, at)
    found = None if begin < 0 else pattern.match(text, begin + len(key))
    return None if found is None else found.group().strip()
