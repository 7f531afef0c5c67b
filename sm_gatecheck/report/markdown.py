"""The support matrix: options x SMs as Markdown that is fit to be committed. The same report gives the same bytes.

Nothing in it depends on the time, the machine or the order of a run; footnotes name the lines of SGLang that decide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from sm_gatecheck import __version__
from sm_gatecheck.model.report import Assumptions, Report
from sm_gatecheck.model.target import Devices
from sm_gatecheck.model.verdict import DefaultAlternative, EffectKind, Evidence, Judgement, OptionReport, Role, Verdict
from sm_gatecheck.report.clean import markdown_code, markdown_text
from sm_gatecheck.report.grouping import distinct, message_template
from sm_gatecheck.report.markdown_table import table
from sm_gatecheck.report.wording import (
    EFFECT_VERBS,
    PHASES,
    WORDS,
    counted,
    effect_subject,
    listed,
    option_name,
    products,
    sm_list,
    value_text,
)

WORST_FIRST = (
    Verdict.REJECTED,
    Verdict.NOOP_WITH_SIDE_EFFECTS,
    Verdict.OVERRIDDEN,
    Verdict.NOOP,
    Verdict.PARTIAL,
    Verdict.UNKNOWN,
    Verdict.ACTIVE,
)
"""An option stands in the group of its worst verdict, so that its values stay together."""

DEFAULT = "◂"
DEFAULT_SOMETIMES = "◃"
"""Behind the symbol of a value that an option takes by itself on an SM."""

TITLES: dict[Verdict, str] = {
    Verdict.REJECTED: "Refused on some GPU",
    Verdict.NOOP_WITH_SIDE_EFFECTS: "Without use on some GPU, and not without cost",
    Verdict.OVERRIDDEN: "Replaced on some GPU",
    Verdict.NOOP: "Without use on some GPU",
    Verdict.PARTIAL: "Only in part on some GPU",
    Verdict.UNKNOWN: "Not decided on some GPU",
    Verdict.ACTIVE: "Gated, and works on all of these GPUs",
}


def render(report: Report, devices: Devices, command: str) -> str:
    """The matrix of a report. ``command`` is the command line that makes it again."""
    notes = Footnotes()
    body = [*_groups(report, notes), *_defaults(report, notes)]
    lines = [*_head(report, command), *_legend(report, devices), *_counts(report), *body, *notes.lines(), *_left_out(report)]
    return "\n".join(lines) + "\n"


class Footnotes:
    """Notes in the order in which they are first referred to; equal ones share a number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def mark(self, note: str) -> str:
        return f"[^{self._numbers.setdefault(note, len(self._numbers) + 1)}]"

    def lines(self) -> list[str]:
        if not self._numbers:
            return []
        return ["## Where it is decided", "", *(f"[^{number}]: {note}" for note, number in self._numbers.items()), ""]


def _head(report: Report, command: str) -> list[str]:
    source, assumed = report.source, report.assumptions
    title = f"SGLang {markdown_text(source.sglang_version)}" if source.sglang_version else "SGLang"
    tree = f"{source.kind} {markdown_code(source.target)}, version {markdown_text(source.sglang_version or 'not stated')}"
    if source.git is not None:
        tree += f", commit {markdown_code(source.git.commit)}{', with local changes' if source.git.dirty else ''}"
    facts = [f"NVIDIA CUDA {markdown_text(assumed.cuda_version)}", "optional packages installed"]
    facts += [markdown_code(f"{field}={value_text(value)}") for field, value in sorted(assumed.settings.items())]
    return [
        f"# {title}: what each server option does on each GPU{_context(report)}",
        "",
        f"- Tree: {tree}",
        f"- Assumed: {', '.join(facts)}",
        f"- Made by gatecheck {__version__}: {markdown_code(command)}",
        "",
    ]


def _context(report: Report) -> str:
    """What is given, for the title: a matrix under assumptions is another matrix."""
    assumed = report.assumptions
    given = [markdown_code(f"{field}={value_text(value)}") for field, value in sorted(assumed.settings.items())]
    if assumed.cuda_version != Assumptions().cuda_version:
        given.append(f"CUDA {markdown_text(assumed.cuda_version)}")
    return f", with {listed(given)}" if given else ""


def _legend(report: Report, devices: Devices) -> list[str]:
    symbols = [(words.symbol, words.legend) for words in WORDS.values()]
    symbols += [(DEFAULT, "what the option is when nobody sets it"), (DEFAULT_SOMETIMES, "the same, under a condition: see the defaults")]
    targets = [(f"SM{sm}", markdown_text(products(devices, sm, limit=4)) or "–") for sm in report.sms]
    return ["## Legend", "", *table(("", "setting the option to this value"), symbols, 2), *table(("SM", "products"), targets, 2)]


def _counts(report: Report) -> list[str]:
    counts: Counter[tuple[Verdict, int]] = Counter(
        (judgement.verdict, judgement.sm) for option in report.options for judgement in option.judgements
    )
    rows = [
        [f"{WORDS[verdict].symbol} {WORDS[verdict].legend}", *(str(counts[verdict, sm]) for sm in report.sms)]
        for verdict in WORDS
        if verdict is not Verdict.UNGATED
    ]
    gated = sum(1 for option in report.options if worst(option) is not None)
    coverage = report.statistics.coverage
    return [
        "## In numbers",
        "",
        *table(("settings", *(f"SM{sm}" for sm in report.sms)), rows, 1),
        f"{counted(len(report.options), 'option')}, {gated:,} of them in the tables below; the others do not ask for the GPU. "
        f"{counted(coverage.sites, 'site')} read, {counted(coverage.gates_resolved, 'guard')} resolved, {coverage.gates_unresolved:,} not.",
        "",
    ]


def _groups(report: Report, notes: Footnotes) -> list[str]:
    lines: list[str] = []
    for verdict in WORST_FIRST:
        members = [option for option in report.options if worst(option) is verdict]
        if members:
            rows = [row for option in members for row in _rows(option, report.sms, notes)]
            lines += [f"## {TITLES[verdict]}", "", *table(("option", "value", *(f"SM{sm}" for sm in report.sms)), rows, 2)]
    return lines


def worst(option: OptionReport) -> Verdict | None:
    """The verdict that decides where an option stands; None for one that no GPU bears on."""
    found = {judgement.verdict for judgement in option.judgements}
    return next((verdict for verdict in WORST_FIRST if verdict in found), None)


def _rows(option: OptionReport, sms: Sequence[int], notes: Footnotes) -> list[list[str]]:
    cells = {(repr(judgement.value), judgement.sm): judgement for judgement in option.judgements}
    name = markdown_code(option_name(option.option))
    by_itself = dict(option.defaults)
    return [
        [
            name,
            markdown_code(value_text(value)),
            *(_cell(cells.get((repr(value), sm)), notes) + default_mark(option, value, by_itself.get(sm)) for sm in sms),
        ]
        for value in distinct(judgement.value for judgement in option.judgements if judgement.verdict is not Verdict.UNGATED)
    ]


def default_mark(option: OptionReport, value: Any, alternatives: tuple[DefaultAlternative, ...] | None) -> str:
    """What stands behind a value's symbol where the option takes that value by itself; else nothing."""
    if alternatives is None:
        return f" {DEFAULT}" if repr(value) == repr(option.option.default) and not option.defaults else ""
    found = [alternative for alternative in alternatives if repr(alternative.value) == repr(value)]
    if not found:
        return ""
    return f" {DEFAULT if len(alternatives) == 1 and found[0].when is None else DEFAULT_SOMETIMES}"


def _cell(judgement: Judgement | None, notes: Footnotes) -> str:
    if judgement is None:
        return WORDS[Verdict.UNGATED].symbol
    symbol = WORDS[judgement.verdict].symbol
    if judgement.verdict in (Verdict.ACTIVE, Verdict.UNGATED):
        return symbol
    return symbol + notes.mark(_note(judgement))


def _note(judgement: Judgement) -> str:
    """The claim with the lines behind it; what is the same on two SMs reads the same, so that they share a footnote."""
    template = message_template(judgement.summary, judgement.value, judgement.sm)
    this = "This SM" if template.startswith("{sms}") else "this SM"
    message = template.format(sms=this, values=value_text(judgement.value))
    parts = [markdown_text(message)]
    gates = [evidence for evidence in judgement.evidence if evidence.role is Role.GATE]
    parts += [_gate(gate) for gate in gates[:4]]
    effects = [effect for effect in judgement.effects if effect.kind is not EffectKind.BEHAVIOUR]
    for effect in effects[:6]:
        when = f", when {markdown_code(effect.when)}" if effect.when else ""
        what = f"{EFFECT_VERBS[effect.kind]} {markdown_code(effect_subject(effect))} {PHASES[effect.phase]}{when}"
        parts.append(f"{what}, {_place(effect.file, effect.line)}")
    if len(effects) > 6:
        parts.append(f"and {len(effects) - 6} more effects")
    parts += [f"not followed: {markdown_text(reason)}" for reason in judgement.unknown[:4]]
    return "; ".join(part.rstrip(".") for part in parts) + "."


def _gate(gate: Evidence) -> str:
    where = f"true on {sm_list(gate.true_on)}" if gate.true_on else "true on no SM"
    return f"{_place(gate.file, gate.line)} {markdown_code(gate.source)} is {where}"


def _place(file: str, line: int) -> str:
    return markdown_code(f"{file}:{line}")


def _defaults(report: Report, notes: Footnotes) -> list[str]:
    rows = []
    for option in report.options:
        if option.defaults:
            by_sm = dict(option.defaults)
            cells = (" or ".join(_alternative(value, notes) for value in by_sm.get(sm, ())) for sm in report.sms)
            rows.append([markdown_code(option_name(option.option)), markdown_code(value_text(option.option.default)), *cells])
    if not rows:
        return []
    head = ("option", "declared", *(f"SM{sm}" for sm in report.sms))
    return ["## Defaults that resolution changes", "", *table(head, rows, 2)]


def _alternative(alternative: DefaultAlternative, notes: Footnotes) -> str:
    when = f" when {markdown_code(alternative.when)}" if alternative.when else ""
    note = f"{_place(alternative.file, alternative.line)}{when}." if alternative.file else f"As declared{when}."
    return markdown_code(value_text(alternative.value)) + notes.mark(note)


def _left_out(report: Report) -> list[str]:
    if not report.diagnostics:
        return []
    entries = [f"- {_place(entry.file, entry.line)}: {markdown_text(entry.message)}" for entry in report.diagnostics]
    return ["## Left out", "", *entries, ""]
