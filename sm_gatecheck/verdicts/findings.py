"""From judgements to findings: what a person should look at, under the id of the check that explains it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from sm_gatecheck.model.option import Option
from sm_gatecheck.model.report import Finding
from sm_gatecheck.model.verdict import SEVERITY_OF, EffectKind, Evidence, Judgement, OptionReport, Role, Verdict

RULE_OF: dict[Verdict, str] = {
    Verdict.REJECTED: "GC101",
    Verdict.NOOP_WITH_SIDE_EFFECTS: "GC102",
    Verdict.OVERRIDDEN: "GC103",
    Verdict.NOOP: "GC104",
    Verdict.PARTIAL: "GC105",
}
"""The check behind each verdict that is a finding, the worst first; each has its card in ``rules/checks``."""

VERDICT_OF: dict[str, Verdict] = {rule: verdict for verdict, rule in RULE_OF.items()}


def findings_of(options: Iterable[OptionReport]) -> tuple[Finding, ...]:
    """One finding for every judgement whose verdict has a rule: the worst verdict first, then as the options stand."""
    found = [
        (order, finding_of(report.option, judgement))
        for report in options
        for judgement in report.judgements
        if (order := _ORDER.get(judgement.verdict)) is not None
    ]
    found.sort(key=lambda pair: pair[0])
    return tuple(finding for _, finding in found)


def finding_of(option: Option, judgement: Judgement) -> Finding:
    """The finding of one judgement. KeyError when its verdict is none (active, ungated, unknown)."""
    rule = RULE_OF[judgement.verdict]
    file, line = place_of(option, judgement)
    return Finding(
        rule=rule,
        severity=SEVERITY_OF[judgement.verdict],
        option=option.field,
        value=judgement.value,
        sm=judgement.sm,
        message=judgement.summary,
        file=file,
        line=line,
        fingerprint=fingerprint(rule, option.field, judgement.value, judgement.sm),
    )


def fingerprint(rule: str, option: str, value: Any, sm: int) -> str:
    """32 hexadecimal digits that say which claim this is. No line and no release, so that it outlives both."""
    identity = "|".join((rule, option, json.dumps(value, sort_keys=True, default=repr), str(sm)))
    return hashlib.sha256(identity.encode("utf-8", "backslashreplace")).hexdigest()[:32]


def place_of(option: Option, judgement: Judgement) -> tuple[str, int]:
    """The line to open first: the gate that decides on this SM, else what it does to the option, else the declaration."""
    gate = deciding_gate(judgement)
    if gate is not None:
        return gate.file, gate.line
    for effect in judgement.effects:
        if effect.kind is not EffectKind.BEHAVIOUR:
            return effect.file, effect.line
    return option.file, option.line


def deciding_gate(judgement: Judgement) -> Evidence | None:
    """Of the gates in the proof, the one that turns out differently here than elsewhere; the first where none does."""
    gates = [evidence for evidence in judgement.evidence if evidence.role is Role.GATE]
    for gate in gates:
        if gate.true_on and judgement.sm not in gate.true_on:
            return gate
    return gates[0] if gates else None


_ORDER = {verdict: order for order, verdict in enumerate(RULE_OF)}
