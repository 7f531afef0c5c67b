"""Findings on the code of a tree, for a person: rule by rule, each at its line with what is wrong and once what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

from rich.text import Text

from sm_gatecheck.checks.cards import Card
from sm_gatecheck.model.report import Finding, Report
from sm_gatecheck.model.verdict import Severity
from sm_gatecheck.report.clean import markdown_code, markdown_text, visible
from sm_gatecheck.report.proof import place
from sm_gatecheck.report.sheet import Sheet
from sm_gatecheck.report.wording import counted, source_title

STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.NOTE: "bold"}


def text(report: Report, cards: Mapping[str, Card], width: int, color: bool, quiet: bool) -> str:
    """The findings as text that ends with a line feed; ``quiet``: one a line, as linters write them."""
    sheet = Sheet(width, color)
    if quiet:
        sheet.verbatim(quiet_line(finding) for finding in report.findings)
        return sheet.text()
    sheet.paragraph(Text(source_title(report.source), style="bold"))
    sheet.paragraph(Text(_count(report)))
    for rule, findings in _by_rule(report):
        card = cards.get(rule)
        sheet.blank()
        title = Text("Other findings", style="bold") if card is None else Text(card.title, style=STYLES[card.severity])
        sheet.line(title.append(f"  {rule}", style="dim"))
        for finding in findings:
            sheet.paragraph(place(finding.file, finding.line), indent=2)
            sheet.paragraph(Text(visible(finding.message)), indent=4)
        if card is not None:
            sheet.paragraph(Text(_mend(card), style="green"), indent=2)
    if report.diagnostics:
        sheet.blank()
        sheet.line(Text(f"Left out: {counted(len(report.diagnostics), 'place')}, in full in --format json", style="magenta"))
    return sheet.text()


def quiet_line(finding: Finding) -> str:
    """``srt/file.py:12: GC301 what is wrong``."""
    return f"{visible(finding.file)}:{finding.line}: {finding.rule} {visible(finding.message)}"


def markdown(report: Report, cards: Mapping[str, Card], command: str) -> str:
    """The findings as Markdown, a list a rule; ``command`` is the command line that makes it again."""
    release = report.source.sglang_version
    lines = [f"# SGLang {markdown_text(release)}: the code" if release else "# SGLang: the code", "", _count(report), ""]
    for rule, findings in _by_rule(report):
        card = cards.get(rule)
        lines += [f"## {rule}: {markdown_text(card.title)}" if card is not None else f"## {rule}", ""]
        lines += [f"- {markdown_code(f'{finding.file}:{finding.line}')}: {markdown_text(finding.message)}" for finding in findings]
        lines += ["", *([_mend(card), ""] if card is not None else [])]
    return "\n".join([*lines, f"Made by {markdown_code(command)}.", ""])


def _by_rule(report: Report) -> Iterator[tuple[str, list[Finding]]]:
    for rule, findings in groupby(sorted(report.findings, key=lambda finding: finding.rule), key=lambda finding: finding.rule):
        yield rule, list(findings)


def _count(report: Report) -> str:
    return f"{counted(len(report.findings), 'finding')} on its code." if report.findings else "Nothing was found on its code."


def _mend(card: Card) -> str:
    return card.mend.format(option="it", sms="these GPUs")
