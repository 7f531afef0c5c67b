"""Makefiles: the recipes of targets, make's own variables put in before the shell sees them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sm_gatecheck.launch.formats.interface import NO, POSSIBLE, SURE, Reading, is_named
from sm_gatecheck.launch.job import Job, Setting, Start
from sm_gatecheck.launch.located import Located, SourceText, join, substitute

_ASSIGNMENT = re.compile(r"^(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*(::?:?=|\?=|\+=|=)[ \t]*")
_TARGET = re.compile(r"^([^\s:=#][^:=#\n]*?)[ \t]*::?(?!=)")
_REFERENCE = re.compile(r"\$\$|\$\(([A-Za-z_]\w*)\)|\$\{([A-Za-z_]\w*)\}")
_MAX_DEPTH = 8
_MAX_TEXT = 200_000


@dataclass
class _Makefile:
    variables: dict[str, Located] = field(default_factory=dict)
    exported: dict[str, Setting] = field(default_factory=dict)
    recipes: list[tuple[str, list[Located]]] = field(default_factory=list)


@dataclass(frozen=True)
class Makefile:
    name: str = "makefile"
    title: str = "Makefile"

    def recognise(self, source: SourceText, reading: Reading) -> int:
        if is_named(source, "makefile", "gnumakefile", "*.mk", "makefile.*"):
            return SURE
        is_alike = re.search(r"^[\w.-]+[ \t]*:(?!=)[^\n]*\n\t", source.text, re.MULTILINE) is not None
        return POSSIBLE + 5 if is_alike and not is_named(source, "*.y*ml", "*.json", "*.py", "*.sh") else NO

    def read(self, source: SourceText, reading: Reading) -> Iterator[Start]:
        makefile = _parsed(source)
        for target, lines in makefile.recipes:
            script = join(_filled(line, makefile.variables) for line in lines)
            if script.runs:
                environment = {
                    name: Setting(_filled(setting.value, makefile.variables), setting.name) for name, setting in makefile.exported.items()
                }
                yield Job(name=target, script=script, environment=environment, directory=source.directory)


def _parsed(source: SourceText) -> _Makefile:
    found = _Makefile()
    for line in _logical_lines(source):
        text = line.text
        if text.startswith("\t"):
            if found.recipes:
                stripped = line.part(len(text) - len(text.lstrip("\t @-+")))
                found.recipes[-1][1].extend((stripped, _line_end(stripped)))
            continue
        assignment = _ASSIGNMENT.match(text)
        if assignment is not None:
            _assign(found, line, assignment)
            continue
        target = _TARGET.match(text)
        if target is not None and not text.startswith("."):
            found.recipes.append((target[1], []))
    return found


def _assign(found: _Makefile, line: Located, match: re.Match[str]) -> None:
    name, operator = match[1], match[2]
    value = line.part(match.end())
    comment = re.search(r"(?<!\\)\s#", value.text)
    value = (value.part(0, comment.start()) if comment is not None else value).strip()
    if operator == "+=" and name in found.variables:
        blank = substitute(" ", value, 0, 1) if value.runs else Located()
        value = join((found.variables[name], blank, value))
    if operator == "?=" and value.runs:
        value = value.noted(f"${name} is not set")
    found.variables[name] = value
    place = line.part(*match.span(1)).extent
    if match[0].startswith("export") and place is not None:
        found.exported[name] = Setting(value if value.runs else Located((), place), place)


def _logical_lines(source: SourceText) -> Iterator[Located]:
    """Lines with what they go on in; the shell gets the backslash too, make's own lines are joined by a blank."""
    parts: list[Located] = []
    is_recipe = False
    for line in source.located().lines():
        line = line.part(0, len(line.text.rstrip("\r")))
        if not parts:
            is_recipe = line.text.startswith("\t")
            if line.text.lstrip().startswith("#"):
                continue
        if line.text.endswith("\\"):
            parts.extend((line, _line_end(line)) if is_recipe else (line.part(0, len(line) - 1), substitute(" ", line, len(line) - 1)))
            continue
        yield join((*parts, line))
        parts = []
    if parts:
        yield join(parts)


def _line_end(line: Located) -> Located:
    if not line.runs:
        return Located()
    last = line.runs[-1]
    return substitute("\n", last.source.located(max(last.end - 1, 0), last.end))


def _filled(text: Located, variables: Mapping[str, Located]) -> Located:
    """``$(X)`` put in, ``$$`` made the shell's dollar sign; what make does not define is left to the shell, unknown to it too."""
    return _Filling(variables).of(text, 0)


@dataclass
class _Filling:
    variables: Mapping[str, Located]
    left: int = _MAX_TEXT

    def of(self, text: Located, depth: int) -> Located:
        parts: list[Located] = []
        position = 0
        for match in _REFERENCE.finditer(text.text):
            parts.append(text.part(position, match.start()))
            position = match.end()
            name = match[1] or match[2]
            if name is None:
                parts.append(substitute("$", text, *match.span()))
            elif name in self.variables and depth < _MAX_DEPTH and self.left > 0:
                self.left -= 1 + len(self.variables[name])
                parts.append(self.of(self.variables[name], depth + 1))
            else:
                parts.append(substitute(f"${{{name}}}", text, *match.span()))
        parts.append(text.part(position))
        return join(parts)


FORMAT = Makefile()
