"""``gatecheck matrix --check FILE``: a committed matrix against today's."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sm_gatecheck.cli.outcome import FINDINGS, NOTHING, say
from sm_gatecheck.cli.output import Destination
from sm_gatecheck.cli.refusal import did_you_mean
from sm_gatecheck.model.errors import UsageError
from sm_gatecheck.report import drift


@dataclass(frozen=True)
class Committed:
    """A matrix in a file, and the SMs of its columns as it spells them."""

    text: str
    columns: tuple[str, ...]


def read_committed(path: Path) -> Committed:
    """The matrix of a file. UsageError where there is none."""
    try:
        text = path.read_text(encoding="utf-8")
        return Committed(text, drift.read(text).columns)
    except FileNotFoundError:
        siblings = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
        mend = did_you_mean(path.name, siblings) or f"; 'gatecheck matrix TREE -o {path}' writes it"
        raise UsageError(f"--check {path}: no such file{mend}") from None
    except OSError as error:
        raise UsageError(f"--check {path}: {error.strerror or error}") from None
    except ValueError as error:
        raise UsageError(f"--check {path}: {error}") from None


def say_drift(path: Path, committed: Committed, fresh: str, quiet: bool) -> int:
    """The differences on stdout, a line each; the exit status."""
    found = drift.drift(committed.text, fresh)
    if found.moved:
        say(f"{path}: the notes of {found.moved} cells name lines that have moved since; that is no drift", quiet)
    if not found.changes:
        say(f"{path} says what is the case", quiet)
        return NOTHING
    Destination().write("".join(f"{path}: {change}\n" for change in found.changes))
    return FINDINGS
