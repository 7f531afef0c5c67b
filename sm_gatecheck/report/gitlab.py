"""GitLab's code quality report: an array of issues, each with a fingerprint of its own by which merge requests tell old from new."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from sm_gatecheck.checks.cards import Card
from sm_gatecheck.model.report import Report
from sm_gatecheck.model.verdict import Severity
from sm_gatecheck.report.annotations import annotated

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "minor", Severity.NOTE: "info"}


def render(report: Report, cards: Mapping[str, Card]) -> str:
    """ASCII JSON, the worst first; paths are relative to where gatecheck was run, as GitLab needs them."""
    issues = []
    seen: dict[str, int] = {}
    for annotation in annotated(report, cards):
        base = f"{annotation.fingerprint}|{annotation.path}" if not annotation.place.in_tree else annotation.fingerprint
        seen[base] = seen.get(base, 0) + 1
        issues.append(
            {
                "description": f"{annotation.title}: {annotation.message}",
                "check_name": annotation.rule,
                "fingerprint": hashlib.sha256(f"{base}|{seen[base]}".encode("utf-8", "backslashreplace")).hexdigest()[:32],
                "severity": _SEVERITIES[annotation.severity],
                "location": {"path": annotation.path.removeprefix("./") or ".", "lines": {"begin": max(annotation.place.line, 1)}},
            }
        )
    return json.dumps(issues, indent=2) + "\n"
