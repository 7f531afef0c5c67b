"""Remember what each step of resolution read and wrote, and replay it where it would read the same again.

Judging a thousand option values means running resolution a thousand times with one field changed. Nearly every step reads
none of what changed: its writes and events are then those of the earlier run.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from sm_gatecheck.evaluate.values import Value
from sm_gatecheck.model.condition import Condition


@dataclass
class Trace:
    """What one call did: state read before it wrote them, writes in order, where its events and writes begin in the outcome."""

    key: Hashable
    first_event: int
    first_write: int
    reads: dict[Hashable, Value | None] = field(default_factory=dict)
    stores: list[tuple[Hashable, Value, Condition]] = field(default_factory=list)
    stored: set[Hashable] = field(default_factory=set)


@dataclass(frozen=True)
class Step:
    """A finished call, ready to be replayed."""

    reads: tuple[tuple[Hashable, Value | None], ...]
    stores: tuple[tuple[Hashable, Value, Condition], ...]
    events: tuple[Any, ...]
    writes: tuple[Any, ...]
    result: Value
    pc: Condition
    telling: list[int] = field(default_factory=lambda: [0], compare=False)
    """Which read told it last from what stood there: it will again, and is asked first."""

    def fits(self, state: dict[Hashable, Value]) -> bool:
        """Whether it read what stands there now."""
        reads = self.reads
        if not reads:
            return True
        likely, seen = reads[self.telling[0]]
        if not _same(state.get(likely), seen):
            return False
        for index, (name, value) in enumerate(reads):
            if not _same(state.get(name), value):
                self.telling[0] = index
                return False
        return True


class Replay:
    """The steps of earlier runs by call, and the traces of the calls now running."""

    def __init__(self) -> None:
        self._steps: dict[Hashable, list[Step]] = {}
        self._running: list[Trace] = []

    def note_read(self, name: Hashable, value: Value | None) -> None:
        if self._running:
            trace = self._running[-1]
            if name not in trace.stored:
                trace.reads.setdefault(name, value)

    def note_store(self, name: Hashable, value: Value, condition: Condition) -> None:
        if self._running:
            trace = self._running[-1]
            trace.stores.append((name, value, condition))
            trace.stored.add(name)

    def find(self, key: Hashable, state: dict[Hashable, Value]) -> Step | None:
        """A step that was called like this and read what stands there now."""
        for step in self._steps.get(key, ()):
            if step.fits(state):
                return step
        return None

    def begin(self, key: Hashable, events: int, writes: int) -> None:
        self._running.append(Trace(key, events, writes))

    def finish(self, events: list[Any], writes: list[Any], result: Value, pc: Condition) -> None:
        trace = self._running.pop()
        step = Step(
            tuple(trace.reads.items()),
            tuple(trace.stores),
            tuple(events[trace.first_event :]),
            tuple(writes[trace.first_write :]),
            result,
            pc,
        )
        self._steps.setdefault(trace.key, []).insert(0, step)
        self.absorb(step)

    def abandon(self) -> None:
        """Forget the calls in progress: the run was broken off."""
        self._running.clear()

    def absorb(self, step: Step) -> None:
        """What a finished or replayed call did, its caller did too."""
        for name, value in step.reads:
            self.note_read(name, value)
        for name, value, condition in step.stores:
            self.note_store(name, value, condition)


def _same(a: Value | None, b: Value | None) -> bool:
    return a is b or a == b
