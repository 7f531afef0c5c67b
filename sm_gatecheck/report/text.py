"""The report for a person at a terminal: the worst first, one block a finding, counts and coverage at the end.

Errors and replaced values are shown in full; no-ops and partial ones, of which an inventory has many, take a line each
unless the reader asks for more. Nothing here depends on the terminal it ends up on: width and colour are arguments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rich.cells import cell_len
from rich.text import Text

from sm_gatecheck.checks.cards import Card
from sm_gatecheck.model.gaps import MEANING, counted_by_reason
from sm_gatecheck.model.report import Report
from sm_gatecheck.model.target import Devices
from sm_gatecheck.model.verdict import Judgement, Verdict
from sm_gatecheck.report.clean import shortened, visible
from sm_gatecheck.report.grouping import Entry, Group, distinct, grouped
from sm_gatecheck.report.proof import LABEL_WIDTH, place, proof_rows
from sm_gatecheck.report.sheet import Sheet
from sm_gatecheck.report.wording import WORDS, counted, listed, option_name, setting, sm_list, sm_title, source_title, value_text

STYLES: dict[Verdict | None, str] = {
    Verdict.REJECTED: "bold red",
    Verdict.NOOP_WITH_SIDE_EFFECTS: "bold red",
    Verdict.OVERRIDDEN: "bold yellow",
    Verdict.NOOP: "yellow",
    Verdict.PARTIAL: "yellow",
    Verdict.UNKNOWN: "magenta",
    None: "bold",
}
IN_FULL = {Verdict.REJECTED, Verdict.NOOP_WITH_SIDE_EFFECTS, Verdict.OVERRIDDEN, None}
UNDECIDED_SHOWN = 8
LEFT_OUT_SHOWN = 5
MESSAGE_ROOM = 40


@dataclass(frozen=True)
class TextStyle:
    """How to lay a text report out: ``width`` in cells; ``verbosity`` -1 quiet, 0 usual, 1 with every proof."""

    width: int = 100
    color: bool = False
    verbosity: int = 0
    cards: Mapping[str, Card] = field(default_factory=dict)

    @property
    def quiet(self) -> bool:
        return self.verbosity < 0

    @property
    def whole(self) -> bool:
        return self.verbosity > 0


def render(report: Report, devices: Devices, style: TextStyle) -> str:
    """The report as text that ends with a line feed, without control characters unless ``style.color``."""
    sheet = Sheet(style.width, style.color)
    groups = grouped(report)
    if style.quiet:
        sheet.verbatim(quiet_line(group, entry) for group in groups for entry in group.entries)
        return sheet.text()
    sheet.paragraph(Text(source_title(report.source), style="bold"))
    for sm in report.sms:
        sheet.paragraph(_headline(sm_title(devices, sm), sm, groups))
    _assumptions(sheet, report)
    for verdict in (*WORDS, None):
        members = [group for group in groups if group.verdict is verdict]
        if members:
            _section(sheet, style, verdict, members, several_sms=len(report.sms) > 1)
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


def _headline(title: str, sm: int, groups: Iterable[Group]) -> Text:
    """``On SM120 (…) 3 settings are refused, 1 does nothing and still has side effects.``"""
    counts: Counter[Verdict | None] = Counter()
    for group in groups:
        counts[group.verdict] += sum(len(entry.values) for entry in group.entries if sm in entry.sms)
    line = Text.assemble("On ", (title, "bold"), " ")
    parts: list[Text] = []
    for verdict, words in WORDS.items():
        if number := counts[verdict]:
            what = counted(number, "setting") if not parts else f"{number:,}"
            parts.append(Text(f"{what} {words.one if number == 1 else words.many}", style=STYLES[verdict]))
    if counts[None]:
        parts.append(Text(counted(counts[None], "other finding")))
    if not parts:
        return line.append("no setting is refused, replaced, dead or working only in part.", style="green")
    for index, part in enumerate(parts):
        line.append("" if index == 0 else " and " if index == len(parts) - 1 else ", ").append_text(part)
    return line.append(".")


def _assumptions(sheet: Sheet, report: Report) -> None:
    assumed = report.assumptions
    facts = [f"NVIDIA CUDA {visible(assumed.cuda_version)}", "optional packages installed"]
    facts += [f"{visible(name)}={value_text(value)}" for name, value in sorted(assumed.settings.items())]
    sheet.paragraph(Text(f"Assumed: {', '.join(facts)}.", style="dim"))


def other_findings(sheet: Sheet, style: TextStyle, groups: list[Group]) -> None:
    """Findings that no verdict stands behind and no launch: those on ignores."""
    _section(sheet, style, None, groups, several_sms=False)


def _section(sheet: Sheet, style: TextStyle, verdict: Verdict | None, groups: list[Group], several_sms: bool) -> None:
    sheet.blank()
    rules = sorted({group.rule for group in groups})
    heading = WORDS[verdict].heading if verdict is not None else "Other findings"
    in_full = verdict in IN_FULL or style.whole
    title = Text(heading, style=STYLES[verdict]).append(f"  {', '.join(rules)}", style="dim")
    sheet.line(title if in_full else title.append(", in full with -v", style="dim"))
    if not in_full:
        _one_line_each(sheet, groups, several_sms)
        return
    for index, group in enumerate(groups):
        if index:
            sheet.blank()
        _block(sheet, style, group)


def _one_line_each(sheet: Sheet, groups: list[Group], several_sms: bool) -> None:
    """A line a group: the setting, where it is decided, and what is claimed when there is room for it."""
    rows = [(_short_name(group, several_sms), _short_place(group), group) for group in groups]
    room = sheet.width - 2
    place_room = min(max((cell_len(where) for _, where, _ in rows), default=0), room // 2)
    name_room = min(max((cell_len(name) for name, _, _ in rows), default=0), room - place_room - 2, 64)
    message_room = room - name_room - place_room - 4
    for name, where, group in rows:
        name = shortened(name, name_room)
        where = where if cell_len(where) <= place_room else "…" + where[1 - place_room :]
        line = Text(name + " " * (name_room - cell_len(name) + 2)).append(where, style="cyan")
        if message_room >= MESSAGE_ROOM:
            line.append(" " * (place_room - cell_len(where) + 2) + visible(group.entries[0].message))
        sheet.line(line, indent=2)


def _short_name(group: Group, several_sms: bool) -> str:
    return f"{_setting(group)} on {sm_list(group.sms)}" if several_sms else _setting(group)


def _short_place(group: Group) -> str:
    first = group.entries[0].finding
    return f"{visible(first.file)}:{first.line}"


def _block(sheet: Sheet, style: TextStyle, group: Group) -> None:
    name = _setting(group) or (style.cards[group.rule].title if group.rule in style.cards else group.rule)
    sheet.paragraph(Text(name, style="bold").append(f"  on {sm_list(group.sms)}", style="dim"), indent=2)
    for entry in group.entries:
        sheet.rows(_entry_rows(group, entry, style.whole), indent=4, label_width=LABEL_WIDTH)
    mend = group.mend(style.cards)
    if mend:
        sheet.rows([("do", Text(visible(mend), style="green"))], indent=4, label_width=LABEL_WIDTH)


def _entry_rows(group: Group, entry: Entry, whole: bool) -> list[tuple[str, Text]]:
    rows: list[tuple[str, Text]] = []
    if len(group.entries) > 1 and group.field:
        on = f" on {sm_list(entry.sms)}" if entry.sms != group.sms else ""
        rows.append(("set to", Text(", ".join(value_text(value) for value in entry.values) + on, style="bold")))
    rows.append(("what", Text(visible(entry.message))))
    if entry.judgement is None:
        return [*rows, ("where", place(entry.finding.file, entry.finding.line))]
    return rows + proof_rows(entry.judgement, whole)


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
        f"{statistics.files_parsed:,} of {counted(statistics.files_seen, 'file')} parsed",
        f"{statistics.seconds:.1f} s, {statistics.cache} cache",
    ]
    sheet.paragraph(Text(f"{'; '.join(facts)}.", style="dim"))


def _setting(group: Group) -> str:
    return visible(group.field) if group.option is None else setting(group.option.option, group.values)
