"""A finding with the option and the judgement it was made from: those of its own launch where the report is about launches."""

from __future__ import annotations

from sm_gatecheck.model.report import Finding, Report
from sm_gatecheck.model.verdict import Judgement, OptionReport


class Claims:
    """Looks up what stands behind the findings of one report."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._options: dict[int | None, dict[str, OptionReport]] = {}
        self._judgements: dict[int | None, dict[tuple[str, str, int], Judgement]] = {}

    def options(self, launch_number: int | None) -> tuple[OptionReport, ...]:
        """The options of a launch with their verdicts; those of the whole report where the launch is None."""
        return self._report.options if launch_number is None else self._report.launches[launch_number].judged

    def option(self, finding: Finding) -> OptionReport | None:
        """The option that a finding is about; None where it is about something else, or the report does not list it."""
        number = finding.launch_number
        if number not in self._options:
            self._options[number] = {entry.option.field: entry for entry in self.options(number)}
        return self._options[number].get(finding.option)

    def judgement(self, finding: Finding) -> Judgement | None:
        """The verdict behind a finding; None where it was not made from one."""
        number = finding.launch_number
        if number not in self._judgements:
            self._judgements[number] = {
                (entry.option.field, repr(judgement.value), judgement.sm): judgement
                for entry in self.options(number)
                for judgement in entry.judgements
            }
        return self._judgements[number].get((finding.option, repr(finding.value), finding.sm))
