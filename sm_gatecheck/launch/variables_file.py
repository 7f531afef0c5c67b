"""Files of variables: ``NAME=VALUE`` lines with quotes, comments and continued lines (``.env``, ``EnvironmentFile=``)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sm_gatecheck.launch.interpolation import Lookup, interpolated
from sm_gatecheck.launch.job import Setting
from sm_gatecheck.launch.located import Located
from sm_gatecheck.launch.words import split_words

_LINE = re.compile(r"^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=[ \t]*(.*)$")
_COMMENT = re.compile(r"(?:^|\s)#.*$")


def variables(text: Located, lookup: Lookup | None = None) -> Iterator[tuple[str, Setting]]:
    """The variables of a file in order; with ``lookup``, references in values that are not in single quotes are put in."""
    pending: Located | None = None
    for line in text.lines():
        line = line.strip("\r")
        if pending is not None:
            line = pending + line
            pending = None
        if line.text.rstrip().endswith("\\") and not line.text.lstrip().startswith(("#", ";")):
            pending = line.part(0, len(line.text.rstrip()) - 1)
            continue
        match = _LINE.match(line.text)
        if match is None or line.text.lstrip().startswith(("#", ";")):
            continue
        place = line.part(match.start(1), match.end(1)).extent
        if place is None:
            continue
        yield match[1], Setting(_value(line.part(match.start(2)), lookup, place_of=line), place)


def _value(text: Located, lookup: Lookup | None, place_of: Located) -> Located:
    stripped = text.strip()
    source = stripped.text
    if source.startswith("'") and source.find("'", 1) > 0:
        return stripped.part(1, source.find("'", 1))
    if source.startswith('"') and _closing(source) > 0:
        words = split_words(stripped.part(0, _closing(source) + 1))
        value = words[0].value if words else stripped.part(1, 1)
    else:
        comment = _COMMENT.search(source)
        value = (stripped.part(0, comment.start()) if comment is not None else stripped).strip()
    value = interpolated(value, lookup) if lookup is not None else value
    return value if value.runs else Located((), text.extent or place_of.extent)


def _closing(source: str) -> int:
    """Where the quotation mark that opens a text is closed; -1 where it is not."""
    index = 1
    while index < len(source):
        if source[index] == "\\":
            index += 1
        elif source[index] == '"':
            return index
        index += 1
    return -1
