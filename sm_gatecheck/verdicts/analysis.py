"""The whole analysis of a tree: options, sites, resolution, verdicts, findings."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from sm_gatecheck.model.errors import without_options
from sm_gatecheck.model.gaps import NotFollowed, Reason
from sm_gatecheck.model.option import Option
from sm_gatecheck.model.report import Coverage, Diagnostic, Finding, Report, Statistics
from sm_gatecheck.model.verdict import DefaultAlternative, OptionReport, Verdict
from sm_gatecheck.rulebook import Rulebook
from sm_gatecheck.syntax.checking import SyntaxCheck
from sm_gatecheck.target.rules import open_rules
from sm_gatecheck.target.session import Session
from sm_gatecheck.trees.tree import Tree
from sm_gatecheck.verdicts.domains import judged_values
from sm_gatecheck.verdicts.findings import findings_of
from sm_gatecheck.verdicts.gaps import Followed, all_left, followed, together
from sm_gatecheck.verdicts.judging import Judge, Trial
from sm_gatecheck.verdicts.memory import Memory
from sm_gatecheck.verdicts.request import Request
from sm_gatecheck.verdicts.resolved import left_by_resolution, values_on
from sm_gatecheck.verdicts.shares import in_shares
from sm_gatecheck.verdicts.sites import NoSites, SiteIndex

Progress = Callable[[str, int, int], None]


class Inspection(Protocol):
    """Looks at an analysis from beside, and has findings of its own that stand in the report instead of those on the options.

    ``begin`` comes first and ``ready`` before any option is judged; what ``judged`` remarks about an option, perhaps in another
    process, comes back to ``findings``.
    """

    name: str

    def begin(self, session: Session) -> None: ...
    def ready(self, judge: Judge) -> None: ...
    def judged(self, option: Option, trials: Sequence[Trial]) -> tuple[Any, ...]: ...
    def findings(self, remarked: Sequence[Any]) -> tuple[Finding, ...]: ...


def analyse(tree: Tree, request: Request, progress: Progress | None = None, inspection: Inspection | None = None) -> Report:
    """Judge every option of a tree. TreeError where the tree declares no options."""
    started = time.monotonic()
    rules = open_rules(request.rules_dir)
    about = () if inspection is None else (inspection.name,)
    memory = Memory(tree, request, rules, about) if request.use_cache else None
    collecting = gc.isenabled()
    gc.disable()  # syntax trees and conditions are millions of objects that all stay alive: collecting them finds nothing
    try:
        known = None if memory is None else memory.recall()
        if known is not None:
            return replace(known, statistics=replace(known.statistics, seconds=round(time.monotonic() - started, 3)))
        report = _analyse(tree, request, rules, progress or (lambda what, done, total: None), started, inspection)
        if memory is not None:
            memory.keep(report)
        return report
    finally:
        if collecting:
            gc.enable()


def open_session(tree: Tree, request: Request, rules: Rulebook) -> Session:
    """The session of a tree under the assumptions of a request."""
    return Session(
        tree.files,
        rules,
        cuda=request.cuda,
        settings=request.settings,
        version=tree.source.sglang_version,
        model_config=request.model_config,
        gpu_memory=request.gpu_memory,
    )


def resolve(tree: Tree, request: Request) -> Report:
    """Only what resolution makes of every option and because of it: the sites are left out, and with them whether a value
    does anything. Seconds where ``analyse`` takes longer. TreeError where the tree declares no options.
    """
    started = time.monotonic()
    session = open_session(tree, request, open_rules(request.rules_dir))
    return _report(tree, request, session, NoSites(), None, lambda what, done, total: None, started)


def _analyse(tree: Tree, request: Request, rules: Rulebook, progress: Progress, started: float, inspection: Inspection | None) -> Report:
    session = open_session(tree, request, rules)
    check = session.syntax_check
    progress("Reading options", 0, 3)
    if not len(session.options):
        raise without_options(tree.source.target)
    session.options, session.variables  # noqa: B018 -- read here, so that progress tells of it
    progress("Following options through the tree", 1, 3)
    if inspection is not None:
        inspection.begin(session)
    return _report(tree, request, session, SiteIndex(session, session.reach.of), check, progress, started, inspection)


def _report(
    tree: Tree,
    request: Request,
    session: Session,
    sites: SiteIndex | NoSites,
    check: SyntaxCheck | None,
    progress: Progress,
    started: float,
    inspection: Inspection | None = None,
) -> Report:
    options = [*session.options, *session.variables]
    judge = Judge(session, sites)
    progress("Judging", 2, 3)
    if inspection is not None:
        inspection.ready(judge)
    reports, work, remarked = _judged(judge, sites, options, request, inspection)
    progress("Judging", 3, 3)
    diagnostics = (*tree.diagnostics, *_diagnostics(session, check))
    not_followed = () if check is None else all_left(session, work, judge.baseline, diagnostics)
    return Report(
        source=tree.source,
        assumptions=request.assumptions,
        sms=request.sms,
        options=reports,
        findings=findings_of(reports) if inspection is None else inspection.findings(remarked),
        diagnostics=diagnostics,
        statistics=_statistics(tree, work, reports, started, not_followed),
        not_followed=not_followed,
        about_code=inspection is not None,
    )


def _judged(
    judge: Judge, sites: SiteIndex | NoSites, options: Sequence[Option], request: Request, inspection: Inspection | None
) -> tuple[tuple[OptionReport, ...], Followed, list[Any]]:
    """The report of each option, in order, what was followed for them all, and what an inspection remarked about them."""
    session = judge.session
    if isinstance(sites, NoSites):
        return tuple(_judge_option(judge, option, request.sms)[0] for option in options), followed(session, sites), []
    session.left_out, session.device_names  # noqa: B018 -- made here, not once in every share

    def work(share: Sequence[Option]) -> tuple[list[tuple[Any, ...]], Followed]:
        # An option stays where it is: the other process only says what became of it.
        judged = [_judge_option(judge, option, request.sms, inspection) for option in share]
        return [(report.option.field, report.judgements, report.defaults, remarks) for report, remarks in judged], followed(session, sites)

    shares = in_shares(options, work, request.processes)
    judged = {field: (judgements, defaults, remarks) for reports, _ in shares for field, judgements, defaults, remarks in reports}
    reports = tuple(OptionReport(option, *judged[option.field][:2]) for option in options)
    remarked = [remark for option in options for remark in judged[option.field][2]]
    return reports, together(part for _, part in shares), remarked


def _judge_option(
    judge: Judge, option: Option, sms: tuple[int, ...], inspection: Inspection | None = None
) -> tuple[OptionReport, tuple[Any, ...]]:
    trials = [judge.trial(option, value) for value in judged_values(option, judge.conditions(option))]
    remarks = () if inspection is None else inspection.judged(option, trials)
    return judge_option(judge, trials, option, sms), remarks


def judge_option(judge: Judge, trials: Sequence[Trial], option: Option, sms: tuple[int, ...]) -> OptionReport:
    """What is reported of one option whose values were tried."""
    return OptionReport(option, tuple(judge.judge(trials, sms)), tuple(_defaults(judge, option, sms)))


def _defaults(judge: Judge, option: Option, sms: tuple[int, ...]) -> Iterable[tuple[int, tuple[DefaultAlternative, ...]]]:
    """What the option becomes on each SM when nobody sets it; nothing where it stays as declared on all of them."""
    value = judge.baseline.fields.get(option.field)
    touched = option.field in judge.session.options.fallbacks or any(write.field == option.field for write in judge.baseline.writes)
    if value is None or not touched:
        return
    found = {sm: values_on(judge.space, value, judge.session.devices.bit(sm)) for sm in judge.space.sms}
    declared = ("value", repr(option.default))
    if all(list(alternatives) == [declared] for alternatives in found.values()):
        return
    for sm in sms:
        yield sm, tuple(left_by_resolution(judge.baseline, option, judge.space, judge.session.devices.bit(sm)))


def _diagnostics(session: Session, check: SyntaxCheck | None) -> list[Diagnostic]:
    """What was met on the way, then the files that nobody looked at and that do not parse."""
    met = [diagnostic for module in session.program.modules() for diagnostic in module.diagnostics]
    known = {diagnostic.file for diagnostic in met}
    return met + [diagnostic for diagnostic in (check.result if check is not None else ()) if diagnostic.file not in known]


def _statistics(
    tree: Tree, work: Followed, reports: tuple[OptionReport, ...], started: float, not_followed: tuple[NotFollowed, ...]
) -> Statistics:
    gated = [report for report in reports if any(j.verdict is not Verdict.UNGATED for j in report.judgements)]
    unknown = [report for report in reports if any(j.verdict is Verdict.UNKNOWN for j in report.judgements)]
    return Statistics(
        files_seen=len(tree.files),
        files_parsed=len(work.parsed),
        seconds=round(time.monotonic() - started, 3),
        cache="cold",
        coverage=Coverage(
            options=len(reports),
            gated_options=len(gated),
            unknown_options=len(unknown),
            sites=sum(work.sites.values()),
            gates_resolved=len(work.resolved),
            gates_unresolved=sum(1 for gap in not_followed if gap.reason is Reason.GUARD_OPAQUE),
        ),
    )
