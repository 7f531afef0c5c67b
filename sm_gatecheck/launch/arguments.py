"""Arguments as the server's own parser takes them: ``argparse`` over words that know where they were written.

What differs from ``argparse`` is only that reading goes on after a mistake, so that one run tells all of them, and that a word
which is not known (``$EXTRA_ARGS``) is listed and stands in nobody's way.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sm_gatecheck.launch.flags import BadValue, Flag, convert, flags_of
from sm_gatecheck.launch.located import MAX_WORDS, Word, printable
from sm_gatecheck.launch.model import Extent, LaunchValue, Problem, ProblemKind
from sm_gatecheck.model.nearness import nearest_name
from sm_gatecheck.model.option import Option
from sm_gatecheck.target.options import OptionTable

_NEGATIVE = re.compile(r"^-\d+$|^-\d*\.\d+$")
_SHOWN = 60
_MAX_PROBLEMS = 100
_KEPT = 16
"""Earlier values of an option that are remembered."""


@dataclass
class Parsed:
    """What a list of arguments sets; in the order in which it was written."""

    options: dict[str, LaunchValue] = field(default_factory=dict)
    unresolved: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def parse_arguments(
    words: Sequence[Word], table: OptionTable | None, *, has_own_flags: bool = False, help_flags: Iterable[str] = ()
) -> Parsed:
    """What ``words`` set. Without a table every ``--some-flag`` is taken for the field ``some_flag``, with the words up to the next flag.

    ``has_own_flags``: an unknown flag belongs to the entry point and is passed over. ``help_flags`` print and end.
    """
    parser = _Parser(flags_of(table) if table is not None else None, has_own_flags, frozenset(help_flags))
    parser.run(words)
    return parser.parsed


@dataclass
class _Parser:
    flags: dict[str, Flag] | None
    has_own_flags: bool
    help_flags: frozenset[str]
    matches: dict[str, list[str]] = field(default_factory=dict)
    parsed: Parsed = field(default_factory=Parsed)

    def run(self, words: Sequence[Word]) -> None:
        self.parsed.unresolved.extend(note for word in words if word.is_empty_default for note in word.assumed)
        words = [word for word in words if not word.is_empty_default]
        if len(words) > MAX_WORDS:
            self._problem("limit", f"more than {MAX_WORDS:,} words: the rest was not read", words[MAX_WORDS])
            words = words[:MAX_WORDS]
        index = 0
        rest = False  # after "--" nothing is a flag
        while index < len(words):
            word = words[index]
            index += 1
            if not rest and word.text == "--" and not word.unresolved:
                rest = True
                self._stray(word)
            elif rest or not self._is_flag(word):
                self._stray(word)
            else:
                index = self._flag(word, words, index)

    # -- one flag ----------------------------------------------------------------------------------------------------------

    def _flag(self, word: Word, words: Sequence[Word], index: int) -> int:
        """Take a flag and its values; the index of the first word after them."""
        name, attached = self._split(word)
        flag = self._find(word, name, attached)
        if flag is None:
            return self._skip_values(words, index)
        if attached is not None and flag.count == 0:
            shown = printable(attached.text)[:_SHOWN]
            message = f"{flag.spelling} takes no value and is given {shown!r}: the server refuses it"
            self._problem("unexpected-value", message, word, flag.spelling)
        values = self._values(flag, words, index) if attached is None else [attached] if flag.count != 0 else []
        if len(values) < flag.least:
            self._problem("missing-value", f"{flag.spelling} needs {flag.needs}", word, flag.spelling)
        else:
            self._store(flag, word.part(0, len(name)), values)
        return index if attached is not None else index + len(values)

    def _split(self, word: Word) -> tuple[str, Word | None]:
        text = word.text
        if "=" not in text or (self.flags is not None and text in self.flags):
            return text, None
        cut = text.index("=")
        return text[:cut], word.part(cut + 1)

    def _find(self, word: Word, name: str, attached: Word | None) -> Flag | None:
        """The flag that a spelling, or the only flag that a beginning, means; None, with the problem noted, where there is none."""
        known = word.part(0, len(name))
        if known.unresolved:
            self.parsed.unresolved.extend(known.unresolved)
            return None
        if name in self.help_flags:
            self._problem("flag-without-effect", f"{name} prints the options and ends: no server is started", word, name)
            return None
        if self.flags is None:
            return _guessed(name, attached)
        if name in self.flags:
            return self.flags[name]
        matches = self._beginning(name)
        meant = {(self.flags[spelling].field, self.flags[spelling].count) for spelling in matches}
        if len(matches) == 1:
            return self.flags[matches[0]]
        if self.has_own_flags:
            return None
        if len(matches) > 1:
            shown = ", ".join(sorted(matches)[:6]) + (", …" if len(matches) > 6 else "")
            same = " (all the same option)" if len(meant) == 1 else ""
            self._problem("ambiguous-flag", f"{printable(name)} could be {shown}{same}: the server refuses it; write it out", word, name)
            return None
        near = nearest(name, self.flags) if len(self.parsed.problems) < _MAX_PROBLEMS else None
        hint = f"; did you mean {near}?" if near else ""
        self._problem("unknown-flag", f"{printable(name)[:_SHOWN]}: no such option{hint}", word, name, near)
        return None

    def _beginning(self, name: str) -> list[str]:
        """The spellings that a word is the beginning of."""
        if not name.startswith("--") or len(name) < 3:
            return []
        if name not in self.matches:
            self.matches[name] = [spelling for spelling in self.flags or () if spelling.startswith(name)]
        return self.matches[name]

    def _values(self, flag: Flag, words: Sequence[Word], index: int) -> list[Word]:
        """The words that a flag takes, be they enough or not."""
        taken: list[Word] = []
        while index < len(words) and (flag.most is None or len(taken) < flag.most) and not self._ends_values(words[index], taken, flag):
            taken.append(words[index])
            index += 1
        return taken

    def _ends_values(self, word: Word, taken: Sequence[Word], flag: Flag) -> bool:
        if word.text == "--" or self._is_flag(word):
            return True
        return bool(taken) and word.starts_unresolved and flag.count in ("*", "+")

    def _skip_values(self, words: Sequence[Word], index: int) -> int:
        """Past what looks like the values of a flag that is not known."""
        while index < len(words) and not self._is_flag(words[index]) and words[index].text != "--" and not words[index].starts_unresolved:
            index += 1
        return index

    def _is_flag(self, word: Word) -> bool:
        """Whether the parser would take a word for a flag; as in ``argparse``, a number or a text with blanks is none."""
        text = word.text
        if len(text) < 2 or not text.startswith("-") or word.starts_unresolved or text == "--":
            return False
        if self.flags is None:
            return _NEGATIVE.match(text) is None
        name = text.partition("=")[0]
        if text in self.flags or name in self.flags:
            return True
        if self._beginning(name):
            return True
        return _NEGATIVE.match(text) is None and " " not in text

    def _stray(self, word: Word) -> None:
        if word.unresolved:
            self.parsed.unresolved.extend(word.unresolved)
        elif not self.has_own_flags and self.flags is not None:
            shown = printable(word.text)[:_SHOWN]
            self._problem("unexpected-argument", f"{shown!r} belongs to no option: the server refuses it", word)

    # -- storing -----------------------------------------------------------------------------------------------------------

    def _store(self, flag: Flag, written: Word, words: Sequence[Word]) -> None:
        # What is unresolved in a value is the value's own affair; the launch lists it too.
        unresolved = tuple(dict.fromkeys(name for word in words for name in word.unresolved))
        self.parsed.unresolved.extend(unresolved)
        value: Any
        if flag.count == 0 or flag.is_constant:
            value = flag.constant
        else:
            converted = [self._convert(flag, written, word) for word in words]
            is_list = flag.count in ("*", "+") or isinstance(flag.count, int)
            if self.flags is None:
                is_list = len(converted) > 1
            value = converted if is_list else converted[0] if converted else True
        earlier = self.parsed.options.pop(flag.field, None)
        if flag.appends and earlier is not None and isinstance(earlier.value, list):
            value = [*earlier.value, *(value if isinstance(value, list) else [value])]
        elif flag.appends and not isinstance(value, list):
            value = [value]
        self.parsed.options[flag.field] = LaunchValue(
            value=value,
            span=written.extent.span,
            flag=written.text,
            extent=written.extent,
            value_extents=tuple(word.extent for word in words),
            used=_used(written),
            text=" ".join(printable(word.text) for word in words),
            assumed=tuple(dict.fromkeys(note for word in (written, *words) for note in word.assumed)),
            unresolved=unresolved,
            is_deprecated=flag.is_deprecated,
            is_stored=flag.is_stored,
            values_used=tuple(_used(word) or word.extent for word in words),
            overridden=() if earlier is None or flag.appends else (*earlier.overridden, replace(earlier, overridden=()))[-_KEPT:],
        )

    def _convert(self, flag: Flag, written: Word, word: Word) -> Any:
        text = printable(word.text)
        if word.unresolved:
            return text
        option = flag.option
        try:
            value = convert(option, text)
        except BadValue as error:
            self._problem("bad-value", f"{flag.spelling} takes {error}, not {text[:_SHOWN]!r}", word, flag.spelling)
            return text
        if option.choices is not None and value not in option.choices:
            message, near = _refused_choice(flag, option, text)
            self._problem("bad-choice", message, word, flag.spelling, near)
        return value

    def _problem(self, kind: ProblemKind, message: str, word: Word, flag: str | None = None, suggestion: str | None = None) -> None:
        if len(self.parsed.problems) <= _MAX_PROBLEMS:
            self.parsed.problems.append(Problem(kind, message, word.extent.span, flag, suggestion))


def nearest(name: str, spellings: Iterable[str]) -> str | None:
    """The spelling that somebody who wrote ``name`` most likely meant: underscores for dashes first, then what is alike."""
    known = sorted(spellings)
    dashed = "--" + name.lstrip("-").replace("_", "-").lower()
    if dashed in known:
        return dashed
    return nearest_name(dashed, known)


def _refused_choice(flag: Flag, option: Option, text: str) -> tuple[str, str | None]:
    choices = [str(choice) for choice in option.choices or ()]
    near = difflib.get_close_matches(text, choices, n=1, cutoff=0.6)
    hint = f"; did you mean {near[0]}?" if near else f"; it takes {', '.join(choices[:8])}{', …' if len(choices) > 8 else ''}"
    return f"{flag.spelling} does not take {text[:_SHOWN]!r}{hint}", near[0] if near else None


def _guessed(name: str, attached: Word | None) -> Flag:
    """Without a table: a flag with as many values as follow."""
    option = Option(field=name.lstrip("-").replace("-", "_"), flags=(name,))
    return Flag(name, option, None if attached is not None else "*", field=option.field)


def _used(word: Word) -> Extent | None:
    return word.written if word.written is not None and word.written != word.value.extent else None
