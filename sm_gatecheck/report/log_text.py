"""``gatecheck log`` for people: one start, one start against a tree, two starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from sm_gatecheck.logs.comparison import Behind, Comparison, FigureChange, OptionChange, Origin
from sm_gatecheck.logs.model import Figure, Log, Start, Unread
from sm_gatecheck.logs.prediction import Agreement, Prediction, Row
from sm_gatecheck.model.report import Source
from sm_gatecheck.report.clean import shortened, visible
from sm_gatecheck.report.proof import place
from sm_gatecheck.report.sheet import Sheet
from sm_gatecheck.report.wording import PHASES, WORDS, counted, listed, source_title, value_text

VALUE_WIDTH = 60
SAME = (Agreement.DECLARED, Agreement.RESOLVED, Agreement.GIVEN, Agreement.POSSIBLE)


@dataclass(frozen=True)
class Shown:
    """A start and the log that it is from."""

    log: Log
    start: Start

    @property
    def title(self) -> str:
        number = self.log.starts.index(self.start) + 1
        which = f", start {number} of {len(self.log.starts)}" if len(self.log.starts) > 1 else ""
        return f"{visible(self.log.name)}:{self.start.line}{which}"


@dataclass(frozen=True)
class Style:
    width: int
    color: bool
    verbosity: int = 0


def render(
    shown: Sequence[Shown],
    style: Style,
    source: Source | None = None,
    prediction: Prediction | None = None,
    comparison: Comparison | None = None,
) -> str:
    """What the start logged, or what changed between two; and the prediction where there is one."""
    sheet = Sheet(style.width, style.color)
    for item in shown:
        _head(sheet, item)
    if comparison is not None:
        _comparison(sheet, comparison, style)
    else:
        _figures(sheet, shown[-1].start)
        if prediction is None:
            _arguments(sheet, shown[-1].start, style)
    if prediction is not None and source is not None:
        _prediction(sheet, source, prediction, style)
    notes = [note for item in shown for note in item.log.notes]
    if notes:
        sheet.blank()
        for note in dict.fromkeys(notes):
            sheet.paragraph(Text(f"left out: {visible(note)}", style="dim"))
    return sheet.text()


def _head(sheet: Sheet, shown: Shown) -> None:
    start = shown.start
    if start.arguments is None:
        what = "no arguments in it: the log begins later"
    else:
        what = f"{counted(len(start.arguments), 'argument')}{', cut off in the middle' if start.is_cut else ''}"
    model = f", model class {visible(start.architecture)}" if start.architecture else ""
    sheet.paragraph(Text(shown.title, style="bold").append(f": {what}{model}", style="default"))


# -- one start


def _figures(sheet: Sheet, start: Start) -> None:
    if not start.figures:
        return
    sheet.blank()
    sheet.paragraph(Text("Capacity and memory", style="bold"))
    for figure in start.figures:
        more = f", then {listed([_number(item.value, figure.unit) for item in figure.readings[1:4]])}" if len(figure.readings) > 1 else ""
        text = Text(f"{_number(figure.value, figure.unit):>14}  {figure.title}{more}").append(f"  line {figure.line}", style="dim")
        sheet.paragraph(text, indent=2)


def _arguments(sheet: Sheet, start: Start, style: Style) -> None:
    if start.arguments is None:
        return
    every = start.arguments
    shown = {name: value for name, value in every.items() if style.verbosity > 0 or not _is_off(value)}
    sheet.blank()
    sheet.paragraph(Text("Arguments as resolved", style="bold"))
    width = min(max(map(len, shown), default=0), 44)
    for name, value in shown.items():
        sheet.line(Text(f"{visible(name):<{width}}  ").append(_value(value)), indent=2)
    left = len(every) - len(shown)
    if left:
        sheet.paragraph(Text(f"and {counted(left, 'argument')} that are None, false or empty (-v)", style="dim"), indent=2)
    sheet.paragraph(Text("With --tree and --sm, gatecheck says which of them resolution has set, and where.", style="dim"), indent=2)


def _is_off(value: Any) -> bool:
    return value is None or value is False or value in ("", [], {}, "{}")


# -- against a tree


def _prediction(sheet: Sheet, source: Source, prediction: Prediction, style: Style) -> None:
    sheet.blank()
    sheet.paragraph(Text(f"Against {source_title(source)} on SM{prediction.sm}", style="bold"))
    if not prediction.is_launch_known:
        sheet.paragraph(Text("What the launch gave was found from the log; --launch FILE, or arguments after --, would tell.", style="dim"))
    if prediction.refusal is not None:
        what, file, line = prediction.refusal
        refused = Text(f"This tree refuses this launch on SM{prediction.sm}: {shortened(visible(what), 200)}  ", style="red")
        sheet.paragraph(refused.append_text(place(file, line)))
    if prediction.unfinished:
        sheet.paragraph(Text(visible(prediction.unfinished), style="magenta"))
    _section(sheet, "Differs from the prediction", prediction.differences, "red", style)
    rows = prediction.rows
    given = tuple(row for row in rows if row.agreement is Agreement.GIVEN)
    _section(sheet, "Given by the launch", given, "default", style, whys=style.verbosity > 0)
    kept = [row for row in rows if style.verbosity > 0 or not row.is_unchanged]
    _section(sheet, "Set by resolution", [row for row in kept if row.agreement is Agreement.RESOLVED], "default", style)
    _section(sheet, "Among what resolution may come to", [row for row in kept if row.agreement is Agreement.POSSIBLE], "default", style)
    _section(sheet, "Not predicted", [row for row in rows if row.agreement is Agreement.UNDECIDED], "default", style)
    if style.verbosity > 0:
        _section(sheet, "Drawn at each start", [row for row in rows if row.agreement is Agreement.DRAWN], "default", style)
        _section(sheet, "As declared", [row for row in rows if row.agreement is Agreement.DECLARED], "default", style, whys=False)
    sheet.blank()
    compared = sum(row.is_compared for row in rows)
    missing = prediction.count(Agreement.NOT_LOGGED)
    summary = (
        f"{prediction.count(*SAME):,} of {counted(compared, 'argument')} as predicted "
        f"({sum(row.is_unchanged and row.agreement in SAME for row in rows):,} as declared), "
        f"{len(prediction.differences):,} not; {prediction.count(Agreement.UNDECIDED):,} not predicted"
    )
    if missing:
        summary += f"; {counted(missing, 'option')} of the tree {'is' if missing == 1 else 'are'} not in the log"
    sheet.paragraph(Text(f"{summary}.", style="bold"))


def _section(sheet: Sheet, title: str, rows: Sequence[Row], color: str, style: Style, whys: bool = True) -> None:
    if not rows:
        return
    sheet.blank()
    sheet.paragraph(Text(f"{title} ({len(rows)})", style=color if color != "default" else "bold"))
    for row in rows:
        sheet.line(Text(f"{visible(row.field)} = ").append(_value(row.logged), style="bold"), indent=2)
        if whys and row.why:
            sheet.paragraph(Text(shortened(visible(row.why), 600 if style.verbosity > 0 else 240), style="dim"), indent=6)


# -- two starts


def _comparison(sheet: Sheet, comparison: Comparison, style: Style) -> None:
    changed = [change for change in comparison.options if change.origin is not Origin.DRAWN]
    noticed = [change for change in comparison.figures if change.is_noticeable]
    sheet.blank()
    if not changed and not noticed:
        sheet.paragraph(Text("Nothing changed: the same arguments, the same capacity.", style="bold"))
    if noticed:
        sheet.paragraph(Text("Capacity and memory", style="bold"))
        for figure in noticed:
            _figure_change(sheet, figure)
        same = len(comparison.figures) - len(noticed)
        if same:
            sheet.paragraph(Text(f"{counted(same, 'figure')} as before", style="dim"), indent=2)
        sheet.blank()
        _behind(sheet, comparison)
    for change in comparison.other_memory:
        difference = (change.after or 0.0) - (change.before or 0.0)
        said = f"{abs(difference):.2f} GB {'less' if difference < 0 else 'more'} was free before the weights were loaded: "
        sheet.paragraph(Text(said + "no option did that; something else used this GPU's memory.", style="yellow"), indent=2)
        sheet.blank()
    if changed:
        sheet.paragraph(Text(f"Arguments ({len(changed)})", style="bold"))
        for option in changed:
            _option_change(sheet, option)
        if not comparison.is_explained and len(changed) > 1:
            sheet.paragraph(Text("With --tree and --sm, gatecheck says which of these follow from which.", style="dim"), indent=2)
    drawn = [change.field for change in comparison.options if change.origin is Origin.DRAWN]
    if drawn and style.verbosity > 0:
        sheet.paragraph(Text(f"drawn anew at each start: {', '.join(map(visible, drawn))}", style="dim"), indent=2)


def _figure_change(sheet: Sheet, change: FigureChange) -> None:
    figure, unit = change.figure, change.figure.unit
    values = f"{_side(change.before, unit)} → {_side(change.after, unit)}"
    text = Text(f"{figure.title}: ").append(values, style="bold")
    if change.before is not None and change.after is not None:
        text.append(f"  ({_signed(change.after - change.before, unit)})", style="dim")
    sheet.paragraph(text, indent=2)


def _behind(sheet: Sheet, comparison: Comparison) -> None:
    """Each option that bears on a figure once, with the figures."""
    figures: dict[Behind, list[str]] = {}
    for item in comparison.figures:
        for behind in item.behind:
            figures.setdefault(behind, []).append(item.figure.title)
    if not figures:
        return
    changes = {change.field: change for change in comparison.options}
    sheet.paragraph(Text("Behind it", style="bold"))
    for behind, titles in figures.items():
        change = changes[behind.field]
        sheet.paragraph(Text(f"{visible(behind.field)}: {_value(change.before)} → {_value(change.after)}"), indent=2)
        sheet.paragraph(_how(behind, titles), indent=6)
    sheet.blank()


def _how(behind: Behind, titles: Sequence[str]) -> Text:
    if behind.how == "computed":
        return Text(f"computed from it: {', '.join(titles)}")
    if behind.effect is None:
        return Text("the only option that somebody changed, as far as the logs tell")
    said = f"takes memory {PHASES[behind.effect.phase]}: {visible(behind.effect.what)}"
    if behind.verdict is not None:
        said += f"; on this SM it {WORDS[behind.verdict].one}"
    return Text(f"{said}  ").append_text(place(behind.effect.file, behind.effect.line))


def _option_change(sheet: Sheet, change: OptionChange) -> None:
    text = Text(f"{visible(change.field)}: ")
    if change.origin is Origin.ONLY_BEFORE:
        text.append(_value(change.before), style="bold").append("  only in the first log: another release", style="dim")
    elif change.origin is Origin.ONLY_AFTER:
        text.append(_value(change.after), style="bold").append("  only in the second log: another release", style="dim")
    else:
        text.append(f"{_value(change.before)} → {_value(change.after)}", style="bold")
    if change.origin is Origin.SET:
        text.append("  set by the launch", style="dim")
    sheet.paragraph(text, indent=2)
    if change.origin is Origin.FOLLOWS:
        when = f", when {shortened(visible(change.when), 160)}" if change.when else ""
        because = Text(f"follows from {listed([visible(name) for name in change.causes])}{when}", style="dim")
        if change.place is not None:
            because.append("  ").append_text(place(*change.place))
        sheet.paragraph(because, indent=6)


# -- values


def _value(value: Any) -> str:
    if isinstance(value, Unread):
        return shortened(visible(value.text), VALUE_WIDTH)
    return shortened(value_text(plain(value)), VALUE_WIDTH)


def plain(value: Any) -> Any:
    """A logged value with texts in place of what is no literal."""
    if isinstance(value, Unread):
        return value.text
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return value


def _number(value: float, unit: str) -> str:
    return f"{value:,.2f} {unit}" if unit == "GB" else f"{value:,.0f}"


def _side(value: float | None, unit: str) -> str:
    return "not logged" if value is None else _number(value, unit)


def _signed(value: float, unit: str) -> str:
    return f"{value:+,.2f} {unit}" if unit == "GB" else f"{value:+,.0f}"


__all__ = ["Figure", "Shown", "Style", "plain", "render"]
