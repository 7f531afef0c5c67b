"""From sites and resolution to a verdict for one option value, SM by SM, in the order that the verdicts are defined in."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any

from sm_gatecheck.evaluate.values import Known, OptionValue, Payload, Truth, Value, alternatives, from_python, is_constant, to_python
from sm_gatecheck.evaluate.values import Mapping as MappingValue
from sm_gatecheck.model.condition import ANY, Condition, SpaceExhausted
from sm_gatecheck.model.option import Option
from sm_gatecheck.model.verdict import Effect, EffectKind, Judgement, Phase, Verdict
from sm_gatecheck.model.wording import words
from sm_gatecheck.target.environment import PREFIX
from sm_gatecheck.target.outcome import Outcome
from sm_gatecheck.target.session import Session
from sm_gatecheck.verdicts.beside import options_beside
from sm_gatecheck.verdicts.domains import has_unlisted_values, known_values, shown
from sm_gatecheck.verdicts.evidence import proof
from sm_gatecheck.verdicts.models import UNNAMED, ordinarily
from sm_gatecheck.verdicts.readers import loads, may_read, shown_by_fields
from sm_gatecheck.verdicts.resolved import Alternative, Place, conditions_by_place, differs, last_write, values_on
from sm_gatecheck.verdicts.sites import Bearing, Default, NoSites, Site, Sites, active_on, refused
from sm_gatecheck.verdicts.summaries import summary_of

BEHAVIOUR_LIMIT = 6
REFUSAL_NODES = 20_000
"""How large the conditions may grow that tell whether a refusal is met on every SM."""


@dataclass(frozen=True)
class ResolutionEffect:
    """Something resolution does with the value and not without it: on which SMs, and when.

    ``whole`` is when it does so with the value, whether or not it would without.
    """

    effect: Effect
    condition: Condition
    whole: Condition
    event: Any = None


@dataclass
class Trial:
    """An option at a value: its sites with the SMs on which each is active, and what resolution does to and because of it."""

    option: Option
    value: Any
    sites: list[tuple[Site, int]] = field(default_factory=list)
    raised: list[ResolutionEffect] = field(default_factory=list)
    warned: list[ResolutionEffect] = field(default_factory=list)
    sets: dict[int, list[Effect]] = field(default_factory=dict)
    replaced: dict[int, list[Effect]] = field(default_factory=dict)
    replaced_when: dict[int, Condition] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    refusing: list[tuple[Effect, Condition, Condition]] | None = None
    refusals: list[Condition] | None = None
    changes_when_open: int | None = None
    refused: dict[int, Condition] = field(default_factory=dict)
    """Of refusing sites, by identity: when the value is refused there and what the option is by default is not."""

    refused_on: dict[int, list[Effect]] = field(default_factory=dict)
    doubtful: set[int] = field(default_factory=set)
    """Sites, by identity, on which the option may only take part in what was too large to be kept."""

    fed: set[int] = field(default_factory=set)
    """Sites, by identity, that the option only feeds: on SMs where nothing is fed, no part of it is missing."""

    spared: set[int] = field(default_factory=set)
    """Sites, by identity, that one of several choices leads to on no SM: what happens there is what another choice is for."""

    within: dict[int, int] = field(default_factory=dict)
    """Of sites in functions that only some SMs call, by identity, the SMs on which they would be active if all did."""

    @cached_property
    def reads(self) -> list[tuple[Site, int]]:
        """The functions in which the option is known to bear on something that the value is for: a site of each, and the SMs
        on which it does once the function is called.

        What a function does in one branch on some SMs and in another branch on others is nowhere missing.
        """
        own = {
            site.read_at(self.option.field)
            for site, active in self.sites
            if active and site.kind is EffectKind.BEHAVIOUR and id(site) not in self.spared
        }
        functions: dict[tuple[str, str], tuple[Site, int]] = {}
        for place, (site, active) in self._by_place(self.within).items():
            if id(site) not in self.doubtful | self.fed and place in own:
                key = (site.summary.module.path, site.summary.qualname)
                known = functions.get(key)
                functions[key] = (site, active) if known is None else (known[0], known[1] | active)
        return list(functions.values())

    @cached_property
    def behaviours(self) -> list[tuple[Site, int]]:
        """The reads that matter somewhere: one site for each, with the SMs on which any of its consequences changes."""
        return list(self._by_place({}).values())

    def _by_place(self, elsewhere: Mapping[int, int]) -> dict[tuple[str, int, int], tuple[Site, int]]:
        """The behaviours by where the option is read: a site of each, and the SMs on which any is active, or as told by identity."""
        reads: dict[tuple[str, int, int], tuple[Site, int]] = {}
        for site, active in self.sites:
            if site.kind is EffectKind.BEHAVIOUR and active:
                place = site.read_at(self.option.field)
                known = reads.get(place)
                bits = active | elsewhere.get(id(site), 0)
                reads[place] = (site, bits) if known is None else (known[0], known[1] | bits)
        return reads


@dataclass(frozen=True)
class Situation:
    """How everything but the option under trial stands in resolution.

    ``baseline`` is resolution without the option; ``run(option, payload)`` resolution with it, None where that is not to be asked.
    ``inherits``: what refuses an option that the value is handed on to refuses the value; not where that option is judged beside it.
    """

    baseline: Outcome
    run: Callable[[Option, Payload], Outcome | None]
    inherits: bool = True

    @classmethod
    def of_defaults(cls, session: Session) -> Situation:
        """Options at their defaults, variables as the session has them."""
        resolver = session.resolver

        def run(option: Option, payload: Payload) -> Outcome | None:
            if not option.is_environment:
                return resolver.run({option.field: payload})
            seen = resolver.sees(option.field)
            if seen is None:
                return None
            if seen:
                return resolver.run({option.field: payload})
            return session.resolver_under({option.field: to_python(payload)}).run({})

        return cls(resolver.run({}), run)


class Judge:
    """Judges options of one session, in one situation: that of the defaults unless told."""

    def __init__(self, session: Session, sites: Sites, situation: Situation | None = None) -> None:
        self.session = session
        self.space = session.space
        self.sites = sites
        self.situation = situation or Situation.of_defaults(session)
        self.baseline = self.situation.baseline
        self._before = self.baseline.fields
        self._everything = self.space.all_bits
        self._read: dict[str, bool] = {}
        self._passed_on: dict[tuple[str, bool], bool] = {}

    def trial(self, option: Option, value: Any, further: int = 0) -> Trial:
        """Everything that is known about setting ``option`` to ``value``.

        Of the places that the target does not decide about, as many as it takes to find one that works, and ``further`` more.
        """
        trial = Trial(option, value)
        declared = Default(((self.space.true, None if option.is_environment else option.default),))
        resolved = self.default_of(option, declared).other_than(value, _others(option, value))
        declared = declared.other_than(value)

        def tried(site: Site) -> bool:
            # A behaviour is held against the declared default: what resolution makes of it differs by SM, and would make
            # every site look gated. What happens only with the value is held against what really runs without it.
            default = declared if site.kind is EffectKind.BEHAVIOUR else resolved
            active, bearing = active_on(site, option.field, value, default)
            trial.sites.append((site, active))
            if site.kind is EffectKind.RAISES and active:
                trial.refused[id(site)] = refused(site, option.field, value, default)
            if site.wherever_called is not None and 0 < active < self._everything:
                inside = replace(site, condition=site.wherever_called)
                trial.within[id(site)] = active_on(inside, option.field, value, default)[0]
            if bearing is Bearing.MAYBE:
                trial.doubtful.add(id(site))
            elif bearing is Bearing.FEEDS:
                trial.fed.add(id(site))
            if not isinstance(value, bool) and value is not ANY and site.condition.restrict(option.field, value).is_false:
                trial.spared.add(id(site))
            return site.kind is EffectKind.BEHAVIOUR and active == self._everything

        works = [tried(site) for site in self.sites.decided(option.field)]
        if not any(works):
            any(map(tried, self.sites.further(option.field)))  # one that works whatever the target is says as much as all
        if further:
            known = {id(site) for site, _ in trial.sites}
            for site in islice((s for s in self.sites.further(option.field) if id(s) not in known), further):
                tried(site)
        if value is not ANY:
            self._resolve(trial)
            kept = self._kept(trial)
            trial.refused = {site: condition & kept for site, condition in trial.refused.items()}
            if self.situation.inherits:
                trial.sites.extend(self._inherited(trial))
            self._rewritten_later(trial)
        return trial

    def _inherited(self, trial: Trial) -> Iterator[tuple[Site, int]]:
        """Refusals of what the value is handed on to: options that resolution gives a value because of it, whatever else is set.

        A flag that is deprecated stores nothing and sets another option: what refuses that one refuses the flag. The target has to
        decide there: where any target is refused, the value is handed on together with what is to be met beside it.
        """
        options = self.session.options.by_field
        given: dict[tuple[str, str], tuple[Any, int]] = {}
        for bits, effects in trial.sets.items():
            for effect in effects:
                if effect.when is None and effect.value is not None and effect.option in options:
                    assert effect.option is not None
                    key = (effect.option, repr(effect.value))
                    given[key] = (effect.value, bits | (given[key][1] if key in given else 0))
        for (name, _), (value, bits) in given.items():
            heir = options[name]
            default = self.default_of(heir, Default(((self.space.true, heir.default),))).other_than(value)
            for site in self.sites.decided(name):
                if site.kind is EffectKind.RAISES:
                    met = refused(site, name, value, default)
                    condition = met & self.space.targets(bits)
                    if condition.exists and met.depends_on_target():
                        inherited = replace(site, condition=site.condition.restrict(name, value) & self.space.targets(bits))
                        trial.refused[id(inherited)] = condition
                        yield inherited, condition.exists

    def conditions(self, option: Option) -> Iterable[Condition]:
        """Conditions that compare an option whose values are listed nowhere: where sites read it, and in resolution."""
        yield from self.sites.conditions(option.field)
        if not has_unlisted_values(option):
            return
        outcome = self.session.resolver.run({option.field: OptionValue(option.field, option.field)})
        yield from (event.condition for event in outcome.events)
        for write in outcome.writes:
            yield write.condition
            yield from (condition for condition, _ in alternatives(write.value, self.space.true))

    def default_of(self, option: Option, declared: Default) -> Default:
        """The option's value when nobody sets it, as resolution leaves it on each SM."""
        value = self._before.get(option.field)
        if value is None or not any(write.field == option.field for write in self.baseline.writes):
            return declared
        found = []
        for condition, payload in alternatives(value, self.space.true):
            known = not isinstance(payload, Truth) and is_constant(payload)
            found.append((condition, to_python(payload) if known else ANY))
        return Default(tuple(found))

    def _resolve(self, trial: Trial) -> None:
        payload = from_python(trial.value)
        if payload is None or (trial.option.field not in self._before and not trial.option.is_environment):
            return
        outcome = self.situation.run(trial.option, payload)
        if outcome is None:
            return
        if outcome.unfinished:
            trial.unknown = (outcome.unfinished,)
        self._compare_events(trial, outcome)
        changed = [(name, value) for name, value in outcome.fields.items() if name == trial.option.field or self._is_changed(name, value)]
        for index in range(len(self.session.devices)):
            self._compare_fields(trial, outcome, changed, 1 << index)

    def _is_changed(self, name: str, value: Value) -> bool:
        """Whether an option, a field of an object that an option holds, or a variable may have become something else."""
        if not (name.partition(".")[0] in self.session.options.by_field or name.startswith(PREFIX)):
            return False
        return self._before.get(name) != value and not (isinstance(value, MappingValue) and name in self._records)

    @cached_property
    def _records(self) -> frozenset[str]:
        """Options that hold objects: their fields are compared one by one."""
        return frozenset(name.rpartition(".")[0] for name in self._before if "." in name)

    def _compare_events(self, trial: Trial, outcome: Outcome) -> None:
        before, after = conditions_by_place(self.baseline.events), conditions_by_place(outcome.events)
        for key, (event, condition) in after.items():
            known = before.get(key)
            effect = self._resolution_effect(event, outcome)
            if effect is None:
                continue
            fresh = condition if known is None else condition & ~known[1]
            if known is not None and effect.kind is EffectKind.RAISES:
                fresh = fresh | self._refused_as_default(trial, key, condition, known[1])
            fresh = self.space.certain(fresh)
            if fresh.is_false:
                continue
            found = ResolutionEffect(effect, fresh, condition, event)
            (trial.raised if effect.kind is EffectKind.RAISES else trial.warned).append(found)

    def _refused_as_default(self, trial: Trial, place: Place, with_value: Condition, without: Condition) -> Condition:
        """When a refusal that is met without the option too is met because the option becomes this very value: another value would
        be spared, and so would this one on another SM.
        """
        met = self._not_everywhere(with_value & without & self._is_default(trial), with_value)
        left = met
        for other in _others(trial.option, trial.value):
            payload = from_python(other)
            outcome = None if payload is None else self.situation.run(trial.option, payload)
            if outcome is None or outcome.unfinished:
                continue
            found = conditions_by_place(outcome.events).get(place)
            left = self.space.false if found is None else left & found[1]
            if left.is_false:
                break
        return met & ~left

    def _not_everywhere(self, met: Condition, condition: Condition) -> Condition:
        """Of ``met``, the SMs on which it holds where ``condition`` does not on some other."""
        every = [1 << index for index in range(len(self.space.sms))]
        here = [bits for bits in every if any((met.on(bits) & ~condition.on(other)).exists for other in every)]
        return met & self.space.targets(sum(here))

    def _is_default(self, trial: Trial) -> Condition:
        """When resolution leaves the option at the value on trial though nobody sets it."""
        usual = self.default_of(trial.option, Default(((self.space.true, trial.option.default),)))
        return usual.other_than(trial.value).same or self.space.false

    def _resolution_effect(self, event: Any, outcome: Outcome) -> Effect | None:
        line, phase = getattr(event.node, "lineno", 1), _phase(outcome, event)
        if event.kind in ("raise", "assert", "key_error"):
            return Effect(EffectKind.RAISES, phase, event.name, event.module.path, line)
        if self.session.effects.kind_of(event.name) is EffectKind.WARNS:
            return Effect(EffectKind.WARNS, phase, f"{event.name}(…)", event.module.path, line)
        return None

    def _compare_fields(self, trial: Trial, outcome: Outcome, changed: list[tuple[str, Value]], bits: int) -> None:
        for name, value in changed:
            baseline = self._before.get(name, Known(None) if name.startswith(PREFIX) else None)
            if name == trial.option.field:
                self._compare_own(trial, outcome, value, bits)
            else:
                after = values_on(self.space, value, bits)
                before = {} if baseline is None else values_on(self.space, baseline, bits)
                if differs(after, before):
                    trial.sets.setdefault(bits, []).extend(self._changes(name, after, before, outcome, bits))

    def _changes(
        self, name: str, after: dict[Any, Alternative], before: dict[Any, Alternative], outcome: Outcome, bits: int
    ) -> Iterable[Effect]:
        for key, alternative in after.items():
            known = before.get(key)
            fresh = alternative.condition if known is None else alternative.condition & ~known.condition
            if fresh.is_false:
                continue
            yield self._set_effect(name, key, alternative, fresh, outcome, bits)

    def _set_effect(self, name: str, key: Any, alternative: Alternative, condition: Condition, outcome: Outcome, bits: int) -> Effect:
        write = last_write(outcome, name, key, self.space, bits) or last_write(self.baseline, name, key, self.space, bits)
        is_variable = name.startswith(PREFIX)
        option = None if is_variable else self.session.options.by_field[name.partition(".")[0]]
        file = write.module.path if write is not None else option.file if option is not None else ""
        line = getattr(write.node, "lineno", 1) if write is not None else option.line if option is not None else 1
        value = _settled(alternative.value) if alternative.known else None
        what = f"{name} = {alternative.value!r}" if alternative.known else f"{name} = {alternative.value}"
        kind = EffectKind.SETS_ENV if is_variable else EffectKind.SETS_OPTION
        return Effect(kind, _phase(outcome, write), what, file, line, option=name, value=value, when=words(condition))

    def _compare_own(self, trial: Trial, outcome: Outcome, value: Any, bits: int) -> None:
        after = values_on(self.space, value, bits)
        for key, alternative in after.items():
            if alternative.known and alternative.value == trial.value:
                continue
            condition = self.space.certain(alternative.condition)
            if condition.is_false:
                continue
            trial.replaced_when[bits] = trial.replaced_when.get(bits, self.space.false) | condition
            effect = self._set_effect(trial.option.field, key, alternative, condition, outcome, bits)
            trial.replaced.setdefault(bits, []).append(effect)

    def _rewritten_later(self, trial: Trial) -> None:
        """The SMs on which code outside resolution puts another value in the option's place."""
        for rewrite in self.sites.rewrites.get(trial.option.field, ()):
            if rewrite.value == trial.value:
                continue
            phase = self.session.effects.phase_of(rewrite.module.path, rewrite.summary.qualname)
            for bits in (1 << index for index in range(len(self.space.sms))):
                condition = self.space.certain(rewrite.condition.restrict(trial.option.field, trial.value).on(bits))
                if condition.is_false:
                    continue
                what = f"{rewrite.field} = {rewrite.value!r}"
                trial.replaced_when[bits] = trial.replaced_when.get(bits, self.space.false) | condition
                trial.replaced.setdefault(bits, []).append(
                    Effect(
                        EffectKind.SETS_OPTION,
                        phase,
                        what,
                        rewrite.module.path,
                        rewrite.line,
                        rewrite.field,
                        _settled(rewrite.value),
                        words(condition),
                    )
                )

    # -- verdicts -----------------------------------------------------------------------------------------------------

    def judge(self, trials: Sequence[Trial], sms: tuple[int, ...]) -> list[Judgement]:
        """The judgements of one option: a row for each trial and SM, in that order."""
        gated = any(self._gated(trial) for trial in trials)
        return [judgement for trial in trials for judgement in self._judge(trial, sms, gated)]

    def _judge(self, trial: Trial, sms: tuple[int, ...], gated: bool) -> Iterable[Judgement]:
        verdicts = {sm: self._verdict(trial, self.session.devices.bit(sm)) for sm in self.space.sms}
        if gated:
            # The GPU bears on the option, if not on this value.
            verdicts = {sm: Verdict.ACTIVE if verdict is Verdict.UNGATED else verdict for sm, verdict in verdicts.items()}
        unseen, undecided = self._unseen(trial)
        if unseen:
            trial.unknown = (*trial.unknown, *unseen)
            verdicts = {sm: Verdict.UNKNOWN if verdict in undecided else verdict for sm, verdict in verdicts.items()}
        live = (Verdict.ACTIVE, Verdict.PARTIAL, Verdict.UNGATED)
        active = tuple(sm for sm in self.space.sms if verdicts[sm] in live)
        for sm in sms:
            bits = self.session.devices.bit(sm)
            effects = tuple(self.effects(trial, bits, verdicts[sm] is not Verdict.UNGATED))
            told = tuple(self.refusals(trial, bits)) if verdicts[sm] is Verdict.REJECTED else effects
            yield Judgement(
                sm=sm,
                value=shown(trial.value),
                verdict=verdicts[sm],
                summary=summary_of(trial, sm, verdicts[sm], active, told),
                active_on=active,
                effects=effects,
                evidence=proof(self.session, trial, bits, verdicts[sm]) if verdicts[sm] is not Verdict.UNGATED else (),
                unknown=trial.unknown if verdicts[sm] is Verdict.UNKNOWN else (),
            )

    def _unseen(self, trial: Trial) -> tuple[tuple[str, ...], frozenset[Verdict]]:
        """Files that do not parse and may bear on the option, and the verdicts that they leave open.

        One that names the option may read it, so that nothing is known to be dead; one that a place imports from may hold the test.
        """
        files = frozenset() if isinstance(self.sites, NoSites) else self.session.left_out
        modules = [self.session.program.by_path[path] for path in sorted(files)]
        name = trial.option.field.rpartition(":")[2].encode()
        naming = [module.path for module in modules if re.search(rb"\b%b\b" % re.escape(name), module.source)]
        places = {site.module.path: site.module.source for site, _ in trial.sites}.values()
        asked = [m.path for m in modules if m.path not in naming and any(_imports(source, m.name) for source in places)]
        reasons = tuple(f"{path} names it and could not be parsed" for path in naming)
        reasons += tuple(f"{path}, from which code that reads it imports, could not be parsed" for path in asked)
        dead = frozenset({Verdict.NOOP, Verdict.NOOP_WITH_SIDE_EFFECTS, Verdict.UNGATED})
        return reasons, dead | {Verdict.ACTIVE, Verdict.PARTIAL} if asked else dead

    def _verdict(self, trial: Trial, bits: int) -> Verdict:
        if self.refusals(trial, bits):
            return Verdict.REJECTED
        if self._replaced_for_its_sake(trial, bits):
            return Verdict.OVERRIDDEN
        behaviours = trial.behaviours
        live = any(active & bits for _, active in behaviours)
        if not live and not behaviours:
            return self._without_behaviour(trial, bits)
        if not live:
            return self._dead(trial, bits)
        if any(not active & bits for _, active in trial.reads):
            return Verdict.PARTIAL
        return Verdict.ACTIVE if self._gated(trial) else Verdict.UNGATED

    def _dead(self, trial: Trial, bits: int) -> Verdict:
        if trial.unknown:
            return Verdict.UNKNOWN
        return Verdict.NOOP_WITH_SIDE_EFFECTS if self._costs(trial, bits) else Verdict.NOOP

    def _costs(self, trial: Trial, bits: int) -> bool:
        """Whether anything but a warning is left of the value on this SM."""
        if trial.sets.get(bits) or any(found.condition.exists & bits for found in trial.raised):
            return True
        free = (EffectKind.WARNS, EffectKind.BEHAVIOUR)
        return any(
            active & bits
            and site.kind not in free
            and trial.option.field not in site.leading
            # A check that fails alike on every SM is no cost of this one.
            and not (site.kind is EffectKind.RAISES and active == self._everything)
            and not self._remaining(site, trial, bits).is_false
            for site, active in trial.sites
        )

    def _without_behaviour(self, trial: Trial, bits: int) -> Verdict:
        """An option that only resolution reads is for what resolution does because of it; one that nothing reads does nothing."""
        changing = {b for b, effects in trial.sets.items() if effects}
        if changing:
            if bits in changing:
                return Verdict.UNGATED if len(changing) == len(self.space.sms) and not self._gated(trial) else Verdict.ACTIVE
            return self._dead_whatever_is_set(trial, bits)
        field = trial.option.field
        if trial.option.is_environment or field in self.session.required or self._may_be_read(field) or self._is_passed_on(trial):
            return Verdict.UNGATED
        return self._dead_whatever_is_set(trial, bits)

    def _dead_whatever_is_set(self, trial: Trial, bits: int) -> Verdict:
        """Nothing comes of the value where the other options are left alone: it does nothing only if that holds however they are set."""
        if trial.changes_when_open is None:
            trial.changes_when_open = self._changes_when_open(trial)
        if trial.changes_when_open & bits:
            return Verdict.UNGATED if trial.changes_when_open == self._everything and not self._gated(trial) else Verdict.ACTIVE
        return self._dead(trial, bits)

    def _changes_when_open(self, trial: Trial) -> int:
        """The SMs on which the value changes another option for some setting of the options that resolution reads beside it."""
        payload, field = from_python(trial.value), trial.option.field
        if isinstance(self.sites, NoSites) or payload is None or trial.option.is_environment:
            return 0
        session = self.session
        names = sorted(options_beside(session, field) - session.required - session.settings.keys())
        free: dict[str, Payload] = {name: OptionValue(name, name) for name in names}
        before, after = session.resolver.run(free), session.resolver.run({**free, field: payload})
        if before.unfinished or after.unfinished:
            trial.unknown = (*trial.unknown, "what it changes when other options are set could not be followed to the end")
            return 0
        changed = [
            (value, before.fields[name])
            for name, value in after.fields.items()
            if name != field and name in session.options.by_field and name in before.fields and before.fields[name] != value
        ]
        every = (1 << index for index in range(len(self.space.sms)))
        return sum(b for b in every if any(differs(values_on(self.space, a, b), values_on(self.space, c, b)) for a, c in changed))

    def _may_be_read(self, field: str) -> bool:
        """Whether code outside resolution may read an option out of sight: its name stands where one is read, or may be put together.

        Every file counts, those too that are left out where places are looked for.
        """
        if field not in self._read:
            resolution, name = self.session.resolution_rules.files, field.encode()
            modules = (m for m in self.session.program.modules() if name in m.source and not m.path.startswith(resolution))
            self._read[field] = self.session.mentions.may_be_computed(field) or any(may_read(module, field) for module in modules)
        return self._read[field]

    def _is_passed_on(self, trial: Trial) -> bool:
        """Whether resolution does something with the value that its fields do not show; anything at all, where the value is not known."""
        key = trial.option.field, trial.value is ANY
        if key not in self._passed_on:
            field, session = trial.option.field, self.session
            classes = {dotted.rpartition(".")[2] for dotted in session.reading.option_classes}
            files = session.resolution_rules.files
            modules = [m for m in session.program.modules() if m.path.startswith(files) and field.encode() in m.source]
            if trial.value is ANY:
                self._passed_on[key] = any(loads(module, field, classes) for module in modules)
            else:
                self._passed_on[key] = not all(shown_by_fields(module, field, classes) for module in modules)
        return self._passed_on[key]

    def _replaced_for_its_sake(self, trial: Trial, bits: int) -> bool:
        """Whether resolution replaces the value on this SM where, under the same conditions, it keeps it on some other.

        What it replaces for models of certain names alone is an effect, not what the value is on this SM, until the model is known.
        """
        return any(ordinarily(self.session, condition).exists for condition in self._replaced_here_alone(trial, bits))

    def _replaced_here_alone(self, trial: Trial, bits: int) -> Iterator[Condition]:
        """When the value is replaced on this SM and kept on another, for each other SM."""
        here = trial.replaced_when.get(bits, self.space.false)
        for other in () if here.is_false else range(len(self.space.sms)):
            yield here & ~trial.replaced_when.get(1 << other, self.space.false)

    def _gated(self, trial: Trial) -> bool:
        """Whether some SM condition bears on the option at this value."""
        if trial.option.field in self.sites.gated_in_resolution:
            return True
        if any(active not in (0, self._everything) for site, active in trial.sites if id(site) not in trial.doubtful):
            return True
        if any(condition.exists for bits in trial.replaced_when for condition in self._replaced_here_alone(trial, bits)):
            return True
        if trial.sets and (
            len(trial.sets) < len(self.space.sms)
            or len({tuple((e.option, repr(e.value), e.when) for e in effects) for effects in trial.sets.values()}) > 1
        ):
            return True
        if any(found.condition.depends_on_target() for found in trial.raised):
            return True
        usual = None if trial.option.is_environment else trial.option.default
        return self.sites.leads_to_target(trial.option.field, trial.value, ANY if usual == trial.value else usual)

    def refusals(self, trial: Trial, bits: int) -> list[Effect]:
        """What refuses the value on this SM and, under the same conditions, would not be met by any refusal on some other."""
        if bits not in trial.refused_on:
            trial.refused_on[bits] = self._refusals(trial, bits)  # once: with less room left the answer might be another
        return trial.refused_on[bits]

    def _refusals(self, trial: Trial, bits: int) -> list[Effect]:
        found: list[Effect] = []
        for effect, condition, called in self._refusing(trial):
            here = condition.on(bits)
            if not here.is_false and not self._only_some_checkpoints(here) and self._spared_elsewhere(here & called, trial):
                found.append(_with_when(effect, here))
        return found

    def _only_some_checkpoints(self, condition: Condition) -> bool:
        """Whether a condition holds for models of certain names alone, and even for them hangs on what is in the checkpoint.

        That is an effect to tell of, not what the value is on this SM.
        """
        return any(
            condition.restrict(fact, UNNAMED).is_false
            and all(self.space.assured(condition.restrict(fact, named)).is_false for named in known_values(fact, [condition]))
            for fact in self.session.reading.listed_facts.values()
        )

    def _refusing(self, trial: Trial) -> list[tuple[Effect, Condition, Condition]]:
        """The refusals that the target decides, each with the condition that its function is called at all."""
        if trial.refusing is None:
            found = [(refusal.effect, refusal.condition, self.space.true) for refusal in trial.raised if not refusal.condition.is_true]
            for site, active in trial.sites:
                if site.kind is EffectKind.RAISES and active and _target_decides(site, trial, active == self._everything):
                    condition = self.space.certain(trial.refused[id(site)]) & self.space.targets(self._decided_on(site, trial))
                    condition = self._with_others_left_alone(condition, trial.option.field)
                    if trial.option.field in site.leading:
                        condition = self.space.assured(condition)  # what else it takes to be refused there nobody knows
                    if condition.depends_on_target():
                        found.append((self._site_effect(site), condition, self._called(site)))
            trial.refusing = found
        return trial.refusing

    def _decided_on(self, site: Site, trial: Trial) -> int:
        """The SMs on which the test that refuses is decided by options and the target, for some setting of the other options.

        Where it hangs on a shape or a type as well, the refusal is about that: an effect to tell of.
        """
        if not site.guards or not isinstance(site.node, (ast.Raise, ast.Assert)):
            return self._everything
        return self.space.assured(site.guards[-1].condition.restrict(trial.option.field, trial.value)).exists

    def _kept(self, trial: Trial) -> Condition:
        """Where the value is still what was given once resolution has passed: nothing after it refuses what it replaced."""
        kept = self.space.true
        for bits, replaced in trial.replaced_when.items():
            kept = kept & ~(replaced & self.space.targets(bits))
        return kept

    def _called(self, site: Site) -> Condition:
        """That the function of a site outside resolution is called in a run: nobody knows, but its sites stand or fall together."""
        return self.space.free(f"6:{site.summary.module.path}:{site.summary.qualname}", f"{site.summary.qualname}() is called")

    def _with_others_left_alone(self, condition: Condition, own: str) -> Condition:
        """A condition of refusal for the launch that sets this option alone: the others stand where resolution leaves them, and
        variables are not set.
        """
        for name in sorted(condition.fields_and_taints()):
            option = self.session.options.by_field.get(name)
            if option is not None and name not in self.session.settings:
                usual = self.default_of(option, Default(((self.space.true, option.default),)))
                if not any(value is ANY for _, value in usual.alternatives):
                    condition = usual.in_condition(condition, name)
            elif name.startswith(PREFIX) and name not in self.session.settings and name != own:
                condition = condition.restrict(name, None)
        return condition

    def _refusing_at_all(self, trial: Trial) -> list[Condition]:
        """When anything at all refuses the value, whatever decides it; what is said in few words first."""
        if trial.refusals is None:
            # What is refused on every SM as long as another option is left alone says nothing about the launch that sets both.
            found = [refusal.whole for refusal in trial.raised if not refusal.whole.is_true]
            for site, active in trial.sites:
                if site.kind is EffectKind.RAISES and active:
                    whole = site.condition.restrict(trial.option.field, trial.value)
                    whole = self._with_others_left_alone(whole, trial.option.field)
                    found.append(whole & self._called(site))
            trial.refusals = sorted(dict.fromkeys(found), key=lambda condition: (condition.size, condition.digest))
        return trial.refusals

    def _spared_elsewhere(self, here: Condition, trial: Trial) -> bool:
        """Whether, where a refusal holds, some SM has nothing that refuses.

        Refusals are taken away one by one: their union may be too large to be made. So may what is left; then the rest of them is
        let be, as if it did not cover all of it.
        """
        refusals = [refusal for refusal in self._refusing_at_all(trial) if not here.excludes(refusal)]
        return any(self._leaves_something(here, refusals, 1 << index) for index in range(len(self.space.sms)))

    def _leaves_something(self, here: Condition, refusals: Iterable[Condition], bits: int) -> bool:
        left = here
        self.space.make_room(REFUSAL_NODES)
        try:
            for refusal in refusals:
                left = left & ~refusal.on(bits)
                if not left.exists:
                    return False
        except SpaceExhausted:
            return True
        finally:
            self.space.make_room(None)
        return True

    def _remaining(self, site: Site, trial: Trial, bits: int) -> Condition:
        return site.condition.restrict(trial.option.field, trial.value).on(bits)

    def _site_effect(self, site: Site) -> Effect:
        return Effect(site.kind, site.phase, site.what, site.module.path, site.line, option=site.option)

    def effects(self, trial: Trial, bits: int, with_sites: bool = True) -> Iterable[Effect]:
        """What setting the value does on one SM, resolution first, then by phase and place; of behaviours the first few."""
        found: list[Effect] = list(trial.sets.get(bits, ())) + list(trial.replaced.get(bits, ()))
        for happening in (*trial.raised, *trial.warned):
            here = happening.condition.on(bits)
            if not here.is_false:
                found.append(_with_when(happening.effect, here))
        behaviours: dict[str, None] = {}
        for effect, site in self._site_effects(trial, bits) if with_sites else ():
            if len(behaviours) < BEHAVIOUR_LIMIT or effect.kind is not EffectKind.BEHAVIOUR:
                here = self._remaining(site, trial, bits)
                if not here.is_false:
                    worded = _with_when(effect, here)
                    found.append(worded)
                    if effect.kind is EffectKind.BEHAVIOUR:
                        behaviours[repr(worded)] = None
        distinct = {repr(effect): effect for effect in found}  # a value may be a list, which has no hash
        return sorted(distinct.values(), key=lambda effect: (*_order(effect), str(effect.when)))

    def _site_effects(self, trial: Trial, bits: int) -> list[tuple[Effect, Site]]:
        found = [(self._site_effect(site), site) for site, active in trial.sites if active & bits]
        return sorted(found, key=lambda pair: _order(pair[0]))


_PHASES = {Phase.RESOLUTION: 0, Phase.STARTUP: 1, Phase.RUNTIME: 2}


def _order(effect: Effect) -> tuple[int, bool, str, int, str]:
    return _PHASES[effect.phase], effect.kind is EffectKind.BEHAVIOUR, effect.file, effect.line, effect.what


def _phase(outcome: Outcome, happening: object) -> Phase:
    return Phase.STARTUP if id(happening) in outcome.later else Phase.RESOLUTION


def _others(option: Option, value: Any) -> tuple[Any, ...]:
    """What an option may be besides ``value``, as far as its declaration tells."""
    declared = option.choices or ((True, False) if option.is_boolean else ())
    return tuple(other for other in declared if other != value)


def _imports(source: bytes, module: str) -> bool:
    """Whether a file imports from another module of the tree: by its name, relatively, or through its package, which may hand it on."""
    package, _, last = (re.escape(part.encode()) for part in module.rpartition("."))
    patterns = rb"from \.+[\w.]*\b%b import|from \.+ import .*\b%b\b|from %b import" % (last, last, package)
    return module.encode() in source or bool(re.search(patterns, source))


def _target_decides(site: Site, trial: Trial, itself: bool) -> bool:
    """Whether a refusal is about the target, or about something opaque (a shape, a checkpoint) on a path that the target chose.

    ``itself``: only where the last test asks for the target, as one must that refuses on every SM under some condition.
    """
    if not site.guards:
        return site.condition.depends_on_target()
    last = site.guards[-1].condition.restrict(trial.option.field, trial.value)
    if itself:
        return last.depends_on_target() and all(atom.field is not None for atom in last.atoms())
    return last.depends_on_target() or all(atom.field is not None for atom in last.atoms())


def _settled(value: Any) -> Any:
    """A value that effects can be compared by: lists as tuples, mappings as their text."""
    if isinstance(value, (list, tuple)):
        return tuple(_settled(item) for item in value)
    return repr(value) if isinstance(value, (dict, set)) else value


def _with_when(effect: Effect, condition: Condition) -> Effect:
    return Effect(effect.kind, effect.phase, effect.what, effect.file, effect.line, effect.option, effect.value, words(condition))
