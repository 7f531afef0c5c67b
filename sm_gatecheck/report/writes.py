"""``gatecheck explain --what-sets``: everything that writes an option, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.text import Text

from sm_gatecheck.model.explanation import Met, OptionWrite, Test, Writes
from sm_gatecheck.model.target import Devices
from sm_gatecheck.model.verdict import DefaultAlternative
from sm_gatecheck.report import json as documents
from sm_gatecheck.report.clean import shortened, visible
from sm_gatecheck.report.explanation import place_document, test_document
from sm_gatecheck.report.proof import place
from sm_gatecheck.report.sheet import Sheet
from sm_gatecheck.report.wording import counted, listed, option_name, sm_list, sm_set, sm_title, source_title, value_text

LABEL = 6
CONDITION_LENGTH = 300
FINAL_LENGTH = 240

_ORDER = (Met.ALWAYS, Met.DEPENDS, Met.NEVER, Met.NOT_FOLLOWED, Met.LATER)
_HEADINGS: dict[Met, tuple[str, str]] = {
    Met.ALWAYS: ("Happens", "bold red"),
    Met.DEPENDS: ("May happen: that depends on what is not given", "bold yellow"),
    Met.NEVER: ("Does not happen with these options", "bold"),
    Met.NOT_FOLLOWED: ("How resolution gets there was not followed", "bold magenta"),
    Met.LATER: ("After the arguments are resolved, when this code runs", "bold"),
}


def text(writes: Writes, devices: Devices, width: int, color: bool, verbosity: int) -> str:
    """A page: what the option ends as, then its writes, those that happen first."""
    sheet = Sheet(width, color)
    if verbosity < 0:
        sheet.verbatim(_quiet_lines(writes))
        return sheet.text()
    sheet.paragraph(Text(source_title(writes.source), style="bold"))
    on = listed([sm_title(devices, sm) for sm in writes.sms])
    sheet.paragraph(
        Text("What sets ").append(option_name(writes.option), style="bold").append(f" ({visible(writes.option.field)}) on {on}")
    )
    facts = [f"NVIDIA CUDA {visible(writes.assumptions.cuda_version)}", "optional packages installed"]
    facts += [f"{visible(name)}={value_text(value)}" for name, value in sorted(writes.assumptions.settings.items())]
    sheet.paragraph(Text(f"Assumed: {', '.join(facts)}; every other option at its default.", style="dim"))
    declared = writes.lines.get(f"{writes.option.file}:{writes.option.line}", "")
    rows = [("declared", place(writes.option.file, writes.option.line).append(f"  {visible(declared)}", style="default"))]
    rows += list(_final(writes))
    sheet.rows(rows, indent=2, label_width=LABEL + 2)
    if not writes.writes:
        sheet.blank()
        sheet.paragraph(Text("Nothing in this tree writes it: it stays what the user gives, or its default."))
    for met in _ORDER:
        members = [write for write in writes.writes if _worst(write) is met]
        if members:
            heading, style = _HEADINGS[met]
            sheet.blank()
            sheet.line(Text(heading, style=style).append(f"  {counted(len(members), 'place')}", style="dim"))
            for write in members:
                _block(sheet, writes, write)
    if writes.unfinished:
        sheet.blank()
        sheet.paragraph(Text(visible(writes.unfinished), style="magenta"))
    return sheet.text()


def _worst(write: OptionWrite) -> Met:
    """The group of a write: what it does on the SM where it does most."""
    return min((standing.met for standing in write.standings), key=_ORDER.index, default=Met.NEVER)


def _quiet_lines(writes: Writes) -> Iterable[str]:
    for write in writes.writes:
        for standing in write.standings:
            when = f" when {visible(standing.when)}" if standing.when else ""
            yield (
                f"{visible(write.place.file)}:{write.place.line}: {visible(write.written)} on SM{standing.sm}: "
                f"{standing.met.value.replace('_', ' ')}{when}"
            )


def _final(writes: Writes) -> Iterable[tuple[str, Text]]:
    """What the option ends as: a row an alternative, SMs with the same ones together."""
    alike: dict[tuple[DefaultAlternative, ...], list[int]] = {}
    for sm, alternatives in writes.final:
        alike.setdefault(alternatives, []).append(sm)
    for alternatives, sms in alike.items():
        on = f"  on {sm_list(sms)}" if len(alike) > 1 else ""
        for index, alternative in enumerate(alternatives):
            when = f" when {shortened(visible(alternative.when), FINAL_LENGTH)}" if alternative.when else ""
            line = Text(value_text(alternative.value), style="bold").append(f"{when}  ", style="not bold")
            line.append_text(place(alternative.file, alternative.line))
            yield "ends as" if index == 0 else "or", line.append(on, style="dim")


def _block(sheet: Sheet, writes: Writes, write: OptionWrite) -> None:
    sheet.blank()
    source = writes.lines.get(f"{write.place.file}:{write.place.line}", write.written)
    sheet.paragraph(place(write.place.file, write.place.line).append(f"  {visible(source)}", style="bold"), indent=2)
    rows: list[tuple[str, Text]] = []
    if write.place.function:
        rows.append(("in", Text(visible(write.place.function))))
    rows += [_test(test, writes.known_sms) for test in write.tests]
    if write.when is not None or not write.tests:
        rows.append(("when", Text(_condition(write.when))))
    rows += [("names", _through(writes, where.file, where.line)) for where in write.through]
    if write.values and (len(write.values) > 1 or write.through):
        rows.append(("values", Text(", ".join(value_text(value) for value in write.values))))
    if write.when != "never" and set(write.possible_on) and len(write.possible_on) < len(_every(writes, write)):
        rows.append(("only", Text(f"on {sm_set(write.possible_on, writes.known_sms)}")))
    rows += _standings(write)
    sheet.rows(rows, indent=4, label_width=LABEL)


def _every(writes: Writes, write: OptionWrite) -> tuple[int, ...]:
    return writes.known_sms or write.possible_on


def _condition(when: str | None) -> str:
    if when is None:
        return "always"
    return "never on NVIDIA CUDA" if when == "never" else shortened(visible(when), CONDITION_LENGTH)


def _through(writes: Writes, file: str, line: int) -> Text:
    return place(file, line).append(f"  {visible(writes.lines.get(f'{file}:{line}', ''))}", style="default")


def _test(test: Test, known: Sequence[int]) -> tuple[str, Text]:
    label = {True: "if", False: "if not", None: "past"}[test.passes_if]
    line = place(test.place.file, test.place.line).append(f"  {visible(test.place.source)}", style="default")
    return label, line if test.true_on is None else line.append(f"  lets pass {sm_set(test.true_on, known)}", style="bold")


def _standings(write: OptionWrite) -> Iterable[tuple[str, Text]]:
    """What is left of the condition under the given context, where that says more than the heading."""
    differ = len({(standing.met, standing.when) for standing in write.standings}) > 1
    for standing in write.standings:
        if standing.met is Met.DEPENDS and standing.when != write.when:
            yield ("here", Text(f"{f'on SM{standing.sm} ' if differ else ''}when {_condition(standing.when)}"))
        elif differ:
            yield ("here", Text(f"on SM{standing.sm}: {standing.met.value.replace('_', ' ')}"))
        if not differ:
            return


def json(writes: Writes) -> str:
    """The document ``writes_report`` of the schema."""
    lines = writes.lines
    return documents.render(
        {
            **documents.head(writes.source),
            "assumptions": documents.assumptions(writes.assumptions),
            "sms": list(writes.sms),
            "option": {**documents.option_facts(writes.option), "source": lines.get(f"{writes.option.file}:{writes.option.line}")},
            "final": documents.defaults(writes.final),
            "writes": [_document(write) for write in writes.writes],
            "unfinished": writes.unfinished,
            "diagnostics": documents.diagnostics(writes.diagnostics),
        }
    )


def _document(write: OptionWrite) -> dict[str, Any]:
    return {
        **place_document(write.place),
        "values": [documents.plain(value) for value in write.values],
        "when": write.when,
        "possible_on": list(write.possible_on),
        "tests": [test_document(test) for test in write.tests],
        "through": [place_document(where) for where in write.through],
        "met": [{"sm": standing.sm, "met": standing.met.value, "when": standing.when} for standing in write.standings],
    }
