"""``--baseline`` and ``--write-baseline``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sm_gatecheck.cli.outcome import counted, say
from sm_gatecheck.cli.output import write_file
from sm_gatecheck.cli.refusal import did_you_mean
from sm_gatecheck.model.errors import UsageError
from sm_gatecheck.model.report import Finding
from sm_gatecheck.report import baseline

STALE_NAMED = 20


def apply_baseline(findings: tuple[Finding, ...], path: Path | None, sms: Iterable[int], quiet: bool) -> tuple[Finding, ...]:
    """The findings that the baseline does not accept. UsageError where it cannot be read."""
    if path is None:
        return findings
    try:
        accepted = _read(path, "--baseline")
    except FileNotFoundError:
        siblings = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
        raise UsageError(f"--baseline {path}: no such file{did_you_mean(path.name, siblings) or '; --write-baseline writes one'}") from None
    result = baseline.applied(findings, accepted, sms)
    stale = f"; {counted(len(result.stale), 'entry matches', 'entries match')} nothing any more" if result.stale else ""
    say(f"{counted(result.accepted, 'finding is', 'findings are')} accepted by {path}{stale}", quiet)
    for entry in result.stale[:STALE_NAMED]:
        say(f"{path}: stale: {entry.wording}{f' ({entry.reason})' if entry.reason else ''}", quiet)
    if len(result.stale) > STALE_NAMED:
        say(f"{path}: stale: {len(result.stale) - STALE_NAMED} more", quiet)
    return result.new


def save_baseline(findings: tuple[Finding, ...], path: Path, quiet: bool) -> None:
    """Write the baseline that accepts these findings, with the reasons of the one that it replaces. UsageError where that fails."""
    try:
        before = _read(path, "--write-baseline") if path.is_file() and path.stat().st_size else ()
    except OSError as error:
        raise UsageError(f"--write-baseline {path}: {error.strerror or error}") from None
    write_file(path, baseline.render(findings, before))
    say(f"{counted(len(findings), 'finding', 'findings')} listed in {path}", quiet)


def _read(path: Path, option: str) -> tuple[baseline.Accepted, ...]:
    try:
        return baseline.read(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UsageError(f"{option} {path}: {error.strerror or error}") from None
    except ValueError as error:
        raise UsageError(f"{option} {path}: {error}") from None
