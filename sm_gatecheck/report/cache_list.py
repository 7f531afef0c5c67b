"""``gatecheck cache``: what is kept, as text and JSON."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.text import Text

from sm_gatecheck import __version__
from sm_gatecheck.cache.holdings import RELEASES, Holding
from sm_gatecheck.report.clean import visible
from sm_gatecheck.report.json import SCHEMA_VERSION
from sm_gatecheck.report.sheet import Sheet
from sm_gatecheck.report.wording import counted

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


def text(directory: Path, held: Sequence[Holding], width: int, color: bool) -> str:
    """A line a kind, and a line a release, which alone have names that say something."""
    sheet = Sheet(width, color)
    sheet.paragraph(Text(visible(str(directory)), style="bold"))
    for kind in sorted({holding.kind for holding in held}):
        members = [holding for holding in held if holding.kind == kind]
        unfinished = sum(holding.unfinished for holding in members)
        line = f"{visible(kind)}: {len(members):,}, {size(sum(holding.size for holding in members))}"
        sheet.line(Text(f"{line}, {unfinished} unfinished" if unfinished else line), indent=2)
        if kind == RELEASES:
            for holding in members:
                sheet.line(Text(f"{visible(holding.name)}  {size(holding.size)}  last used {_day(holding.used)}", style="dim"), indent=4)
    total = sum(holding.size for holding in held)
    sheet.line(Text(f"{counted(len(held), 'entry', 'entries')}, {size(total)}." if held else "Nothing is kept."))
    return sheet.text()


def document(directory: Path, held: Sequence[Holding], removed: Sequence[Holding]) -> dict[str, Any]:
    """The same as a JSON document; ``removed`` is what went, or would."""
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "gatecheck", "version": __version__},
        "directory": str(directory),
        "bytes": sum(holding.size for holding in held),
        "entries": [_entry(holding) for holding in held],
        "removed": [_entry(holding) for holding in removed],
    }


def size(number: float) -> str:
    """``512 bytes``, ``1.5 MiB``."""
    index = 0
    while number >= 1024 and index + 1 < len(_UNITS):
        number, index = number / 1024, index + 1
    return f"{number:,.0f} {_UNITS[index]}" if index == 0 else f"{number:,.1f} {_UNITS[index]}"


def _entry(holding: Holding) -> dict[str, Any]:
    return {
        "kind": holding.kind,
        "name": holding.name,
        "bytes": holding.size,
        "last_used": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(holding.used)),
        "unfinished": holding.unfinished,
    }


def _day(used: float) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(used))
