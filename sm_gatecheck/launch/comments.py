"""``# gatecheck: ignore[GC102] reason`` in a launch file.

Behind something on a line it speaks of that line; on a line of its own, of the next statement: the lines up to one that does not end in
a backslash, comments in between left out. ``ignore-file[…]`` speaks of the whole file. The comment sign is ``#``, ``;`` or ``//``.
"""

from __future__ import annotations

import re

from sm_gatecheck.checks.ignores import Ignore
from sm_gatecheck.launch.model import LaunchError
from sm_gatecheck.model.span import Span

_COMMENT = re.compile(r"(?:#|;|//)[ \t]{0,20}gatecheck:[ \t]{0,20}ignore(?P<file>-file)?(?![\w-])(?P<rest>[^\n]{0,1000})")
_RULES = re.compile(r"\[(?P<rules>[^\]\n]{0,300})\](?P<reason>[^\n]{0,700})")
_RULE = re.compile(r"GC[0-9]{3}")


def read_ignores(name: str, text: str) -> tuple[Ignore, ...]:
    """The ignores that stand in a launch file. LaunchError, one line, for one that names no rule: it would hide what nobody looked at."""
    if "gatecheck:" not in text:
        return ()
    lines = text.split("\n")
    statements = _Statements(lines)
    found: list[Ignore] = []
    for index, line in enumerate(lines):
        match = _COMMENT.search(line)
        if match is None:
            continue
        named = _RULES.match(match["rest"].lstrip())
        rules = tuple(rule for part in named["rules"].split(",") if (rule := part.strip().upper())) if named is not None else ()
        if named is None or not rules or not all(_RULE.fullmatch(rule) for rule in rules):
            raise LaunchError(f"{name}:{index + 1}: an ignore names its rules, for example ignore[GC102] and then the reason")
        reason = named["reason"].strip().removesuffix("*/").removesuffix("-->").strip().lstrip(":").strip()
        place = Span(name, index + 1, match.start() + 1)
        if match["file"]:
            covered = (1, len(lines))
        elif _is_comment(line[: match.start()]):
            covered = statements.after(index + 1)
        else:
            covered = (index + 1, index + 1)
        found.append(Ignore(place, reason, rules=rules, lines=covered))
    return tuple(found)


def _is_comment(before: str) -> bool:
    """Whether nothing but blanks and comment signs stands in front."""
    return not before.strip().strip("#;/")


class _Statements:
    """First and last line of what follows a line, for every line of a file in one pass from its end."""

    def __init__(self, lines: list[str]) -> None:
        last = len(lines) - 1
        self._firsts = [last + 1] * (last + 2)
        self._ends = [last + 1] * (last + 2)
        for index in range(last, -1, -1):
            line = lines[index]
            aside, goes_on = _is_aside(line), line.rstrip().endswith("\\")
            self._firsts[index] = self._firsts[index + 1] if aside else index
            comment = aside and bool(line.strip())  # between continued lines it does not end them
            self._ends[index] = self._ends[index + 1] if (goes_on or comment) and index < last else index

    def after(self, index: int) -> tuple[int, int]:
        """From 1; ``index`` counts from 0. Past the end of the file where nothing follows."""
        first = self._firsts[index]
        return first + 1, self._ends[first] + 1


def _is_aside(line: str) -> bool:
    stripped = line.strip()
    return not stripped or stripped.startswith(("#", ";", "//"))
