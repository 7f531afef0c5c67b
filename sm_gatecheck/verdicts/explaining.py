"""One option explained: the judgements with everything that they rest on, place by place.

The tree is searched as an inventory searches it, so that the two never disagree; but only this option is judged, and of it
every place that reads it is shown. What was explained once is remembered.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from sm_gatecheck.evaluate.frames import Guard
from sm_gatecheck.evaluate.values import fields_in
from sm_gatecheck.model import explanation, gaps, option, report, verdict
from sm_gatecheck.model.condition import ANY
from sm_gatecheck.model.explanation import Answer, Explanation, Happening, Place, Read, Test
from sm_gatecheck.model.gaps import NotFollowed, Reason, in_order
from sm_gatecheck.model.option import Option
from sm_gatecheck.model.verdict import EffectKind, Evidence
from sm_gatecheck.model.wording import words
from sm_gatecheck.target.rules import open_rules
from sm_gatecheck.target.session import Session
from sm_gatecheck.trees.tree import Tree
from sm_gatecheck.verdicts.analysis import judge_option, open_session
from sm_gatecheck.verdicts.callers import Callers
from sm_gatecheck.verdicts.domains import judged_values, shown
from sm_gatecheck.verdicts.evidence import gates_of
from sm_gatecheck.verdicts.gaps import functions_left
from sm_gatecheck.verdicts.judging import Judge, Trial
from sm_gatecheck.verdicts.memory import Keeper
from sm_gatecheck.verdicts.places import Places
from sm_gatecheck.verdicts.request import Request
from sm_gatecheck.verdicts.sites import Site, SiteIndex

CHAINS = 24
HAPPENINGS = 8
FURTHER = 40


def explain(tree: Tree, request: Request, asked: Option, values: tuple[Any, ...] | None = None) -> Explanation:
    """The option at ``values``; None for each value that an inventory judges it at."""
    rules = open_rules(request.rules_dir)
    about = ("explain", asked.field, values)
    memory = Keeper(tree, request, rules, Explanation, (explanation, gaps, option, report, verdict), about) if request.use_cache else None
    known = None if memory is None else memory.recall()
    if known is not None:
        return replace(known, source=tree.source)
    collecting = gc.isenabled()
    gc.disable()
    try:
        result = _explain(tree, request, open_session(tree, request, rules), asked, values)
    finally:
        if collecting:
            gc.enable()
    if memory is not None:
        memory.keep(result)
    return result


def _explain(tree: Tree, request: Request, session: Session, asked: Option, values: tuple[Any, ...] | None) -> Explanation:
    judge = Judge(session, SiteIndex(session, session.reach.of))
    if values is None:
        values = judged_values(asked, judge.conditions(asked))
    trials = [judge.trial(asked, value) for value in values]
    judged = judge_option(judge, trials, asked, request.sms)
    walk = _Walk(session, asked, request.sms)
    answers = tuple(
        Answer(
            shown(trial.value),
            tuple(j for j in judged.judgements if _same(j.value, shown(trial.value))),
            walk.reads(judge.trial(asked, trial.value, FURTHER)),
        )
        for trial in trials
    )
    for answer in answers:
        for judgement in answer.judgements:
            for effect in judgement.effects:
                walk.places.note(effect.file, effect.line)
    for _, alternatives in judged.defaults:
        for alternative in alternatives:
            walk.places.note(alternative.file, alternative.line)
    walk.places.note(asked.file, asked.line)
    return Explanation(
        source=tree.source,
        assumptions=request.assumptions,
        sms=request.sms,
        option=asked,
        defaults=judged.defaults,
        answers=answers,
        not_followed=in_order((*walk.not_followed, *_unfinished(trials))),
        diagnostics=(*tree.diagnostics, *(d for module in session.program.modules() for d in module.diagnostics)),
        known_sms=session.space.sms,
        lines=dict(sorted(walk.places.lines.items())),
    )


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def _unfinished(trials: Iterable[Trial]) -> Iterable[NotFollowed]:
    for trial in trials:
        for reason in trial.unknown:
            yield NotFollowed(Reason.RESOLUTION_STEPS, reason, trial.option.file, trial.option.line)


class _Walk:
    """The reads of one option, and what was met on the way that could not be followed."""

    def __init__(self, session: Session, asked: Option, sms: tuple[int, ...]) -> None:
        self._session = session
        self._sms = sms
        self._space = session.space
        self._field = asked.field
        self.places = Places(session.program)
        self._callers = Callers(session, self.places)
        self.not_followed: list[NotFollowed] = []

    def reads(self, trial: Trial) -> tuple[Read, ...]:
        """Where the value makes a difference somewhere: where a test of the target decides first, then what it costs, then the rest."""
        groups: dict[tuple[str, int, int], list[tuple[Site, int]]] = {}
        for site, active in trial.sites:
            if active:
                groups.setdefault(site.read_at(self._field), []).append((site, active))
        ordered = sorted(groups.items(), key=lambda item: (self._rank(item[1]), item[0]))
        return tuple(self._read(trial, sites, index < CHAINS) for index, (_, sites) in enumerate(ordered))

    def _rank(self, sites: list[tuple[Site, int]]) -> int:
        gated = _together(sites) != self._space.all_bits
        if gated and any(guard.condition.depends_on_target() for site, _ in sites for guard in site.guards):
            return 0
        if gated and any(gates_of(self._session, site) for site, _ in sites):
            return 0
        if any(site.kind not in (EffectKind.BEHAVIOUR, EffectKind.WARNS) for site, _ in sites):
            return 1
        return 2 if gated else 3

    def _read(self, trial: Trial, sites: list[tuple[Site, int]], with_calls: bool) -> Read:
        everything = self._space.all_bits
        order = sorted(_distinct(sites), key=lambda item: (item[0].kind is EffectKind.BEHAVIOUR, item[1] == everything, item[0].line))
        telling = min(sites, key=lambda item: (item[1] == everything, _let_through(item[0]), item[0].line))[0]
        live = _together(sites)
        tests = self._tests(telling)
        calls, end = self._callers.chain(telling.summary) if with_calls else ((), None)
        self._note_gaps(sites)
        return Read(
            place=self._read_place(telling),
            live_on=self._space.members(live),
            gated=live != everything,
            tests=tests,
            happenings=tuple(self._happening(trial, site, active) for site, active in order[:HAPPENINGS]),
            more=max(len(order) - HAPPENINGS, 0),
            calls=calls,
            end=end,
        )

    def _read_place(self, site: Site) -> Place:
        for guard in reversed(site.guards):
            if self._field in fields_in(guard.condition):
                return self.places.of(guard.module, guard.node)
        if site.chain:
            return self.places.of(*site.chain[0])
        return self.places.of(site.module, site.node)

    def _tests(self, site: Site) -> tuple[Test, ...]:
        line = site.line
        tests = self.places.tests(self._space, site.guards, lambda guard: self._next_line(site, guard, line))
        returned = [self._returned(gate) for gate in gates_of(self._session, site) if not _stands_in(gate, site)]
        return tuple(dict.fromkeys((*tests, *returned)))

    def _next_line(self, site: Site, guard: Guard, line: int) -> int:
        """Where a test leads to: the site, or the call in the test's own function that leads on to it."""
        if guard.module is site.module and self._within(site, guard):
            return line
        calls = [node for module, node in site.chain if module is guard.module]
        return getattr(calls[0], "lineno", line) if calls else line

    def _within(self, site: Site, guard: Guard) -> bool:
        outline = self.places.outline(site.module)
        return outline.function_at(site.line) == outline.function_at(getattr(guard.node, "lineno", 0))

    def _returned(self, gate: Evidence) -> Test:
        self.places.note(gate.file, gate.line)
        outline = self.places.outline(self._session.program.by_path[gate.file])
        return Test(Place(gate.file, gate.line, gate.column, gate.source, outline.function_at(gate.line)), gate.true_on, True)

    def _happening(self, trial: Trial, site: Site, active: int) -> Happening:
        condition = site.condition if trial.value is ANY else site.condition.restrict(self._field, trial.value)
        live = self._space.members(active)
        whens = tuple((sm, words(condition.on(self._session.devices.bit(sm)))) for sm in self._sms if sm in live)
        return Happening(site.kind, site.phase, site.what, self.places.of(site.module, site.node), live, whens)

    def _note_gaps(self, sites: Iterable[tuple[Site, int]]) -> None:
        """What was not followed of the functions in which the option is read."""
        summaries = {site.summary.key: site.summary for site, _ in sites}
        self.not_followed.extend(functions_left(summaries.values()))
        for key in summaries:
            if key in self._session.reach.left:
                summary, reason = self._session.reach.left[key]
                self.not_followed.append(NotFollowed(reason, summary.qualname, summary.module.path, summary.line))


def _let_through(site: Site) -> int:
    """On how many SMs the tests before a site let pass."""
    passing = site.condition.exists
    for guard in site.guards:
        passing &= guard.condition.exists
    return passing.bit_count()


def _distinct(sites: Iterable[tuple[Site, int]]) -> list[tuple[Site, int]]:
    """One site for each thing that is done at a place, where it is reached in several ways; that on the most SMs."""
    found: dict[tuple[str, str, int], tuple[Site, int]] = {}
    for site, active in sites:
        key = (site.what, site.module.path, site.line)
        if key not in found or found[key][1].bit_count() < active.bit_count():
            found[key] = (site, active)
    return list(found.values())


def _together(sites: Iterable[tuple[Site, int]]) -> int:
    result = 0
    for _, active in sites:
        result |= active
    return result


def _stands_in(gate: Evidence, site: Site) -> bool:
    """Whether a gate is one of the tests on the way to the site, rather than a part of what it returns."""
    return any(
        (guard.module.path, getattr(guard.node, "lineno", 1), getattr(guard.node, "col_offset", 0) + 1)
        == (gate.file, gate.line, gate.column)
        for guard in site.guards
    )
