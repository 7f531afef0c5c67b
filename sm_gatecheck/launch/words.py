"""A line taken apart into words where no shell does it: quotes and backslashes of a POSIX shell, no variables, no operators."""

from __future__ import annotations

import re

from sm_gatecheck.launch.located import MAX_WORDS, Located, Word, join

_TOKEN = re.compile(
    r"""(?P<blank>\s+)
      | '(?P<single>[^']*)'
      | "(?P<double>(?:\\.|[^"\\])*)"
      | \\(?P<line>\r?\n)
      | \\(?P<escaped>.)
      | (?P<plain>[^\s'"\\]+)
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_DOUBLE_ESCAPE = re.compile(r'\\([$`"\\]|\r?\n)')


def split_words(text: Located) -> list[Word]:
    """The words of a text; a quotation mark without its fellow stands for itself."""
    words: list[Word] = []
    current: list[Located] = []
    exists = False
    for match in _TOKEN.finditer(text.text):
        if len(words) > MAX_WORDS:
            return words
        kind = match.lastgroup or "other"
        start, end = match.span(kind)
        if kind == "blank":
            if current or exists:
                words.append(Word(join(current)))
            current, exists = [], False
        elif kind == "double":
            exists = True
            current.append(_unescaped(text.part(start, end)))
        elif kind == "line":
            continue
        else:
            exists = exists or kind == "single"
            current.append(text.part(start, end))
    if current or exists:
        words.append(Word(join(current)))
    return words


def _unescaped(text: Located) -> Located:
    parts: list[Located] = []
    position = 0
    for match in _DOUBLE_ESCAPE.finditer(text.text):
        parts.append(text.part(position, match.start()))
        if not match[1].endswith("\n"):
            parts.append(text.part(match.start(1), match.end(1)))
        position = match.end()
    parts.append(text.part(position))
    return join(parts)
