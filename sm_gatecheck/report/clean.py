"""Text that comes from a tree, made harmless for a terminal and for Markdown.

A tree is a stranger's: a name, a literal or a file name in it may carry escape sequences that repaint a terminal, or
characters that reorder what a reader sees. Such characters are shown, never sent.
"""

from __future__ import annotations

import re

_CONTROL = "\x00-\x1f\x7f-\x9f"
_INVISIBLE = "\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
_SURROGATE = "\ud800-\udfff"
_HIDDEN = re.compile(f"[{_CONTROL}{_INVISIBLE}{_SURROGATE}]")
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~#$&])")


def visible(text: str) -> str:
    """One line of ``text`` in which runs of white space are a space and control or invisible characters are escaped."""
    return _HIDDEN.sub(_escaped, re.sub(r"[ \t\r\n]+", " ", text)).strip()


def visible_lines(text: str) -> list[str]:
    """The lines of ``text``, indentation kept, with control and invisible characters escaped."""
    return [_HIDDEN.sub(_escaped, line.replace("\t", "    ").rstrip()) for line in re.split(r"\r\n|\r|\n", text)]


def markdown_text(text: str) -> str:
    """``text`` as Markdown shows it literally."""
    return _MARKDOWN.sub(r"\\\1", visible(text))


def markdown_code(text: str) -> str:
    """``text`` as a code span that holds whatever backticks it has."""
    code = visible(text)
    longest = max((len(run) for run in re.findall(r"`+", code)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{fence}{pad}{code}{pad}{fence}"


def markdown_cell(markdown: str) -> str:
    """Markdown that may stand in a table: a bar in it would end the cell, in a code span too."""
    return re.sub(r"(?<!\\)\|", r"\|", markdown)


def shortened(text: str, length: int) -> str:
    """``text`` cut to at most ``length`` characters with an ellipsis at its end."""
    return text if len(text) <= length else text[: max(length - 1, 0)].rstrip() + "…"


def _escaped(match: re.Match[str]) -> str:
    character = match.group()
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
