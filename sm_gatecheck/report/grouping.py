"""Findings that say the same thing, brought together for a reader: by option, then by what is claimed.

An inventory for three GPUs of an option with nine values can hold twenty-seven findings and three messages. A group is
one option under one rule; an entry in it is one message with every value and SM it holds for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sm_gatecheck.checks.cards import Card
from sm_gatecheck.model.report import Finding, Report
from sm_gatecheck.model.verdict import EffectKind, Judgement, OptionReport, Phase, Verdict
from sm_gatecheck.report.wording import listed, option_name, sm_list, value_text
from sm_gatecheck.verdicts.findings import VERDICT_OF


@dataclass(frozen=True)
class Entry:
    """One claim, with the values and SMs it was made for. ``judgement`` is that of the first; None without a verdict."""

    finding: Finding
    judgement: Judgement | None
    values: tuple[Any, ...]
    sms: tuple[int, ...]
    message: str

    @property
    def always(self) -> bool:
        """Whether a refusal is one of every launch that sets the value; True for what is no refusal."""
        if self.judgement is None or self.judgement.verdict is not Verdict.REJECTED:
            return True
        raised = [effect for effect in self.judgement.effects if effect.kind is EffectKind.RAISES]
        return not raised or any(effect.when is None for effect in raised)


@dataclass(frozen=True)
class Group:
    """What one rule says about one option. ``option`` is None when the report does not list it."""

    rule: str
    verdict: Verdict | None
    field: str
    option: OptionReport | None
    entries: tuple[Entry, ...]

    @property
    def sms(self) -> tuple[int, ...]:
        return tuple(sorted({sm for entry in self.entries for sm in entry.sms}))

    @property
    def values(self) -> tuple[Any, ...]:
        return distinct(value for entry in self.entries for value in entry.values)

    @property
    def name(self) -> str:
        return self.field if self.option is None else option_name(self.option.option)

    def alternatives(self) -> tuple[Any, ...]:
        """Values of the option that are not refused, dead or replaced on any SM of this group."""
        if self.option is None:
            return ()
        good: dict[str, set[int]] = {}
        values: dict[str, Any] = {}
        for judgement in self.option.judgements:
            if judgement.verdict in (Verdict.ACTIVE, Verdict.UNGATED, Verdict.PARTIAL) and judgement.value != "*":
                good.setdefault(repr(judgement.value), set()).add(judgement.sm)
                values[repr(judgement.value)] = judgement.value
        return tuple(values[key] for key, sms in good.items() if sms.issuperset(self.sms))

    def only(self, *, always: bool) -> Group | None:
        """The group of those of its entries that hold for every launch, or of the others; None without any."""
        entries = tuple(entry for entry in self.entries if entry.always is always)
        return replace(self, entries=entries) if entries else None

    def mend(self, cards: Mapping[str, Card], limit: int = 6) -> str:
        """What to do about it, in a sentence; empty without a card."""
        card = cards.get(self.rule)
        if card is None:
            return ""
        fields = {"option": self.name, "sms": sm_list(self.sms)}
        usable = [value_text(value) for value in self.alternatives()]
        if usable and card.mend_with_alternatives:
            shown = [*usable[:limit], f"{len(usable) - limit} more"] if len(usable) > limit else usable
            return _filled(card.mend_with_alternatives, {**fields, "alternatives": listed(shown, "or" if shown == usable else "and")})
        return _filled(card.mend, fields)


def grouped(report: Report) -> list[Group]:
    """The findings of a report, the worst first: by verdict, then unconditional before conditional, late before early."""
    options = {entry.option.field: entry for entry in report.options}
    judgements = {
        (entry.option.field, repr(judgement.value), judgement.sm): judgement for entry in report.options for judgement in entry.judgements
    }
    gathered: dict[tuple[str, str], list[tuple[Finding, Judgement | None]]] = {}
    for finding in report.findings:
        judgement = judgements.get((finding.option, repr(finding.value), finding.sm))
        if judgement is not None and VERDICT_OF.get(finding.rule) is not judgement.verdict:
            judgement = None
        gathered.setdefault((finding.rule, finding.option), []).append((finding, judgement))
    groups = [
        Group(rule, VERDICT_OF.get(rule), field, options.get(field), _entries(members)) for (rule, field), members in gathered.items()
    ]
    return sorted(groups, key=_badness)


def distinct(values: Iterable[Any]) -> tuple[Any, ...]:
    """Values in their first order without repetition; compared by repr, because 1 and True are different settings."""
    return tuple({repr(value): value for value in values}.values())


def message_template(message: str, value: Any, sm: int) -> str:
    """A format string: the message with its own SM and value taken out, so that messages that differ in those alone are one."""
    template = message.replace("{", "{{").replace("}", "}}")
    template = re.sub(rf"\bSM{sm}\b", "{sms}", template)
    if isinstance(value, str) and len(value) > 1:
        template = re.sub(rf"(?<![\w/.-]){re.escape(value)}(?![\w/-])", "{values}", template)
    return template


def merged(entries: Iterable[Entry], shown: Callable[[Entry], Hashable]) -> tuple[Entry, ...]:
    """Entries of one group for the same SMs that say the same and of which the same is shown, as one that names all their values."""
    alike: dict[tuple[tuple[int, ...], str, Hashable], list[Entry]] = {}
    for entry in entries:
        template = message_template(entry.finding.message, entry.finding.value, entry.finding.sm)
        alike.setdefault((entry.sms, template, shown(entry)), []).append(entry)
    return tuple(same[0] if len(same) == 1 else _one(template, same) for (_, template, _), same in alike.items())


def _one(template: str, same: list[Entry]) -> Entry:
    values = distinct(value for entry in same for value in entry.values)
    fields = {"sms": sm_list(same[0].sms), "values": listed([value_text(value) for value in values], "or")}
    return replace(same[0], values=values, message=_filled(template, fields))


def _entries(members: list[tuple[Finding, Judgement | None]]) -> tuple[Entry, ...]:
    alike: dict[tuple[Any, ...], list[tuple[Finding, Judgement | None]]] = {}
    for finding, judgement in members:
        proof = (
            (judgement.evidence, judgement.effects, judgement.active_on, judgement.unknown) if judgement else (finding.file, finding.line)
        )
        alike.setdefault((message_template(finding.message, finding.value, finding.sm), proof), []).append((finding, judgement))
    entries = []
    for (template, _), same in alike.items():
        values = distinct(finding.value for finding, _ in same)
        sms = tuple(sorted({finding.sm for finding, _ in same}))
        message = _filled(template, {"sms": sm_list(sms), "values": listed([value_text(value) for value in values], "or")})
        entries.append(Entry(same[0][0], same[0][1], values, sms, message))
    return tuple(entries)


def _proof(judgement: Judgement) -> tuple[Any, ...]:
    return judgement.evidence, repr(judgement.effects), judgement.active_on, judgement.unknown


def _filled(template: str, fields: Mapping[str, str]) -> str:
    return template.format_map(fields)


def _badness(group: Group) -> tuple[int, bool, int]:
    order = list(VERDICT_OF.values())
    rank = order.index(group.verdict) if group.verdict in order else len(order)
    raises = [
        effect
        for entry in group.entries
        if entry.judgement is not None
        for effect in entry.judgement.effects
        if effect.kind is EffectKind.RAISES
    ]
    always = any(effect.when is None for effect in raises)
    late = any(effect.phase is not Phase.RESOLUTION for effect in raises)
    return (rank, not always, 0 if late else 1)
