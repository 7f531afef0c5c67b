"""JSON lines: what the run was about, its launches, then a finding a line, then what was left out, then the end with its counts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from sm_gatecheck.model.report import Report
from sm_gatecheck.report.json import plain, report_head, written_diagnostic, written_finding
from sm_gatecheck.report.launches import launch_keys


def render(report: Report) -> str:
    """One ASCII object a line, each with its ``type``; the last line says that nothing is missing."""
    return "".join(json.dumps(line, allow_nan=False) + "\n" for line in _lines(report))


def _lines(report: Report) -> Iterator[dict[str, Any]]:
    yield {"type": "run", **report_head(report)}
    for launch in launch_keys(report, plain).get("launch", ()):
        yield {"type": "launch", **launch}
    for finding in report.findings:
        yield {"type": "finding", **written_finding(finding)}
    for diagnostic in report.diagnostics:
        yield {"type": "diagnostic", **written_diagnostic(diagnostic)}
    yield {"type": "end", "findings": len(report.findings), "diagnostics": len(report.diagnostics)}
