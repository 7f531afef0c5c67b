"""One launch: every option that it sets judged at its value with the rest of the launch standing, and what resolution makes of it.

Finding the sites of a tree is the costly part and the same for every launch: a ``Gate`` does it once. Resolution is run anew
for each launch, with all of it and with all but one option, so that each effect has the option that causes it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any

from sm_gatecheck.evaluate.frames import Event
from sm_gatecheck.evaluate.values import Payload
from sm_gatecheck.model.condition import ANY, Condition
from sm_gatecheck.model.launch_report import ResolvedOption
from sm_gatecheck.model.option import Option
from sm_gatecheck.model.verdict import DefaultAlternative, EffectKind, OptionReport, Verdict
from sm_gatecheck.model.wording import words
from sm_gatecheck.target.resolution import Outcome, Resolver
from sm_gatecheck.target.session import Session
from sm_gatecheck.verdicts.given import GivenSites, rewritten_at_runtime
from sm_gatecheck.verdicts.judging import Situation, Trial
from sm_gatecheck.verdicts.models import ordinarily
from sm_gatecheck.verdicts.ordinary import LaunchJudge
from sm_gatecheck.verdicts.resolved import Alternative, conditions_by_place, last_write, values_on
from sm_gatecheck.verdicts.scenario import NOT_KNOWN, VARIABLE, Scenario
from sm_gatecheck.verdicts.sites import SiteIndex

REFUSING = ("raise", "assert", "key_error")


@dataclass(frozen=True)
class Refusal:
    """Resolution ends with an error on one SM: whatever is unknown, or because of the SM when a condition holds (``when``).

    ``options`` are those of the launch without which it would not, ``asked`` those that the refusing test asks for.
    """

    sm: int
    what: str
    file: str
    line: int
    options: tuple[str, ...]
    asked: tuple[str, ...] = ()
    when: str | None = None


@dataclass(frozen=True)
class Judged:
    """A scenario judged. ``caused`` are options that resolution is sure to set, with the option of the launch behind it (if any)."""

    options: tuple[OptionReport, ...] = ()
    caused: tuple[tuple[str | None, OptionReport], ...] = ()
    refusals: tuple[Refusal, ...] = ()
    resolved: tuple[tuple[int, tuple[ResolvedOption, ...]], ...] = ()


class Gate:
    """Judges launches on one tree. ``sms`` are the targets to answer for."""

    def __init__(self, session: Session, sms: tuple[int, ...]) -> None:
        self.session = session
        self.sms = sms
        self._resolvers: dict[str, Resolver] = {}
        self._looked_for: set[str] = set()
        self._rewritten_names: set[str] = set()

    @cached_property
    def options(self) -> Mapping[str, Option]:
        """Options and variables of the tree by field."""
        return {option.field: option for option in (*self.session.options, *self.session.variables)}

    @cached_property
    def sites(self) -> SiteIndex:
        session = self.session
        return SiteIndex(session, session.reach.of)

    def for_model(self, model_config: Mapping[str, Any]) -> Gate:
        """The gate for launches of one model, over the same sites."""
        gate = Gate(self.session.with_model(model_config), self.sms)
        gate.__dict__["sites"] = self.sites
        return gate

    def mentions_text(self, name: str) -> bool:
        """Whether a name stands anywhere in the tree's files."""
        text = name.encode("utf-8", "surrogateescape")
        return any(text in module.source for module in self.session.program.modules())

    def judge(self, scenario: Scenario) -> Judged:
        """The verdicts of a launch's options, and what resolution does with it. What the tree does not declare is passed over."""
        outcome = self.resolve(scenario)
        self._rewritten(scenario.everything)
        trials: dict[str, Trial] = {}
        reports = tuple(
            self.judge_option(scenario, outcome, self.options[name], value, trials)
            for name, value in scenario.settings.items()
            if name in self.options
        )
        resolved = tuple((sm, tuple(self._resolved(scenario, outcome, sm))) for sm in self.sms)
        refusals = tuple(self._refusals(outcome, reports, trials))
        told = {(refusal.sm, refusal.file, refusal.line) for refusal in refusals if not refusal.options}
        caused = (pair for pair in self._caused(scenario, outcome, resolved, trials) if not _refused_in(pair[1], told))
        return Judged(options=reports, caused=tuple(caused), refusals=refusals, resolved=resolved)

    # -- resolution --------------------------------------------------------------------------------------------------------

    def resolve(self, scenario: Scenario) -> Outcome:
        """Resolution of a launch as a whole."""
        given = {name: value for name, value in scenario.everything.items() if name in self.session.options.by_field}
        return self._resolver(scenario).run(given)

    def _resolver(self, scenario: Scenario) -> Resolver:
        """Resolution under the variables of a launch that the tree reads; launches with the same ones share what is remembered."""
        read = {
            name: value
            for name, value in scenario.everything.items()
            if name.startswith(VARIABLE) and value is not NOT_KNOWN and name in self.options
        }
        key = repr(sorted(read.items()))
        found = self._resolvers.get(key)
        if found is None:
            found = self._resolvers[key] = self.session.resolver_under(read) if read else self.session.resolver
        return found

    def resolved_to(self, scenario: Scenario, name: str) -> tuple[Any, str, int] | None:
        """The one value that resolution gives an option on all SMs asked for, and where; None where there are several, or none known."""
        outcome = self.resolve(scenario)
        bits = self.session.devices.bits(self.sms)
        values = self._values(outcome, name, bits)
        value = _only(values)
        if value is NOT_KNOWN:
            return None
        write = last_write(outcome, name, next(iter(values)), self.session.space, bits)
        option = self.session.options.by_field[name]
        return (value, option.file, option.line) if write is None else (value, write.module.path, getattr(write.node, "lineno", 1))

    def _situation(self, scenario: Scenario, name: str) -> Situation:
        rest = scenario.without(name)

        def run(option: Option, payload: Payload) -> Outcome | None:
            if option.is_environment:
                return self.resolve(scenario)
            return self.resolve(rest.with_value(option.field, payload))

        return Situation(self.resolve(rest), run, inherits=False)

    # -- one option --------------------------------------------------------------------------------------------------------

    def judge_option(
        self, scenario: Scenario, outcome: Outcome, option: Option, value: Any, trials: dict[str, Trial] | None = None
    ) -> OptionReport:
        """One option of a launch at a value; ``outcome`` is resolution with the value."""
        others = self._standing(scenario.without(option.field), outcome)
        judge = LaunchJudge(self.session, GivenSites(self.sites, others), self._situation(scenario, option.field))
        trial = judge.trial(option, ANY if value is NOT_KNOWN else value)
        if trials is not None:
            trials[option.field] = trial
        return OptionReport(option, tuple(judge.told(trial, judgement) for judgement in judge.judge([trial], self.sms)))

    def _standing(self, rest: Scenario, outcome: Outcome) -> dict[str, Any]:
        """The values of the other options that their readers are sure to see: given, and left alone on every SM."""
        fields = {name: value for name, value in rest.everything.items() if value is not NOT_KNOWN and name in self.options}
        rewritten = self._rewritten(fields)
        standing: dict[str, Any] = dict(self.session.facts)
        for name, value in fields.items():
            left_alone = name not in rewritten and _only(self._values(outcome, name, self.session.space.all_bits)) == value
            if name.startswith(VARIABLE) or left_alone:
                standing[name] = value
        return standing

    def _rewritten(self, fields: Iterable[str]) -> set[str]:
        """Options that code outside resolution stores anew, looked for in the tree once a name."""
        asked = {name for name in fields if not name.startswith(VARIABLE)}
        fresh = asked - self._looked_for
        if fresh:
            self._looked_for |= fresh
            self._rewritten_names |= rewritten_at_runtime(self.session, fresh)
        return asked & self._rewritten_names

    def _values(self, outcome: Outcome, name: str, bits: int) -> dict[Any, Alternative]:
        value = outcome.fields.get(name)
        return {} if value is None else dict(values_on(self.session.space, value, bits))

    def _caused(
        self, scenario: Scenario, outcome: Outcome, resolved: Iterable[tuple[int, tuple[ResolvedOption, ...]]], trials: Mapping[str, Trial]
    ) -> Iterator[tuple[str | None, OptionReport]]:
        """What resolution itself chooses for the launch, judged like what is given: of switches, and of options with choices."""
        for sm, changes in resolved:
            bits = self.session.devices.bit(sm)
            for change in changes:
                option = self.session.options.by_field[change.field]
                if change.field in scenario.everything or change.when is not None or change.text is not None:
                    continue
                if not option.is_boolean and change.value not in (option.choices or ()):
                    continue
                report = self.judge_option(scenario.with_value(change.field, change.value), outcome, option, change.value)
                rows = tuple(judgement for judgement in report.judgements if judgement.sm == sm)
                causes = (name for name, trial in trials.items() if any(e.option == change.field for e in trial.sets.get(bits, ())))
                yield next(causes, None), replace(report, judgements=rows)

    # -- the launch as a whole ---------------------------------------------------------------------------------------------

    def _refusals(self, outcome: Outcome, reports: Iterable[OptionReport], trials: Mapping[str, Trial]) -> Iterator[Refusal]:
        """Errors in which resolution ends, those aside that a verdict tells already."""
        rejected = {
            (judgement.sm, report.option.field)
            for report in reports
            for judgement in report.judgements
            if judgement.verdict is Verdict.REJECTED
        }
        places = conditions_by_place([event for event in outcome.events if event.kind in REFUSING and not event.caught])
        space = self.session.space
        at_all = reduce(Condition.__or__, (condition for _, condition in places.values()), space.false)
        for sm in self.sms:
            bits = self.session.devices.bit(sm)
            for event, condition in places.values():
                here = space.certain(condition).on(bits)
                if not here.is_true and not self._is_for_the_target(here, at_all):
                    continue
                place = (event.module.path, getattr(event.node, "lineno", 1))
                causes = tuple(
                    name
                    for name, trial in trials.items()
                    if any((found.effect.file, found.effect.line) == place and found.condition.exists & bits for found in trial.raised)
                )
                if any((sm, name) in rejected for name in causes):
                    continue
                yield Refusal(sm, event.name, *place, causes, tuple(self._asked(event)), words(ordinarily(self.session, here)))

    def _is_for_the_target(self, here: Condition, at_all: Condition) -> bool:
        """Whether an ordinary model may meet a refusal on this SM, and would under the same conditions meet none on some other."""
        left = ordinarily(self.session, here)
        return not left.is_false and any((left & ~at_all.on(1 << other)).exists for other in range(len(self.session.space.sms)))

    def _asked(self, event: Event) -> Iterator[str]:
        """The options whose names stand in the innermost test around an event."""
        for guard in reversed(event.guards):
            names = [
                name
                for node in ast.walk(guard.node)
                for name in (getattr(node, "attr", None), getattr(node, "value", None))
                if isinstance(name, str) and name in self.session.options.by_field
            ]
            if names:
                yield from dict.fromkeys(names)
                return

    def _resolved(self, scenario: Scenario, outcome: Outcome, sm: int) -> Iterator[ResolvedOption]:
        """The options that end on an SM with another value than was given or is declared."""
        bits = self.session.devices.bit(sm)
        for option in self.session.options:
            given = scenario.everything.get(option.field, option.default)
            if given is NOT_KNOWN or not any(write.field == option.field for write in outcome.writes):
                continue
            found = self._values(outcome, option.field, bits)
            changed = {key: value for key, value in found.items() if not (value.known and _same(value.value, given))}
            if not changed or (option.field in self.session.required and option.field not in scenario.everything):
                continue
            yield self._resolved_option(option, given, found, changed, outcome, bits)

    def _resolved_option(
        self, option: Option, given: Any, found: dict[Any, Alternative], changed: dict[Any, Alternative], outcome: Outcome, bits: int
    ) -> ResolvedOption:
        alternatives = []
        for key, alternative in found.items():
            write = last_write(outcome, option.field, key, self.session.space, bits)
            file, line = (option.file, option.line) if write is None else (write.module.path, getattr(write.node, "lineno", 1))
            alternatives.append((key, DefaultAlternative(_plain(alternative.value), alternative.when, file, line)))
        ordinary = [key for key, other in changed.items() if not ordinarily(self.session, other.condition).is_false]
        key = (ordinary or list(changed))[0]
        first = dict(alternatives)[key]
        known = changed[key].known
        return ResolvedOption(
            field=option.field,
            before=given,
            value=first.value if known else None,
            when=first.when,
            file=first.file,
            line=first.line,
            text=None if known else str(first.value),
            alternatives=tuple(alternative for _, alternative in alternatives) if len(alternatives) > 1 else (),
            is_ordinary=bool(ordinary),
        )


def _refused_in(report: OptionReport, places: Set[tuple[int, str, int]]) -> bool:
    """Whether one of these places, which the launch meets as a whole, is what refuses the value."""
    return any(
        judgement.verdict is Verdict.REJECTED
        and any(effect.kind is EffectKind.RAISES and (judgement.sm, effect.file, effect.line) in places for effect in judgement.effects)
        for judgement in report.judgements
    )


def _only(values: Mapping[Any, Alternative]) -> Any:
    """The one known value among alternatives; ``NOT_KNOWN`` where there is none or more than one."""
    found = list(values.values())
    return found[0].value if len(found) == 1 and found[0].known else NOT_KNOWN


def _same(one: Any, other: Any) -> bool:
    one, other = _plain(one), _plain(other)
    return type(one) is type(other) and bool(one == other)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, (tuple, set, frozenset)) else value


__all__ = ["Gate", "Judged", "Refusal"]
