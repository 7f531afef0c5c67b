"""Running a command and measuring it: wall time, and memory over all its processes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SAMPLE_SECONDS = 0.2
_PROC = Path("/proc")


class CommandFailed(Exception):
    """A measured command did not end with status 0; the message is the last line that it wrote to stderr."""


@dataclass(frozen=True)
class Measured:
    """``peak_mib``: the most memory that the command and its children held at once.

    It is the larger of the most that one process held and of samples summed over all (shared pages counted once, by PSS). Where
    there is no ``/proc``, it is what the system recorded for one process, which may count what its parent held when it began.
    """

    seconds: float
    peak_mib: float
    output: bytes


def run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Measured:
    """Runs to the end; stdout goes to a file, so that a full pipe slows nothing. CommandFailed unless the status is 0."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        started = time.perf_counter()
        child = subprocess.Popen(command, stdout=output, stderr=errors, env={**os.environ, **(environment or {})})
        sampler = _Sampler(child.pid)
        sampler.start()
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - started
        child.returncode = os.waitstatus_to_exitcode(status)
        sampler.stop()
        output.seek(0)
        errors.seek(0)
        if child.returncode != 0:
            said = errors.read().decode("utf-8", "replace").strip().splitlines()
            raise CommandFailed(f"{' '.join(command)}: status {child.returncode}: {said[-1] if said else 'no message'}")
        # Linux hands ru_maxrss on through exec: a command begun by a large process would weigh as much as that process.
        recorded = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        return Measured(seconds, (sampler.peak_bytes or recorded) / 2**20, output.read())


class _Sampler(threading.Thread):
    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.peak_bytes = 0
        self._pid = pid
        self._done = threading.Event()

    def run(self) -> None:
        while _PROC.is_dir() and not self._done.wait(SAMPLE_SECONDS):
            members = family(self._pid)
            together = sum(_kibibytes(pid, "smaps_rollup", "Pss:") for pid in members)
            largest = max(_kibibytes(pid, "status", "VmHWM:") for pid in members)
            self.peak_bytes = max(self.peak_bytes, 1024 * max(together, largest))

    def stop(self) -> None:
        self._done.set()
        self.join()


def family(pid: int) -> set[int]:
    """A process and all its descendants, as ``/proc`` has them now."""
    parents: dict[int, int] = {}
    for entry in _PROC.glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(entry.parent.name)] = int(fields[1])
    found = {pid}
    while grown := {child for child, parent in parents.items() if parent in found} - found:
        found |= grown
    return found


def _kibibytes(pid: int, file: str, field: str) -> int:
    """One figure out of ``/proc``; 0 for a process that has ended, or a system that does not tell it."""
    try:
        for line in (_PROC / str(pid) / file).read_text("utf-8", "replace").splitlines():
            if line.startswith(field):
                return int(line.split()[1])
    except OSError:
        pass
    return 0
