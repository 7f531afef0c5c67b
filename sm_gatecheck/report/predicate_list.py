"""``gatecheck predicates`` for people: every device predicate and its value on each SM, as text and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from rich.text import Text

from sm_gatecheck.model.report import PredicateRow, Source
from sm_gatecheck.report.clean import markdown_code, markdown_text, visible
from sm_gatecheck.report.markdown_table import table
from sm_gatecheck.report.proof import place
from sm_gatecheck.report.sheet import Sheet
from sm_gatecheck.report.wording import counted, sm_list, source_title, value_text

LINE_WIDTH = 5
NAME_LEAST = 12
LISTED_VALUES = 4
NOTHING_THERE = ("None", "not defined")
"""Reasons that are answers of their own: the SM decides that there is no value."""


def text(source: Source, cuda_version: str, rows: Sequence[PredicateRow], width: int, color: bool) -> str:
    """By file, a line a predicate and a column an SM; what does not fit a column is told under the name."""
    sheet = Sheet(width, color)
    sheet.paragraph(Text(f"{source_title(source)}: {counted(len(rows), 'device predicate')}", style="bold"))
    sheet.paragraph(Text(f"Assumed: NVIDIA CUDA {visible(cuda_version)}.", style="dim"))
    told = [row for row in rows if not _is_open_everywhere(row)]
    sms = sorted({sm for row in rows for sm, _ in row.values})
    grid = _Grid(sheet, sms, width, max((len(_label(row)) for row in told), default=0))
    if any(grid.fits(row) for row in told):
        sheet.paragraph(Text("yes and - are true and false, ? is not decided by the SM alone, ! is told below.", style="dim"))
    for file, group in groupby(told, lambda row: row.file):
        sheet.blank()
        grid.print(file, list(group))
    still_open = [row for row in rows if _is_open_everywhere(row)]
    if still_open:
        sheet.blank()
        sheet.paragraph(Text(f"The SM bears on {counted(len(still_open), 'more')}, and decides none of them alone:"))
    for row in still_open:
        sheet.paragraph(Text(f"{_label(row)}  ").append_text(place(row.file, row.line)), indent=2)
        sheet.line(Text(visible(row.reason or ""), style="dim"), indent=4)
    return sheet.text()


class _Grid:
    """The rows of a file under its name: line, name, and a cell an SM."""

    def __init__(self, sheet: Sheet, sms: Sequence[int], width: int, longest: int) -> None:
        self._sheet = sheet
        self._sms = sms
        self._cell = max((len(str(sm)) for sm in sms), default=3) + 1
        self._cell = max(self._cell, len("yes") + 1)
        room = width - self._cell * len(sms) - LINE_WIDTH - 1
        self._name_width = min(room, longest)
        self._is_wide = room >= NAME_LEAST

    def fits(self, row: PredicateRow) -> bool:
        """Whether every value can stand in a column."""
        return self._is_wide and all(len(_cell(value, "")) < self._cell for _, value in row.values)

    def print(self, file: str, rows: Sequence[PredicateRow]) -> None:
        margin = LINE_WIDTH + 1 + self._name_width
        title = Text(visible(file), style="cyan")
        if any(map(self.fits, rows)):
            heads = "".join(str(sm).rjust(self._cell) for sm in self._sms)
            if title.cell_len > margin:
                self._sheet.line(title)
                title = Text()
            title.append(" " * (margin - title.cell_len)).append(heads, style="dim")
        self._sheet.line(title)
        for row in rows:
            self._print_row(row, margin)

    def _print_row(self, row: PredicateRow, margin: int) -> None:
        name = Text(str(row.line).rjust(LINE_WIDTH) + " ", style="dim").append(_label(row), style="default")
        if not self.fits(row):
            self._sheet.paragraph(name)
            self._print_values(row)
        else:
            if name.cell_len > margin:
                self._sheet.paragraph(name)
                name = Text()
            self._sheet.line(name.append(" " * (margin - name.cell_len)).append_text(self._cells(row)))
        for mark, sentence in _remarks(row):
            self._sheet.paragraph(Text(f"{mark} ", style=_STYLES[mark]).append(sentence, style="dim"), indent=LINE_WIDTH + 3)

    def _cells(self, row: PredicateRow) -> Text:
        values, reasons = dict(row.values), dict(row.undecided)
        cells = Text()
        for sm in self._sms:
            shown = _cell(values[sm], reasons.get(sm, "")) if sm in values else ""
            cells.append(shown.rjust(self._cell), style=_STYLES.get(shown, "default"))
        return cells

    def _print_values(self, row: PredicateRow) -> None:
        shown = [(value, sms) for value, sms in _by_value(row) if value is not None and not _is_raised(value)]
        if all(value == divmod(sm, 10) for sm, value in row.values):
            self._sheet.paragraph(Text("the capability, [major, minor]"), indent=LINE_WIDTH + 3)
            return
        if len(shown) > LISTED_VALUES:
            texts = [f"{value_text(value)} on SM{', SM'.join(map(str, sms))}" for value, sms in shown]
            self._sheet.paragraph(Text("; ".join(texts)), indent=LINE_WIDTH + 3)
            return
        for value, sms in shown:
            self._sheet.paragraph(Text(f"{value_text(value)} on {sm_list(sms)}"), indent=LINE_WIDTH + 3)


_STYLES = {"yes": "green", "-": "dim", "?": "magenta", "!": "red"}


def _cell(value: Any, reason: str) -> str:
    if value is None:
        return "!" if reason in NOTHING_THERE else "?"
    if isinstance(value, bool):
        return "yes" if value else "-"
    return "!" if _is_raised(value) else value_text(value)


def _is_raised(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("raises ")


def _remarks(row: PredicateRow) -> list[tuple[str, str]]:
    """What is told below a row: exceptions, where there is nothing, and what else decides."""
    gathered: dict[tuple[str, str], list[int]] = {}
    for sm, value in row.values:
        if _is_raised(value):
            gathered.setdefault(("!", value), []).append(sm)
    for sm, reason in row.undecided:
        gathered.setdefault(("!" if reason in NOTHING_THERE else "?", reason), []).append(sm)
    return [
        (mark, f"{visible(reason)} on {sm_list(sms)}" if mark == "!" else f"on {sm_list(sms)}: {visible(reason)}")
        for (mark, reason), sms in gathered.items()
    ]


def _is_open_everywhere(row: PredicateRow) -> bool:
    return all(value is None for _, value in row.values)


def _label(row: PredicateRow) -> str:
    """The name within its file, called where it is a function."""
    module = "sglang." + row.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    name = row.name.removeprefix(module + ".").removeprefix("sglang.")
    return visible(name + ("()" if row.kind in ("function", "method") and not name.endswith("()") else ""))


def markdown(source: Source, cuda_version: str, rows: Sequence[PredicateRow], command: str) -> str:
    """A table, a row a predicate and a column an SM; ``?`` where the SM alone does not decide."""
    sms = sorted({sm for row in rows for sm, _ in row.values})
    body = []
    for row in rows:
        values = dict(row.values)
        cells = ["" if sm not in values else "?" if values[sm] is None else markdown_code(value_text(values[sm])) for sm in sms]
        body.append([markdown_code(row.name), row.kind, markdown_code(f"{row.file}:{row.line}"), *cells])
    undecided = [f"- {markdown_code(row.name)}: {markdown_text(row.reason)}" for row in rows if row.reason]
    lines = [
        f"# {visible(source_title(source)).split(' (')[0]}: {counted(len(rows), 'device predicate')}",
        "",
        f"Assumed: NVIDIA CUDA {markdown_text(cuda_version)}. Made by {markdown_code(command)}.",
        "",
        *table(("predicate", "kind", "defined", *(f"SM{sm}" for sm in sms)), body, 3),
        *(["## Not decided by the SM alone", "", *undecided, ""] if undecided else []),
    ]
    return "\n".join(lines)


def _by_value(row: PredicateRow) -> list[tuple[object, list[int]]]:
    gathered: dict[str, tuple[object, list[int]]] = {}
    for sm, value in row.values:
        gathered.setdefault(repr(value), (value, []))[1].append(sm)
    return list(gathered.values())
