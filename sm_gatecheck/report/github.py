"""GitHub's workflow commands: one a claim, which a workflow shows beside the line it is about.

GitHub shows ten errors and ten warnings a step; the worst come first.
"""

from __future__ import annotations

from collections.abc import Mapping

from sm_gatecheck.checks.cards import Card
from sm_gatecheck.model.report import Report
from sm_gatecheck.model.verdict import Severity
from sm_gatecheck.report.annotations import Annotation, annotated

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(report: Report, cards: Mapping[str, Card]) -> str:
    """One command a line; nothing at all where there is nothing to say."""
    return "".join(_command(annotation) for annotation in annotated(report, cards))


def _command(annotation: Annotation) -> str:
    place = annotation.place
    properties = {"file": annotation.path or None, "line": place.line or None, "col": place.column, "title": annotation.title}
    written = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items() if value is not None)
    return f"::{_COMMANDS[annotation.severity]} {written}::{_data(annotation.message)}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
