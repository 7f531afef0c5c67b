"""Ways to take words out of a text file, or to put another value in their place, that leave every other byte as it is.

Nothing here knows a format: whoever asks reads the outcome again and takes the first way that does what was meant and no more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, product

Stretch = tuple[int, int]
"""First byte and the byte after the last."""

TRIED = 24
"""Ways that are tried: a flag and its value in two places give nine."""

LONGEST_REST = 1_000
"""Nobody writes more than this around an option that stands alone on its lines."""

_BETWEEN = re.compile(rb"[\s=:,\"'\\(\[{-]{0,400}")
"""What may stand between a flag and its value: blanks, signs, quotes, a continued line, the mark of a list."""
_BARE = re.compile(
    rb"""[\s\-,\\"':=]*
         (?:(?:true|True|yes|on)\b | export\b | Environment= | ENV\b)?
         [\s\-,\\"':=]*
         (?:\#[^\n]*)?\s*""",
    re.VERBOSE,
)
"""What may be left of a line that goes as a whole: marks of lists, quotes, the switch's ``true``, a comment."""
_CARRIER = re.compile(rb"(?:^|(?<=[ \t]))(?:-e|--env)(?:[ \t]+|=)$")
_CONTINUED = re.compile(rb"[ \t]*\\(?=\r?\n$)")
_KEYLESS = re.compile(rb"^[ \t-]*:(?:[ \t]|$)", re.MULTILINE)
"""A value that lost its key: YAML takes it, and nobody means it."""
_QUOTES = (b'"', b"'")
_BRACKETS = ((b"(", b")"), (b"[", b"]"), (b"{", b"}"))


def without(data: bytes, options: Sequence[Sequence[Stretch]], *, whole: bool = False) -> Iterator[bytes]:
    """The file without some options, in the ways in which a person might take them out, the tidiest first.

    Each option is a flag with its values; nothing comes where they do not stand together: a flag must not go without its value.
    ``whole``: only with all that carries them, the line or the flag before (for variables, of which a bare ``export`` would be left).
    """
    if any(len(_joined(data, words)) > 1 for words in options):
        return
    groups = [_ways(data, stretch, whole) for stretch in _joined(data, [stretch for words in options for stretch in words])]
    for cuts in islice(product(*groups), TRIED):
        changed = _cut(data, [cut for way in cuts for cut in way])
        if _KEYLESS.search(changed) is None or _KEYLESS.search(data) is not None:
            yield changed


def replaced(data: bytes, stretch: Stretch, text: str) -> bytes:
    """The file with another value in a place, in the quotes of the old one."""
    start, end = stretch
    old = data[start:end]
    quote = old[:1] if len(old) > 1 and old[:1] in _QUOTES and old[-1:] == old[:1] else b""
    return data[:start] + quote + text.encode() + quote + data[end:]


def _joined(data: bytes, stretches: Iterable[Stretch]) -> list[Stretch]:
    """Stretches with the quotes around them, those that belong together as one."""
    found: list[Stretch] = []
    for start, end in sorted({_with_quotes(data, stretch) for stretch in stretches}):
        if found and (start <= found[-1][1] or _BETWEEN.fullmatch(data[found[-1][1] : start])):
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return [_with_quotes(data, _with_brackets(data, stretch)) for stretch in found]


def _with_brackets(data: bytes, stretch: Stretch) -> Stretch:
    """A stretch that opens a bracket goes on to where it is closed, if nothing else stands in between."""
    start, end = stretch
    for opening, closing in _BRACKETS:
        text = data[start:end]
        after = re.compile(rb"\s*,?\s*" + re.escape(closing)).match(data, end)
        if text.count(opening) > text.count(closing) and after is not None:
            end = after.end()
    return start, end


def _with_quotes(data: bytes, stretch: Stretch) -> Stretch:
    start, end = stretch
    quote = data[start - 1 : start] if start else b""
    return (start - 1, end + 1) if quote in _QUOTES and data[end : end + 1] == quote else stretch


def _ways(data: bytes, stretch: Stretch, whole: bool) -> list[list[Stretch]]:
    ways = [*_lines(data, stretch)] if whole else [*_lines(data, stretch), *_item(data, stretch), _words(data, stretch)]
    carrier = _CARRIER.search(data[max(stretch[0] - 40, 0) : stretch[0]])
    if carrier is not None:
        ways.insert(0, _words(data, (stretch[0] - (carrier.end() - carrier.start()), stretch[1])))
    return ways


def _lines(data: bytes, stretch: Stretch) -> Iterator[list[Stretch]]:
    """The whole lines, where nothing else stands on them; the line before then ends as they did."""
    start, end = data.rfind(b"\n", 0, stretch[0]) + 1, data.find(b"\n", stretch[1]) + 1 or len(data)
    rest = data[start : stretch[0]] + b" " + data[stretch[1] : end]
    if len(rest) > LONGEST_REST or not _BARE.fullmatch(rest) or not _is_balanced(rest):
        return
    before = data[data.rfind(b"\n", 0, max(start - 1, 0)) + 1 : start]
    continued, goes_on = _CONTINUED.search(before), data[stretch[1] : end].rstrip().endswith(b"\\")
    if continued is not None and not goes_on:
        offset = start - len(before)
        yield [(offset + continued.start(), offset + continued.end()), (start, end)]
    comma = before.rstrip()
    if comma.endswith(b",") and not data[stretch[1] : end].strip().startswith(b","):
        at = start - len(before) + len(comma) - 1
        yield [(start, end)]
        yield [(at, at + 1), (start, end)]
        return
    yield [(start, end)]


def _is_balanced(rest: bytes) -> bool:
    """Whether every quote that would go with a line goes with its partner."""
    text = rest.split(b"#", 1)[0]
    return all(text.count(quote) % 2 == 0 for quote in _QUOTES)


def _item(data: bytes, stretch: Stretch) -> Iterator[list[Stretch]]:
    """An item of a list, with the comma that separates it."""
    after = re.compile(rb"[ \t]*,[ \t]*").match(data, stretch[1])
    if after is not None:
        yield [(stretch[0], after.end())]
    before = re.search(rb",\s*$", data[: stretch[0]])
    if before is not None:
        yield [(before.start(), stretch[1])]


def _words(data: bytes, stretch: Stretch) -> list[Stretch]:
    """The words with the blanks on one side."""
    start, end = stretch
    while start and data[start - 1 : start] in (b" ", b"\t"):
        start -= 1
    if start < stretch[0] and data[start - 1 : start] not in (b"", b"\n"):
        return [(start, end)]
    while data[end : end + 1] in (b" ", b"\t"):
        end += 1
    return [(stretch[0], end)]


def _cut(data: bytes, cuts: Sequence[Stretch]) -> bytes:
    kept, position = [], 0
    for start, end in sorted(cuts):
        kept.append(data[position : max(start, position)])
        position = max(end, position)
    return b"".join((*kept, data[position:]))
