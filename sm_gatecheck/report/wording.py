"""How reports for people name options, values, GPUs and verdicts; the same words in every format."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sm_gatecheck.model.option import Option
from sm_gatecheck.model.report import Source
from sm_gatecheck.model.target import Devices
from sm_gatecheck.model.verdict import Effect, EffectKind, Evidence, Phase, Role, Verdict
from sm_gatecheck.report.clean import visible


@dataclass(frozen=True)
class VerdictWords:
    """``heading`` names a group, ``symbol`` fills a cell, ``legend`` explains it; ``one`` and ``many`` count it in a sentence."""

    heading: str
    symbol: str
    legend: str
    one: str
    many: str


WORDS: dict[Verdict, VerdictWords] = {
    Verdict.REJECTED: VerdictWords("Refused", "⛔", "refused: SGLang stops with an error", "is refused", "are refused"),
    Verdict.NOOP_WITH_SIDE_EFFECTS: VerdictWords(
        "Does nothing, and still costs",
        "💥",
        "does nothing it is for, and still has side effects",
        "does nothing and still has side effects",
        "do nothing and still have side effects",
    ),
    Verdict.OVERRIDDEN: VerdictWords(
        "Replaced", "🔁", "replaced by another value before it acts", "is replaced by another value", "are replaced by other values"
    ),
    Verdict.NOOP: VerdictWords("Does nothing", "💤", "does nothing", "does nothing", "do nothing"),
    Verdict.PARTIAL: VerdictWords(
        "Works only in part", "🌗", "works, but a part of it is missing", "works only in part", "work only in part"
    ),
    Verdict.ACTIVE: VerdictWords("Works", "✅", "works", "works", "work"),
    Verdict.UNKNOWN: VerdictWords("Not decided", "❔", "not decided by reading the source", "is not decided", "are not decided"),
    Verdict.UNGATED: VerdictWords("Does not ask for the GPU", "–", "does not depend on the GPU", "is ungated", "are ungated"),
}
"""The words for each verdict, in the order in which reports list them."""

REFUSED_UNDER_A_CONDITION = VerdictWords(
    "Refused under a condition",
    "⛔",
    "refused by some models or with some other options: SGLang stops with an error",
    "is refused under a condition",
    "are refused under a condition",
)
"""For values that are refused, but not by every launch."""

CUT = " …"
"""Ends what is shown in part."""

_COSTS = re.compile(r", but still .*", re.DOTALL)

EFFECT_VERBS: dict[EffectKind, str] = {
    EffectKind.BEHAVIOUR: "does",
    EffectKind.SETS_OPTION: "sets",
    EffectKind.SETS_ENV: "sets the environment variable",
    EffectKind.ALLOCATES: "allocates",
    EffectKind.RAISES: "raises",
    EffectKind.WARNS: "warns",
}

EVIDENCE_ROLES: dict[Role, str] = {
    Role.GATE: "condition",
    Role.SITE: "reads the option",
    Role.EFFECT: "has an effect",
    Role.CALL: "is called",
}

PHASES: dict[Phase, str] = {
    Phase.RESOLUTION: "while the arguments are resolved",
    Phase.STARTUP: "at start-up",
    Phase.RUNTIME: "at a request",
}


def option_name(option: Option) -> str:
    """The spelling a user knows: the flag named like the field, else its first flag, else the field or variable."""
    own = "--" + option.field.replace("_", "-")
    if own in option.flags:
        return visible(own)
    long_flags = [flag for flag in option.flags if flag.startswith("--")]
    if long_flags:
        return visible(long_flags[0])
    return visible(option.field.removeprefix("env:"))


def setting(option: Option, values: Sequence[Any]) -> str:
    """An option set to one value, or to any of several: ``--flag``, ``--flag a``, ``NAME=a``, ``--flag a | b``."""
    name = option_name(option)
    if list(values) == ["*"]:
        return f"{name} …"
    if list(values) == [True] and option.flags:
        return name
    separator = " " if name.startswith("-") else "="
    return f"{name}{separator}{' | '.join(value_text(value) for value in values)}"


def value_text(value: Any) -> str:
    """A value as one writes it on a command line; ``any value`` for ``*``."""
    if value == "*":
        return "any value"
    if isinstance(value, str):
        return visible(value) or '""'
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(value_text(item) for item in value) + "]"
    if value is None or isinstance(value, (bool, int, float)):
        return str(value)
    return visible(json.dumps(value, default=repr, sort_keys=True))


def effect_subject(effect: Effect) -> str:
    """What an effect acts on: ``page_size = 64`` for a write, else what was called, raised or logged."""
    if effect.kind in (EffectKind.SETS_OPTION, EffectKind.SETS_ENV) and effect.option is not None:
        return f"{visible(effect.option.removeprefix('env:'))} = {value_text(effect.value)}"
    return visible(effect.what)


def effect_sentence(effect: Effect) -> str:
    """``sets page_size = 64 while the arguments are resolved, when use_mla``"""
    when = f", when {visible(effect.when)}" if effect.when else ""
    return f"{EFFECT_VERBS[effect.kind]} {effect_subject(effect)} {PHASES[effect.phase]}{when}"


def brief(condition: str, room: int, platform: str = "") -> str:
    """A condition in at most ``room`` characters: whole, or its shortest alternative, or the first tests of that.

    Of alternatives alike, one a device, that which names ``platform`` is taken.
    """
    text = visible(condition)
    if len(text) <= room:
        return text
    alternatives = [_bare(part) for part in _parts(text, " or ") if part != "other conditions"]
    ours = f"'{platform}'"
    shortest = min(alternatives, key=lambda part: len(part) - (len(ours) if ours in part else 0))
    if len(shortest) + len(f" or{CUT}") <= room:
        return f"{shortest} or{CUT}"
    tests = ""
    for test in _parts(shortest, " and "):
        longer = f"{tests} and {test}" if tests else test
        if len(longer) + len(f" and{CUT}") > room:
            break
        tests = longer
    return f"{tests} and{CUT}" if tests else brief_text(shortest, room)


def brief_text(text: str, room: int) -> str:
    """``text`` in at most ``room`` characters, cut at a word."""
    text = visible(text)
    if len(text) <= room:
        return text
    cut = text[: max(room - len(CUT), 1)]
    at_word = cut if text[len(cut)] == " " else cut.rpartition(" ")[0]
    return (at_word or cut) + CUT


def _parts(condition: str, operator: str) -> list[str]:
    """What stands between the outermost occurrences of an operator."""
    parts, depth, quote, start = [], 0, "", 0
    for index, character in enumerate(condition):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif depth == 0 and condition.startswith(operator, index):
            parts.append(condition[start:index])
            start = index + len(operator)
    return [*parts, condition[start:]]


def _bare(part: str) -> str:
    """A part without the parentheses that hold all of it: ``(a) and (b)`` keeps its own."""
    if not (part.startswith("(") and part.endswith(")")):
        return part
    depth = 0
    for index, character in enumerate(part):
        depth += (character == "(") - (character == ")")
        if depth == 0 and index < len(part) - 1:
            return part
    return part[1:-1]


def without_costs(message: str) -> str:
    """What a no-op with side effects is claimed to be, without the list of what it still does: that has rows of its own."""
    return _COSTS.sub(".", message)


def evidence_sentence(evidence: Evidence) -> str:
    """``condition: is_sm100(), true on SM100 and SM103``"""
    where = f", true on {sm_list(evidence.true_on)}" if evidence.true_on else ", true on no SM" if evidence.role is Role.GATE else ""
    return f"{EVIDENCE_ROLES[evidence.role]}: {visible(evidence.source)}{where}"


def sm_list(sms: Iterable[int], conjunction: str = "and") -> str:
    """``SM90``, ``SM90 and SM100``, ``SM90, SM100 and SM103``."""
    return listed([f"SM{sm}" for sm in sms], conjunction)


def sm_set(sms: Sequence[int], known: Sequence[int]) -> str:
    """The same, shorter where it is most of the SMs that are known: ``every SM but SM90``."""
    others = [sm for sm in known if sm not in sms]
    if not sms or len(others) * 2 >= len(known):
        return sm_list(sms) or "no SM"
    return f"every SM but {sm_list(others)}" if others else "every SM"


def listed(items: Sequence[str], conjunction: str = "and") -> str:
    """Items as a sentence lists them."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {conjunction} {items[-1]}"


def products(devices: Devices, sm: int, limit: int = 2) -> str:
    """Some products of an SM, ``RTX PRO 6000, RTX 5090 …``; empty for an SM without any."""
    for target in devices:
        if target.sm == sm:
            shown = ", ".join(target.products[:limit])
            return f"{shown} …" if len(target.products) > limit else shown
    return ""


def sm_title(devices: Devices, sm: int) -> str:
    """``SM120 (RTX PRO 6000, RTX 5090 …)``."""
    names = products(devices, sm)
    return f"SM{sm} ({names})" if names else f"SM{sm}"


def source_title(source: Source) -> str:
    """``SGLang 0.5.12 (wheel sglang-0.5.12.whl, commit 1a2b3c4d5e6f, modified)``."""
    name = f"SGLang {visible(source.sglang_version)}" if source.sglang_version else "SGLang, version not stated"
    facts = [f"{source.kind} {visible(source.target)}"]
    if source.git is not None:
        facts.append(f"commit {visible(source.git.commit)[:12]}")
        if source.git.dirty:
            facts.append("modified")
    return f"{name} ({', '.join(facts)})"


def counted(number: int, one: str, many: str | None = None) -> str:
    """``1 option``, ``2 options``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
