"""What annotation formats show of a finding: one claim a place, with every value and SM it holds for, in one sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sm_gatecheck.checks.cards import Card
from sm_gatecheck.model.report import Finding, Report
from sm_gatecheck.model.verdict import Severity
from sm_gatecheck.report.claims import Claims
from sm_gatecheck.report.clean import visible
from sm_gatecheck.report.grouping import Entry, Group, grouped
from sm_gatecheck.report.places import Place, Places
from sm_gatecheck.report.wording import setting, sm_list


@dataclass(frozen=True)
class Annotation:
    """One line, harmless characters only: ``title`` names rule, setting and SMs, ``message`` says what is claimed and what to do."""

    rule: str
    severity: Severity
    place: Place
    path: str
    title: str
    message: str
    fingerprint: str


def annotated(report: Report, cards: Mapping[str, Card]) -> Iterator[Annotation]:
    """The findings of a report as annotations, the worst first."""
    places = Places((entry.option for entry in report.options), report.source, report.about_code)
    claims = Claims(report)
    by_place: dict[tuple[Place, int | None], list[Finding]] = {}
    for finding in report.findings:
        by_place.setdefault((places.of(finding), finding.launch_number), []).append(finding)
    found: list[Annotation] = []
    for (place, number), findings in by_place.items():
        fields = {finding.option for finding in findings}
        about = tuple(entry for entry in claims.options(number) if entry.option.field in fields)
        for group in grouped(replace(report, options=about, findings=tuple(findings))):
            mend = group.mend(cards)
            for entry in group.entries:
                annotation = _annotation(group, entry, place, places.path(place), mend)
                if report.about_code and group.rule in cards:
                    annotation = replace(annotation, title=f"{group.rule} {cards[group.rule].title}")
                found.append(annotation)
    return iter(sorted(found, key=lambda annotation: _RANK[annotation.severity]))


def _annotation(group: Group, entry: Entry, place: Place, path: str, mend: str) -> Annotation:
    name = setting(group.option.option, entry.values) if group.option is not None else visible(group.field).removeprefix("env:")
    return Annotation(
        rule=entry.finding.rule,
        severity=entry.finding.severity,
        place=place,
        path=visible(path),
        title=" ".join(part for part in (entry.finding.rule, name, f"on {sm_list(entry.sms)}") if part),
        message=" ".join(visible(part) for part in (entry.message, mend) if part),
        fingerprint=entry.finding.fingerprint,
    )


_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}
