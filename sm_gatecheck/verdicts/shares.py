"""Work split into fixed shares, each done in a forked process that knows all that its parent knew.

How many shares there are hangs on the work alone, never on the number of processes: a share sees nothing of what another one
learnt, so that the answer is the same however many of them are at work at once.
"""

from __future__ import annotations

import os
import pickle
import selectors
import signal
import tempfile
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO, Any, NoReturn, TypeVar

SHARES = 8
SHARED_FROM = 100
"""As many things to do make it worth a process."""

Item = TypeVar("Item")
Result = TypeVar("Result")


class ShareFailed(Exception):
    """A share raised something that cannot be handed on; the message is its traceback."""


def in_shares(items: Sequence[Item], work: Callable[[Sequence[Item]], Result], processes: int | None) -> list[Result]:
    """What ``work`` makes of each share, in order: every eighth item, or all of them where there are few.

    At most ``processes`` are at work at once (None: one a core). What ``work`` raises is raised; MemoryError where the system
    ended a share. Without ``os.fork`` the shares are done here, one after the other.
    """
    if len(items) < SHARED_FROM:
        return [work(items)]
    shares = [items[first::SHARES] for first in range(SHARES)]
    if not hasattr(os, "fork"):
        return [work(share) for share in shares]
    return _forked(shares, work, processes or _cores())


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class _Child:
    pid: int
    index: int
    output: IO[bytes]
    """Where it writes its answer."""
    alive: IO[bytes]
    """A pipe that ends when it does."""


def _forked(shares: Sequence[Sequence[Item]], work: Callable[[Sequence[Item]], Result], processes: int) -> list[Result]:
    waiting = list(enumerate(shares))
    results: dict[int, Any] = {}
    with selectors.DefaultSelector() as running:
        try:
            while waiting or running.get_map():
                while waiting and len(running.get_map()) < processes:
                    index, share = waiting.pop(0)
                    child = _start(index, share, work)
                    running.register(child.alive, selectors.EVENT_READ, child)
                for key, _ in running.select():
                    running.unregister(key.fileobj)
                    results[key.data.index] = _answer(key.data)
        finally:
            for key in list(running.get_map().values()):
                os.kill(key.data.pid, signal.SIGKILL)
                os.waitpid(key.data.pid, 0)
    return [results[index] for index in range(len(shares))]


def _start(index: int, share: Sequence[Item], work: Callable[[Sequence[Item]], Result]) -> _Child:
    output: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed when it is read
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # Python warns where other threads run; the child touches nothing that one of them could hold.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if not pid:
        _work(share, work, output)
    os.close(writing)
    return _Child(pid, index, output, os.fdopen(reading, "rb"))


def _work(share: Sequence[Item], work: Callable[[Sequence[Item]], Result], output: IO[bytes]) -> NoReturn:
    """The child's life: it writes its answer, and leaves without a word to anybody else."""
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        try:
            answer: tuple[bool, Any] = (True, work(share))
        except Exception as error:
            answer = (False, _portable(error))
        pickle.dump(answer, output, pickle.HIGHEST_PROTOCOL)
        output.flush()
        status = 0
    finally:
        os._exit(status)


def _portable(error: Exception) -> Exception:
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # whatever its class does when it is copied
        return ShareFailed(traceback.format_exc())
    return error


def _answer(child: _Child) -> Any:
    _, status = os.waitpid(child.pid, 0)
    with child.alive, child.output:
        if status != 0:
            raise MemoryError("a process was ended by the system")
        child.output.seek(0)
        is_result, answer = pickle.load(child.output)
    if not is_result:
        raise answer
    return answer
