"""The card of a check: the prose behind a finding, written once in ``rules/checks/GC*.toml`` and used by every report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sm_gatecheck.model.verdict import Severity, Verdict
from sm_gatecheck.rulebook import Rulebook, RulesError, read_toml

_MEND_FIELDS = ("option", "sms")


@dataclass(frozen=True)
class Card:
    """One check. ``verdict`` is the verdict it stands for, None for a check that looks at something else.

    ``mend`` is one sentence with the fields ``{option}`` and ``{sms}``; ``mend_with_alternatives`` replaces it where other
    values of the option work on that SM, and has ``{alternatives}`` too.
    """

    id: str
    title: str
    severity: Severity
    verdict: Verdict | None
    why: str
    what_to_do: str
    mend: str
    mend_with_alternatives: str | None
    example: str
    language: str = "python"
    """What the example is written in, as Markdown names it."""


def load_cards(rules: Rulebook) -> dict[str, Card]:
    """Every card of the rules by id, ascending. RulesError, one line, for a file that is no card."""
    cards = [read_card(rules.path(name)) for name in rules.names("checks")]
    return {card.id: card for card in cards}


def read_card(path: Path) -> Card:
    """One card from its file. RulesError that names the file and what is wrong with it."""
    written = read_toml(path)
    try:
        card = _card(written)
    except KeyError as error:
        raise RulesError(f"{path}: a card needs {error}") from None
    except ValueError as error:
        raise RulesError(f"{path}: {error}") from None
    if card.id != path.stem:
        raise RulesError(f"{path}: the card calls itself {card.id!r}; its id is the name of its file")
    return card


def _card(written: Mapping[str, Any]) -> Card:
    verdict, with_alternatives = written.get("verdict"), written.get("mend_with_alternatives")
    return Card(
        id=str(written["id"]),
        title=str(written["title"]),
        severity=Severity(written["severity"]),
        verdict=None if verdict is None else Verdict(verdict),
        why=_paragraph(written["why"]),
        what_to_do=_paragraph(written["what_to_do"]),
        mend=_template("mend", written["mend"], _MEND_FIELDS),
        mend_with_alternatives=_template("mend_with_alternatives", with_alternatives, (*_MEND_FIELDS, "alternatives"))
        if with_alternatives is not None
        else None,
        example=str(written["example"]).strip("\n"),
        language=str(written.get("language", "python")),
    )


def _template(key: str, text: str, fields: tuple[str, ...]) -> str:
    """The text, if it can be filled in. ValueError that names the key."""
    try:
        text.format_map(dict.fromkeys(fields, ""))
    except (KeyError, ValueError, IndexError, AttributeError, TypeError) as error:
        raise ValueError(f"{key}: {error} cannot be filled in; there are {', '.join(f'{{{field}}}' for field in fields)}") from None
    return text


def _paragraph(text: str) -> str:
    return " ".join(text.split())
