"""The text report about launches: each with what is wrong on its own lines first, and why in SGLang's below.

A person reads this before a restart: the verdict on the launch stands in the first line, the mend beside each finding, and what
was taken for granted at the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from rich.text import Text

from sm_gatecheck.checks.weights import LIKE
from sm_gatecheck.model.launch_report import LaunchReport
from sm_gatecheck.model.report import Report
from sm_gatecheck.model.target import Devices
from sm_gatecheck.model.verdict import EffectKind, Evidence, Judgement, Verdict
from sm_gatecheck.report.clean import shortened, visible
from sm_gatecheck.report.grouping import Entry, Group, grouped
from sm_gatecheck.report.proof import LABEL_WIDTH, place, proof_rows
from sm_gatecheck.report.resolved_table import resolved_table
from sm_gatecheck.report.sheet import Sheet
from sm_gatecheck.report.text import STYLES, TextStyle, other_findings, quiet_line
from sm_gatecheck.report.wording import (
    WORDS,
    counted,
    effect_sentence,
    listed,
    option_name,
    sm_list,
    sm_title,
    source_title,
    value_text,
    without_costs,
)
from sm_gatecheck.verdicts.findings import deciding_gate
from sm_gatecheck.verdicts.mending import deciding_refusals, said

CONDITION_ROOM = 70
"""Characters of a condition that are shown: a test or two; ``-v`` shows all."""
MESSAGE_ROOM = 240
SOURCE_ROOM = 90
COSTS_SHOWN = 4
MINOR = (Verdict.PARTIAL,)
"""Shown in a line unless asked for: on every GPU there is some kernel that it lacks."""
WORRYING = (Verdict.REJECTED, Verdict.NOOP_WITH_SIDE_EFFECTS, Verdict.OVERRIDDEN, Verdict.NOOP)
UNRESOLVED_SHOWN = 6


def render(report: Report, devices: Devices, style: TextStyle, *, resolved: bool = False) -> str:
    """The report as text that ends with a line feed; ``resolved`` adds what the server will run with."""
    sheet = Sheet(style.width, style.color)
    by_launch = [_groups(report, number) for number in range(len(report.launches))]
    others = grouped(replace(report, findings=tuple(finding for finding in report.findings if finding.launch_number is None)))
    if style.quiet:
        for number, groups in enumerate(by_launch):
            sheet.verbatim(_quiet_line(report.launches[number], group, entry) for group in groups for entry in group.entries)
        sheet.verbatim(quiet_line(group, entry) for group in others for entry in group.entries)
        return sheet.text()
    for number, (launch, groups) in enumerate(zip(report.launches, by_launch)):
        if number:
            sheet.blank()
        _launch(sheet, style, report, devices, launch, groups)
        if resolved:
            resolved_table(sheet, style, report, launch)
    if others:
        other_findings(sheet, style, others)
    _left_out(sheet, report)
    _checked(sheet, report)
    return sheet.text()


def _groups(report: Report, number: int) -> list[Group]:
    findings = tuple(finding for finding in report.findings if finding.launch_number == number)
    groups = grouped(replace(report, options=report.launches[number].judged, findings=findings))
    order = list(WORDS)
    return sorted(groups, key=lambda group: order.index(weight) if (weight := _weight(group)) is not None else len(order))


def _weight(group: Group) -> Verdict | None:
    return group.verdict or LIKE.get(group.rule)


def _quiet_line(launch: LaunchReport, group: Group, entry: Entry) -> str:
    where = entry.finding.launch or launch.span
    place = f"{visible(where.file)}:{where.line}:{where.column}"
    return f"{place}: {entry.finding.rule} {_subject(launch, group, entry)} on {sm_list(entry.sms)}: {visible(entry.message)}"


def _launch(sheet: Sheet, style: TextStyle, report: Report, devices: Devices, launch: LaunchReport, groups: Sequence[Group]) -> None:
    for sm in report.sms:
        sheet.paragraph(_headline(launch, sm_title(devices, sm), sm, groups))
    minor = [] if style.whole else [group for group in groups if group.verdict in MINOR]
    for group in groups:
        if group not in minor:
            sheet.blank()
            _block(sheet, style, launch, group)
    notes = list(_notes(launch, minor))
    if notes:
        sheet.blank()
        sheet.rows(notes, indent=2, label_width=8)


def _title(launch: LaunchReport) -> str:
    """``chat.service:13``, and what the file calls it."""
    name = f" ({visible(launch.name)})" if launch.name else ""
    return f"{visible(launch.span.file)}:{launch.span.line}{name}"


def _headline(launch: LaunchReport, title: str, sm: int, groups: Iterable[Group]) -> Text:
    counts: Counter[Verdict | None] = Counter()
    for group in groups:
        if group.verdict not in MINOR and any(sm in entry.sms for entry in group.entries):
            counts[_weight(group)] += 1
    line = Text.assemble((_title(launch), "bold"), " on ", (title, "bold"), ": ")
    parts: list[Text] = []
    for verdict, words in WORDS.items():
        if number := counts[verdict]:
            what = counted(number, "setting") if not parts else f"{number:,}"
            parts.append(Text(f"{what} {words.one if number == 1 else words.many}", style=STYLES[verdict]))
    if counts[None]:
        parts.append(Text(counted(counts[None], "remark"), style="yellow"))
    if not parts:
        return line.append("nothing that it sets is refused, replaced or dead.", style="green")
    for index, part in enumerate(parts):
        line.append("" if index == 0 else " and " if index == len(parts) - 1 else ", ").append_text(part)
    return line.append(".")


def _block(sheet: Sheet, style: TextStyle, launch: LaunchReport, group: Group) -> None:
    weight = _weight(group)
    first = group.entries[0].finding
    where = first.launch or launch.span
    at = Text(f"{visible(where.file)}:{where.line}:{where.column}", style="cyan")
    sheet.paragraph(at.append("  ").append(_subject(launch, group, group.entries[0]), style="bold default"), indent=2)
    card = style.cards.get(group.rule)
    heading = WORDS[group.verdict].heading if group.verdict is not None else card.title if card is not None else group.rule
    sheet.paragraph(Text(heading, style=STYLES[weight]).append(f"  {group.rule} on {sm_list(group.sms)}", style="dim"), indent=4)
    for entry in group.entries:
        sheet.rows(_rows(entry, style.whole), indent=4, label_width=LABEL_WIDTH)
    mend = _mend(launch, group) or group.mend(style.cards)
    if mend:
        sheet.rows([("do", Text(visible(mend), style="green"))], indent=4, label_width=LABEL_WIDTH)


def _mend(launch: LaunchReport, group: Group) -> str | None:
    """The other value to write, where SGLang names one; what to do about a value that the launch does not give."""
    for mend in launch.mends:
        if mend.field == group.field and mend.action == "replace":
            given = next((given.flag for given in launch.given if given.field == mend.field), group.name)
            return (
                f"Write {given} {value_text(mend.value)}: it works on {sm_list(group.sms)}, and SGLang names it ({mend.file}:{mend.line})."
            )
    if group.verdict is not None and not any(given.field == group.field for given in launch.given):
        return f"Set {group.name} yourself: what SGLang chooses does not work on {sm_list(group.sms)}."
    return None


def _rows(entry: Entry, whole: bool) -> list[tuple[str, Text]]:
    """What is claimed and why; unless the whole is asked for, the one line that decides and what is sure to happen."""
    judgement = entry.judgement
    if judgement is None:
        rows = [("what", Text(visible(entry.message)))]
        return [*rows, ("where", place(entry.finding.file, entry.finding.line))] if entry.finding.file else rows
    if whole:
        return [("what", Text(visible(entry.message))), *proof_rows(judgement)]
    # What still happens has rows of its own.
    message = without_costs(entry.message) if judgement.verdict is Verdict.NOOP_WITH_SIDE_EFFECTS else entry.message
    rows = [("what", Text(shortened(visible(message), MESSAGE_ROOM)))]
    if judgement.verdict is Verdict.REJECTED:
        rows += [("says", Text(shortened(visible(said(refusal.what)), MESSAGE_ROOM))) for refusal in deciding_refusals(judgement)[:1]]
    gate = deciding_gate(judgement)
    if gate is not None:
        rows.append(("why", _gate(gate, judgement.sm)))
    if judgement.verdict is Verdict.NOOP_WITH_SIDE_EFFECTS:
        rows += _costs(judgement)
    if judgement.active_on:
        rows.append(("fine", Text(f"on {sm_list(judgement.active_on)}")))
    return rows


def _gate(gate: Evidence, sm: int) -> Text:
    text = place(gate.file, gate.line).append(f"  {shortened(visible(gate.source), SOURCE_ROOM)}", style="default")
    holds = "true" if sm in gate.true_on else "false"
    others = [other for other in gate.true_on if other != sm]
    if not gate.true_on:
        return text.append("  true on no SM", style="dim")
    more = f", as on {len(others)} others" if holds == "true" and others else f", true on {sm_list(others)}" if others else ""
    return text.append(f"  {holds} on SM{sm}{more}", style="dim")


def _costs(judgement: Judgement) -> list[tuple[str, Text]]:
    """What still happens, the certain first."""
    costs = [effect for effect in judgement.effects if effect.kind not in (EffectKind.BEHAVIOUR, EffectKind.WARNS, EffectKind.RAISES)]
    costs.sort(key=lambda effect: effect.when is not None)
    rows: list[tuple[str, Text]] = []
    for effect in costs[:COSTS_SHOWN]:
        worded = replace(effect, when=None if effect.when is None else shortened(effect.when, CONDITION_ROOM))
        rows.append(("" if rows else "still", Text(f"{effect_sentence(worded)}  ").append_text(place(effect.file, effect.line))))
    if len(costs) > COSTS_SHOWN:
        rows.append(("", Text(f"and {len(costs) - COSTS_SHOWN} more (-v)", style="dim")))
    return rows


def _subject(launch: LaunchReport, group: Group, entry: Entry) -> str:
    """The setting as the launch spells it."""
    finding = entry.finding
    for given in launch.given:
        if given.field == finding.option:
            return _written(given.flag, given.value, given.field)
    return visible(finding.option)


def _written(flag: str, value: object, field: str) -> str:
    if field.startswith("env:") or not flag.startswith("-"):
        return f"{visible(flag)}={value_text(value)}"
    return visible(flag) if value is True else f"{visible(flag)} {value_text(value)}"


def _notes(launch: LaunchReport, minor: Sequence[Group]) -> Iterable[tuple[str, Text]]:
    if minor:
        names = listed([group.name for group in minor])
        yield "in part", Text(f"{names}: some of SGLang's uses of it are out of reach on this GPU (-v shows which)", style="dim")
    undecided = [report for report in launch.judged if any(j.verdict is Verdict.UNKNOWN for j in report.judgements)]
    if undecided:
        yield "open", Text(f"{listed([option_name(report.option) for report in undecided])}: not decided by reading", style="magenta")
    yield from _maybe(launch)
    assumed = list(dict.fromkeys(note for given in launch.given for note in given.assumed))
    if assumed:
        others = [f"{len(assumed) - UNRESOLVED_SHOWN} more"] if len(assumed) > UNRESOLVED_SHOWN else []
        yield "assumed", Text(listed([*map(visible, assumed[:UNRESOLVED_SHOWN]), *others]), style="dim")
    if launch.model_config is not None:
        yield "model", Text(f"as {visible(launch.model_config)} describes it", style="dim")
    if launch.unresolved:
        names = listed([visible(name) for name in launch.unresolved[:UNRESOLVED_SHOWN]])
        more = f" and {len(launch.unresolved) - UNRESOLVED_SHOWN} more" if len(launch.unresolved) > UNRESOLVED_SHOWN else ""
        yield "unknown", Text(f"the file does not tell: {names}{more}", style="dim")


def _maybe(launch: LaunchReport) -> Iterable[tuple[str, Text]]:
    """What the file sets under a condition only: a line for each value that is bad on some GPU, one for all others."""
    label = "maybe"
    harmless = []
    for given in launch.conditional:
        written = f"{_written(given.flag, given.value, given.field)} when {visible(given.when or '')}"
        bad = [found for found in given.verdicts if found.verdict in WORRYING]
        if bad:
            told = shortened(visible(without_costs(bad[0].summary)), MESSAGE_ROOM)
            yield label, Text(f"{written}: ").append(told, style=STYLES[bad[0].verdict])
            label = ""
        else:
            harmless.append(written)
    if harmless:
        more = f"; and {len(harmless) - UNRESOLVED_SHOWN} more" if len(harmless) > UNRESOLVED_SHOWN else ""
        yield label, Text(f"set only under a condition of the file: {'; '.join(harmless[:UNRESOLVED_SHOWN])}{more}", style="dim")


# -- the end ------------------------------------------------------------------------------------------------------------


def _left_out(sheet: Sheet, report: Report) -> None:
    if report.diagnostics:
        sheet.blank()
        first = report.diagnostics[0]
        more = f", and {len(report.diagnostics) - 1} more" if len(report.diagnostics) > 1 else ""
        line = Text("Left out: ", style="magenta").append_text(place(first.file, first.line))
        sheet.paragraph(line.append(f"  {visible(first.message)}{more}", style="default"))


def _checked(sheet: Sheet, report: Report) -> None:
    assumed = report.assumptions
    given = [f"{visible(name)}={value_text(value)}" for name, value in sorted(assumed.settings.items())]
    settings = sum(len(launch.given) for launch in report.launches)
    facts = [
        source_title(report.source),
        ", ".join([f"NVIDIA CUDA {visible(assumed.cuda_version)}", "optional packages installed", *given]) + " assumed",
        f"{counted(len(report.launches), 'launch', 'launches')} with {counted(settings, 'setting')}",
        f"{report.statistics.seconds:.1f} s, {report.statistics.cache} cache",
    ]
    sheet.blank()
    sheet.paragraph(Text(f"Checked against {'; '.join(facts)}.", style="dim"))
