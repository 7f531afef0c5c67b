"""``gatecheck rule``: the cards of the checks, as text, Markdown and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.text import Text

from sm_gatecheck import __version__
from sm_gatecheck.checks.cards import Card
from sm_gatecheck.report.clean import visible, visible_lines
from sm_gatecheck.report.json import SCHEMA_VERSION
from sm_gatecheck.report.sheet import Sheet


def text(cards: Sequence[Card], width: int, color: bool) -> str:
    """One card in full after the other."""
    sheet = Sheet(width, color)
    for index, card in enumerate(cards):
        if index:
            sheet.blank()
        sheet.paragraph(Text(f"{card.id}  {card.title}", style="bold").append(f"  {card.severity.value}", style="dim"))
        for heading, prose in (("Why it matters", card.why), ("What to do", card.what_to_do)):
            sheet.blank()
            sheet.line(Text(heading, style="underline"), indent=2)
            sheet.paragraph(Text(prose), indent=2)
        sheet.blank()
        sheet.line(Text("Example", style="underline"), indent=2)
        sheet.verbatim(visible_lines(card.example), indent=4)
    return sheet.text()


def markdown(cards: Sequence[Card]) -> str:
    """The same for a documentation page; docs/rules.md holds this between its markers."""
    parts = []
    for card in cards:
        example = "\n".join(visible_lines(card.example))
        parts.append(
            f"### {card.id}: {card.title}\n\nSeverity: {card.severity.value}."
            f"\n\n**Why it matters.** {card.why}\n\n**What to do.** {card.what_to_do}\n\n```{visible(card.language)}\n{example}\n```\n"
        )
    return "\n".join(parts)


def document(cards: Sequence[Card]) -> dict[str, Any]:
    """The cards as a JSON document."""
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "gatecheck", "version": __version__},
        "rules": [
            {
                "id": card.id,
                "title": card.title,
                "severity": card.severity.value,
                "verdict": None if card.verdict is None else card.verdict.value,
                "why": card.why,
                "what_to_do": card.what_to_do,
                "example": card.example,
            }
            for card in cards
        ],
    }
