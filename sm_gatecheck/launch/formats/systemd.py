"""systemd units, with the drop-ins that lie beside them and the files of variables that they name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from sm_gatecheck.launch.files import MAX_COMPANIONS
from sm_gatecheck.launch.formats.interface import NO, SURE, Reading, base_name, is_named
from sm_gatecheck.launch.job import Job, Setting, Start
from sm_gatecheck.launch.located import MAX_WORDS, Located, SourceText, Word, join, substitute
from sm_gatecheck.launch.model import Extent
from sm_gatecheck.launch.variables_file import variables

_SECTION = re.compile(r"^[ \t]*\[([^\]\n]+)\][ \t]*\r?$")
_KEY = re.compile(r"^[ \t]*([A-Za-z][\w-]*)[ \t]*=[ \t]*")
_SERVICE = re.compile(r"^[ \t]*\[(?:Service|Container)\]", re.MULTILINE)
_UNITS = ("*.service", "*.socket", "*.timer", "*.container")
_SECTIONS = ("Service", "Container")
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "s": " "}
_TOKEN = re.compile(r"""\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[0-7]{3}|.)|['"]|\s+|[^\\'"\s]+|.""", re.DOTALL)
_SPECIFIER = re.compile(r"%([%a-zA-Z])")
_VARIABLE = re.compile(r"\$\$|\$\{([A-Za-z_]\w*)\}")
_PREFIXES = "@-:+!|"


@dataclass
class _Service:
    """What the ``[Service]`` sections of a unit and its drop-ins say together (``[Container]``, for one that podman makes)."""

    starts: list[Located] = field(default_factory=list)
    environment: list[tuple[str, Setting]] = field(default_factory=list)
    files: list[Located] = field(default_factory=list)
    unset: list[str] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)
    directory: str | None = None
    image: Located | None = None
    name: str | None = None


@dataclass(frozen=True)
class Systemd:
    name: str = "systemd"
    title: str = "systemd unit"

    def recognise(self, source: SourceText, reading: Reading) -> int:
        if is_named(source, *_UNITS):
            return SURE
        return SURE - 5 if _SERVICE.search(source.text) and "Exec" in source.text else NO

    def read(self, source: SourceText, reading: Reading) -> Iterator[Start]:
        service = _Service()
        unit = base_name(source)
        for part in (source, *_drop_ins(source, reading)):
            _collect(part, service, unit)
        notes: list[str] = []
        environment = _environment(service, source, reading, notes)
        notes.extend(f"${name}" for name in service.passed if name not in environment)
        directory = source.directory
        if service.directory is not None and os.path.isdir(service.directory):
            directory = Path(service.directory)
        for start in service.starts:
            words = _command(start, environment, unit, reading)
            if words:
                yield Job(service.name, words, environment=environment, image=service.image, notes=tuple(notes), directory=directory)


def _drop_ins(source: SourceText, reading: Reading) -> Iterator[SourceText]:
    """``UNIT.d/*.conf`` beside the unit, those of its template first, in the order of their names."""
    if source.path is None or not is_named(source, "*.service", "*.container"):
        return
    names = [f"{source.path.name}.d"]
    if "@" in source.path.name:
        names.insert(0, f"{source.path.name.split('@')[0]}@.service.d")
    found: dict[str, Path] = {}
    for name in names:
        directory = source.path.parent / name
        try:
            found.update((path.name, path) for path in directory.glob("*.conf"))
        except OSError:
            continue
    for name in sorted(found)[:MAX_COMPANIONS]:
        part = reading.companions.read(str(found[name]), source.directory if found[name].is_absolute() else Path())
        if part is not None:
            yield part


def _collect(source: SourceText, service: _Service, unit: str) -> None:
    section = ""
    for line in _logical_lines(source):
        header = _SECTION.match(line.text)
        if header is not None:
            section = header[1]
            continue
        match = _KEY.match(line.text)
        if match is None or section not in _SECTIONS:
            continue
        _assign(service, match[1], line.part(match.end()).strip(), unit)


def _logical_lines(source: SourceText) -> Iterator[Located]:
    """Lines, a backslash at the end joining the next (comments between are passed over)."""
    parts: list[Located] = []
    for line in source.located().lines():
        line = line.part(0, len(line.text.rstrip("\r")))
        if line.text.lstrip().startswith(("#", ";")):
            continue
        if line.text.endswith("\\"):
            parts.append(line.part(0, len(line) - 1))
            parts.append(substitute(" ", line, len(line) - 1))
            continue
        parts.append(line)
        yield join(parts)
        parts = []
    if parts:
        yield join(parts)


def _assign(service: _Service, key: str, value: Located, unit: str) -> None:
    if key in ("ExecStart", "Exec"):
        if value.text:
            service.starts.append(value)
        else:
            service.starts.clear()
    elif key == "Environment":
        if not value.text:
            service.environment.clear()
        for word in _words(value):
            name, separator, _ = word.text.partition("=")
            place = word.value.part(0, len(name)).extent
            if separator and place is not None:
                text = _specified(word.value.part(len(name) + 1), unit)
                service.environment.append((name, Setting(text if text.runs else Located((), place), place)))
    elif key == "EnvironmentFile":
        if value.text:
            service.files.append(_specified(value, unit))
        else:
            service.files.clear()
    elif key == "UnsetEnvironment":
        service.unset.extend(word.text for word in _words(value))
    elif key == "PassEnvironment":
        service.passed.extend(word.text for word in _words(value))
    elif key == "Image":
        service.image = _specified(value, unit)
    elif key == "ContainerName":
        service.name = value.text
    elif key == "WorkingDirectory":
        service.directory = value.text.lstrip("-")


def _environment(service: _Service, source: SourceText, reading: Reading, notes: list[str]) -> dict[str, Setting]:
    """Files of variables count for more than ``Environment=``, later ones for more than earlier ones."""
    environment = dict(service.environment)
    for file in service.files:
        name = file.text
        is_optional = name.startswith("-")
        name = name.lstrip("-")
        found = reading.companions.read(name, source.directory) if not file.unresolved else None
        if found is not None:
            environment.update(variables(found.located()))
        else:
            notes.append(f"EnvironmentFile={name} ({'optional, ' if is_optional else ''}not available)")
    for name in service.unset:
        environment.pop(name.partition("=")[0], None)
    for name in service.passed:
        if name in reading.environment and name not in environment and source.text:
            place = source.extent(0, 0)
            environment[name] = Setting(substitute(reading.environment[name], source.located(0, 1)), place)
    return environment


def _command(start: Located, environment: dict[str, Setting], unit: str, reading: Reading) -> tuple[Word, ...]:
    """``ExecStart=``: its prefix characters, words, specifiers and variables."""
    text = start.text
    prefix = text[: len(text) - len(text.lstrip(_PREFIXES))]
    words = _words(start.part(len(prefix)).strip())
    if "@" in prefix and len(words) > 1:
        del words[1]
    found: list[Word] = []
    for word in words:
        value = _specified(word.value, unit)
        found.extend([Word(value)] if ":" in prefix else _with_variables(value, environment, reading))
    return tuple(found)


def _with_variables(value: Located, environment: dict[str, Setting], reading: Reading) -> Iterator[Word]:
    """``${X}`` anywhere in a word; ``$X`` as a word of its own, split at blanks."""
    written: Extent | None = value.extent
    bare = re.fullmatch(r"\$([A-Za-z_]\w*)", value.text)
    if bare is not None:
        known = _lookup(bare[1], value, environment, reading)
        if known is None:
            yield Word(substitute(value.text, value, unresolved=value.text))
        else:
            for match in re.finditer(r"\S+", known.text):
                yield Word(known.part(*match.span()), written)
        return
    parts: list[Located] = []
    position = 0
    for match in _VARIABLE.finditer(value.text):
        parts.append(value.part(position, match.start()))
        position = match.end()
        if match[1] is None:
            parts.append(substitute("$", value, *match.span()))
            continue
        known = _lookup(match[1], value.part(*match.span()), environment, reading)
        parts.append(known if known is not None else substitute(match[0], value, *match.span(), unresolved=f"${match[1]}"))
    parts.append(value.part(position))
    text = join(parts)
    yield Word(text if text.runs else Located((), written), written)


def _lookup(name: str, place: Located, environment: dict[str, Setting], reading: Reading) -> Located | None:
    if name in environment:
        return environment[name].value
    inherited = reading.environment.get(name)
    return substitute(inherited, place) if inherited is not None else None


def _words(text: Located) -> list[Word]:
    """Words as systemd splits them: both quotation marks, C escapes within and without."""
    words: list[Word] = []
    current: list[Located] = []
    quote, exists = "", False
    for match in _TOKEN.finditer(text.text):
        if len(words) > MAX_WORDS:
            return words
        token = match[0]
        part = text.part(*match.span())
        if token in ("'", '"') and quote in ("", token):
            quote = "" if quote else token
            exists = True
            if not current:
                current.append(Located((), part.extent))
        elif token.isspace() and not quote:
            if current or exists:
                words.append(Word(join(current)))
            current, exists = [], False
        elif token.startswith("\\") and len(token) > 1:
            current.append(substitute(_unescaped(token[1:]), text, *match.span()))
        else:
            current.append(part)
    if current or exists:
        words.append(Word(join(current)))
    return words


def _unescaped(code: str) -> str:
    if code[0] in "xu" and len(code) > 1:
        return chr(int(code[1:], 16)) if int(code[1:], 16) else ""
    if len(code) == 3 and code.isdigit():
        return chr(int(code, 8) % 256)
    return _ESCAPES.get(code, code)


def _specified(text: Located, unit: str) -> Located:
    """``%n``, ``%p`` and ``%i`` by the unit's name; other specifiers are known to systemd alone."""
    if "%" not in text.text:
        return text
    parts: list[Located] = []
    position = 0
    for match in _SPECIFIER.finditer(text.text):
        parts.append(text.part(position, match.start()))
        known = _specifier(match[1], unit)
        if known is None:
            parts.append(substitute(match[0], text, *match.span(), unresolved=match[0]))
        else:
            parts.append(substitute(known, text, *match.span()))
        position = match.end()
    parts.append(text.part(position))
    return join(parts)


def _specifier(letter: str, unit: str) -> str | None:
    if letter == "%":
        return "%"
    if not unit.endswith(".service"):
        return None
    stem = unit.removesuffix(".service")
    prefix, at, instance = stem.partition("@")
    values = {"n": unit if not at or instance else None, "N": stem if not at or instance else None, "p": prefix, "i": instance or None}
    return values.get(letter)


FORMAT = Systemd()
