"""Commands that a shell runs itself and that change what follows: ``eval``, ``source``, ``set``, ``cd``, ``exit`` and their like."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from sm_gatecheck.launch.located import Located, Word, join, substitute

if TYPE_CHECKING:
    from sm_gatecheck.launch.shell.interpreter import Run


class Ended(Exception):
    """``exit``, ``return``, or the end of what is followed."""

    def __init__(self, is_return: bool = False) -> None:
        self.is_return = is_return


def _eval(run: Run, words: Sequence[Word]) -> None:
    parts: list[Located] = []
    for word in words[1:]:
        if parts:
            parts.append(substitute(" ", word.value) if word.value.runs else Located())
        parts.append(word.value)
    text = join(parts)
    if text.runs:
        run.inline(text, None)


def _source(run: Run, words: Sequence[Word]) -> None:
    if len(words) < 2:
        return
    name = words[1]
    if any(fnmatchcase(name.text, pattern) for pattern in run.following.rules.quiet_sources):
        return
    source = run.following.companions.read(name.text, run.directory) if not name.unresolved else None
    if source is None:
        run.following.notes.append(f"source {name.text} (not available)")
    else:
        run.inline(source.located(), source.path)


def _set(run: Run, words: Sequence[Word]) -> None:
    texts = [word.text for word in words]
    if "--" in texts:
        run.scope.positional = tuple(words[texts.index("--") + 1 :])
    elif "-a" in texts or "allexport" in texts:
        run.scope.exports_all = "+o" not in texts
    elif "+a" in texts:
        run.scope.exports_all = False


def _shift(run: Run, words: Sequence[Word]) -> None:
    if run.scope.positional is not None:
        count = int(words[1].text) if len(words) > 1 and re.fullmatch(r"\d{1,6}", words[1].text) else 1
        run.scope.positional = run.scope.positional[min(count, len(run.scope.positional)) :]


def _cd(run: Run, words: Sequence[Word]) -> None:
    if len(words) > 1 and not words[1].unresolved and run.directory is not None and "\0" not in words[1].text:
        run.directory = run.directory / words[1].text
    elif len(words) > 1:
        run.directory = None


def _forget(run: Run, words: Sequence[Word]) -> None:
    """``read``, ``mapfile``: variables that get what nobody knows here."""
    for word in words[1:]:
        run.scope.variables.pop(word.text, None)


def _exit(run: Run, words: Sequence[Word]) -> None:
    raise Ended(is_return=words[0].text == "return")


def _nothing(run: Run, words: Sequence[Word]) -> None:
    """A test by itself, a trap: nothing that counts here."""


OWN_COMMANDS: dict[str, Callable[[Run, Sequence[Word]], None]] = {
    "eval": _eval,
    "source": _source,
    ".": _source,
    "set": _set,
    "shift": _shift,
    "cd": _cd,
    "pushd": _cd,
    "read": _forget,
    "mapfile": _forget,
    "readarray": _forget,
    "exit": _exit,
    "return": _exit,
    "trap": _nothing,
    "test": _nothing,
    "[": _nothing,
}
