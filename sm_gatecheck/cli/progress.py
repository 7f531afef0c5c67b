"""A progress bar on stderr, for a person who has waited a second and for nobody else."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE = 1.0


class DelayedProgress:
    """A callback ``(phase, done, total)`` that starts to draw a second after its first call.

    It draws when called and from no thread of its own: the analysis forks, and a thread that holds a lock at that
    moment would leave it locked in the child.
    """

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled and sys.stderr is not None and sys.stderr.isatty()
        self._begun = time.monotonic()
        self._drawn = 0.0
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def __call__(self, phase: str, done: int, total: int) -> None:
        now = time.monotonic()
        if not self._enabled or now - self._begun < PATIENCE or (now - self._drawn < 0.1 and done < total):
            return
        self._drawn = now
        if self._progress is None:
            self._progress = _bar()
            self._progress.start()
        if self._task is None:
            self._task = self._progress.add_task(phase, total=total)
        self._progress.update(self._task, description=phase, completed=done, total=total, refresh=True)

    def __enter__(self) -> DelayedProgress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._progress is not None:
            self._progress.stop()


def _bar() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        auto_refresh=False,
    )
