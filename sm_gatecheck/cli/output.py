"""Where a report goes: stdout or a file, whole or not at all."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sm_gatecheck.model.errors import UsageError

PIPED_WIDTH = 100


@dataclass(frozen=True)
class Destination:
    """``file`` is None for stdout. ``color`` is auto, always or never."""

    file: Path | None = None
    color: str = "auto"

    @property
    def to_stdout(self) -> bool:
        return self.file is None or str(self.file) == "-"

    @property
    def is_terminal(self) -> bool:
        return self.to_stdout and sys.stdout is not None and sys.stdout.isatty()

    @property
    def wants_color(self) -> bool:
        """An explicit ``--color`` decides; else colour is for a terminal that can show it and a user who did not refuse it."""
        if self.color != "auto":
            return self.color == "always"
        return self.is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    @property
    def width(self) -> int:
        """Cells a line: ``COLUMNS``, else those of the terminal, else 100 for a pipe or a file."""
        return max(shutil.get_terminal_size((PIPED_WIDTH, 50)).columns if self._measurable else PIPED_WIDTH, 40)

    @property
    def _measurable(self) -> bool:
        return self.is_terminal or os.environ.get("COLUMNS", "").isdigit()

    def write(self, text: str) -> None:
        """Write all of ``text``. UsageError when that is not possible; a reader that went away is not an error."""
        if not self.to_stdout:
            assert self.file is not None
            write_file(self.file, text)
        elif sys.stdout is not None:
            _write_stdout(text)


def write_file(path: Path, text: str) -> None:
    """Replace the file by ``text`` in one step, so that no reader and no crash ever sees half of it. UsageError if impossible."""
    write_bytes(path, text.encode("utf-8", "backslashreplace"))


def write_bytes(path: Path, content: bytes) -> None:
    """The same for bytes."""
    try:
        if path.exists() and not path.is_file():
            if path.is_dir():
                raise UsageError(f"{path} is a directory: name a file")
            path.write_bytes(content)
            return
        target = Path(os.path.realpath(path))
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(content)
            os.chmod(name, target.stat().st_mode & 0o7777 if target.exists() else 0o666 & ~_umask())
            os.replace(name, target)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None


def _write_stdout(text: str) -> None:
    write_stdout(text.encode(sys.stdout.encoding or "utf-8", "backslashreplace"))


def write_stdout(content: bytes) -> None:
    """Write bytes to stdout. UsageError when that is not possible; a reader that went away is not an error."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
        stream = sys.stdout.buffer
        stream.write(content)
        stream.flush()
    except BrokenPipeError:
        _discard_stdout()
    except OSError as error:
        _discard_stdout()
        raise UsageError(f"cannot write to stdout: {error.strerror or error}") from None


def _discard_stdout() -> None:
    """Send what is still buffered to nowhere, so that the interpreter does not complain when it flushes at the end."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, sys.stdout.fileno())
    os.close(sink)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
