"""``--baseline`` and ``--write-baseline``."""

from __future__ import annotations

from pathlib import Path

from sm_gatecheck.cli.outcome import say
from sm_gatecheck.cli.output import write_file
from sm_gatecheck.cli.refusal import did_you_mean
from sm_gatecheck.model.errors import UsageError
from sm_gatecheck.model.report import Finding
from sm_gatecheck.report import baseline


def apply_baseline(findings: tuple[Finding, ...], path: Path | None, quiet: bool) -> tuple[Finding, ...]:
    """The findings that the baseline does not accept. UsageError where it cannot be read."""
    if path is None:
        return findings
    try:
        accepted = baseline.read(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        siblings = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
        raise UsageError(f"--baseline {path}: no such file{did_you_mean(path.name, siblings) or '; --write-baseline writes one'}") from None
    except OSError as error:
        raise UsageError(f"--baseline {path}: {error.strerror or error}") from None
    except ValueError as error:
        raise UsageError(f"--baseline {path}: {error}") from None
    result = baseline.applied(findings, accepted)
    stale = f"; {result.stale} entries match nothing any more" if result.stale else ""
    say(f"{result.accepted} findings are accepted by {path}{stale}", quiet)
    return result.new


def save_baseline(findings: tuple[Finding, ...], path: Path, quiet: bool) -> None:
    """Write the baseline that accepts these findings. UsageError where that is not possible."""
    write_file(path, baseline.render(findings))
    say(f"{len(findings)} findings listed in {path}", quiet)
