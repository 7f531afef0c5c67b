"""From launches to what a gate says about them: each as a scenario for the verdicts, and findings at the launch's own lines."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from packaging.version import InvalidVersion, Version

from sm_gatecheck.checks.weights import DROPPED, NOT_READ, NOT_TAKEN, OTHER_RELEASE, REFUSED_ANYWHERE
from sm_gatecheck.launch.model import Launch, LaunchValue, Problem
from sm_gatecheck.model.launch_report import ConditionalVerdict, GivenValue, LaunchReport, Mend
from sm_gatecheck.model.nearness import nearest_name
from sm_gatecheck.model.report import Diagnostic, Finding
from sm_gatecheck.model.span import Span
from sm_gatecheck.model.verdict import EffectKind, Judgement, OptionReport, Severity, Verdict
from sm_gatecheck.target.options import OptionRules, refuses_retired_flags
from sm_gatecheck.verdicts.findings import RULE_OF, finding_of, fingerprint
from sm_gatecheck.verdicts.gate import Gate, Judged, Refusal
from sm_gatecheck.verdicts.mending import mends_of, said
from sm_gatecheck.verdicts.scenario import NOT_KNOWN, VARIABLE, Scenario

CONDITIONAL_JUDGED = 12
"""Values under a condition that are judged; a script with more of them has other worries."""
_LEFT_OUT = ("syntax", "limit")
"""Problems of reading the file, not of what it says."""


@dataclass(frozen=True)
class GatedLaunch:
    """A launch with what the gate found about it."""

    launch: Launch
    scenario: Scenario
    judged: Judged
    report: LaunchReport
    findings: tuple[Finding, ...]
    diagnostics: tuple[Diagnostic, ...]


History = Callable[[str], str | None]
"""What other releases say about a flag that this one does not know."""


def gate_launch(
    gate: Gate, launch: Launch, assumed: Mapping[str, Any], variables: Iterable[str], release: str | None, history: History
) -> GatedLaunch:
    """Judge one launch. ``assumed`` are values of ``--set``, for what the launch leaves open; ``variables`` are patterns of names
    that only the server reads; ``release`` is that of the tree."""
    scenario = scenario_of(launch, assumed)
    judged = gate.judge(scenario)
    findings = [
        *_problems(launch, gate.sms, history),
        *_verdicts(launch, judged),
        *_chosen(launch, judged),
        *_refusals(launch, judged.refusals),
        *_dropped(launch, gate),
        *_not_read(launch, gate, tuple(variables)),
        *_other_release(launch, gate.sms, release),
    ]
    return GatedLaunch(
        launch=launch,
        scenario=scenario,
        judged=judged,
        report=_report(launch, judged, tuple(_conditional(gate, launch, scenario)), tuple(mends_of(gate, scenario, judged.options))),
        findings=tuple(_named(finding, launch) for finding in findings),
        diagnostics=tuple(
            Diagnostic(problem.span.file, problem.span.line, problem.message) for problem in launch.problems if problem.kind in _LEFT_OUT
        ),
    )


def scenario_of(launch: Launch, assumed: Mapping[str, Any]) -> Scenario:
    """What a launch sets for certain; where it does not tell a value, the assumed one."""
    settings: dict[str, Any] = {}
    for name, setting in launch.options.items():
        if setting.is_stored:
            settings[name] = setting.value if setting.is_resolved else assumed.get(name, NOT_KNOWN)
    for name, setting in launch.environment.items():
        settings[VARIABLE + name] = setting.value if setting.is_resolved else assumed.get(VARIABLE + name, NOT_KNOWN)
    return Scenario(settings, {name: value for name, value in assumed.items() if name not in settings})


def setting_of(launch: Launch, name: str) -> LaunchValue | None:
    """What a launch gives an option, or a variable as ``env:NAME``."""
    if name.startswith(VARIABLE):
        return launch.environment.get(name.removeprefix(VARIABLE))
    return launch.options.get(name)


# -- findings -----------------------------------------------------------------------------------------------------------


def _verdicts(launch: Launch, judged: Judged) -> Iterator[Finding]:
    order = list(RULE_OF)
    rows = [
        (report, judgement)
        for report in judged.options
        for judgement in report.judgements
        if judgement.verdict in RULE_OF
        and not (judgement.verdict is Verdict.PARTIAL and (_is_open(report) or _is_default(report, judgement)))
    ]
    told = {(judgement.sm, place) for report, judgement in rows if not _is_open(report) for place in _refused_at(judgement)}
    for report, judgement in sorted(rows, key=lambda row: order.index(row[1].verdict)):
        places = [(judgement.sm, place) for place in _refused_at(judgement)]
        if judgement.verdict is Verdict.REJECTED and _is_open(report) and told.issuperset(places):
            continue  # refused together with another option, whose finding says so: a size is not what the GPU lacks
        finding = finding_of(report.option, judgement)
        setting = setting_of(launch, finding.option)
        yield replace(finding, launch=launch.span if setting is None else setting.span)


def _chosen(launch: Launch, judged: Judged) -> Iterator[Finding]:
    """What SGLang chooses for the launch and then refuses, or what is harmful of it, at the option that makes it choose so."""
    for cause, report in judged.caused:
        setting = setting_of(launch, cause) if cause is not None else None
        because = f"SGLang chooses this {f'because of {setting.flag}' if setting is not None else 'by itself'}:"
        for judgement in report.judgements:
            if judgement.verdict in (Verdict.REJECTED, Verdict.NOOP_WITH_SIDE_EFFECTS):
                finding = finding_of(report.option, judgement)
                place = launch.span if setting is None else setting.span
                yield replace(finding, message=f"{because} {finding.message}", launch=place)


def _refused_at(judgement: Judgement) -> Iterator[tuple[str, int]]:
    """The lines at which a rejected value is refused."""
    if judgement.verdict is Verdict.REJECTED:
        yield from ((effect.file, effect.line) for effect in judgement.effects if effect.kind is EffectKind.RAISES)


def _is_default(report: OptionReport, judgement: Judgement) -> bool:
    """Whether a launch only spells out what is declared anyway."""
    return type(judgement.value) is type(report.option.default) and bool(judgement.value == report.option.default)


def _is_open(report: OptionReport) -> bool:
    """Whether an option takes any value (a size, a path): where GPUs differ in what they make of it, nothing of it is missing."""
    return not report.option.is_boolean and not report.option.choices


def _refusals(launch: Launch, refusals: Iterable[Refusal]) -> Iterator[Finding]:
    for refusal in refusals:
        names = [name for name in refusal.options if setting_of(launch, name) is not None]
        setting = setting_of(launch, names[0]) if names else None
        about = names[0] if names else refusal.asked[0] if refusal.asked else launch.entry
        because = f" because of {' and '.join(_spelling(launch, name) for name in names)}" if names else ""
        when = f" when {refusal.when}" if refusal.when else ""
        words = said(refusal.what).rstrip(".")
        yield Finding(
            rule=REFUSED_ANYWHERE,
            severity=Severity.ERROR,
            option=about,
            value=None if setting is None else setting.value,
            sm=refusal.sm,
            message=f"SGLang refuses this launch on SM{refusal.sm} seconds after the start{because}{when}: {words}.",
            file=refusal.file,
            line=refusal.line,
            fingerprint="",
            launch=launch.span if setting is None else setting.span,
        )


def _spelling(launch: Launch, name: str) -> str:
    setting = setting_of(launch, name)
    return name if setting is None else setting.flag


def _problems(launch: Launch, sms: Iterable[int], history: History) -> Iterator[Finding]:
    for problem in launch.problems:
        if problem.kind not in _LEFT_OUT:
            elsewhere = history(problem.flag) if problem.kind == "unknown-flag" and problem.flag else None
            message = problem.message if elsewhere is None else f"{problem.message} ({elsewhere})"
            yield from _for_each(sms, NOT_TAKEN, Severity.ERROR, _subject(problem), None, message, problem.span)


def _subject(problem: Problem) -> str:
    return problem.flag or problem.kind


def _dropped(launch: Launch, gate: Gate) -> Iterator[Finding]:
    """Retired flags that store nothing: dropped with a warning, or refused, as the tree's own action does it."""
    retired = [(name, setting) for name, setting in launch.options.items() if not setting.is_stored]
    refused = bool(retired) and refuses_retired_flags(gate.session.program, OptionRules.read(gate.session.rules))
    deprecations = {deprecation.flag: deprecation for deprecation in gate.session.options.deprecations}
    for name, setting in retired:
        option = gate.options.get(name)
        said = f": {' '.join(option.help.split())}" if option is not None and option.help else ""
        deprecation = deprecations.get(setting.flag)
        if refused or (deprecation is not None and deprecation.message is not None):
            message = f"{setting.flag} is retired, and the server refuses it{said}"
            yield from _for_each(gate.sms, NOT_TAKEN, Severity.ERROR, name, setting.value, message, setting.span)
        else:
            message = f"{setting.flag} is deprecated: the server takes it, warns, and does nothing with it{said}"
            yield from _for_each(gate.sms, DROPPED, Severity.WARNING, name, setting.value, message, setting.span)


def _not_read(launch: Launch, gate: Gate, patterns: tuple[str, ...]) -> Iterator[Finding]:
    """Variables that only the server could read and that stand nowhere in the tree."""
    known = [option.field.removeprefix(VARIABLE) for option in gate.session.variables]
    for name, setting in launch.environment.items():
        if not any(fnmatchcase(name, pattern) for pattern in patterns) or name in known or gate.mentions_text(name):
            continue
        near = nearest_name(name, known, cutoff=0.86)
        hint = f"; did you mean {near}?" if near else ""
        message = f"nothing in this release reads {name}{hint}"
        yield from _for_each(gate.sms, NOT_READ, Severity.WARNING, VARIABLE + name, setting.value, message, setting.span)


def _other_release(launch: Launch, sms: Iterable[int], release: str | None) -> Iterator[Finding]:
    mention = launch.sglang_version
    if mention is None or release is None or _same_release(mention.version, release):
        return
    what = "the image is" if mention.source == "image" else "the requirement asks for"
    message = f"{what} SGLang {mention.version} ({mention.text}), and this tree is {release}: what is said here need not hold there"
    yield from _for_each(sms, OTHER_RELEASE, Severity.WARNING, "sglang_version", mention.version, message, mention.span)


def _same_release(one: str, other: str) -> bool:
    """Whether two versions mean one release, whatever local build (``+cu130``) they are."""
    try:
        return Version(one).public == Version(other).public
    except InvalidVersion:
        return one == other


def _for_each(sms: Iterable[int], rule: str, severity: Severity, option: str, value: Any, message: str, place: Span) -> Iterator[Finding]:
    """A finding that holds whatever the GPU."""
    for sm in sms:
        yield Finding(rule, severity, option, value, sm, message, "", 0, "", place)


def _named(finding: Finding, launch: Launch) -> Finding:
    """The finding with a fingerprint that tells launches apart: accepted in one file is not accepted in another."""
    file = posixpath.normpath(launch.file)  # ./run.sh is run.sh
    where = file if launch.name is None else f"{file}:{launch.name}"
    value = [finding.value, finding.message] if finding.rule == NOT_TAKEN else finding.value
    return replace(finding, fingerprint=fingerprint(finding.rule, f"{where}|{finding.option}", value, finding.sm))


# -- the report of a launch ---------------------------------------------------------------------------------------------


def _conditional(gate: Gate, launch: Launch, scenario: Scenario) -> Iterator[GivenValue]:
    """What the launch sets under a condition, each value with what is said of it should the condition hold."""
    judged = 0
    for name, settings in launch.conditional.items():
        for setting in settings:
            given = _given(name, setting)
            option = gate.options.get(name)
            if option is not None and setting.is_resolved and judged < CONDITIONAL_JUDGED:
                judged += 1
                met = scenario.with_value(name, setting.value)
                report = gate.judge_option(met, gate.resolve(met), option, setting.value)
                verdicts = tuple(ConditionalVerdict(j.sm, j.verdict, j.summary) for j in report.judgements)
                given = replace(given, verdicts=verdicts)
            yield given


def _report(launch: Launch, judged: Judged, conditional: tuple[GivenValue, ...], mends: tuple[Mend, ...]) -> LaunchReport:
    return LaunchReport(
        span=launch.span,
        entry=launch.entry,
        format=launch.format,
        name=launch.name,
        when=launch.when,
        given=(
            *(_given(name, setting) for name, setting in launch.options.items()),
            *(_given(VARIABLE + name, setting) for name, setting in launch.environment.items()),
        ),
        conditional=conditional,
        mends=mends,
        unresolved=launch.unresolved,
        version=None if launch.sglang_version is None else launch.sglang_version.version,
        judged=(*judged.options, *(report for _, report in judged.caused)),
        resolved=judged.resolved,
    )


def _given(name: str, setting: LaunchValue) -> GivenValue:
    return GivenValue(name, setting.value, setting.flag, setting.span, setting.unresolved, setting.assumed, setting.when)


__all__ = ["GatedLaunch", "gate_launch", "scenario_of", "setting_of"]
