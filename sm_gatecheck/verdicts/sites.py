"""Sites: the places outside resolution where an option makes a difference, and what the difference is.

A site comes from an event of the scan (a call, a store, a raise) or from what a function returns. It is *active* for a value
on an SM when what happens there with the value differs from what happens with the default: that is how a read that an SM
test masks, and a branch that it makes dead, are told from one that works.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from functools import reduce
from typing import Any, Protocol

from sm_gatecheck.evaluate.classes import is_enum
from sm_gatecheck.evaluate.frames import Event, Guard
from sm_gatecheck.evaluate.interpreter import source_text
from sm_gatecheck.evaluate.values import (
    Choice,
    ClassValue,
    EnumMember,
    Instance,
    Known,
    Opaque,
    OptionValue,
    Payload,
    Sequence,
    Truth,
    Value,
    alternatives,
    conditions_in,
    fields_in,
    fields_of,
    is_constant,
    payloads,
    to_python,
)
from sm_gatecheck.evaluate.values import Mapping as MappingValue
from sm_gatecheck.model.condition import ANY, Condition, Space
from sm_gatecheck.model.verdict import EffectKind, Phase
from sm_gatecheck.program.modules import Module
from sm_gatecheck.target.environment import PREFIX
from sm_gatecheck.target.minimums import Refusal
from sm_gatecheck.target.scan import Key, Summary
from sm_gatecheck.target.session import Session
from sm_gatecheck.target.world import OPTIONS

_CARRIED_LIMIT = 60


@dataclass(frozen=True, eq=False)
class Site:
    """One place. ``condition`` is when it is reached, ``values`` what it is given; ``fields`` are the options that bear on it."""

    kind: EffectKind
    phase: Phase
    what: str
    module: Module
    node: ast.AST
    condition: Condition
    values: tuple[Value, ...]
    fields: frozenset[str]
    guards: tuple[Guard, ...]
    summary: Summary
    option: str | None = None
    chain: tuple[tuple[Module, ast.AST], ...] = ()
    wherever_called: Condition | None = None
    """When it is reached once its function is called, where the callers ask for the target: a way there is missing on some SM,
    not a part of what the function does."""

    leading: frozenset[str] = frozenset()
    """Of the options those that only lead to the function: what it refuses, it refuses for the target's sake."""

    @property
    def conditions(self) -> Iterator[Condition]:
        """What decides here: whether the place is reached, and what it is given."""
        yield self.condition
        for value in self.values:
            yield from conditions_in(value)

    @property
    def line(self) -> int:
        return getattr(self.node, "lineno", 1)

    def read_at(self, name: str) -> tuple[str, int, int]:
        """Where the option is read for this site: the innermost test that asks for it, else the place itself.

        Both branches of one test, and what follows an early return, are one read: it works where any of them changes.
        """
        for guard in reversed(self.guards):
            if name in fields_in(guard.condition):
                return guard.module.path, getattr(guard.node, "lineno", 0), getattr(guard.node, "col_offset", 0)
        if self.chain:
            # Inside a callee that the option chose or was given to: the call is where it was read.
            module, node = self.chain[0]
            return module.path, getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
        return self.module.path, self.line, getattr(self.node, "col_offset", 0)


class Sites(Protocol):
    """What judging asks of the sites of a tree."""

    gated_in_resolution: set[str]
    rewrites: dict[str, list[Rewrite]]

    def decided(self, field: str) -> Iterable[Site]: ...
    def further(self, field: str) -> Iterable[Site]: ...
    def conditions(self, field: str) -> Iterable[Condition]: ...
    def leads_to_target(self, field: str, value: Any, default: Any) -> bool: ...


class NoSites:
    """What is left where only resolution is looked at."""

    def __init__(self) -> None:
        self.rewrites: dict[str, list[Rewrite]] = {}
        self.gated_in_resolution: set[str] = set()

    def decided(self, field: str) -> Iterable[Site]:
        return ()

    def further(self, field: str) -> Iterable[Site]:
        return ()

    def conditions(self, field: str) -> Iterable[Condition]:
        return ()

    def leads_to_target(self, field: str, value: Any, default: Any) -> bool:
        return False

    def counted(self) -> dict[Key, int]:
        return {}


@dataclass(frozen=True, eq=False)
class Rewrite:
    """An option that code outside resolution sets to a constant on some SMs."""

    field: str
    value: Any
    condition: Condition
    module: Module
    line: int
    summary: Summary


class SiteIndex:
    """The sites of a tree by option: those that the target may decide about at once, the others one option at a time."""

    def __init__(self, session: Session, reach: Callable[[Summary], Condition]) -> None:
        self._session = session
        self._reach = reach
        self._of_summary: dict[Key, list[Site]] = {}
        self._decided: dict[str, list[Site]] = {}
        self._further: dict[str, tuple[list[Site], Iterator[Summary]]] = {}
        self.rewrites: dict[str, list[Rewrite]] = {}
        """By option, where code outside resolution puts another value in its place on some SMs."""
        self.gated_in_resolution: set[str] = set()
        """Options on which some refusal or write of resolution depends together with the target, under whatever settings."""
        for summary in session.search.decided_by_target():
            if _belongs_to_resolution(session, summary):
                self.gated_in_resolution |= _asked_with_target(summary)
            else:
                for rewrite in _rewrites(summary):
                    self.rewrites.setdefault(rewrite.field, []).append(rewrite)
            for site in self._sites(summary):
                for name in site.fields:
                    self._decided.setdefault(name, []).append(site)
        for refusal in session.minimums.refusals:
            self._decided.setdefault(refusal.option, []).append(_refusal_site(session, refusal))
        self._leading: dict[str, dict[Condition, None]] = {}
        for summary in session.search.asking_target():
            called = session.space.true if _belongs_to_resolution(session, summary) else reach(summary)
            for name in fields_in(called):
                self._leading.setdefault(name, {})[called] = None

    def leads_to_target(self, field: str, value: Any, default: Any) -> bool:
        """Whether code that asks for the target is called only, or is no longer called, because of the value."""
        conditions = self._leading.get(field, ())
        return any(condition.restrict(field, value).differs(condition.restrict(field, default)) for condition in conditions)

    def decided(self, field: str) -> list[Site]:
        """The sites of an option that the target may decide about."""
        return self._decided.get(field, [])

    def further(self, field: str) -> Iterator[Site]:
        """The other sites of an option; ask for no more of them than it takes."""
        found, rest = self._further.setdefault(field, ([], self._session.search.reading(field)))
        decided = {id(site) for site in self.decided(field)}
        index = 0
        while True:
            while index < len(found):
                yield found[index]
                index += 1
            summary = next(rest, None)
            if summary is None:
                return
            found += [site for site in self._sites(summary) if field in site.fields and id(site) not in decided]

    def counted(self) -> dict[Key, int]:
        """How many sites were looked at in each function."""
        return {key: len(found) for key, found in self._of_summary.items() if found}

    def conditions(self, field: str) -> Iterator[Condition]:
        """What decides at the option's gated places, and at those that compare it with something."""
        for site in self.decided(field):
            yield from site.conditions
        for summary in self._session.search.comparing(field):
            for event in summary.events:
                yield event.condition
                for value in (*event.values, *(value for _, value in event.keywords)):
                    yield from conditions_in(value)
            if summary.returned is not None:
                yield from conditions_in(summary.returned)

    def _sites(self, summary: Summary) -> list[Site]:
        """The sites of a function, under the condition that it is called at all."""
        found = self._of_summary.get(summary.key)
        if found is None:
            resolution = _belongs_to_resolution(self._session, summary)
            found = [] if resolution else list(_sites_of(self._session, summary))
            asked = any(map(_refuses_target, found)) or (bool(found) and self._session.search.may_be_spared(summary))
            called = self._reach(summary) if asked else None
            if called is not None and not called.is_true:
                found = [_under(site, called) for site in found]
            found = [site for site in found if site.fields]
            self._of_summary[summary.key] = found
        return found


def _rewrites(summary: Summary) -> Iterator[Rewrite]:
    for event in summary.events:
        stored = event.kind == "store" and isinstance(event.receiver, Instance) and event.receiver.name == OPTIONS
        value = event.values[0] if stored and event.values else None
        if value is not None and not isinstance(value, Choice) and is_constant(value) and event.condition.depends_on_target():
            line = getattr(event.node, "lineno", 1)
            yield Rewrite(event.name.rsplit(".", 1)[-1], to_python(value), event.condition, event.module, line, summary)


def _refusal_site(session: Session, refusal: Refusal) -> Site:
    """A GPU below what the class of the value asks for, as a site of its own."""
    guard = Guard(refusal.module, refusal.test, refusal.condition)
    return Site(
        EffectKind.RAISES,
        session.effects.phase_of(refusal.module.path, refusal.function),
        source_text(refusal.module, refusal.node),
        refusal.module,
        refusal.node,
        refusal.condition,
        (),
        frozenset({refusal.option}),
        (guard,),
        Summary(refusal.module, None, None, refusal.function),
    )


def _asked_with_target(summary: Summary) -> frozenset[str]:
    """Options that one test, or the tests around one, ask for together with the target."""
    found: frozenset[str] = frozenset()
    for event in summary.events:
        writes = event.kind == "store" and isinstance(event.receiver, Instance) and event.receiver.name == OPTIONS
        around = event.guards[-3:]
        if (writes or event.kind in ("raise", "assert")) and any(guard.condition.depends_on_target() for guard in around):
            found = found.union(*(fields_in(guard.condition) for guard in around))
    return found


def _under(site: Site, called: Condition) -> Site:
    condition = site.condition.space.widen(site.condition & called)
    within = site.condition if called.depends_on_target() else None
    leading = fields_in(called) - site.fields if _refuses_target(site) else frozenset()
    return replace(site, condition=condition, wherever_called=within, fields=site.fields | leading, leading=leading)


def _refuses_target(site: Site) -> bool:
    return site.kind is EffectKind.RAISES and site.condition.depends_on_target()


def _belongs_to_resolution(session: Session, summary: Summary) -> bool:
    return session.belongs_to_resolution(summary.module.path, summary.qualname)


def _sites_of(session: Session, summary: Summary) -> Iterator[Site]:
    phase = session.effects.phase_of(summary.module.path, summary.qualname)
    seen_through = _constructors_seen_through(session, summary)
    for event in summary.events:
        if event.kind != "return" and id(event.node) not in seen_through:
            site = _event_site(session, summary, event, phase)
            if site is not None:
                yield site
    if summary.returned is not None and fields_of(summary.returned) and not _only_passes_on(summary):
        yield from _return_sites(session, summary, phase)


def _constructors_seen_through(session: Session, summary: Summary) -> set[int]:
    """Constructors that were run with what they are given and were heard to allocate: what they do stands for their names."""
    made = {id(event.node) for event in summary.events if event.followed and isinstance(event.target, ClassValue)}
    return {
        id(node)
        for event in summary.events
        if event.kind == "call" and event.chain and session.effects.kind_of(event.name) is EffectKind.ALLOCATES
        for _, node in event.chain
        if id(node) in made
    }


def _only_passes_on(summary: Summary) -> bool:
    """A getter that hands out the bare value of an option, or an enum made of it, decides nothing: its callers do."""
    if summary.returned is None or any(condition.depends_on_target() for condition in conditions_in(summary.returned)):
        return False
    return all(_is_bare(payload) for payload in payloads(summary.returned))


def _is_bare(payload: Payload) -> bool:
    if isinstance(payload, EnumMember):
        return _is_bare(payload.raw)
    return (isinstance(payload, OptionValue) and payload.compute is None) or isinstance(payload, Known)


def _return_sites(session: Session, summary: Summary, phase: Phase) -> Iterator[Site]:
    assert summary.returned is not None
    returns = [event for event in summary.events if event.kind == "return"]
    if not returns:
        return
    deciding = next((event for event in returns if fields_of(event.values[0])), returns[-1])
    guards = tuple(guard for event in returns for guard in event.guards)
    yield Site(
        EffectKind.BEHAVIOUR,
        phase,
        f"what {summary.qualname}() answers",
        summary.module,
        deciding.node,
        summary.entry or session.space.true,
        (summary.returned,),
        fields_of(summary.returned),
        guards,
        summary,
    )


def _event_site(session: Session, summary: Summary, event: Event, phase: Phase) -> Site | None:
    kind, what, option = _classify(session, event, summary.name)
    if kind is None or (kind is EffectKind.BEHAVIOUR and _within_allocation(session, event)):
        return None
    values = event.values + tuple(value for _, value in event.keywords)
    if kind in (EffectKind.RAISES, EffectKind.WARNS):
        values = ()
    bearing = fields_in(event.condition)
    for value in values:
        bearing |= fields_of(value)
    if not bearing and not (kind is EffectKind.RAISES and event.condition.depends_on_target()):
        return None  # a refusal of the target is one of what leads there
    condition = event.condition & _called(session, summary) if kind is EffectKind.RAISES else event.condition
    return Site(kind, phase, what, event.module, event.node, condition, values, bearing, event.guards, summary, option, event.chain)


def _called(session: Session, summary: Summary) -> Condition:
    """When somebody calls a function, as far as that shows in what its parameters are given.

    Where nobody does, what tests make of the parameters says nothing.
    """
    called = session.space.true
    if summary.node is not None:
        for parameter in (*summary.node.args.posonlyargs, *summary.node.args.args, *summary.node.args.kwonlyargs):
            given = session.interpreter.arguments.get((id(summary.node), parameter.arg))
            if isinstance(given, Choice):
                called = called & reduce(Condition.__or__, (when for when, _ in given.alternatives))
    return session.space.widen(called)


def _within_allocation(session: Session, event: Event) -> bool:
    """Whether something happens inside a call that is there to allocate: then it is part of the allocation."""
    calls = (node.func for _, node in event.chain if isinstance(node, ast.Call))
    modules = (module for module, _ in event.chain)
    return any(session.effects.kind_of(source_text(module, func)) is EffectKind.ALLOCATES for module, func in zip(modules, calls))


def _only_hands_on(session: Session, event: Event) -> bool:
    """A call that is made whatever the options are, and whose callee is known to receive them: the callee decides."""
    return not fields_in(event.condition) and session.scan.receives(event)


def _classify(session: Session, event: Event, summary_name: str) -> tuple[EffectKind | None, str, str | None]:
    if event.kind in ("raise", "assert", "key_error"):
        return (None if event.caught else EffectKind.RAISES), event.name, None
    if event.kind == "local" and session.effects.kind_of(summary_name) is None:
        return None, event.name, None
    if isinstance(event.target, ClassValue) and is_enum(session.interpreter, event.target):
        return None, event.name, None
    if event.followed or (event.kind == "call" and _only_hands_on(session, event)):
        # The callee was run with what it is given: what it does stands for it, unless its name says what it is for.
        kind = session.effects.kind_of(event.name)
        return (None if kind is EffectKind.BEHAVIOUR else kind), f"{event.name}(…)", None
    if event.kind == "local":
        return EffectKind.BEHAVIOUR, event.name, None
    if event.kind == "environment":
        return EffectKind.SETS_ENV, event.name, None
    if event.kind == "store":
        if isinstance(event.receiver, Instance) and event.receiver.name == OPTIONS:
            return EffectKind.SETS_OPTION, event.name, event.name.rsplit(".", 1)[-1]
        attribute = event.name.rsplit(".", 1)[-1]
        if "[" not in event.name and session.mentions.count(attribute) <= _CARRIED_LIMIT:
            # A copy decides nothing: whoever reads it does.
            return None, event.name, None
        return EffectKind.BEHAVIOUR, event.name, None
    return session.effects.kind_of(event.name), f"{event.name}(…)", None


# -- what a value of the option makes of a site ---------------------------------------------------------------------------


MADE_FROM = "made from"
"""How the key of a payload begins that an option took part in, nobody knows how."""


@dataclass(frozen=True)
class Default:
    """What an option is worth when nobody sets it: each value with the condition under which resolution leaves it.

    Where it would already be ``value``, that is held against the ``others``: ``same`` tells when, ``others`` are the values that the
    option may have besides (empty: those that a condition names, and one that none names).
    """

    alternatives: tuple[tuple[Condition, Any], ...]
    same: Condition | None = None
    others: tuple[Any, ...] = ()

    def other_than(self, value: Any, others: Iterable[Any] = ()) -> Default:
        """The same, but where it already is ``value``: there the value is held against any other one."""
        held = [when for when, usual in self.alternatives if _equal(usual, value)]
        same = reduce(Condition.__or__, held) if held else None
        alternatives = tuple((when, ANY if _equal(usual, value) else usual) for when, usual in self.alternatives)
        return Default(alternatives, same, tuple(others))

    def in_condition(self, condition: Condition, name: str) -> Condition:
        """A condition of the site for whom the option is left alone."""
        if len(self.alternatives) == 1:
            return condition.restrict(name, self.alternatives[0][1])
        result = condition.space.false
        for when, value in self.alternatives:
            result = result | (when & condition.restrict(name, value))
        return result

    def refused(self, condition: Condition, name: str) -> Condition:
        """When who leaves the option alone is refused too, for something else than the value: whatever else it may be is refused."""
        usual = self.in_condition(condition, name)
        if self.same is None:
            return usual
        by_others = condition.space.true
        for other in self.others or (*condition.values_of(name), ANY):
            by_others = by_others & condition.restrict(name, other)
        return condition.space.choose(self.same, by_others, usual)

    def left_alone(self, condition: Condition, name: str, value: Any) -> Condition:
        """The same for who leaves the option alone and may get ``value`` by that."""
        usual = self.in_condition(condition, name)
        return usual if self.same is None else condition.space.choose(self.same, condition.restrict(name, value), usual)


def _equal(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


class Bearing(Enum):
    """How an option is known to bear on a site."""

    DECIDES = "decides"
    """By its value: the site is a part of what the option does."""
    FEEDS = "feeds"
    """It is handed on, or took part in making what is: a size that reaches a function is not the function's switch."""
    MAYBE = "maybe"
    """It may only take part in a condition too large to be kept: the site says nothing about what is missing elsewhere."""


def active_on(site: Site, name: str, value: Any, default: Default) -> tuple[int, Bearing]:
    """The SMs on which the site does something else with ``value`` than with what the option is by default, and how it bears on it."""
    space = site.condition.space
    if site.kind is EffectKind.RAISES:
        return refused(site, name, value, default).exists, Bearing.DECIDES
    with_value, with_default = site.condition.restrict(name, value), default.in_condition(site.condition, name)
    if site.kind is not EffectKind.BEHAVIOUR:
        # An effect of the value is what happens with it and would not happen without: to be spared one is none.
        return (with_value & ~with_default).exists, Bearing.DECIDES
    active = _differing(space, with_value, with_default)
    bearing = Bearing.DECIDES if active else Bearing.MAYBE
    if name in site.condition.taints():
        active |= with_value.exists
    live = with_value.exists & ~active
    for item in site.values if live else ():
        if name in fields_of(item):
            differing, told = _differing_values(space, item, name, value, default)
            active |= live & differing
            if told and value is not ANY:
                bearing = Bearing.DECIDES
            elif bearing is Bearing.MAYBE:
                bearing = Bearing.FEEDS
    return active, bearing if active else Bearing.DECIDES


def refused(site: Site, name: str, value: Any, default: Default) -> Condition:
    """When a refusal is met for the sake of the value: with it, and not without.

    Who leaves the option alone and gets this very value is refused for its sake where the last test, but for those of the GPU
    alone, asks for the option. Elsewhere it is the launch that is refused, with or without the value.
    """
    last = next((guard.condition for guard in reversed(site.guards) if guard.condition.atom is not None), None)
    asked = last is not None and _asks_for(last, name)
    without = default.refused(site.condition, name) if asked else default.left_alone(site.condition, name, value)
    return site.condition.restrict(name, value) & ~without


def _asks_for(test: Condition, name: str) -> bool:
    """Whether a test asks for an option, perhaps beside others and the target, and for nothing that is no option."""
    asked = {atom.field for atom in test.atoms()}
    return name in asked and not any(field is None or field.startswith(PREFIX) for field in asked)


def _differing(space: Space, a: Condition, b: Condition) -> int:
    """The SMs on which two formulas are not the same."""
    if a is b:
        return 0
    return a.differs(b)


def _differing_values(space: Space, item: Value, name: str, value: Any, default: Default) -> tuple[int, bool]:
    """The SMs on which an item differs, and whether that is seen in itself rather than in what it may be made from."""
    a = _restricted(space, item, name, value)
    b: dict[Any, Condition] = {}
    for when, usual in default.alternatives:
        for key, condition in _restricted(space, item, name, usual).items():
            b[key] = b.get(key, space.false) | (when & condition)
    differing, told = 0, False
    for payload in {*a, *b}:
        here = _differing(space, a.get(payload, space.false), b.get(payload, space.false))
        differing |= here
        told = told or bool(here and payload[0] != MADE_FROM)
    return differing, told


def _restricted(space: Space, item: Value, name: str, value: Any) -> dict[Any, Condition]:
    found: dict[Any, Condition] = {}
    for condition, payload in alternatives(item, space.true):
        reached = condition.restrict(name, value)
        if reached.is_false:
            continue
        if isinstance(payload, Truth):
            held = payload.condition.restrict(name, value)
            for answer, when in ((True, reached & held), (False, reached & ~held)):
                key = ("bool", answer)
                found[key] = found.get(key, space.false) | when
            continue
        key = _payload_key(payload, name, value)
        found[key] = found.get(key, space.false) | reached
    return {key: condition for key, condition in found.items() if not condition.is_false}


def _payload_key(payload: Any, name: str, value: Any) -> Any:
    if isinstance(payload, OptionValue) and payload.field == name:
        if value is ANY:
            return ("set", payload.text)
        try:
            return ("value", repr(payload.of(value)))
        except Exception:  # the analysed expression fails on this value, which is a difference too
            return ("fails", payload.text)
    if isinstance(payload, Opaque) and name in payload.fields:
        return (MADE_FROM, payload.key, "*" if value is ANY else repr(value))
    if isinstance(payload, EnumMember):
        return ("enum", payload.cls.qualname, _payload_key(payload.raw, name, value))
    if isinstance(payload, (Sequence, MappingValue)):
        return ("parts", _itself(payload) if name not in fields_of(payload) else ("*" if value is ANY else repr(value)))
    if hasattr(payload, "value") and isinstance(getattr(payload, "value", None), bool):
        return ("bool", payload.value)
    return ("other", _itself(payload))


def _itself(payload: Any) -> Any:
    """A payload as a key; its text, which takes long to write, only where it holds something that has no hash."""
    try:
        hash(payload)
    except TypeError:
        return repr(payload)
    return payload
