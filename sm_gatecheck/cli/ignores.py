"""``[[ignore]]`` of the configuration, and comments in launch files, applied to the findings of a run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, timezone
from pathlib import Path
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from sm_gatecheck.checks.cards import load_cards
from sm_gatecheck.checks.code_rules import is_about_code
from sm_gatecheck.checks.ignores import Ignore, Ignored, apply_ignores
from sm_gatecheck.cli.configuration import IGNORE, Configuration
from sm_gatecheck.cli.outcome import counted, say
from sm_gatecheck.cli.refusal import did_you_mean
from sm_gatecheck.cli.session import Rules
from sm_gatecheck.model.errors import UsageError
from sm_gatecheck.model.report import Report
from sm_gatecheck.model.span import Span
from sm_gatecheck.report.places import NO_FILES

KEYS = ("rule", "option", "value", "sm", "reason", "until", "sglang")
_HEADER = re.compile(r"^[ \t]*\[\[[ \t]*(?:tool[ \t]*\.[ \t]*gatecheck[ \t]*\.[ \t]*)?ignore[ \t]*\]\]", re.MULTILINE)


def ignore_findings(
    report: Report, configuration: Configuration | None, rules: Rules, quiet: bool, launch_files: Iterable[Path] = (), complete: bool = True
) -> Ignored:
    """What the ignores leave of a report's findings. UsageError, one line, for an entry that says nothing or what cannot be.

    ``launch_files`` are those whose comments count; ``complete`` says whether the report looks at every option of the tree.
    """
    ignores = [*(configured_ignores(configuration, rules) if configuration is not None else ()), *_comments(launch_files, report)]
    # An ignore speaks of the code where all its rules do, and of options otherwise: in the other run it is not looked at.
    ignores = [ignore for ignore in ignores if is_about_code(ignore.rules) == report.about_code]
    flags = {entry.option.field: (*entry.option.flags, *entry.option.aliases) for entry in report.options}
    ignored = apply_ignores(
        report.findings, ignores, sms=report.sms, release=report.source.sglang_version, today=today(), flags=flags, complete=complete
    )
    if ignored.ignored:
        files = sorted({ignore.place.file for _, ignore in ignored.ignored})
        say(f"{counted(len(ignored.ignored), 'finding is', 'findings are')} ignored, as {' and '.join(files)} says", quiet)
    return ignored


def today() -> date:
    """The day by which ignores end: that of ``SOURCE_DATE_EPOCH`` where a build sets it, else this machine's."""
    written = os.environ.get("SOURCE_DATE_EPOCH", "")
    if re.fullmatch(r"\d{1,11}", written):
        return datetime.fromtimestamp(int(written), timezone.utc).date()
    return date.today()


def configured_ignores(configuration: Configuration, rules: Rules) -> tuple[Ignore, ...]:
    """The ``[[ignore]]`` entries of a configuration file, each with its line."""
    written = configuration.table.get(IGNORE, [])
    if not isinstance(written, list) or not all(isinstance(entry, dict) for entry in written):
        raise UsageError(f"{configuration.path}: ignore: write [[ignore]] above each")
    lines = [configuration.text.count("\n", 0, match.start()) + 1 for match in _HEADER.finditer(configuration.text)]
    if len(lines) != len(written):
        lines = [1] * len(written)
    cards = load_cards(rules.book)
    return tuple(_entry(entry, Span(str(configuration.path), line), rules, cards) for entry, line in zip(written, lines, strict=True))


def _entry(entry: Mapping[str, Any], place: Span, rules: Rules, cards: Iterable[str]) -> Ignore:
    from sm_gatecheck.target.devices import parse_sms

    where = f"{place.file}:{place.line}: ignore"
    for key in entry:
        if key not in KEYS:
            raise UsageError(f"{where}: there is no key {key!r}{did_you_mean(key, KEYS) or ': there are ' + ', '.join(KEYS)}")
    if not {"rule", "option"} & set(entry):
        raise UsageError(f"{where}: name a rule or an option: an ignore of everything would hide what nobody looked at")
    reason = entry.get("reason")
    if not isinstance(reason, str) or not reason.strip():
        raise UsageError(f"{where}: it needs a reason, for whoever reads it next")
    ids = tuple(text.upper() for text in _texts(entry, "rule", where))
    known = list(cards)
    for name in ids:
        if name not in known:
            raise UsageError(f"{where}: there is no rule {name!r}{did_you_mean(name, known) or ': there are ' + ', '.join(known)}")
    sms = _texts(entry, "sm", where)
    try:
        numbers = parse_sms(sms, rules.devices) if sms else ()
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None
    return Ignore(
        place,
        reason.strip(),
        rules=ids,
        options=_texts(entry, "option", where),
        values=_texts(entry, "value", where),
        sms=tuple(numbers),
        releases=_releases(entry.get("sglang"), where),
        until=_until(entry.get("until"), where),
    )


def _texts(entry: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    """One value or a list of them, as texts."""
    written = entry.get(key, [])
    values: Sequence[Any] = written if isinstance(written, list) else [written]
    if not all(isinstance(value, (str, int, float)) for value in values):
        raise UsageError(f"{where}: {key}: a text, or a list of them, is needed here")
    return tuple(str(value).lower() if isinstance(value, bool) else str(value) for value in values)


def _releases(written: Any, where: str) -> SpecifierSet | None:
    if written is None:
        return None
    try:
        return SpecifierSet(written)
    except (InvalidSpecifier, TypeError, AttributeError):
        raise UsageError(f"{where}: sglang: {written!r} is no range of releases, write '>=0.5.9,<0.6'") from None


def _until(written: Any, where: str) -> date | None:
    if isinstance(written, datetime):
        return written.date()
    if written is None or isinstance(written, date):
        return written
    try:
        return date.fromisoformat(written)
    except (TypeError, ValueError):
        raise UsageError(f"{where}: until: {written!r} is no date, write 2026-12-31") from None


def _comments(files: Iterable[Path], report: Report) -> list[Ignore]:
    """The ignores in launch files, and in files that they name, as far as something was found in those."""
    from sm_gatecheck.launch.comments import read_ignores
    from sm_gatecheck.launch.files import read_file
    from sm_gatecheck.launch.model import LaunchError

    sources = [read_file(path) for path in files]
    named = {source.name for source in sources}
    for name in sorted({finding.launch.file for finding in report.findings if finding.launch is not None} - named - NO_FILES):
        with suppress(LaunchError):  # what is not there as it is called (a part of another file, say) has no comments of its own
            sources.append(read_file(Path(name)))
    return [ignore for source in sources for ignore in read_ignores(source.name, source.text)]
