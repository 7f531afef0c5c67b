"""The file of accepted findings: one a line, sorted, so that a change to it reads well in a diff."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sm_gatecheck.model.report import Finding
from sm_gatecheck.report.json import plain

BASELINE_VERSION = "1"


class BaselineError(ValueError):
    """The text is no baseline; the message says what is wrong with it."""


@dataclass(frozen=True)
class Applied:
    """``new`` findings are not in the baseline, ``accepted`` are; ``stale`` entries of it match nothing any more."""

    new: tuple[Finding, ...]
    accepted: int
    stale: int


def render(findings: Iterable[Finding]) -> str:
    """A baseline that accepts these findings."""
    entries = {
        finding.fingerprint: {
            "option": finding.option,
            "value": plain(finding.value),
            "sm": finding.sm,
            "rule": finding.rule,
            "fingerprint": finding.fingerprint,
        }
        for finding in findings
    }
    ordered = sorted(entries.values(), key=lambda entry: (entry["option"], repr(entry["value"]), entry["sm"], entry["rule"]))
    lines = ",\n".join("    " + json.dumps(entry, ensure_ascii=True) for entry in ordered)
    body = f"[\n{lines}\n  ]" if lines else "[]"
    return f'{{\n  "baseline_version": "{BASELINE_VERSION}",\n  "findings": {body}\n}}\n'


def read(text: str) -> frozenset[str]:
    """The fingerprints that a baseline accepts. BaselineError, one line, for anything else."""
    try:
        document: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BaselineError(f"it is no JSON: {error}") from None
    if not isinstance(document, dict) or not isinstance(document.get("findings"), list):
        raise BaselineError("it has no list of findings; --write-baseline writes one")
    if document.get("baseline_version") != BASELINE_VERSION:
        raise BaselineError(f"its version is {document.get('baseline_version')!r}, this gatecheck reads {BASELINE_VERSION!r}")
    fingerprints = [entry.get("fingerprint") if isinstance(entry, dict) else None for entry in document["findings"]]
    if not all(isinstance(fingerprint, str) for fingerprint in fingerprints):
        raise BaselineError(f"entry {[isinstance(f, str) for f in fingerprints].index(False) + 1} of its findings has no fingerprint")
    return frozenset(str(fingerprint) for fingerprint in fingerprints)


def applied(findings: Iterable[Finding], accepted: frozenset[str]) -> Applied:
    """Findings measured against a baseline."""
    every = tuple(findings)
    new = tuple(finding for finding in every if finding.fingerprint not in accepted)
    return Applied(new, len(every) - len(new), len(accepted - {finding.fingerprint for finding in every}))
