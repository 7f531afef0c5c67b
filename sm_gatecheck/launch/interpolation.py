"""Variables in texts that no shell reads: ``$X``, ``${X}`` and ``${X:-y}`` of Compose and Dockerfiles, ``$(X)`` of Kubernetes.

What is not known stays as written and is marked; a default that steps in is noted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from sm_gatecheck.launch.job import Setting
from sm_gatecheck.launch.located import Located, Word, join, substitute

Lookup = Callable[[str], Located | None]
_NAME = re.compile(r"[A-Za-z_]\w*")
_REFERENCE = re.compile(r"\$(?P<name>[A-Za-z_]\w*)|\$\{(?P<braced>[A-Za-z_]\w*)(?P<operator>:?[-?+])?")
_PARENTHESISED = re.compile(r"\$\$|\$\(([A-Za-z_][\w.-]*)\)")
_MAX_DEPTH = 8
_MAX_TEXT = 200_000


def interpolated(text: Located, lookup: Lookup, escape: str = "$$", depth: int = 0) -> Located:
    """A text with ``$X`` and ``${X…}`` put in; ``escape`` stands for a dollar sign of its own."""
    source = text.text
    if "$" not in source or depth > _MAX_DEPTH:
        return text
    parts: list[Located] = []
    position = index = total = 0
    while (index := source.find("$", index)) >= 0:
        if len(escape) == 2 and source.startswith(escape, index - escape.index("$")) and index - escape.index("$") >= position:
            start = index - escape.index("$")
            parts.extend((text.part(position, start), substitute("$", text, start, start + 2)))
            position = index = start + 2
            continue
        match = _REFERENCE.match(source, index)
        end = _end(source, match) if match is not None else None
        if match is None or end is None or text.run_at(index).unresolved is not None:
            index += 1
            continue
        parts.append(text.part(position, index))
        parts.append(_value(text, match, end, lookup, escape, depth))
        position = index = end
        total += len(parts[-1])
        if total > _MAX_TEXT:
            return text
    parts.append(text.part(position))
    return join(parts) if parts else text


def _end(source: str, match: re.Match[str]) -> int | None:
    """Past the closing brace of a reference; None where there is none."""
    if match["name"] is not None:
        return match.end()
    level = 1
    for index in range(match.end(), min(len(source), match.end() + 4_000)):
        if source.startswith("${", index):
            level += 1
        elif source[index] == "}":
            level -= 1
            if level == 0:
                return index + 1
    return None


def _value(text: Located, match: re.Match[str], end: int, lookup: Lookup, escape: str, depth: int) -> Located:
    name, operator = match["name"] or match["braced"], match["operator"] or ""
    whole = text.part(match.start(), end)
    rest = text.part(match.end(), end - 1) if operator else Located()
    if match["braced"] is not None and not operator and match.end() != end - 1:
        return substitute(whole.text, whole, unresolved=whole.text)
    value = lookup(name)
    has_value = value is not None and (bool(value.text) or not operator.startswith(":"))
    if operator.endswith("+"):
        return interpolated(rest, lookup, escape, depth + 1) if has_value else Located((), whole.extent)
    if has_value and value is not None:
        return value if value.runs else Located((), whole.extent)
    if operator.endswith("-"):
        default = interpolated(rest, lookup, escape, depth + 1)
        if value is not None:
            return default
        return default.noted(f"${name} is not set") if default.runs else substitute("", whole, assumed=f"${name}")
    if value is not None:
        return value
    return substitute(whole.text, whole, unresolved=f"${name}")


def expanded(text: Located, environment: Mapping[str, Setting]) -> Located:
    """``$(X)`` as Kubernetes puts it in: from the container's own variables, ``$$`` for a dollar sign."""
    if "$" not in text.text:
        return text
    parts: list[Located] = []
    position = total = 0
    for match in _PARENTHESISED.finditer(text.text):
        parts.append(text.part(position, match.start()))
        position = match.end()
        if match[1] is None:
            # "$$(X)" is the text "$(X)"; any other "$$" is one as well
            parts.append(substitute("$", text, match.start(), match.end()))
        elif match[1] in environment:
            parts.append(environment[match[1]].value)
            total += len(parts[-1])
            if total > _MAX_TEXT:
                return text
        else:
            parts.append(substitute(match[0], text, match.start(), match.end(), unresolved=match[0]))
    parts.append(text.part(position))
    return join(parts)


def words_of(texts: list[Located]) -> tuple[Word, ...]:
    """List items as words, one each."""
    return tuple(Word(text) for text in texts if text.runs or text.extent is not None)
