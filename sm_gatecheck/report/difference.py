"""``gatecheck diff``: what changed between two trees, for a person, for a pull request and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from sm_gatecheck.model.difference import Change, DefaultChange, Difference, Reason
from sm_gatecheck.model.option import Option
from sm_gatecheck.model.target import Devices
from sm_gatecheck.model.verdict import DefaultAlternative, Verdict
from sm_gatecheck.report import json as documents
from sm_gatecheck.report.clean import markdown_code, markdown_text, shortened, visible
from sm_gatecheck.report.markdown_table import table
from sm_gatecheck.report.sheet import Sheet
from sm_gatecheck.report.text import STYLES
from sm_gatecheck.report.wording import WORDS, counted, listed, option_name, setting, sm_list, sm_title, source_title, value_text
from sm_gatecheck.verdicts.diff import why

LABEL = 6
WHEN_LENGTH = 160
NAMES_SHOWN = 12
_IN_FULL = {"Got worse"}
_ORDER: tuple[Verdict | None, ...] = (
    Verdict.REJECTED,
    Verdict.NOOP_WITH_SIDE_EFFECTS,
    Verdict.OVERRIDDEN,
    Verdict.NOOP,
    Verdict.PARTIAL,
    Verdict.UNKNOWN,
    Verdict.ACTIVE,
    Verdict.UNGATED,
    None,
)
"""The worst first: what comes to stand further to the front got worse."""


@dataclass(frozen=True)
class _Group:
    """Changes of one option that say the same of several values and SMs."""

    field: str
    old: Verdict | None
    new: Verdict | None
    before: Reason | None
    after: Reason | None
    values: tuple[Any, ...]
    sms: tuple[int, ...]


def text(difference: Difference, devices: Devices, width: int, color: bool, verbosity: int) -> str:
    """A page: in numbers, then what got worse, what got better, new and gone settings, defaults, options."""
    sheet = Sheet(width, color)
    if verbosity < 0:
        sheet.verbatim(_quiet_lines(difference))
        return sheet.text()
    options = _by_field(difference)
    sheet.paragraph(Text(source_title(difference.old), style="bold"))
    sheet.paragraph(Text("→ ").append(source_title(difference.new), style="bold"))
    sheet.paragraph(Text(f"On {listed([sm_title(devices, sm) for sm in difference.sms])}: {_numbers(difference)}."))
    facts = [f"NVIDIA CUDA {visible(difference.assumptions.cuda_version)}", "optional packages installed"]
    facts += [f"{visible(name)}={value_text(value)}" for name, value in sorted(difference.assumptions.settings.items())]
    sheet.paragraph(Text(f"Assumed: {', '.join(facts)}.", style="dim"))
    for heading, groups in _sections(difference):
        sheet.blank()
        in_full = heading in _IN_FULL or verbosity > 0
        title = Text(heading, style="bold").append(f"  {counted(len(groups), 'setting')}", style="dim")
        sheet.line(title if in_full else title.append(", in full with -v", style="dim"))
        for group in groups:
            if in_full:
                _group(sheet, options, group, difference.sms)
            else:
                _line(sheet, options, group, difference.sms)
    _defaults(sheet, options, difference)
    _names(sheet, "New options", [option_name(option) for option in difference.added], verbosity)
    _names(sheet, "Options that are gone", [option_name(option) for option in difference.removed], verbosity)
    _names(sheet, "Renamed", [f"{visible(old.field)} → {visible(new.field)}" for old, new in difference.renamed], 1)
    return sheet.text()


def write_changes(sheet: Sheet, options: dict[str, Option], changes: Iterable[Change], sms: Sequence[int]) -> None:
    """Changes without headings, those that say the same together."""
    for group in _grouped(changes):
        _group(sheet, options, group, sms)


def _numbers(difference: Difference) -> str:
    worse = sum(1 for change in difference.changes if _is_worse(change))
    facts = [f"{counted(len(difference.changes), 'verdict')} changed, {worse:,} for the worse"]
    facts.append(f"{counted(len(difference.defaults), 'default')} changed")
    facts.append(f"{counted(len(difference.added), 'option')} new, {len(difference.removed):,} gone, {len(difference.renamed):,} renamed")
    return "; ".join(facts)


def _is_worse(change: Change | _Group) -> bool:
    return change.old is not None and change.new is not None and _ORDER.index(change.new) < _ORDER.index(change.old)


def _sections(difference: Difference) -> list[tuple[str, list[_Group]]]:
    groups = _grouped(difference.changes)
    both = [group for group in groups if group.old is not None and group.new is not None]
    sections = [
        ("Got worse", [group for group in both if _is_worse(group)]),
        ("Got better", [group for group in both if not _is_worse(group)]),
        ("New", [group for group in groups if group.old is None]),
        ("Gone", [group for group in groups if group.new is None]),
    ]
    return [(heading, members) for heading, members in sections if members]


def _grouped(changes: Iterable[Change]) -> list[_Group]:
    """Changes by what they say; the worst first, then by name."""
    alike: dict[Any, list[Change]] = {}
    for change in changes:
        key = (change.field, change.old, change.new, _said(change.before), _said(change.after))
        alike.setdefault(key, []).append(change)
    groups = [
        _Group(
            same[0].field,
            same[0].old,
            same[0].new,
            same[0].before,
            same[0].after,
            tuple({repr(change.value): change.value for change in same}.values()),
            tuple(sorted({change.sm for change in same})),
        )
        for same in alike.values()
    ]
    return sorted(groups, key=lambda group: (_ORDER.index(group.new), group.field))


def _said(reason: Reason | None) -> Any:
    return None if reason is None else (reason.words, reason.file, reason.line, reason.handed_on)


def _by_field(difference: Difference) -> dict[str, Option]:
    return {option.field: option for option in difference.options}


def _setting(options: dict[str, Option], field: str, values: Sequence[Any]) -> str:
    option = options.get(field)
    return visible(field) if option is None else setting(option, values)


def _verdict_words(verdict: Verdict | None) -> str:
    return "not there" if verdict is None else WORDS[verdict].heading.lower()


def _group(sheet: Sheet, options: dict[str, Option], group: _Group, sms: Sequence[int]) -> None:
    sheet.blank()
    title = Text(_setting(options, group.field, group.values), style="bold")
    if len(sms) > 1:
        title.append(f"  on {sm_list(group.sms)}", style="dim")
    sheet.paragraph(title, indent=2)
    rows = [("", _turned(group))]
    rows += [("before", line) for line in _reason(group.before)] + [("now", line) for line in _reason(group.after)]
    sheet.rows(_once(rows), indent=4, label_width=LABEL)


def _line(sheet: Sheet, options: dict[str, Option], group: _Group, sms: Sequence[int]) -> None:
    """A group in one line: what turned into what, and the line that decides now."""
    line = Text(_setting(options, group.field, group.values))
    if len(sms) > 1:
        line.append(f" on {sm_list(group.sms)}", style="dim")
    line.append(": ").append_text(_turned(group))
    reason = group.after or group.before
    if reason is not None:
        line.append(f"  {visible(reason.file)}:{reason.line}", style="cyan")
    sheet.paragraph(line, indent=2)


def _turned(group: _Group) -> Text:
    turned = Text(_verdict_words(group.old), style=STYLES.get(group.old, "") if group.old else "")
    turned.append(" → ", style="not bold")
    return turned.append(_verdict_words(group.new), style=STYLES.get(group.new, "green") if group.new else "")


def _once(rows: list[tuple[str, Text]]) -> list[tuple[str, Text]]:
    """The label of a run of rows at its first only."""
    return [(label if index == 0 or rows[index - 1][0] != label else "", line) for index, (label, line) in enumerate(rows)]


def _reason(reason: Reason | None) -> Iterable[Text]:
    if reason is None:
        return
    if reason.handed_on:
        yield Text("handed on to ").append(visible(reason.handed_on), style="bold")
    if ": " in reason.words:
        yield Text(shortened(visible(reason.words), WHEN_LENGTH))
    if reason.source is not None:
        line = Text(f"{visible(reason.file)}:{reason.line}", style="cyan").append(f"  {visible(reason.source)}", style="default")
        yield line.append(f"  true on {sm_list(reason.true_on or ()) or 'no SM'}", style="dim")
    elif ": " not in reason.words:
        yield Text(f"{visible(reason.file)}:{reason.line}", style="cyan").append(f"  {visible(reason.words)}", style="default")


def _defaults(sheet: Sheet, options: dict[str, Option], difference: Difference) -> None:
    if not difference.defaults:
        return
    sheet.blank()
    sheet.line(Text("Defaults", style="bold").append(f"  {counted(len(_alike_defaults(difference)), 'change')}", style="dim"))
    for field, sms, change in _alike_defaults(difference):
        on = f"  on {sm_list(sms)}" if len(difference.sms) > 1 else ""
        option = options.get(field)
        sheet.paragraph(Text(visible(field) if option is None else option_name(option), style="bold").append(on, style="dim"), indent=2)
        rows = [("before", line) for line in map(_alternative, change.old)] + [("now", line) for line in map(_alternative, change.new)]
        sheet.rows(_once(rows), indent=4, label_width=LABEL)


def _alike_defaults(difference: Difference) -> list[tuple[str, tuple[int, ...], DefaultChange]]:
    """SMs on which a default changed in the same way, together."""
    alike: dict[str, list[DefaultChange]] = {}
    for change in difference.defaults:
        alike.setdefault(repr((change.field, change.old, change.new)), []).append(change)
    return [(same[0].field, tuple(change.sm for change in same), same[0]) for same in alike.values()]


def _alternative(alternative: DefaultAlternative) -> Text:
    when = f" when {shortened(visible(alternative.when), WHEN_LENGTH)}" if alternative.when else ""
    return Text(f"{value_text(alternative.value)}{when}  ").append(f"{visible(alternative.file)}:{alternative.line}", style="cyan")


def _names(sheet: Sheet, heading: str, names: Sequence[str], verbosity: int) -> None:
    if not names:
        return
    shown = list(names) if verbosity > 0 else list(names[:NAMES_SHOWN])
    more = [f"{len(names) - len(shown)} more (-v)"] if len(shown) < len(names) else []
    sheet.blank()
    sheet.line(Text(heading, style="bold").append(f"  {len(names):,}", style="dim"))
    sheet.paragraph(Text(listed([*shown, *more])), indent=2)


def _quiet_lines(difference: Difference) -> Iterable[str]:
    options = _by_field(difference)
    for group in _grouped(difference.changes):
        name = _setting(options, group.field, group.values)
        at = group.after or group.before
        where = f"{visible(at.file)}:{at.line}: " if at is not None else ""
        yield f"{where}{name} on {sm_list(group.sms)}: {_verdict_words(group.old)} → {_verdict_words(group.new)}"


# -- Markdown -------------------------------------------------------------------------------------------------------------


def markdown(difference: Difference, command: str) -> str:
    """The difference for a pull request: the same bytes every time."""
    options = _by_field(difference)
    lines = [
        f"# {_version(difference.old)} → {_version(difference.new)} on {sm_list(difference.sms)}",
        "",
        f"{_numbers(difference)}. Made by {markdown_code(command)}.",
        "",
    ]
    for heading, groups in _sections(difference):
        rows = [
            (
                markdown_code(_setting(options, group.field, group.values)),
                sm_list(group.sms),
                f"{_cell(group.old)} → {_cell(group.new)}",
                _markdown_reason(group.before),
                _markdown_reason(group.after),
            )
            for group in groups
        ]
        lines += [f"## {heading}", "", *table(("setting", "on", "", "before", "now"), rows, 5)]
    if difference.defaults:
        rows_of_defaults = [
            (
                markdown_code(option_name(options[field])),
                sm_list(sms),
                " or ".join(map(_markdown_alternative, change.old)),
                " or ".join(map(_markdown_alternative, change.new)),
            )
            for field, sms, change in _alike_defaults(difference)
        ]
        lines += ["## Defaults", "", *table(("option", "on", "before", "now"), rows_of_defaults, 4)]
    for heading, names in (
        ("New options", [markdown_code(option_name(option)) for option in difference.added]),
        ("Options that are gone", [markdown_code(option_name(option)) for option in difference.removed]),
        ("Renamed", [f"{markdown_code(old.field)} → {markdown_code(new.field)}" for old, new in difference.renamed]),
    ):
        if names:
            lines += [f"## {heading}", "", f"{', '.join(names)}.", ""]
    return "\n".join(lines)


def _version(source: Any) -> str:
    name = f"SGLang {markdown_text(source.sglang_version)}" if source.sglang_version else markdown_code(source.target)
    return f"{name} ({markdown_code(source.git.commit[:12])})" if source.git is not None else name


def _cell(verdict: Verdict | None) -> str:
    return "not there" if verdict is None else f"{WORDS[verdict].symbol} {WORDS[verdict].heading.lower()}"


def _markdown_reason(reason: Reason | None) -> str:
    if reason is None:
        return ""
    parts = [f"handed on to {markdown_code(reason.handed_on)}"] if reason.handed_on else []
    if ": " in reason.words:
        parts.append(markdown_text(shortened(reason.words, WHEN_LENGTH)))
    where = markdown_code(f"{reason.file}:{reason.line}")
    if reason.source is not None:
        parts.append(f"{where} {markdown_code(reason.source)} true on {sm_list(reason.true_on or ()) or 'no SM'}")
    elif ": " not in reason.words:
        parts.append(f"{where} {markdown_text(reason.words)}")
    return "; ".join(parts)


def _markdown_alternative(alternative: DefaultAlternative) -> str:
    when = f" when {markdown_code(shortened(alternative.when, WHEN_LENGTH))}" if alternative.when else ""
    return f"{markdown_code(value_text(alternative.value))}{when} ({markdown_code(f'{alternative.file}:{alternative.line}')})"


# -- JSON -----------------------------------------------------------------------------------------------------------------


def json(difference: Difference) -> str:
    """The document ``difference_report`` of the schema."""
    return documents.render(
        {
            "schema_version": documents.SCHEMA_VERSION,
            "tool": documents.tool(),
            "old": documents.head(difference.old)["source"],
            "new": documents.head(difference.new)["source"],
            "assumptions": documents.assumptions(difference.assumptions),
            "sms": list(difference.sms),
            "changes": [change_document(change) for change in difference.changes],
            "defaults": [
                {
                    "field": change.field,
                    "sm": change.sm,
                    "old": documents.defaults([(change.sm, change.old)])[0]["values"],
                    "new": documents.defaults([(change.sm, change.new)])[0]["values"],
                }
                for change in difference.defaults
            ],
            "added": [documents.option_facts(option) for option in difference.added],
            "removed": [documents.option_facts(option) for option in difference.removed],
            "renamed": [{"old": old.field, "new": new.field} for old, new in difference.renamed],
            "diagnostics": documents.diagnostics(difference.diagnostics),
        }
    )


def change_document(change: Change) -> dict[str, Any]:
    return {
        "field": change.field,
        "value": documents.plain(change.value),
        "sm": change.sm,
        "old": None if change.old is None else change.old.value,
        "new": None if change.new is None else change.new.value,
        "why": why(change),
        "before": _reason_document(change.before),
        "after": _reason_document(change.after),
    }


def _reason_document(reason: Reason | None) -> dict[str, Any] | None:
    if reason is None:
        return None
    return {
        "words": reason.words,
        "file": reason.file,
        "line": reason.line,
        "source": reason.source,
        "true_on": None if reason.true_on is None else list(reason.true_on),
        "handed_on": reason.handed_on,
    }
