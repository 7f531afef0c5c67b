"""``gatecheck config``: the settings in force, as text and JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from rich.text import Text

from sm_gatecheck import __version__
from sm_gatecheck.report.clean import visible
from sm_gatecheck.report.json import SCHEMA_VERSION
from sm_gatecheck.report.sheet import Sheet

Row = tuple[str, Any, str]
"""A key, its value, and where that came from."""


def text(command: str, file: str | None, rows: Sequence[Row], width: int, color: bool) -> str:
    """A line a setting, written as a configuration file has it, with where it came from as a comment."""
    sheet = Sheet(width, color)
    read = f"read from {visible(file)}" if file is not None else "no configuration file"
    sheet.paragraph(Text(f"# gatecheck {command}: {read}", style="bold"))
    written = [(f"{key} = {json.dumps(value)}", source) for key, value, source in rows]
    room = min(max((len(line) for line, _ in written), default=0), 48)
    sheet.verbatim(f"{visible(line):<{room}}  # {visible(source)}" for line, source in written)
    return sheet.text()


def document(command: str, file: str | None, rows: Sequence[Row]) -> dict[str, Any]:
    """The same as a JSON document."""
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "gatecheck", "version": __version__},
        "command": command,
        "file": file,
        "settings": [{"key": key, "value": value, "source": source} for key, value, source in rows],
    }
