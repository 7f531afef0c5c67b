"""The report for a person at a terminal: what to act on first, counts and coverage at the end.

First what gives nothing and still costs, then what every launch is refused, in full; then refusals of some launches, with their
condition in a line; no-ops and partial ones, of which an inventory has many, take a line or two. ``-v`` shows all of it whole.
Nothing here depends on the terminal it ends up on: width and colour are arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from rich.cells import cell_len
from rich.text import Text

from sm_gatecheck.checks.cards import Card
from sm_gatecheck.model.gaps import MEANING, counted_by_reason
from sm_gatecheck.model.report import Report
from sm_gatecheck.model.target import Devices
from sm_gatecheck.model.verdict import Judgement, Verdict
from sm_gatecheck.report.clean import visible
from sm_gatecheck.report.grouping import Entry, Group, distinct, grouped, merged
from sm_gatecheck.report.proof import LABEL_WIDTH, place, proof_rows, refusal_shown, short_rows
from sm_gatecheck.report.sheet import Sheet
from sm_gatecheck.report.wording import (
    PHASES,
    REFUSED_UNDER_A_CONDITION,
    WORDS,
    brief,
    brief_text,
    counted,
    listed,
    option_name,
    setting,
    sm_list,
    sm_title,
    source_title,
    value_text,
    without_costs,
)
from sm_gatecheck.verdicts.mending import said

STYLES: dict[Verdict | None, str] = {
    Verdict.REJECTED: "bold red",
    Verdict.NOOP_WITH_SIDE_EFFECTS: "bold red",
    Verdict.OVERRIDDEN: "bold yellow",
    Verdict.NOOP: "yellow",
    Verdict.PARTIAL: "yellow",
    Verdict.UNKNOWN: "magenta",
    None: "bold",
}
UNDECIDED_SHOWN = 8
LEFT_OUT_SHOWN = 5
MESSAGE_ROOM = 40
NAME_ROOM = 64
PLACE_ROOM = 48
TOGETHER = 3
CONDITION_ROOM = 100


class Form(Enum):
    """How a section shows what is in it, unless the whole is asked for."""

    BLOCKS = "blocks"
    REASONS = "reasons"
    LINES = "lines"


@dataclass(frozen=True)
class Kind:
    """What stands together under a heading. ``always`` parts refusals of every launch from those under a condition."""

    verdict: Verdict | None
    heading: str
    style: str
    form: Form
    always: bool = True


def _kind(verdict: Verdict, form: Form) -> Kind:
    return Kind(verdict, WORDS[verdict].heading, STYLES[verdict], form)


KINDS = (
    _kind(Verdict.NOOP_WITH_SIDE_EFFECTS, Form.BLOCKS),
    _kind(Verdict.REJECTED, Form.BLOCKS),
    Kind(Verdict.REJECTED, REFUSED_UNDER_A_CONDITION.heading, "red", Form.REASONS, always=False),
    _kind(Verdict.OVERRIDDEN, Form.BLOCKS),
    _kind(Verdict.NOOP, Form.LINES),
    _kind(Verdict.PARTIAL, Form.LINES),
    Kind(None, "Other findings", "bold", Form.BLOCKS),
)
"""The sections in their order: what costs and gives nothing, what stops every launch, what stops some, and so on."""


@dataclass(frozen=True)
class TextStyle:
    """How to lay a text report out: ``width`` in cells; ``verbosity`` -1 quiet, 0 usual, 1 with every proof.

    Of ``cards`` come the mends; ``platform`` is the report's own.
    """

    width: int = 100
    color: bool = False
    verbosity: int = 0
    cards: Mapping[str, Card] = field(default_factory=dict)
    platform: str = ""

    @property
    def quiet(self) -> bool:
        return self.verbosity < 0

    @property
    def whole(self) -> bool:
        return self.verbosity > 0


def render(report: Report, devices: Devices, style: TextStyle) -> str:
    """The report as text that ends with a line feed, without control characters unless ``style.color``."""
    style = replace(style, platform=report.assumptions.platform)
    sheet = Sheet(style.width, style.color)
    groups = grouped(report)
    if style.quiet:
        sheet.verbatim(quiet_line(group, entry) for group in groups for entry in group.entries)
        return sheet.text()
    sheet.paragraph(Text(source_title(report.source), style="bold"))
    sections = _kinds(groups)
    for sm in report.sms:
        sheet.paragraph(_headline(sm_title(devices, sm), sm, sections))
    _assumptions(sheet, report)
    for kind, members in sections:
        _section(sheet, style, kind, members, several_sms=len(report.sms) > 1)
    _undecided(sheet, style, report)
    _left_out(sheet, style, report)
    _not_followed(sheet, style, report)
    _coverage(sheet, report)
    return sheet.text()


def quiet_line(group: Group, entry: Entry) -> str:
    """``srt/file.py:12: GC101 --flag value on SM120: what is claimed``, as linters write it and editors read it."""
    finding = entry.finding
    name = visible(group.field) if group.option is None else setting(group.option.option, entry.values)
    about = [part for part in (finding.rule, name, f"on {sm_list(entry.sms)}") if part]
    return f"{visible(finding.file)}:{finding.line}: {' '.join(about)}: {visible(entry.message)}"


def _headline(title: str, sm: int, sections: Iterable[tuple[Kind, list[Group]]]) -> Text:
    """``On SM120 (…) 1 setting does nothing and still has side effects, 3 are refused.``"""
    line = Text.assemble("On ", (title, "bold"), " ")
    parts: list[Text] = []
    for kind, groups in sections:
        number = sum(len(entry.values) for group in groups for entry in group.entries if sm in entry.sms)
        if number and kind.verdict is None:
            parts.append(Text(counted(number, "other finding")))
        elif number and kind.verdict is not None:
            words = WORDS[kind.verdict] if kind.always else REFUSED_UNDER_A_CONDITION
            what = counted(number, "setting") if not parts else f"{number:,}"
            parts.append(Text(f"{what} {words.one if number == 1 else words.many}", style=kind.style))
    if not parts:
        return line.append("no setting is refused, replaced, dead or working only in part.", style="green")
    for index, part in enumerate(parts):
        line.append("" if index == 0 else " and " if index == len(parts) - 1 else ", ").append_text(part)
    return line.append(".")


def _assumptions(sheet: Sheet, report: Report) -> None:
    assumed = report.assumptions
    facts = [f"NVIDIA CUDA {visible(assumed.cuda_version)}", "optional packages installed"]
    facts += [f"{visible(name)}={value_text(value)}" for name, value in sorted(assumed.settings.items())]
    facts += [] if assumed.model is None else [f"the configuration of {visible(assumed.model)}"]
    facts += [] if assumed.gpu_memory is None else [f"{assumed.gpu_memory:,} MiB of memory"]
    sheet.paragraph(Text(f"Assumed: {', '.join(facts)}.", style="dim"))


def other_findings(sheet: Sheet, style: TextStyle, groups: list[Group]) -> None:
    """Findings that no verdict stands behind and no launch: those on ignores."""
    _section(sheet, style, Kind(None, "Other findings", "bold", Form.BLOCKS), groups, several_sms=False)


def _kinds(groups: Iterable[Group]) -> list[tuple[Kind, list[Group]]]:
    """The sections of a report with what belongs into each; an option whose values differ can stand in several."""
    found: list[tuple[Kind, list[Group]]] = [(kind, []) for kind in KINDS]
    for group in groups:
        for kind, members in found:
            part = group.only(always=kind.always) if group.verdict is kind.verdict else None
            if part is not None:
                members.append(part)
    return [(kind, members) for kind, members in found if members]


def _section(sheet: Sheet, style: TextStyle, kind: Kind, groups: list[Group], several_sms: bool) -> None:
    sheet.blank()
    rules = sorted({group.rule for group in groups})
    title = Text(kind.heading, style=kind.style).append(f"  {', '.join(rules)}", style="dim")
    sheet.line(title if style.whole or kind.verdict is None else title.append(", in full with -v", style="dim"))
    if kind.form is Form.BLOCKS or style.whole:
        for index, group in enumerate(groups):
            if index:
                sheet.blank()
            sheet.paragraph(_block_title(style, group), indent=2)
            sheet.rows(_block_rows(style, group), indent=4, label_width=LABEL_WIDTH)
        return
    if kind.form is Form.REASONS:
        for group in groups:
            _reasons_of(sheet, style, group, several_sms)
    else:
        _a_line_each(sheet, groups, several_sms)


def _reasons_of(sheet: Sheet, style: TextStyle, group: Group, several_sms: bool) -> None:
    """An option's refusals under a condition: for each reason its values, when it holds and what is said then."""
    room = sheet.width - 6 - LABEL_WIDTH
    told: dict[tuple[Any, ...], list[Entry]] = {}
    for entry in group.entries:
        refusal = refusal_shown(entry.judgement) if entry.judgement is not None else None
        if refusal is not None:
            told.setdefault((refusal.when, refusal.what, refusal.phase, refusal.file, refusal.line, entry.sms), []).append(entry)
    for (when, what, phase, file, line, sms), entries in told.items():
        values = distinct(value for entry in entries for value in entry.values)
        on = f"  on {sm_list(sms)}" if several_sms else ""
        name = visible(group.field) if group.option is None else setting(group.option.option, values)
        title = Text(name, style="bold").append(f"{on}  {PHASES[phase]}, ", style="dim not bold").append_text(place(file, line))
        sheet.paragraph(title, indent=2)
        condition = [] if when is None else [("when", Text(brief(when, room, style.platform)))]
        sheet.rows([*condition, ("says", Text(brief_text(said(what), room)))], indent=4, label_width=LABEL_WIDTH)


def _a_line_each(sheet: Sheet, groups: list[Group], several_sms: bool) -> None:
    """A line a group, or two: the setting, where it is decided, and what is claimed when there is room; what a place decides together."""
    by_place: dict[str, list[Group]] = {}
    for group in groups:
        by_place.setdefault(_short_place(group), []).append(group)
    together = {where: members for where, members in by_place.items() if len(members) >= TOGETHER}
    for where, members in together.items():
        sheet.line(Text(where, style="cyan"), indent=2)
        sheet.paragraph(Text(", ".join(_short_name(group, several_sms) for group in members)), indent=4)
    groups = [group for group in groups if _short_place(group) not in together]
    rows = [(_short_name(group, several_sms), _short_place(group), _short_claim(group)) for group in groups]
    room = sheet.width - 2
    fitting = [cell_len(name) for name, where, _ in rows if cell_len(name) + cell_len(where) + 2 <= room]
    name_room = min(max(fitting, default=0), NAME_ROOM)
    place_room = min(max((cell_len(where) for _, where, _ in rows), default=0), PLACE_ROOM)
    for name, where, claim in rows:
        line = Text(name)
        if cell_len(name) + 2 + cell_len(where) > room:
            sheet.paragraph(line, indent=2)
            line = Text("  ")
        else:
            line.append(" " * (max(min(name_room, room - 2 - cell_len(where)) - cell_len(name), 0) + 2))
        line.append(where, style="cyan")
        column = max(name_room + 2 + place_room, cell_len(line.plain)) + 2
        if claim and room - column >= min(MESSAGE_ROOM, cell_len(claim)):
            line.append(" " * (column - cell_len(line.plain))).append(claim, style="default")
        sheet.line(line, indent=2)


def _short_claim(group: Group) -> str:
    """What a line adds to its heading: where the setting would work, or the message without the setting in front of it."""
    entry = group.entries[0]
    if group.verdict is Verdict.NOOP and entry.judgement is not None:
        return f"works on {sm_list(entry.judgement.active_on)}" if entry.judgement.active_on else ""
    message = visible(entry.message)
    return message.partition(": ")[2] or message


def _short_name(group: Group, several_sms: bool) -> str:
    return f"{_setting(group)} on {sm_list(group.sms)}" if several_sms else _setting(group)


def _short_place(group: Group) -> str:
    first = group.entries[0].finding
    return f"{visible(first.file)}:{first.line}"


def _block_title(style: TextStyle, group: Group) -> Text:
    name = _setting(group) or (style.cards[group.rule].title if group.rule in style.cards else group.rule)
    return Text(name, style="bold").append(f"  on {sm_list(group.sms)}", style="dim")


def _block_rows(style: TextStyle, group: Group) -> list[tuple[str, Text]]:
    """What is claimed about a group and why, its values together where both agree, and what to do about it."""
    entries = group.entries
    if not style.whole:
        entries = merged(entries, lambda entry: tuple((label, row.plain) for label, row in _proof(style, entry)))
    rows: list[tuple[str, Text]] = []
    for entry in entries:
        if len(entries) > 1 and group.field:
            on = f" on {sm_list(entry.sms)}" if entry.sms != group.sms else ""
            rows.append(("set to", Text(", ".join(value_text(value) for value in entry.values) + on, style="bold")))
        rows.append(("what", Text(_claim(style, entry))))
        rows += _proof(style, entry)
    mend = group.mend(style.cards)
    return [*rows, ("do", Text(visible(mend), style="green"))] if mend else rows


def _claim(style: TextStyle, entry: Entry) -> str:
    """The message, with its condition in a line and without what has rows of its own unless the whole is asked for."""
    message = visible(entry.message)
    if style.whole or entry.judgement is None:
        return message
    if entry.judgement.verdict is Verdict.NOOP_WITH_SIDE_EFFECTS:
        return without_costs(message)
    conditions = {visible(effect.when) for effect in entry.judgement.effects if effect.when}
    for condition in sorted(conditions, key=len, reverse=True):
        if condition in message:
            return message.replace(condition, brief(condition, _room(style), style.platform))
    return message


def _proof(style: TextStyle, entry: Entry) -> list[tuple[str, Text]]:
    if entry.judgement is None:
        return [("where", place(entry.finding.file, entry.finding.line))]
    return proof_rows(entry.judgement) if style.whole else short_rows(entry.judgement, _room(style), style.platform)


def _room(style: TextStyle) -> int:
    """The length of a condition that takes about a line beside its label."""
    return max(min(style.width - 6 - LABEL_WIDTH, CONDITION_ROOM), 20)


def _undecided(sheet: Sheet, style: TextStyle, report: Report) -> None:
    """Options for which at least one answer is missing; with ``-v`` each with its reasons."""
    undecided = [
        (entry.option, judgements)
        for entry in report.options
        if (judgements := [judgement for judgement in entry.judgements if judgement.verdict is Verdict.UNKNOWN])
    ]
    if not undecided:
        return
    sheet.blank()
    sheet.line(Text(WORDS[Verdict.UNKNOWN].heading, style=STYLES[Verdict.UNKNOWN]))
    if not style.whole:
        names = [option_name(option) for option, _ in undecided]
        more = [f"{len(names) - UNDECIDED_SHOWN} more (-v)"] if len(names) > UNDECIDED_SHOWN else []
        sheet.paragraph(Text(listed([*names[:UNDECIDED_SHOWN], *more])), indent=2)
        return
    for option, judgements in undecided:
        name = setting(option, distinct(judgement.value for judgement in judgements))
        sms = sm_list(sorted({judgement.sm for judgement in judgements}))
        sheet.paragraph(Text(name, style="bold").append(f"  on {sms}", style="dim"), indent=2)
        sheet.rows([("open", Text(visible(reason))) for reason in _reasons(judgements)], indent=4, label_width=LABEL_WIDTH)


def _reasons(judgements: Iterable[Judgement]) -> list[str]:
    return list(dict.fromkeys(reason for judgement in judgements for reason in (judgement.unknown or (judgement.summary,))))


def _left_out(sheet: Sheet, style: TextStyle, report: Report) -> None:
    if not report.diagnostics:
        return
    sheet.blank()
    sheet.line(Text("Left out", style="magenta"))
    shown = report.diagnostics if style.whole else report.diagnostics[:LEFT_OUT_SHOWN]
    for diagnostic in shown:
        sheet.paragraph(place(diagnostic.file, diagnostic.line).append(f"  {visible(diagnostic.message)}", style="default"), indent=2)
    if len(shown) < len(report.diagnostics):
        sheet.paragraph(Text(f"and {len(report.diagnostics) - len(shown)} more (-v)", style="dim"), indent=2)


def _not_followed(sheet: Sheet, style: TextStyle, report: Report) -> None:
    """With ``-v``, what the claims do not rest on: how much for each reason, and some of it by name."""
    counts = counted_by_reason(report.not_followed)
    if not counts or not style.whole:
        return
    sheet.blank()
    sheet.line(Text("Not followed", style="magenta").append(f"  {len(report.not_followed):,}", style="dim"))
    for reason, count in counts.items():
        sheet.paragraph(Text(f"{count:,}  {MEANING[reason]}").append(f"  {reason.value}", style="dim"), indent=2)
        members = [gap for gap in report.not_followed if gap.reason is reason]
        for gap in members[:LEFT_OUT_SHOWN]:
            sheet.paragraph(place(gap.file, gap.line).append(f"  {visible(gap.what)}", style="default"), indent=4)
        if count > LEFT_OUT_SHOWN:
            sheet.paragraph(Text(f"and {count - LEFT_OUT_SHOWN:,} more, all of them in --format json", style="dim"), indent=4)


def _coverage(sheet: Sheet, report: Report) -> None:
    statistics, coverage = report.statistics, report.statistics.coverage
    sheet.blank()
    facts = [
        f"{counted(coverage.options, 'option')}, {coverage.gated_options:,} gated by the GPU, {coverage.unknown_options:,} not decided",
        counted(coverage.sites, "site"),
        f"{counted(coverage.gates_resolved, 'guard')} resolved, {coverage.gates_unresolved:,} not",
        *([f"{counted(len(report.not_followed), 'thing')} not followed"] if report.not_followed else []),
        f"{statistics.files_parsed:,} of {counted(statistics.files_seen, 'file')} needed",
        f"{statistics.seconds:.1f} s, {statistics.cache} cache",
    ]
    sheet.paragraph(Text(f"{'; '.join(facts)}.", style="dim"))


def _setting(group: Group) -> str:
    return visible(group.field) if group.option is None else setting(group.option.option, group.values)
