"""The report for a person at a terminal: the worst first, one block a finding, counts and coverage at the end.

Errors and replaced values are shown in full; no-ops and partial ones, of which an inventory has many, take a line each
unless the reader asks for more. Nothing here depends on the terminal it ends up on: width and colour are arguments.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from sm_gatecheck.checks.cards import Card
from sm_gatecheck.model.report import Report
from sm_gatecheck.model.target import Devices
from sm_gatecheck.model.verdict import Effect, EffectKind, Evidence, Judgement, OptionReport, Role, Verdict
from sm_gatecheck.report.clean import shortened, visible, width_of
from sm_gatecheck.report.grouping import Entry, Group, grouped
from sm_gatecheck.report.wording import (
    EFFECT_VERBS,
    PHASES,
    WORDS,
    counted,
    effect_subject,
    listed,
    option_name,
    setting,
    sm_list,
    sm_title,
    source_title,
    value_text,
)
from sm_gatecheck.verdicts.findings import deciding_gate

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
GATES_SHOWN = 2
EFFECTS_SHOWN = 6
UNKNOWNS_SHOWN = 8


@dataclass(frozen=True)
class TextStyle:
    """How to lay a text report out: ``width`` in cells; ``verbosity`` -1 quiet, 0 usual, 1 with every proof."""

    width: int = 100
    color: bool = False
    verbosity: int = 0
    cards: Mapping[str, Card] = field(default_factory=dict)


def render(report: Report, devices: Devices, style: TextStyle) -> str:
    """The report as text that ends with a line feed, without control characters unless ``style.color``."""
    sheet = Sheet(style)
    groups = grouped(report)
    _headline(sheet, report, devices, groups)
    if style.verbosity >= 0:
        _assumptions(sheet, report)
    for verdict in (*WORDS, None):
        members = [group for group in groups if group.verdict is verdict]
        if members:
            _section(sheet, verdict, members, several_sms=len(report.sms) > 1)
    if style.verbosity >= 0:
        _undecided(sheet, report)
        _left_out(sheet, report)
        _coverage(sheet, report)
    return sheet.text()


class Sheet:
    """A page of fixed width that collects what is printed on it."""

    def __init__(self, style: TextStyle) -> None:
        self.style = style
        self._buffer = io.StringIO()
        self._console = Console(
            file=self._buffer,
            width=style.width,
            height=100,
            force_terminal=style.color,
            color_system="standard" if style.color else None,
            no_color=not style.color,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
        )

    def paragraph(self, text: Text, indent: int = 0) -> None:
        self._console.print(Padding(text, (0, 0, 0, indent)))

    def line(self, text: Text, indent: int = 0) -> None:
        """One line, never wrapped: cut with an ellipsis where it does not fit."""
        text = Text(" " * indent).append_text(text)
        text.truncate(self.style.width, overflow="ellipsis")
        self._console.print(text, no_wrap=True, overflow="ignore", crop=False)

    def blank(self) -> None:
        self._console.print()

    def rows(self, rows: Iterable[tuple[str, Text]], indent: int, label_width: int) -> None:
        """Labelled texts: the label once, the text beside it, wrapped under itself."""
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(width=label_width, no_wrap=True)
        table.add_column(overflow="fold", ratio=1)
        table.expand = True
        for label, text in rows:
            table.add_row(Text(label, style="dim"), text)
        self._console.print(Padding(table, (0, 0, 0, indent)))

    def text(self) -> str:
        return re.sub(r"[ \t]+$", "", self._buffer.getvalue(), flags=re.MULTILINE)


def _headline(sheet: Sheet, report: Report, devices: Devices, groups: list[Group]) -> None:
    if sheet.style.verbosity >= 0:
        sheet.paragraph(Text(source_title(report.source), style="bold"))
    for sm in report.sms:
        counts: Counter[Verdict | None] = Counter()
        for group in groups:
            for entry in group.entries:
                if sm in entry.sms:
                    counts[group.verdict] += len(entry.values)
        sheet.paragraph(_verdict_line(sm_title(devices, sm), counts))


def _verdict_line(sm: str, counts: Counter[Verdict | None]) -> Text:
    line = Text.assemble("On ", (sm, "bold"), " ")
    parts: list[Text] = []
    for verdict, words in WORDS.items():
        number = counts[verdict]
        if number:
            noun = ("setting " if number == 1 else "settings ") if not parts else ""
            parts.append(Text(f"{number} {noun}{words.one if number == 1 else words.many}", style=STYLES[verdict]))
    if counts[None]:
        parts.append(Text(counted(counts[None], "other finding")))
    if not parts:
        return line.append("no setting is refused, dead, replaced or halved.", style="green")
    for index, part in enumerate(parts):
        line.append("" if index == 0 else " and " if index == len(parts) - 1 else ", ").append_text(part)
    return line.append(".")


def _assumptions(sheet: Sheet, report: Report) -> None:
    assumed = report.assumptions
    facts = [f"NVIDIA CUDA {visible(assumed.cuda_version)}", "optional packages installed"]
    facts += [f"{visible(name)}={value_text(value)}" for name, value in sorted(assumed.settings.items())]
    sheet.paragraph(Text(f"Assumed: {', '.join(facts)}.", style="dim"))


def _section(sheet: Sheet, verdict: Verdict | None, groups: list[Group], several_sms: bool) -> None:
    heading = WORDS[verdict].heading if verdict is not None else "Other findings"
    if sheet.style.verbosity < 0:
        for group in groups:
            _short(sheet, group, several_sms, heading.lower())
        return
    sheet.blank()
    rule = groups[0].rule if verdict is not None else ""
    title = Text(heading, style=STYLES[verdict])
    title.append(f"  {rule}".rstrip(), style="dim")
    sheet.line(title)
    if verdict in IN_FULL or sheet.style.verbosity > 0:
        for group in groups:
            sheet.blank()
            _block(sheet, group)
    else:
        for group in groups:
            _short(sheet, group, several_sms)
        card = sheet.style.cards.get(rule)
        if card is not None:
            sheet.paragraph(Text(f"{card.title}: gatecheck rule {rule}. Each in full with -v.", style="dim"), indent=2)


def _short(sheet: Sheet, group: Group, several_sms: bool, heading: str = "") -> None:
    """One line: the setting and where it is decided, and what is claimed when there is room for it."""
    width = sheet.style.width
    name = _setting(group, group.values)
    if several_sms:
        name += f" on {sm_list(group.sms)}"
    if heading:
        name = f"{heading}: {name}"
    first = group.entries[0].finding
    place = f"{visible(first.file)}:{first.line}"
    name_room = 46 if width < 140 else 56
    name = shortened(name, max(name_room, width - 4 - width_of(place)) if width < 120 else name_room)
    if width_of(name) + width_of(place) + 4 > width:
        place = "…" + place[-max(width - width_of(name) - 5, 8) :]
    line = Text(name, style=STYLES[group.verdict] if heading else "")
    line.append(" " * max(name_room - width_of(name), 0) + "  ").append(place, style="cyan")
    if width >= 120:
        line.append("  ").append(visible(group.entries[0].message))
    sheet.line(line, indent=0 if heading else 2)


def _block(sheet: Sheet, group: Group) -> None:
    name = _setting(group, group.values)
    sms = sm_list(group.sms)
    title = Text(name, style="bold")
    title.append(f"  on {sms}", style="dim")
    sheet.paragraph(title, indent=2)
    for entry in group.entries:
        rows: list[tuple[str, Text]] = []
        if len(group.entries) > 1:
            which = [value_text(value) for value in entry.values]
            on = f" on {sm_list(entry.sms)}" if entry.sms != group.sms else ""
            rows.append(("set to", Text(", ".join(which) + on, style="bold")))
        rows.append(("what", Text(visible(entry.message))))
        if entry.judgement is None:
            rows.append(("where", Text(f"{visible(entry.finding.file)}:{entry.finding.line}", style="cyan")))
        else:
            rows.extend(_proof(entry, entry.judgement, sheet.style.verbosity))
        sheet.rows(rows, indent=4, label_width=_LABEL_WIDTH)
    mend = group.mend(sheet.style.cards)
    if mend:
        sheet.rows([("do", Text(visible(mend), style="green"))], indent=4, label_width=_LABEL_WIDTH)


_LABEL_WIDTH = 6


def _proof(entry: Entry, judgement: Judgement, verbosity: int) -> list[tuple[str, Text]]:
    rows: list[tuple[str, Text]] = []
    if verbosity > 0:
        rows += [(_ROLE_LABELS[evidence.role], _evidence(evidence)) for evidence in judgement.evidence]
    else:
        rows += [("why", _evidence(gate)) for gate in _gates(judgement)]
    raises = [effect for effect in judgement.effects if effect.kind is EffectKind.RAISES]
    others = [effect for effect in judgement.effects if effect.kind not in (EffectKind.RAISES, EffectKind.BEHAVIOUR)]
    behaviour = [effect for effect in judgement.effects if effect.kind is EffectKind.BEHAVIOUR]
    shown = None if verbosity > 0 else EFFECTS_SHOWN
    rows += _effects("stops", raises, shown)
    rows += _effects("still", others, shown)
    if judgement.verdict is Verdict.PARTIAL:
        rows += _effects("works", behaviour, shown)
    if judgement.active_on:
        rows.append(("fine", Text(f"on {sm_list(judgement.active_on)}")))
    rows += [("open", Text(visible(reason), style="magenta")) for reason in judgement.unknown]
    return rows


_ROLE_LABELS = {Role.GATE: "gate", Role.SITE: "site", Role.EFFECT: "effect", Role.CALL: "called"}


def _gates(judgement: Judgement) -> list[Evidence]:
    """The gates to show without being asked for the whole proof: the deciding one first."""
    deciding = deciding_gate(judgement)
    gates = [evidence for evidence in judgement.evidence if evidence.role is Role.GATE and evidence != deciding]
    return ([deciding] if deciding is not None else []) + gates[: GATES_SHOWN - 1]


def _evidence(evidence: Evidence) -> Text:
    text = Text(f"{visible(evidence.file)}:{evidence.line}", style="cyan")
    text.append("  " + visible(evidence.source), style="default")
    if evidence.true_on:
        text.append(f"  true on {sm_list(evidence.true_on)}", style="dim")
    elif evidence.role is Role.GATE:
        text.append("  true on no SM", style="dim")
    return text


def _effects(label: str, effects: list[Effect], limit: int | None) -> list[tuple[str, Text]]:
    shown = effects if limit is None or len(effects) <= limit else effects[: limit - 1]
    rows = [(label if index == 0 else "", _effect(effect)) for index, effect in enumerate(shown)]
    if len(shown) < len(effects):
        rows.append(("", Text(f"and {len(effects) - len(shown)} more (-v)", style="dim")))
    return rows


def _effect(effect: Effect) -> Text:
    text = Text(effect_sentence(effect))
    text.append("  ").append(f"{visible(effect.file)}:{effect.line}", style="cyan")
    return text


def effect_sentence(effect: Effect) -> str:
    """``sets page_size = 64 while the arguments are resolved, when use_mla``."""
    when = f", when {visible(effect.when)}" if effect.when else ""
    return f"{EFFECT_VERBS[effect.kind]} {effect_subject(effect)} {PHASES[effect.phase]}{when}"


def _undecided(sheet: Sheet, report: Report) -> None:
    """Options for which at least one answer is missing; with ``-v`` each with its reasons."""
    undecided: list[tuple[OptionReport, list[Judgement]]] = []
    for entry in report.options:
        judgements = [judgement for judgement in entry.judgements if judgement.verdict is Verdict.UNKNOWN]
        if judgements:
            undecided.append((entry, judgements))
    if not undecided:
        return
    sheet.blank()
    sheet.line(Text(WORDS[Verdict.UNKNOWN].heading, style=STYLES[Verdict.UNKNOWN]))
    if sheet.style.verbosity <= 0:
        names = [option_name(entry.option) for entry, _ in undecided]
        more = [f"{len(names) - UNKNOWNS_SHOWN} more (-v)"] if len(names) > UNKNOWNS_SHOWN else []
        sheet.paragraph(Text(listed([*names[:UNKNOWNS_SHOWN], *more])), indent=2)
        return
    for entry, judgements in undecided:
        values = [judgement.value for judgement in judgements]
        name = setting(entry.option, tuple({repr(value): value for value in values}.values()))
        sms = sm_list(sorted({judgement.sm for judgement in judgements}))
        sheet.paragraph(Text.assemble((name, "bold"), (f"  on {sms}", "dim")), indent=2)
        reasons = dict.fromkeys(reason for judgement in judgements for reason in (judgement.unknown or (judgement.summary,)))
        sheet.rows([("open", Text(visible(reason))) for reason in reasons], indent=4, label_width=_LABEL_WIDTH)


def _left_out(sheet: Sheet, report: Report) -> None:
    if not report.diagnostics:
        return
    sheet.blank()
    sheet.line(Text("Left out", style="magenta"))
    shown = report.diagnostics if sheet.style.verbosity > 0 else report.diagnostics[:5]
    for diagnostic in shown:
        text = Text(f"{visible(diagnostic.file)}:{diagnostic.line}", style="cyan")
        sheet.paragraph(text.append(f"  {visible(diagnostic.message)}", style="default"), indent=2)
    if len(shown) < len(report.diagnostics):
        sheet.paragraph(Text(f"and {len(report.diagnostics) - len(shown)} more (-v)", style="dim"), indent=2)


def _coverage(sheet: Sheet, report: Report) -> None:
    statistics = report.statistics
    coverage = statistics.coverage
    sheet.blank()
    sheet.paragraph(
        Text(
            f"{counted(coverage.options, 'option')}, {coverage.gated_options:,} of them gated by the GPU, "
            f"{coverage.unknown_options:,} not decided; "
            f"{counted(coverage.sites, 'site')}; {counted(coverage.gates_resolved, 'guard')} resolved, "
            f"{coverage.gates_unresolved:,} not; "
            f"{counted(statistics.files_parsed, 'file')} parsed of {statistics.files_seen:,}; "
            f"{statistics.seconds:.1f} s, {statistics.cache} cache.",
            style="dim",
        )
    )


def _setting(group: Group, values: tuple[object, ...]) -> str:
    if group.option is None:
        return visible(group.field)
    return setting(group.option.option, values)
