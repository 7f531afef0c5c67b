"""``gatecheck options`` for people: what a tree declares, as text and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from sm_gatecheck.model.option import Option
from sm_gatecheck.model.report import Source
from sm_gatecheck.report.clean import markdown_code, visible
from sm_gatecheck.report.markdown_table import table
from sm_gatecheck.report.proof import place
from sm_gatecheck.report.sheet import Sheet
from sm_gatecheck.report.wording import counted, option_name, source_title, value_text


def text(source: Source, options: Sequence[Option], width: int, color: bool) -> str:
    """Two or three lines an option: its flags; type, default and choices; where it is declared."""
    sheet = Sheet(width, color)
    sheet.paragraph(Text(f"{source_title(source)}: {counted(len(options), 'option')}", style="bold"))
    for option in options:
        sheet.blank()
        title = Text(option_name(option), style="bold")
        others = [visible(flag) for flag in option.flags if visible(flag) != option_name(option)]
        if others:
            title.append(f"  also {', '.join(others)}")
        if option.deprecated_flags:
            title.append(f"  deprecated {', '.join(visible(flag) for flag in option.deprecated_flags)}", style="dim")
        if not option.flags:
            title.append("  an environment variable" if option.is_environment else "  no flag sets it", style="dim")
        sheet.paragraph(title)
        sheet.paragraph(Text(f"{_declared(option)}  ").append_text(place(option.file, option.line)), indent=4)
    return sheet.text()


def markdown(source: Source, options: Sequence[Option], command: str) -> str:
    """A table, a row an option."""
    rows = [
        [
            markdown_code(option.field),
            " ".join(markdown_code(flag) for flag in option.flags),
            markdown_code(option.type) if option.type else "",
            markdown_code(default_text(option)),
            " ".join(markdown_code(value_text(choice)) for choice in option.choices or ()),
            markdown_code(f"{option.file}:{option.line}"),
        ]
        for option in options
    ]
    lines = [
        f"# {visible(source_title(source)).split(' (')[0]}: {counted(len(options), 'option')}",
        "",
        f"Made by {markdown_code(command)}.",
        "",
        *table(("field", "flags", "type", "default", "choices", "declared"), rows, 6),
    ]
    return "\n".join(lines)


def default_text(option: Option) -> str:
    """The default as written, its source where it is no literal."""
    if option.default is None and option.default_source is not None:
        return visible(option.default_source)
    return value_text(option.default)


def _declared(option: Option) -> str:
    facts = [visible(option.type)] if option.type else []
    facts.append(f"default {default_text(option)}")
    if option.choices is not None:
        facts.append(f"one of {', '.join(value_text(choice) for choice in option.choices)}")
    return "; ".join(facts)
