"""A startup log as values: the starts that it holds, and of each the arguments and the figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sm_gatecheck.model.errors import TreeError

FigureKind = Literal["capacity", "free", "used"]


class LogError(TreeError):
    """A log holds nothing that can be answered from; the message is one line (exit status 3)."""


@dataclass(frozen=True)
class Unread:
    """A value that is no literal: ``text`` as logged. Two are the same when they are spelt the same."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Reading:
    """One figure as logged: GB, tokens or requests, and the line of the log that says so (counted from 1)."""

    value: float
    line: int


@dataclass(frozen=True)
class Figure:
    """A figure of one start. ``readings`` are those of one rank in the order of the log: the target model's, then a draft's."""

    name: str
    title: str
    unit: str
    kind: FigureKind
    readings: tuple[Reading, ...]
    bears: tuple[str, ...] = ()
    before_options: bool = False

    @property
    def value(self) -> float:
        return self.readings[0].value

    @property
    def line(self) -> int:
        return self.readings[0].line


@dataclass(frozen=True)
class Start:
    """One start of a server. ``arguments`` is None where the log begins later than the line that holds them.

    Values are plain Python data; nested objects are dictionaries of their fields, what is no literal is ``Unread``.
    ``is_cut`` says that the line ended before the arguments did. ``gpu_memory`` (MiB) is what the server took for the memory of
    one GPU, where it says so.
    """

    line: int
    arguments: Mapping[str, Any] | None
    figures: tuple[Figure, ...] = ()
    form: Literal["repr", "dict"] | None = None
    is_cut: bool = False
    architecture: str | None = None
    gpu_memory: int | None = None

    def figure(self, name: str) -> Figure | None:
        return next((figure for figure in self.figures if figure.name == name), None)


@dataclass(frozen=True)
class Log:
    """A log file as it was read; ``notes`` say what was left out."""

    name: str
    starts: tuple[Start, ...]
    notes: tuple[str, ...] = field(default=())
