"""What the server will really run with: a row for each option that resolution changes for a launch."""

from __future__ import annotations

from rich.cells import cell_len
from rich.text import Text

from sm_gatecheck.model.launch_report import LaunchReport, ResolvedOption
from sm_gatecheck.model.report import Report
from sm_gatecheck.report.clean import visible
from sm_gatecheck.report.sheet import Sheet
from sm_gatecheck.report.text import TextStyle
from sm_gatecheck.report.wording import value_text

FIELD_ROOM = 34


def resolved_table(sheet: Sheet, style: TextStyle, report: Report, launch: LaunchReport) -> None:
    """A row a change: the certain ones first, those that hang on a condition after them, those of particular models only if asked for."""
    for sm, options in (entry for entry in launch.resolved if entry[0] in report.sms):
        certain = [option for option in options if option.when is None]
        open_ones = [option for option in options if option.when is not None and (option.is_ordinary or style.whole)]
        hidden = len(options) - len(certain) - len(open_ones)
        sheet.blank()
        sheet.paragraph(
            Text(f"What resolution changes for it on SM{sm}", style="bold").append("  before → after, because", "dim"), indent=2
        )
        if not options:
            sheet.paragraph(Text("nothing", style="dim"), indent=4)
        width = min(max((len(option.field) for option in (*certain, *open_ones)), default=0), FIELD_ROOM)
        for option in certain:
            _row(sheet, style, option, width)
        if open_ones:
            sheet.paragraph(Text("perhaps, with the condition under which:", style="dim"), indent=2)
        for option in open_ones:
            _row(sheet, style, option, width)
        if hidden:
            sheet.paragraph(Text(f"and {hidden} more for models that SGLang names (-v, or --model-config)", style="dim"), indent=2)


def _row(sheet: Sheet, style: TextStyle, option: ResolvedOption, width: int) -> None:
    after = value_text(option.value) if option.text is None else visible(option.text)
    change = f"{value_text(option.before)} → {after}"
    where = f"{visible(option.file)}:{option.line}"
    line = Text(visible(option.field).ljust(width) + "  ").append(change)
    detail = Text()
    if cell_len(line.plain) + 4 + 2 + len(where) <= style.width:
        line.append("  ").append(where, style="cyan")
    else:
        detail.append(where, style="cyan")
    if option.when is not None:
        detail.append("  " if detail else "").append(f"when {visible(option.when)}", style="dim")
    if style.whole:
        sheet.paragraph(line, indent=4)
        if detail:
            sheet.paragraph(detail, indent=6)
    else:
        sheet.line(line, indent=4)
        if detail:
            sheet.line(detail, indent=6)
