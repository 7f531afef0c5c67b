"""The proof of a judgement as labelled rows: why, what stops, what still happens, where it is fine."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from rich.text import Text

from sm_gatecheck.model.verdict import Effect, EffectKind, Evidence, Judgement, Role, Verdict
from sm_gatecheck.report.clean import visible
from sm_gatecheck.report.wording import brief, brief_text, effect_sentence, sm_list
from sm_gatecheck.verdicts.findings import deciding_gate
from sm_gatecheck.verdicts.mending import deciding_refusals, said

LABEL_WIDTH = 6
CERTAIN_SHOWN = 6
CERTAIN_SHOWN_ELSEWHERE = 1
REFUSALS_SHOWN = 2
POSSIBLE_SHOWN = 2
COSTS_SHOWN = 5
"""How many effects are shown that are certain, and with how many under a condition they are filled up: more where costs are the point."""
REPLACING = (EffectKind.SETS_OPTION, EffectKind.WARNS)
"""What there is to say of a replaced value: by what, and whether a line in the log tells of it."""
SMS_LISTED = 6
LINES_UNDER_A_TEST = 12

_PADDING = re.compile(r"(?<=[(\[{]) | (?=[)\]}])")
"""What is left of the line breaks within parentheses."""
_ROLE_LABELS = {Role.GATE: "gate", Role.SITE: "site", Role.EFFECT: "effect", Role.CALL: "called"}


def proof_rows(judgement: Judgement) -> list[tuple[str, Text]]:
    """Every piece of evidence and every effect, whole."""
    rows = [(_ROLE_LABELS[evidence.role], _evidence(evidence)) for evidence in judgement.evidence]
    for label, effects in _by_label(judgement):
        rows += [(label if index == 0 else "", _effect(effect)) for index, effect in enumerate(effects)]
    return rows + _ends(judgement)


def short_rows(judgement: Judgement, room: int, platform: str = "") -> list[tuple[str, Text]]:
    """The deciding gates, what is sure to happen and a little of what may: each condition and source in ``room`` characters.

    Of a model's own refusals and rewrites there can be dozens; those that need no condition tell an operator most, then
    those with the shortest. Beside a refusal of every launch nothing under a condition matters.
    """
    refused_always = any(effect.kind is EffectKind.RAISES and effect.when is None for effect in judgement.effects)
    costs = judgement.verdict is Verdict.NOOP_WITH_SIDE_EFFECTS
    rows = [("why", _gate(gate, judgement.sm, room)) for gate in _gates(judgement)]
    hidden: list[Effect] = []
    for label, effects in _by_label(judgement):
        limit = 0 if refused_always or label == "stops" else COSTS_SHOWN if costs else POSSIBLE_SHOWN
        telling = [effect for effect in effects if judgement.verdict is not Verdict.OVERRIDDEN or effect.kind in REPLACING]
        telling.sort(key=lambda effect: label == "stops" and f"({effect.file}:{effect.line})" not in judgement.summary)
        shown = _some(telling, CERTAIN_SHOWN if costs else REFUSALS_SHOWN if label == "stops" else CERTAIN_SHOWN_ELSEWHERE, limit)
        if label == "stops":
            told = [("says", _said(effect, judgement, room)) for effect in shown]
        else:
            told = [("" if index else label, _effect(_shortened(effect, room, platform))) for index, effect in enumerate(shown)]
        rows += _once(told)
        hidden += [effect for effect in effects if effect not in shown]
    if hidden and not refused_always:
        where = "" if any(effect.when is None for effect in hidden) else " under conditions"
        rows.append(("", Text(f"and {len(hidden):,} more{where} (-v)", style="dim")))
    return rows + _ends(judgement)


def refusal_shown(judgement: Judgement) -> Effect | None:
    """Of the refusals under a condition, the one that stands right under a test of the GPU, else the one that decided."""
    raised = [effect for effect in judgement.effects if effect.kind is EffectKind.RAISES]
    tests = [evidence for evidence in judgement.evidence if evidence.role is Role.GATE]
    under = [(effect.line - test.line, index) for index, effect in enumerate(raised) for test in tests if _stands_under(effect, test)]
    if under:
        return raised[min(under)[1]]
    return next(iter(deciding_refusals(judgement)), None)


def place(file: str, line: int) -> Text:
    """``srt/server_args.py:12`` as every text report shows it."""
    return Text(f"{visible(file)}:{line}", style="cyan")


def _gates(judgement: Judgement) -> list[Evidence]:
    """The tests to show: the one right above a refusal, else the one that decides; with another beside it unless it is a refusal."""
    tests = [evidence for evidence in judgement.evidence if evidence.role is Role.GATE]
    if judgement.verdict is Verdict.REJECTED:
        above = [
            (effect.when is not None, effect.line - test.line, len(test.true_on), index)
            for effect in judgement.effects
            for index, test in enumerate(tests)
            if effect.kind is EffectKind.RAISES and _stands_under(effect, test)
        ]
        if above:
            return [tests[min(above)[-1]]]
    deciding = deciding_gate(judgement)
    if deciding is None or judgement.verdict is Verdict.REJECTED:
        return [] if deciding is None else [deciding]
    others = [test for test in tests if (test.file, test.line, test.source) != (deciding.file, deciding.line, deciding.source)]
    return [deciding, *others[:1]]


def _stands_under(effect: Effect, test: Evidence) -> bool:
    return effect.file == test.file and 0 <= effect.line - test.line <= LINES_UNDER_A_TEST


def _evidence(evidence: Evidence) -> Text:
    text = place(evidence.file, evidence.line).append(f"  {visible(evidence.source)}", style="default")
    if evidence.true_on:
        return text.append(f"  true on {sm_list(evidence.true_on)}", style="dim")
    return text.append("  true on no SM", style="dim") if evidence.role is Role.GATE else text


def _gate(gate: Evidence, sm: int, room: int) -> Text:
    """A test in a line; of many SMs on which it holds only their number, and whether this is one of them."""
    source = brief(_PADDING.sub("", visible(gate.source)), room)
    if len(gate.true_on) <= SMS_LISTED:
        return _evidence(replace(gate, source=source))
    text = place(gate.file, gate.line).append(f"  {source}", style="default")
    return text.append(f"  true on {len(gate.true_on)} SMs, SM{sm} {'is one' if sm in gate.true_on else 'is not'}", style="dim")


def _by_label(judgement: Judgement) -> list[tuple[str, list[Effect]]]:
    raises = [effect for effect in judgement.effects if effect.kind is EffectKind.RAISES]
    behaviour = [effect for effect in judgement.effects if effect.kind is EffectKind.BEHAVIOUR]
    others = [effect for effect in judgement.effects if effect not in raises and effect not in behaviour]
    return [("stops", raises), ("still", others), ("works", behaviour if judgement.verdict is Verdict.PARTIAL else [])]


def _ends(judgement: Judgement) -> list[tuple[str, Text]]:
    rows = [("fine", Text(f"on {sm_list(judgement.active_on)}"))] if judgement.active_on else []
    return rows + [("open", Text(visible(reason), style="magenta")) for reason in judgement.unknown]


def _some(effects: Sequence[Effect], sure: int, limit: int) -> list[Effect]:
    """What happens always, ``sure`` of it, then what may, up to ``limit``.

    The shortest conditions come first, and one effect of each kind before another of any.
    """
    certain = [effect for effect in effects if effect.when is None]
    possible = sorted((effect for effect in effects if effect.when is not None), key=lambda effect: len(effect.when or ""))
    seen: Counter[EffectKind] = Counter()
    ranked = []
    for effect in possible:
        ranked.append((effect.kind is EffectKind.WARNS, seen[effect.kind], effect))
        seen[effect.kind] += 1
    ranked.sort(key=lambda pair: pair[:2])
    return [*certain[:sure], *(effect for *_, effect in ranked[: max(limit - len(certain), 0)])]


def _said(effect: Effect, judgement: Judgement, room: int) -> Text:
    """The words of a refusal; where it stands only if the summary has not said so."""
    words = Text(brief_text(said(effect.what), 2 * room))
    where = f"{effect.file}:{effect.line}"
    return words if where in judgement.summary else words.append("  ").append_text(place(effect.file, effect.line))


def _once(rows: Iterable[tuple[str, Text]]) -> list[tuple[str, Text]]:
    """Rows of which none says what one before it says: effects can differ in what is cut."""
    first: dict[str, tuple[str, Text]] = {}
    for row in rows:
        first.setdefault(row[1].plain, row)
    return list(first.values())


def _shortened(effect: Effect, room: int, platform: str) -> Effect:
    when = None if effect.when is None else brief(effect.when, room, platform)
    what = effect.what if len(effect.what) <= room else brief_text(said(effect.what), 2 * room)
    return replace(effect, what=what, when=when)


def _effect(effect: Effect) -> Text:
    return Text(f"{effect_sentence(effect)}  ").append_text(place(effect.file, effect.line))
