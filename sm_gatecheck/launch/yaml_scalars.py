"""A YAML scalar's text, character by character to where it was written: quotes, escapes, folded lines, indentation taken off.

The parser has the last word on the text. Where what is worked out here differs from it, the whole scalar is the place of
every character.
"""

from __future__ import annotations

import re

from sm_gatecheck.launch.located import Located, join, substitute

_ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|\r?\n[ \t]*|.)", re.DOTALL)
_LETTERS = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b",
    " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip
_BREAK = re.compile(r"[ \t]*\r?\n(?:[ \t]*\r?\n)*[ \t]*")
_HEADER = re.compile(r"[|>]([+-]?[1-9]?[+-]?)[^\n]*(?:\n|$)")


def scalar_text(base: Located, text: str, start: int, end: int, value: str, style: str | None) -> Located:
    """The text ``value`` of the scalar that stands in ``text`` from ``start`` to ``end``; ``base`` is the same text with its places."""
    builder = _Builder(base)
    if style in ("|", ">"):
        _block(builder, text, start, end, style)
    elif style == "'":
        _quoted(builder, text, start + 1, end - 1, re.compile("''"))
    elif style == '"':
        _quoted(builder, text, start + 1, end - 1, _ESCAPE)
    else:
        _quoted(builder, text, start, end, None)
    found = builder.located()
    if found.text == value and value:
        return found
    whole = base.part(start, end)
    return substitute(value, whole) if value else Located((), whole.extent)


class _Builder:
    def __init__(self, base: Located) -> None:
        self.base = base
        self.parts: list[Located] = []

    def copy(self, start: int, end: int) -> None:
        """Characters as they stand."""
        if end > start:
            self.parts.append(self.base.part(start, end))

    def put(self, value: str, start: int, end: int) -> None:
        """Characters that stand for others."""
        if value:
            self.parts.append(substitute(value, self.base, start, max(end, start + 1)))

    def located(self) -> Located:
        return join(self.parts)


def _quoted(builder: _Builder, text: str, start: int, end: int, escape: re.Pattern[str] | None) -> None:
    """A flow scalar: escapes, and line breaks folded to a blank or to the empty lines between."""
    position = start
    pattern = (
        re.compile(f"(?P<escape>{escape.pattern})|(?P<fold>{_BREAK.pattern})", re.DOTALL)
        if escape
        else re.compile(f"(?P<fold>{_BREAK.pattern})")
    )
    for match in pattern.finditer(text, start, end):
        if match.start() < position:
            continue
        builder.copy(position, match.start())
        if match.lastgroup == "fold" or match.group("fold") is not None:
            breaks = match[0].count("\n")
            builder.put(" " if breaks == 1 else "\n" * (breaks - 1), match.start(), match.end())
        else:
            builder.put(_unescaped(match[0]), match.start(), match.end())
        position = match.end()
    builder.copy(position, end)


def _unescaped(escape: str) -> str:
    if escape == "''":
        return "'"
    code = escape[1:]
    if code[0] in "xuU" and len(code) > 1:
        try:
            return chr(int(code[1:], 16))
        except (ValueError, OverflowError):
            return ""
    if code.lstrip("\r").startswith("\n"):
        return ""
    return _LETTERS.get(code, code)


def _block(builder: _Builder, text: str, start: int, end: int, style: str) -> None:
    """A literal (``|``) or folded (``>``) scalar."""
    header = _HEADER.match(text, start)
    if header is None:
        return
    chomping = "+" if "+" in header[1] else "-" if "-" in header[1] else ""
    lines = _lines(text, header.end(), end)
    digits = re.sub(r"\D", "", header[1])
    indent = _indent(text, lines, header.start(), int(digits) if digits else None)
    while lines and _is_blank(text, lines[-1], 0):
        lines.pop()
    trailing = _lines(text, lines[-1][2] if lines else header.end(), end)
    previous_more = True
    previous_end = header.end()
    blank = 0
    is_first = True
    for line_start, line_end, after in lines:
        content = line_start + min(indent, line_end - line_start)
        if _is_blank(text, (line_start, line_end, after), indent):
            blank += 1
            continue
        is_more = style == "|" or text[content : content + 1] in (" ", "\t")
        if is_first:
            builder.put("\n" * blank, line_start, line_start)
        elif style == "|" or is_more or previous_more:
            builder.put("\n" * (blank + 1), previous_end, line_start)
        else:
            builder.put(" " if blank == 0 else "\n" * blank, previous_end, line_start)
        builder.copy(content, line_end)
        previous_end, previous_more, blank, is_first = line_end, is_more, 0, False
    if not is_first and chomping != "-":
        builder.put("\n", previous_end, previous_end)
        if chomping == "+":
            builder.put("\n" * sum(1 for line in trailing if line[2] > line[1]), previous_end, previous_end)


def _lines(text: str, start: int, end: int) -> list[tuple[int, int, int]]:
    """Start, end without the line break, and start of the next, of every line."""
    found: list[tuple[int, int, int]] = []
    while start < end:
        stop = text.find("\n", start, end)
        after = end if stop < 0 else stop + 1
        stop = end if stop < 0 else stop
        found.append((start, stop - 1 if text[start:stop].endswith("\r") else stop, after))
        start = after
    return found


def _indent(text: str, lines: list[tuple[int, int, int]], header: int, given: int | None) -> int:
    if given is not None:
        line_start = text.rfind("\n", 0, header) + 1
        line = text[line_start:header]
        own = len(line) - len(line.lstrip(" "))
        return own + given
    for start, end, _ in lines:
        line = text[start:end]
        if line.strip(" "):
            return len(line) - len(line.lstrip(" "))
    return 0


def _is_blank(text: str, line: tuple[int, int, int], indent: int) -> bool:
    """Whether a line is empty, or no longer than the indentation and all blanks."""
    start, end, _ = line
    content = text[start:end]
    return not content.strip(" ") and (len(content) <= indent or indent == 0)
