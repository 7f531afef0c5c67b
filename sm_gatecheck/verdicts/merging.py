"""Reports on one tree under several requests as one, and one report taken apart by SM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sm_gatecheck.model.report import Report
from sm_gatecheck.model.verdict import OptionReport
from sm_gatecheck.verdicts.findings import findings_of


def merged(reports: Sequence[Report]) -> Report:
    """One report for the SMs of all; they are about the same tree, and no SM is in two of them."""
    if len(reports) == 1:
        return reports[0]
    first = reports[0]
    options = tuple(_joined(same) for same in zip(*(report.options for report in reports), strict=True))
    statistics = replace(first.statistics, seconds=round(sum(report.statistics.seconds for report in reports), 3))
    memories = {report.assumptions.gpu_memory for report in reports}
    shared = first.assumptions if len(memories) == 1 else replace(first.assumptions, gpu_memory=None)
    return replace(
        first,
        assumptions=shared,
        sms=tuple(sorted(sm for report in reports for sm in report.sms)),
        options=options,
        findings=findings_of(options),
        diagnostics=tuple(dict.fromkeys(entry for report in reports for entry in report.diagnostics)),
        statistics=statistics,
    )


def only(report: Report, sm: int) -> Report:
    """What a report says of one of its SMs."""
    return replace(
        report,
        sms=(sm,),
        options=tuple(
            replace(
                option,
                judgements=tuple(judgement for judgement in option.judgements if judgement.sm == sm),
                defaults=tuple(default for default in option.defaults if default[0] == sm),
            )
            for option in report.options
        ),
        findings=tuple(finding for finding in report.findings if finding.sm == sm),
    )


def _joined(same: Sequence[OptionReport]) -> OptionReport:
    judgements = [judgement for option in same for judgement in option.judgements]
    values = list(dict.fromkeys(repr(judgement.value) for judgement in judgements))
    return replace(
        same[0],
        judgements=tuple(sorted(judgements, key=lambda judgement: (values.index(repr(judgement.value)), judgement.sm))),
        defaults=tuple(sorted((default for option in same for default in option.defaults), key=lambda default: default[0])),
    )
