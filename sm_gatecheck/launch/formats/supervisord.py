"""supervisord programs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sm_gatecheck.launch.formats.interface import NO, SURE, Reading
from sm_gatecheck.launch.job import Job, Setting, Start
from sm_gatecheck.launch.located import Located, SourceText, join, substitute
from sm_gatecheck.launch.model import Problem
from sm_gatecheck.launch.words import split_words

_PROGRAM = re.compile(r"^[ \t]*\[program:([^\]\n]+)\]", re.MULTILINE)
_BACKSLASH = "a backslash does not go on with the line here: supervisord makes it a part of the next word; leave it out"
_SECTION = re.compile(r"^\[([^\]\n]+)\]")
_KEY = re.compile(r"^([A-Za-z_]\w*)[ \t]*[=:][ \t]*")
_EXPANSION = re.compile(r"%%|%\((\w+)\)(?:0?\d*)[sd]")
_VARIABLE = re.compile(r"""\s*,?\s*([A-Za-z_]\w*)\s*=\s*(?:"((?:\\.|[^"\\])*)"|'([^']*)'|([^,\s]*))""", re.DOTALL)


@dataclass
class _Section:
    name: str
    parts: dict[str, list[Located]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def get(self, key: str) -> Located | None:
        found = self.parts.get(key)
        return join(found) if found is not None else None

    def go_on(self, key: str, line: Located) -> None:
        """An indented line goes on with a value."""
        parts = self.parts[key]
        before = parts[-1]
        if before.text.endswith("\\"):
            # Meant as in a shell; supervisord takes the backslash with the line break for a part of the next word.
            place = before.place(len(before) - 1)
            if place is not None:
                self.problems.append(Problem("syntax", _BACKSLASH, place.span))
            parts[-1] = before.part(0, len(before) - 1)
        parts.extend((substitute(" ", line, 0, 1), line.strip()))


@dataclass(frozen=True)
class Supervisord:
    name: str = "supervisord"
    title: str = "supervisord configuration"

    def recognise(self, source: SourceText, reading: Reading) -> int:
        return SURE if _PROGRAM.search(source.text) else NO

    def read(self, source: SourceText, reading: Reading) -> Iterator[Start]:
        sections = list(_sections(source))
        shared: dict[str, Setting] = {}
        for section in sections:
            if section.name == "supervisord":
                shared.update(_variables(section, shared, "", source))
        for section in sections:
            command = section.get("command")
            if not section.name.startswith("program:") or command is None:
                continue
            program = section.name.partition(":")[2].strip()
            environment = {**shared, **_variables(section, shared, program, source)}
            yield Job(
                name=program,
                words=tuple(split_words(_expanded(command, environment, program, source))),
                environment=environment,
                problems=tuple(section.problems),
                directory=_directory(section, source),
            )


def _variables(section: _Section, known: Mapping[str, Setting], program: str, source: SourceText) -> dict[str, Setting]:
    text = section.get("environment")
    return dict(_environment(_expanded(text, known, program, source))) if text is not None else {}


def _directory(section: _Section, source: SourceText) -> Path | None:
    named = section.get("directory")
    if named is not None and not named.unresolved and os.path.isdir(named.text):
        return Path(named.text)
    return source.directory


def _sections(source: SourceText) -> Iterator[_Section]:
    """Sections with their values; an indented line goes on with the value before it, ``;`` after a blank begins a comment."""
    section: _Section | None = None
    key = ""
    for line in source.located().lines():
        line = line.part(0, len(line.text.rstrip("\r")))
        text = line.text
        if not text.strip() or text.lstrip().startswith(("#", ";")):
            continue
        header = _SECTION.match(text)
        if header is not None:
            if section is not None:
                yield section
            section, key = _Section(header[1]), ""
            continue
        comment = re.search(r"\s;", text)
        if comment is not None:
            line = line.part(0, comment.start())
        if text[0] in " \t" and section is not None and key:
            section.go_on(key, line)
            continue
        match = _KEY.match(line.text)
        if match is not None and section is not None:
            key = match[1]
            section.parts[key] = [line.part(match.end()).strip()]
    if section is not None:
        yield section


def _expanded(text: Located, environment: Mapping[str, Setting], program: str, source: SourceText) -> Located:
    """``%(program_name)s``, ``%(here)s`` and ``%(ENV_X)s``."""
    parts: list[Located] = []
    position = 0
    for match in _EXPANSION.finditer(text.text):
        parts.append(text.part(position, match.start()))
        position = match.end()
        name = match[1]
        if name is None:
            parts.append(substitute("%", text, *match.span()))
        elif name == "program_name" and program:
            parts.append(substitute(program, text, *match.span()))
        elif name == "here" and source.directory is not None:
            parts.append(substitute(str(source.directory), text, *match.span()))
        elif name.startswith("ENV_") and name[4:] in environment:
            parts.append(environment[name[4:]].value)
        else:
            reference = f"${name[4:]}" if name.startswith("ENV_") else match[0]
            parts.append(substitute(match[0], text, *match.span(), unresolved=reference))
    parts.append(text.part(position))
    return join(parts)


def _environment(text: Located) -> Iterator[tuple[str, Setting]]:
    """``NAME="value",OTHER=value``."""
    for match in _VARIABLE.finditer(text.text):
        place = text.part(*match.span(1)).extent
        group = next(number for number in (2, 3, 4) if match[number] is not None)
        if place is None:
            continue
        value = text.part(*match.span(group))
        words = split_words(text.part(match.start(2) - 1, match.end(2) + 1)) if group == 2 else []
        value = words[0].value if words else value
        yield match[1], Setting(value if value.runs else Located((), place), place)


FORMAT = Supervisord()
