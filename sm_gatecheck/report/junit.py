"""JUnit XML: a test suite an SM (and launch), a test case a setting that was judged, so that a report without findings is not an empty one.

A finding is a failure where it counts for ``--fail-on``, else it stands in the output of a case that passes. What could not be
decided is skipped. No times, so that the same report gives the same bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal
from xml.sax.saxutils import escape, quoteattr

from sm_gatecheck.checks.cards import Card
from sm_gatecheck.model.report import Finding, Report
from sm_gatecheck.model.verdict import Judgement, OptionReport, Verdict
from sm_gatecheck.report.clean import visible
from sm_gatecheck.report.grouping import grouped
from sm_gatecheck.report.places import Places
from sm_gatecheck.report.wording import effect_sentence, evidence_sentence, setting, source_title


@dataclass(frozen=True)
class Case:
    """One setting on one SM. ``kind`` is passed, failure or skipped; ``text`` what there is to say about it."""

    name: str
    kind: Literal["passed", "failure", "skipped"] = "passed"
    rule: str = ""
    message: str = ""
    text: str = ""


@dataclass(frozen=True)
class Suite:
    """The settings of a report, or of one of its launches, on one SM."""

    name: str
    options: tuple[OptionReport, ...]
    findings: tuple[Finding, ...]
    sm: int
    whole: bool = False
    """Whether settings that no GPU bears on are cases too: those of a launch are."""


def render(report: Report, cards: Mapping[str, Card], counts: Callable[[Finding], bool]) -> str:
    """The report as XML. ``counts`` says which findings are failures."""
    suites = [(suite.name, _distinct(_cases(report, suite, cards, counts))) for suite in _suites(report)]
    every = [case for _, cases in suites for case in cases]
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="gatecheck" {_counted(every)}>',
    ]
    for name, cases in suites:
        skipped = _number(cases, "skipped")
        lines += [f'  <testsuite name={_attribute(name)} {_counted(cases)} skipped="{skipped}">', "    <properties>"]
        lines += [f"      <property name={_attribute(name)} value={_attribute(value)}/>" for name, value in _properties(report).items()]
        lines += ["    </properties>", *(line for case in cases for line in _case(case, name)), "  </testsuite>"]
    return "\n".join([*lines, "</testsuites>", ""])


def _suites(report: Report) -> Iterator[Suite]:
    if report.about_code:
        yield Suite("gatecheck.code", (), report.findings, report.sms[0])
        return
    if not report.launches:
        for sm in report.sms:
            findings = tuple(finding for finding in report.findings if finding.sm == sm)
            yield Suite(f"gatecheck.SM{sm}", report.options, findings, sm)
        return
    for number, launch in enumerate(report.launches):
        for sm in report.sms:
            findings = tuple(finding for finding in report.findings if (finding.launch_number, finding.sm) == (number, sm))
            title = f"{launch.span.file}:{launch.span.line}" + (f" ({launch.name})" if launch.name else "")
            yield Suite(f"gatecheck.SM{sm} {title}", launch.judged, findings, sm, whole=True)
    others = tuple(finding for finding in report.findings if finding.launch_number is None)
    if others:
        yield Suite("gatecheck", (), others, report.sms[0])


def _cases(report: Report, suite: Suite, cards: Mapping[str, Card], counts: Callable[[Finding], bool]) -> list[Case]:
    write = _Writer(replace(report, options=suite.options, findings=suite.findings), cards, counts)
    found: dict[tuple[str, str], list[Finding]] = {}
    for finding in suite.findings:
        found.setdefault((finding.option, repr(finding.value)), []).append(finding)
    cases: list[Case] = []
    for entry in suite.options:
        for judgement in entry.judgements:
            if judgement.sm == suite.sm and (suite.whole or judgement.verdict is not Verdict.UNGATED):
                findings = found.pop((entry.option.field, repr(judgement.value)), [])
                name = setting(entry.option, (judgement.value,))
                cases += [write.found(finding, name, judgement) for finding in findings] or [_judged(name, judgement)]
    for findings in found.values():
        cases += [write.found(finding, visible(finding.option) or finding.rule, None) for finding in findings]
    return cases or [Case("nothing was found on the code" if report.about_code else "nothing asks for the GPU")]


def _distinct(cases: list[Case]) -> list[Case]:
    """Cases with names of their own: what stands twice in a launch is numbered."""
    seen: Counter[str] = Counter()
    named = []
    for case in cases:
        seen[case.name] += 1
        named.append(case if seen[case.name] == 1 else replace(case, name=f"{case.name} ({seen[case.name]})"))
    return named


def _judged(name: str, judgement: Judgement) -> Case:
    """A setting about which nothing was found."""
    if judgement.verdict is Verdict.UNKNOWN:
        return Case(name, "skipped", message="; ".join(judgement.unknown) or judgement.summary)
    return Case(name)


class _Writer:
    """Writes the findings of one SM as cases."""

    def __init__(self, report: Report, cards: Mapping[str, Card], counts: Callable[[Finding], bool]) -> None:
        self._places = Places((entry.option for entry in report.options), report.source, report.about_code)
        self._mends = {(group.rule, group.field): group.mend(cards) for group in grouped(report)}
        self._counts = counts

    def found(self, finding: Finding, name: str, judgement: Judgement | None) -> Case:
        place = self._places.of(finding)
        where = visible(self._places.path(place)) + (f":{place.line}" if place.line > 0 else "")
        lines = [f"{where}: {visible(finding.message)}" if where else visible(finding.message)]
        if judgement is not None:
            lines += [f"{visible(step.file)}:{step.line}: {evidence_sentence(step)}" for step in judgement.evidence]
            lines += [f"{visible(effect.file)}:{effect.line}: {effect_sentence(effect)}" for effect in judgement.effects]
        mend = visible(self._mends[finding.rule, finding.option])
        return Case(
            name=f"{name} [{finding.rule}]",
            kind="failure" if self._counts(finding) else "passed",
            rule=finding.rule,
            message=finding.message,
            text="\n".join([*lines, mend] if mend else lines),
        )


def _case(case: Case, suite: str) -> list[str]:
    start = f"    <testcase classname={_attribute(suite)} name={_attribute(case.name)}"
    if case.kind == "failure":
        kind = f"<failure type={_attribute(case.rule)} message={_attribute(case.message)}>{_text(case.text)}</failure>"
    elif case.kind == "skipped":
        kind = f"<skipped message={_attribute(case.message)}/>"
    elif case.text:
        kind = f"<system-out>{_text(case.text)}</system-out>"
    else:
        return [f"{start}/>"]
    return [f"{start}>", f"      {kind}", "    </testcase>"]


def _counted(cases: list[Case]) -> str:
    return f'tests="{len(cases)}" failures="{_number(cases, "failure")}" errors="0"'


def _number(cases: list[Case], kind: str) -> int:
    return sum(case.kind == kind for case in cases)


def _properties(report: Report) -> dict[str, str]:
    facts = {"source": source_title(report.source), "cuda": report.assumptions.cuda_version}
    return facts | {f"set {name}": str(value) for name, value in sorted(report.assumptions.settings.items())}


def _attribute(text: str) -> str:
    return quoteattr(_characters(visible(text)))


def _text(text: str) -> str:
    return escape(_characters(text))


def _characters(text: str) -> str:
    """Text without the two characters that ``visible`` leaves and XML has no way to write."""
    return text.replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")
