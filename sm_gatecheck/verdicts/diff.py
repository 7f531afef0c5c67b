"""Two reports compared: options that came, went or changed their names, verdicts and defaults that changed, and why.

A site that moved is no change, nor is a guard that says the same with other words: verdicts are compared, and the guards
that decide them are named.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from sm_gatecheck.model.difference import Change, DefaultChange, Difference, Reason
from sm_gatecheck.model.option import Option
from sm_gatecheck.model.report import Report
from sm_gatecheck.model.verdict import DefaultAlternative, Effect, EffectKind, Evidence, Judgement, OptionReport, Phase, Role, Verdict
from sm_gatecheck.verdicts.findings import deciding_gate

_SET_TO_SOMETHING = "*"


def compare(old: Report, new: Report) -> Difference:
    """What is different in ``new``; both reports are of the same SMs and assumptions."""
    before, after = _Indexed(old), _Indexed(new)
    renamed = _renamed(before, after)
    names = {one.field: other.field for one, other in renamed}
    pairs = [(before.options[field], after.options.get(names.get(field, field))) for field in before.options]
    known = {pair.option.field for _, pair in pairs if pair is not None}
    changes: list[Change] = []
    defaults: list[DefaultChange] = []
    for one, other in pairs:
        changes += _changes(before, one, after, other)
        if other is not None:
            defaults += _default_changes(one, other, new.sms)
    fresh = [other for field, other in after.options.items() if field not in known]
    for other in fresh:
        changes += _changes(before, None, after, other)
    return Difference(
        old=old.source,
        new=new.source,
        assumptions=new.assumptions,
        sms=new.sms,
        added=tuple(report.option for report in fresh),
        removed=tuple(one.option for one, other in pairs if other is None),
        renamed=tuple(renamed),
        changes=tuple(sorted(changes, key=lambda change: (change.field, _key(change.value), change.sm))),
        defaults=tuple(sorted(defaults, key=lambda change: (change.field, change.sm))),
        options=tuple({option.field: option for option in (*before.declared, *after.declared)}.values()),
        diagnostics=(*old.diagnostics, *new.diagnostics),
    )


class _Indexed:
    """A report by field, and its judgements by field, value and SM."""

    def __init__(self, report: Report) -> None:
        self.options = {entry.option.field: entry for entry in report.options}
        self.declared = [entry.option for entry in report.options]
        self.judgements = {(entry.option.field, _key(j.value), j.sm): j for entry in report.options for j in entry.judgements}

    def judged(self, field: str, value: Any, sm: int) -> Judgement | None:
        """The judgement of a value, or that of the option merely set where values are not told apart."""
        return self.judgements.get((field, _key(value), sm)) or self.judgements.get((field, _key(_SET_TO_SOMETHING), sm))


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=repr)


# -- options --------------------------------------------------------------------------------------------------------------


def _renamed(before: _Indexed, after: _Indexed) -> list[tuple[Option, Option]]:
    """Fields that went while another came that answers to one of their flags."""
    fresh = [option for option in after.declared if option.field not in before.options]
    by_flag = {flag: option for option in fresh for flag in (*option.flags, *option.aliases, *option.deprecated_flags)}
    found: list[tuple[Option, Option]] = []
    for option in before.declared:
        if option.field in after.options:
            continue
        other = next((by_flag[flag] for flag in (*option.flags, *option.aliases) if flag in by_flag), None)
        if other is not None and all(other is not taken for _, taken in found):
            found.append((option, other))
    return found


# -- verdicts -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Standing:
    """A verdict with the judgement that it is taken from, and the write that handed the value on to another option."""

    verdict: Verdict
    judgement: Judgement
    option: Option
    through: Effect | None = None


def _changes(before: _Indexed, one: OptionReport | None, after: _Indexed, other: OptionReport | None) -> Iterator[Change]:
    rows: dict[tuple[str, int], tuple[Any, int]] = {}
    for entry in (one, other):
        for judgement in entry.judgements if entry is not None else ():
            rows.setdefault((_key(judgement.value), judgement.sm), (judgement.value, judgement.sm))
    for value, sm in rows.values():
        if value == _SET_TO_SOMETHING and _told_apart(one, other):
            continue
        old = None if one is None else _standing(before, one, value, sm)
        new = None if other is None else _standing(after, other, value, sm)
        was, now = _verdict(old), _verdict(new)
        if was is now or {was, now} == {None, Verdict.UNGATED}:
            continue  # an option that came or went is worth a row only where some GPU matters to it
        entry = other or one
        assert entry is not None
        yield Change(entry.option.field, value, sm, was, now, _reason(old), _reason(new))


def _verdict(standing: _Standing | None) -> Verdict | None:
    return None if standing is None else standing.verdict


def _told_apart(one: OptionReport | None, other: OptionReport | None) -> bool:
    """Whether one tree tells the values of an option apart and the other does not: then each value is a row of its own."""
    if one is None or other is None:
        return False
    return any(any(j.value != _SET_TO_SOMETHING for j in entry.judgements) for entry in (one, other))


def _standing(report: _Indexed, entry: OptionReport, value: Any, sm: int) -> _Standing | None:
    judgement = report.judged(entry.option.field, value, sm)
    if judgement is None:
        return None
    own = _Standing(judgement.verdict, judgement, entry.option)
    passes_on = any(effect.option == entry.option.field for effect in judgement.effects if effect.kind is EffectKind.SETS_OPTION)
    for effect in judgement.effects:
        if effect.kind is not EffectKind.SETS_OPTION or effect.phase is not Phase.RESOLUTION or effect.when is not None:
            continue
        if effect.option is None or effect.option == entry.option.field:
            continue
        heir = report.judgements.get((effect.option, _key(effect.value), sm))
        if heir is not None and _decides(heir, judgement, passes_on):
            return _Standing(heir.verdict, heir, report.options[effect.option].option, effect)
    return own


def _decides(heir: Judgement, judgement: Judgement, passes_on: bool) -> bool:
    """Whether the verdict of what a value is handed on to is that of the value: it is refused there, or lives on there alone."""
    if judgement.verdict is Verdict.REJECTED:
        return heir.verdict is Verdict.REJECTED and _refusals(judgement) <= _refusals(heir)
    return heir.verdict is Verdict.REJECTED or (passes_on and heir.verdict is not Verdict.UNGATED)


def _refusals(judgement: Judgement) -> set[tuple[str, int]]:
    return {(effect.file, effect.line) for effect in judgement.effects if effect.kind is EffectKind.RAISES}


# -- reasons --------------------------------------------------------------------------------------------------------------

_WORDS: dict[Verdict, str] = {
    Verdict.REJECTED: "refused",
    Verdict.OVERRIDDEN: "replaced",
    Verdict.NOOP_WITH_SIDE_EFFECTS: "without use, and not without cost",
    Verdict.NOOP: "without use",
    Verdict.PARTIAL: "working in part",
    Verdict.ACTIVE: "working",
    Verdict.UNGATED: "asked of no GPU",
    Verdict.UNKNOWN: "not decided",
}
_DECISIVE: dict[Verdict, EffectKind] = {Verdict.REJECTED: EffectKind.RAISES, Verdict.OVERRIDDEN: EffectKind.SETS_OPTION}


def _reason(standing: _Standing | None) -> Reason | None:
    if standing is None:
        return None
    judgement, option = standing.judgement, standing.option
    words = _WORDS[standing.verdict]
    handed_on = None
    if standing.through is not None:
        written = f"{standing.through.file}:{standing.through.line}"
        handed_on = f"{option.field} = {standing.through.value!r} ({written})"
    effect = _decisive(standing)
    if effect is not None:
        when = f" when {effect.when}" if effect.when else ""
        words = f"{words} at {effect.file}:{effect.line}: {effect.what}{when}"
    gate = _gate(judgement, effect)
    if gate is not None and standing.verdict is not Verdict.UNGATED:
        return Reason(words, gate.file, gate.line, gate.source, gate.true_on, handed_on)
    if effect is not None:
        return Reason(words, effect.file, effect.line, handed_on=handed_on)
    if standing.verdict is Verdict.PARTIAL and ": " in judgement.summary:
        words = f"{words}: {judgement.summary.partition(': ')[2].rstrip('.')}"
    if judgement.unknown:
        words = f"{words}: {'; '.join(judgement.unknown)}"
    return Reason(words, option.file, option.line, handed_on=handed_on)


def _gate(judgement: Judgement, effect: Effect | None) -> Evidence | None:
    """The test of the GPU that decides: the last before a refusal, else the one that turns out differently here."""
    everywhere = {sm for evidence in judgement.evidence for sm in evidence.true_on}
    before: Evidence | None = None
    for evidence in judgement.evidence:
        if evidence.role is Role.GATE and set(evidence.true_on) != everywhere:
            before = evidence
        elif effect is not None and effect.kind is EffectKind.RAISES and (evidence.file, evidence.line) == (effect.file, effect.line):
            return before
    if effect is not None and effect.kind is EffectKind.RAISES:
        return None
    gate = deciding_gate(judgement)
    return None if gate is None or set(gate.true_on) == everywhere else gate


def _decisive(standing: _Standing) -> Effect | None:
    """The effect that makes the verdict what it is: the refusal, the replacement, the first cost."""
    effects = standing.judgement.effects
    kind = _DECISIVE.get(standing.verdict)
    if kind is not None:
        own = [e for e in effects if e.kind is kind and (kind is EffectKind.RAISES or e.option == standing.option.field)]
        return min(own, key=lambda effect: effect.when is not None, default=None)
    if standing.verdict is Verdict.NOOP_WITH_SIDE_EFFECTS:
        costs = [e for e in effects if e.kind not in (EffectKind.BEHAVIOUR, EffectKind.WARNS)]
        return min(costs, key=lambda effect: effect.when is not None, default=None)
    return None


def why(change: Change) -> str:
    """Why a verdict changed, in a sentence: what decided before, and what decides now."""
    before = "there was no such option or value" if change.before is None else reason_words(change.before)
    after = "there is no such option or value any more" if change.after is None else reason_words(change.after)
    return f"before: {before}; now: {after}"


def reason_words(reason: Reason) -> str:
    handed = f"handed on to {reason.handed_on}, " if reason.handed_on else ""
    if reason.source is None:
        return f"{handed}{reason.words} ({reason.file}:{reason.line})"
    on = ", ".join(f"SM{sm}" for sm in reason.true_on or ()) or "no SM"
    return f"{handed}{reason.words}; {reason.file}:{reason.line} {reason.source} is true on {on}"


# -- defaults -------------------------------------------------------------------------------------------------------------


def _default_changes(one: OptionReport, other: OptionReport, sms: Iterable[int]) -> Iterator[DefaultChange]:
    old, new = dict(one.defaults), dict(other.defaults)
    for sm in sms:
        was, now = _default(one.option, old.get(sm)), _default(other.option, new.get(sm))
        if _claims(was) != _claims(now):
            yield DefaultChange(other.option.field, sm, was, now)


def _default(option: Option, resolved: tuple[DefaultAlternative, ...] | None) -> tuple[DefaultAlternative, ...]:
    if resolved:
        return resolved
    declared = option.default if option.default_source is None else option.default_source
    return (DefaultAlternative(declared, None, option.file, option.line),)


def _claims(alternatives: Iterable[DefaultAlternative]) -> list[tuple[str, str | None]]:
    return sorted(((_key(a.value), a.when) for a in alternatives), key=repr)
