"""What a user has looked at and accepts, with the reason: entries of a configuration file and comments in a launch file.

An ignore is a promise that somebody looked; it must not outlive its reason. So one that matches nothing is a finding (GC901), and so
is one whose date has passed (GC902): then what it hid is shown again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from typing import Any

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from sm_gatecheck.model.report import Finding
from sm_gatecheck.model.span import Span
from sm_gatecheck.model.verdict import Severity

UNUSED = "GC901"
EXPIRED = "GC902"


@dataclass(frozen=True)
class Ignore:
    """One of them. What is empty or None does not restrict.

    ``rules`` are ids; ``options`` fields, flags or patterns of either; ``values`` texts as one writes them; ``sms`` numbers.
    ``lines`` are the first and last line of the launch file ``place.file`` that it speaks of, None where it speaks of every launch.
    ``releases`` are those for which it holds; ``until`` is its last day.
    """

    place: Span
    reason: str
    rules: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    sms: tuple[int, ...] = ()
    releases: SpecifierSet | None = None
    until: date | None = None
    lines: tuple[int, int] | None = None

    def matches(self, finding: Finding, flags: Sequence[str] = ()) -> bool:
        """Whether it speaks of a finding; ``flags`` are the flags of the finding's option."""
        return (
            (not self.rules or finding.rule in self.rules)
            and (not self.sms or finding.sm in self.sms)
            and (not self.values or _written(finding.value) in self.values)
            and (not self.options or any(_is_option(pattern, finding.option, flags) for pattern in self.options))
            and (self.lines is None or self._holds(finding.launch))
        )

    def bears_on(self, sms: Iterable[int], release: str | None) -> bool:
        """Whether it can match anything in a report on these SMs and this release; a release that is not known fits no specifier."""
        if self.sms and not set(self.sms) & set(sms):
            return False
        return self.releases is None or _fits(self.releases, release)

    @property
    def wording(self) -> str:
        """``GC102 enable_x on SM120``, what it is about."""
        settings = [f"{option}={value}" for option in self.options or ("",) for value in self.values] or list(self.options)
        named = " ".join(part for part in (", ".join(self.rules), ", ".join(settings)) if part) or "everything"
        return f"{named} on {', '.join(f'SM{sm}' for sm in self.sms)}" if self.sms else named

    def _holds(self, launch: Span | None) -> bool:
        assert self.lines is not None
        return launch is not None and launch.file == self.place.file and self.lines[0] <= launch.line <= self.lines[1]


@dataclass(frozen=True)
class Ignored:
    """``kept`` findings are not ignored; ``ignored`` are, each with why; ``about`` are findings on the ignores themselves."""

    kept: tuple[Finding, ...]
    ignored: tuple[tuple[Finding, Ignore], ...]
    about: tuple[Finding, ...]


def apply_ignores(
    findings: Iterable[Finding],
    ignores: Sequence[Ignore],
    *,
    sms: Sequence[int],
    release: str | None,
    today: date,
    flags: dict[str, tuple[str, ...]],
    complete: bool = True,
) -> Ignored:
    """Findings measured against ignores. ``flags`` are the flags of each field.

    ``complete`` is False where the report looks at less than the ignores may speak of (one launch of several): then an entry that
    matches nothing is not called unused, a comment in the launch file is.
    """
    current = [ignore for ignore in ignores if ignore.bears_on(sms, release)]
    used: set[int] = set()
    kept: list[Finding] = []
    ignored: list[tuple[Finding, Ignore]] = []
    for finding in findings:
        matching = [ignore for ignore in current if ignore.matches(finding, flags.get(finding.option, ()))]
        used.update(id(ignore) for ignore in matching)
        valid = next((ignore for ignore in matching if not _is_over(ignore, today)), None)
        if valid is None:
            kept.append(finding)
        else:
            ignored.append((finding, valid))
    about: list[Finding] = []
    for ignore in current:
        sm = next((sm for sm in sms if not ignore.sms or sm in ignore.sms), sms[0])
        if _is_over(ignore, today):
            about.append(_about(EXPIRED, ignore, sm, f"the ignore of {ignore.wording} ended on {ignore.until}{_because(ignore)}"))
        elif id(ignore) not in used and (complete or ignore.lines is not None):
            about.append(_about(UNUSED, ignore, sm, f"the ignore of {ignore.wording} matches nothing{_because(ignore)}"))
    return Ignored(tuple(kept), tuple(ignored), tuple(about))


def _is_over(ignore: Ignore, today: date) -> bool:
    return ignore.until is not None and ignore.until < today


def _because(ignore: Ignore) -> str:
    return f" (it was for: {ignore.reason})" if ignore.reason else ""


def _about(rule: str, ignore: Ignore, sm: int, message: str) -> Finding:
    identity = "|".join((rule, ignore.place.file, *ignore.rules, "", *ignore.options, "", *ignore.values, "", *map(str, ignore.sms)))
    fingerprint = hashlib.sha256(identity.encode("utf-8", "backslashreplace")).hexdigest()[:32]
    place = ignore.place
    return Finding(rule, Severity.WARNING, "", None, sm, message, place.file, place.line, fingerprint, place)


def _is_option(pattern: str, field: str, flags: Sequence[str]) -> bool:
    wanted = _field_form(pattern)
    return any(fnmatchcase(_field_form(name), wanted) for name in (field, *flags))


def _field_form(name: str) -> str:
    return name.removeprefix("env:").lstrip("-").replace("-", "_")


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _fits(releases: SpecifierSet, release: str | None) -> bool:
    if release is None:
        return False
    try:
        return releases.contains(Version(release), prereleases=True)
    except InvalidVersion:
        return False
