"""``gatecheck predicates`` for people: every device predicate and its value on each SM, as text and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from sm_gatecheck.model.report import PredicateRow, Source
from sm_gatecheck.report.clean import markdown_code, markdown_text, visible
from sm_gatecheck.report.markdown_table import table
from sm_gatecheck.report.proof import place
from sm_gatecheck.report.sheet import Sheet
from sm_gatecheck.report.wording import counted, sm_list, source_title, value_text


def text(source: Source, cuda_version: str, rows: Sequence[PredicateRow], width: int, color: bool) -> str:
    """Two lines a predicate: its name and place; each of its values with the SMs that have it."""
    sheet = Sheet(width, color)
    sheet.paragraph(Text(f"{source_title(source)}: {counted(len(rows), 'device predicate')}", style="bold"))
    sheet.paragraph(Text(f"Assumed: NVIDIA CUDA {visible(cuda_version)}.", style="dim"))
    for row in rows:
        sheet.blank()
        sheet.paragraph(Text(visible(row.name), style="bold").append(f"  {row.kind}  ", style="dim").append_text(place(row.file, row.line)))
        for value, sms in _by_value(row):
            shown = Text("not decided by the SM", style="magenta") if value is None else Text(value_text(value))
            shown.append(f" on {sm_list(sms)}")
            if value is None and row.reason:
                shown.append(f": {visible(row.reason)}", style="dim")
            sheet.paragraph(shown, indent=4)
    return sheet.text()


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
