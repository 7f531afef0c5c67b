"""How a committed matrix differs from the one that would be made today, in words.

What says where and when a matrix was made may change from one commit to the next, and line numbers move with every edit:
neither is drift. Everything else that it claims is compared: verdicts, values, defaults, assumptions, and the reasons in the notes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from sm_gatecheck.report.clean import visible

_CELL = re.compile(r"(?<!\\)\|")
_NOTE = re.compile(r"^\[\^(\d+)\]: (.*)$")
_MARK = re.compile(r"\[\^(\d+)\]")
_LINE_NUMBER = re.compile(r"(\.py):\d+")


@dataclass
class WrittenMatrix:
    """A matrix as its Markdown has it: cells by (table, option, value or declared default) and column, notes put in their places."""

    title: str = ""
    assumed: str = ""
    columns: tuple[str, ...] = ()
    rows: dict[tuple[str, str, str], dict[str, str]] = field(default_factory=dict)
    reasons: dict[tuple[str, str, str, str], str] = field(default_factory=dict)


@dataclass(frozen=True)
class Drift:
    """``changes`` are sentences, one a difference; ``moved`` counts the cells whose notes name lines that have moved since."""

    changes: tuple[str, ...]
    moved: int


def read(text: str) -> WrittenMatrix:
    """The matrix that a Markdown text holds. ValueError where it holds none."""
    matrix = WrittenMatrix()
    notes = {match[1]: match[2] for match in map(_NOTE.match, text.splitlines()) if match}
    header: list[str] = []
    for line in text.splitlines():
        if line.startswith("# ") and not matrix.title:
            matrix.title = line[2:].strip()
        elif line.startswith("- Assumed:"):
            matrix.assumed = line.removeprefix("- Assumed:").strip()
        elif not line.startswith("|"):
            header = []
        elif not header:
            header = _cells(line)
        elif header[0] == "option" and not set(line) <= set("|:- "):
            _add_row(matrix, header, _cells(line), notes)
    if not matrix.rows:
        raise ValueError("it holds no table of options: 'gatecheck matrix' writes one")
    return matrix


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in _CELL.split(line.strip())[1:-1]]


def _add_row(matrix: WrittenMatrix, header: list[str], cells: list[str], notes: dict[str, str]) -> None:
    kind = "default" if header[1] == "declared" else "verdict"
    key = (kind, cells[0], "" if kind == "default" else cells[1])
    if kind == "verdict":
        matrix.columns = tuple(header[2:])
    row = matrix.rows.setdefault(key, {})
    if kind == "default":
        row["declared"] = cells[1]
    for column, cell in zip(header[2:], cells[2:]):
        row[column] = _MARK.sub("", cell).strip()
        matrix.reasons[key[0], key[1], key[2], column] = " ".join(notes.get(number, "") for number in _MARK.findall(cell))


def drift(committed: str, fresh: str) -> Drift:
    """What has changed. ValueError where ``committed`` is no matrix."""
    old, new = read(committed), read(fresh)
    changes: list[str] = []
    if old.title != new.title:
        changes.append(f"the title was {old.title!r} and is {new.title!r}")
    if old.assumed != new.assumed:
        changes.append(f"it was made assuming {old.assumed}; now {new.assumed}")
    for column in old.columns:
        if column not in new.columns:
            changes.append(f"{column} has no column any more")
    changes += [f"{column} is a new column" for column in new.columns if column not in old.columns]
    for key in dict.fromkeys((*old.rows, *new.rows)):
        changes += _row_changes(key, old.rows.get(key), new.rows.get(key))
    moved = 0
    for place, reason in old.reasons.items():
        other = new.reasons.get(place)
        same_cell = other is not None and old.rows[place[:3]].get(place[3]) == new.rows[place[:3]].get(place[3])
        if other is None or not same_cell or reason == other:
            continue
        if _LINE_NUMBER.sub(r"\1", reason) == _LINE_NUMBER.sub(r"\1", other):
            moved += 1
        else:
            changes.append(f"{_subject(place[:3])} on {place[3]}: the reason was: {reason} It is: {other}")
    return Drift(tuple(visible(change) for change in changes), moved)


def _row_changes(key: tuple[str, str, str], old: dict[str, str] | None, new: dict[str, str] | None) -> list[str]:
    subject = _subject(key)
    if old is None:
        return [f"{subject} is new"]
    if new is None:
        return [f"{subject} is gone"]
    return [f"{subject}, {column}: was {old[column]}, is {new[column]}" for column in old if column in new and old[column] != new[column]]


def _subject(key: tuple[str, str, str]) -> str:
    kind, option, value = key
    return f"the default of {option}" if kind == "default" else f"{option} at {value}"
