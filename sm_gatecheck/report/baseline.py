"""The file of accepted findings: one a line, sorted, so that a change to it reads well in a diff."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sm_gatecheck.model.report import Finding
from sm_gatecheck.report.json import plain

BASELINE_VERSION = "1"


class BaselineError(ValueError):
    """The text is no baseline; the message says what is wrong with it."""


@dataclass(frozen=True)
class Accepted:
    """One entry: the claim as it was written down, and the reason that somebody gave for accepting it."""

    fingerprint: str
    option: str = ""
    value: Any = None
    sm: int | None = None
    rule: str = ""
    launch: str = ""
    reason: str = ""

    @property
    def wording(self) -> str:
        """``GC102 enable_x=True on SM120 in chat.service``"""
        value = "" if self.value is None else f"={self.value}"
        where = f" in {self.launch}" if self.launch else ""
        return f"{self.rule} {self.option}{value} on SM{self.sm}{where}" if self.option and self.rule else self.fingerprint


@dataclass(frozen=True)
class Applied:
    """``new`` findings are not in the baseline, ``accepted`` are; ``stale`` entries of it match nothing any more."""

    new: tuple[Finding, ...]
    accepted: int
    stale: tuple[Accepted, ...]


def render(findings: Iterable[Finding], before: Iterable[Accepted] = ()) -> str:
    """A baseline that accepts these findings, with the reasons that an earlier one gave for the same."""
    reasons = {entry.fingerprint: entry.reason for entry in before}
    entries = {
        finding.fingerprint: {
            "option": finding.option,
            "value": plain(finding.value),
            "sm": finding.sm,
            "rule": finding.rule,
            **({} if finding.launch is None else {"launch": finding.launch.file}),
            "fingerprint": finding.fingerprint,
            "reason": reasons.get(finding.fingerprint, ""),
        }
        for finding in findings
    }
    ordered = sorted(entries.values(), key=_order)
    lines = ",\n".join("    " + json.dumps(entry, ensure_ascii=True) for entry in ordered)
    body = f"[\n{lines}\n  ]" if lines else "[]"
    return f'{{\n  "baseline_version": "{BASELINE_VERSION}",\n  "findings": {body}\n}}\n'


def _order(entry: dict[str, Any]) -> tuple[Any, ...]:
    return entry["option"], repr(entry["value"]), entry["sm"], entry["rule"], entry.get("launch", ""), entry["fingerprint"]


def read(text: str) -> tuple[Accepted, ...]:
    """What a baseline accepts. BaselineError, one line, for anything else."""
    try:
        document: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BaselineError(f"it is no JSON: {error}") from None
    if not isinstance(document, dict) or not isinstance(document.get("findings"), list):
        raise BaselineError("it has no list of findings; --write-baseline writes one")
    if document.get("baseline_version") != BASELINE_VERSION:
        raise BaselineError(f"its version is {document.get('baseline_version')!r}, this gatecheck reads {BASELINE_VERSION!r}")
    return tuple(_entry(entry, number) for number, entry in enumerate(document["findings"], start=1))


def applied(findings: Iterable[Finding], accepted: Iterable[Accepted], sms: Iterable[int]) -> Applied:
    """Findings measured against a baseline. What it says of SMs that nobody asked about is not stale."""
    every, entries, asked = tuple(findings), tuple(accepted), set(sms)
    known = {entry.fingerprint for entry in entries}
    found = {finding.fingerprint for finding in every}
    new = tuple(finding for finding in every if finding.fingerprint not in known)
    stale = tuple(entry for entry in entries if entry.fingerprint not in found and (entry.sm is None or entry.sm in asked))
    return Applied(new, len(every) - len(new), stale)


def _entry(written: Any, number: int) -> Accepted:
    fingerprint = written.get("fingerprint") if isinstance(written, dict) else None
    if not isinstance(fingerprint, str):
        raise BaselineError(f"entry {number} of its findings has no fingerprint")
    texts = {key: str(written.get(key, "")) for key in ("option", "rule", "launch", "reason")}
    sm = written.get("sm")
    return Accepted(fingerprint, value=written.get("value"), sm=sm if isinstance(sm, int) else None, **texts)
