"""Dockerfiles: what the image starts, by ENTRYPOINT and CMD, with the variables that its stages set."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from sm_gatecheck.launch.formats.interface import LIKELY, NO, SURE, Reading, is_named
from sm_gatecheck.launch.inside import Inside
from sm_gatecheck.launch.interpolation import interpolated
from sm_gatecheck.launch.job import Job, Setting, Start
from sm_gatecheck.launch.located import Located, SourceText, Word, join, substitute
from sm_gatecheck.launch.model import VersionMention
from sm_gatecheck.launch.versions import required_version
from sm_gatecheck.launch.words import split_words
from sm_gatecheck.launch.yaml_tree import YamlTree

_INSTRUCTION = re.compile(r"^\s*([A-Za-z]+)\s+")
_FROM = re.compile(r"^[ \t]*FROM[ \t]+\S", re.MULTILINE | re.IGNORECASE)
_FIRST = re.compile(r"\A(?:\s*(?:#[^\n]*)?\n)*[ \t]*(?:FROM|ARG)[ \t]", re.IGNORECASE)
_ESCAPE = re.compile(r"\A(?:#[^\n]*\n)*#[ \t]*escape[ \t]*=[ \t]*`", re.IGNORECASE)
_HEREDOC = re.compile(r"<<-?(['\"]?)([A-Za-z_]\w*)\1")
_FLAG = re.compile(r"--[\w-]+(?:=\S+)?\s+")
_PAIR = re.compile(r"""([A-Za-z_][\w.]*)=((?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\])*)""", re.DOTALL)


@dataclass
class _Stage:
    """A build stage. ``variables`` are ENV, ``arguments`` ARG (gone when the image runs); a command is words, or a text for the shell."""

    image: Located | None = None
    name: str | None = None
    base: int | None = None
    variables: dict[str, Setting] = field(default_factory=dict)
    arguments: dict[str, Located] = field(default_factory=dict)
    entrypoint: tuple[Word, ...] | Located | None = None
    command: tuple[Word, ...] | Located | None = None
    copied: dict[str, str] = field(default_factory=dict)
    texts: dict[str, Located] = field(default_factory=dict)
    versions: tuple[VersionMention, ...] = ()
    is_own: bool = False


@dataclass(frozen=True)
class Dockerfile:
    name: str = "dockerfile"
    title: str = "Dockerfile"

    def recognise(self, source: SourceText, reading: Reading) -> int:
        if is_named(source, "dockerfile", "dockerfile.*", "*.dockerfile", "containerfile", "containerfile.*"):
            return SURE
        return LIKELY if _FROM.search(source.text) and _FIRST.match(source.text) else NO

    def read(self, source: SourceText, reading: Reading) -> Iterator[Start]:
        stages = _Parser(source, reading).stages()
        ancestors = _ancestors(stages)
        for index, stage in enumerate(stages):
            is_last = index == len(stages) - 1
            if is_last or (stage.is_own and index not in ancestors):
                job = _job(stage, source, reading)
                if job is not None:
                    yield job


def _ancestors(stages: list[_Stage]) -> set[int]:
    """The stages that the last one is built upon."""
    found: set[int] = set()
    index = stages[-1].base if stages else None
    while index is not None and index not in found:
        found.add(index)
        index = stages[index].base
    return found


@dataclass
class _Parser:
    source: SourceText
    reading: Reading
    found: list[_Stage] = field(default_factory=list)
    before: dict[str, Located] = field(default_factory=dict)

    def stages(self) -> list[_Stage]:
        for line, heredoc in _instructions(self.source):
            match = _INSTRUCTION.match(line.text)
            if match is None:
                continue
            rest = line.part(match.end()).strip()
            method = getattr(self, f"_{match[1].lower()}", None)
            if method is not None:
                method(rest, heredoc)
        return self.found

    @property
    def stage(self) -> _Stage:
        if not self.found:
            self.found.append(_Stage())
        return self.found[-1]

    def _lookup(self, name: str) -> Located | None:
        stage = self.found[-1] if self.found else None
        if stage is not None and name in stage.variables:
            return stage.variables[name].value
        if stage is not None and name in stage.arguments:
            return stage.arguments[name]
        return None

    def _text(self, text: Located) -> Located:
        return interpolated(text, self._lookup, escape="\\$")

    def _from(self, rest: Located, heredoc: Located | None) -> None:
        text = interpolated(rest, self.before.get, escape="\\$")
        words = split_words(text)
        while words and words[0].text.startswith("--"):
            words.pop(0)
        if not words:
            return
        name = words[2].text if len(words) > 2 and words[1].text.lower() == "as" else None
        base = next((index for index, stage in reversed(list(enumerate(self.found))) if words[0].text in (stage.name, str(index))), None)
        if base is None:
            self.found.append(_Stage(image=words[0].value, name=name))
            return
        parent = self.found[base]
        self.found.append(
            replace(
                parent, name=name, base=base, variables=dict(parent.variables), arguments={}, copied=dict(parent.copied),
                texts=dict(parent.texts), is_own=False,
            )
        )  # fmt: skip

    def _arg(self, rest: Located, heredoc: Located | None) -> None:
        for word in split_words(rest):
            name, separator, _ = word.text.partition("=")
            if not self.found:
                if separator:
                    self.before[name] = interpolated(word.value.part(len(name) + 1), self.before.get, escape="\\$").noted(
                        f"${name} is not set"
                    )
            elif separator:
                value = self._text(word.value.part(len(name) + 1))
                self.stage.arguments[name] = value.noted(f"${name} is not set")
            elif name in self.before:
                self.stage.arguments[name] = self.before[name]

    def _env(self, rest: Located, heredoc: Located | None) -> None:
        first = rest.text.split(None, 1)
        if first and "=" not in first[0]:
            # the old form: ENV NAME the rest of the line
            name = rest.part(0, len(first[0]))
            self._variable(name, self._text(rest.part(len(first[0])).strip()))
            return
        pairs: list[tuple[Located, Located]] = []
        for match in _PAIR.finditer(rest.text):
            words = split_words(rest.part(*match.span(2)))
            pairs.append((rest.part(*match.span(1)), self._text(join(word.value for word in words))))
        for name, value in pairs:
            self._variable(name, value)

    def _variable(self, name: Located, value: Located) -> None:
        place = name.extent
        if place is not None:
            self.stage.variables[name.text] = Setting(value if value.runs else Located((), place), place)

    def _entrypoint(self, rest: Located, heredoc: Located | None) -> None:
        self.stage.entrypoint = _form(rest)
        self.stage.is_own = True

    def _cmd(self, rest: Located, heredoc: Located | None) -> None:
        self.stage.command = _form(rest)
        self.stage.is_own = True

    def _run(self, rest: Located, heredoc: Located | None) -> None:
        for text in (rest, heredoc):
            mention = required_version(self._text(text), self.reading.rules) if text is not None else None
            if mention is not None:
                self.stage.versions = (mention, *self.stage.versions)

    def _copy(self, rest: Located, heredoc: Located | None) -> None:
        text = rest
        is_foreign = False
        while (flag := _FLAG.match(text.text)) is not None:
            is_foreign = is_foreign or flag[0].startswith("--from")
            text = text.part(flag.end())
        words = [word.text for word in (_form_words(text) or split_words(self._text(text)))]
        if len(words) < 2:
            return
        target = words[-1]
        if heredoc is not None:
            self.stage.texts[target] = heredoc
        elif not is_foreign:
            for origin in words[:-1]:
                is_folder = target.endswith("/") or len(words) > 2
                self.stage.copied[target.rstrip("/") + "/" + origin.rsplit("/", 1)[-1] if is_folder else target] = origin

    _add = _copy


def _instructions(source: SourceText) -> Iterator[tuple[Located, Located | None]]:
    """Instructions on one line each, and the heredoc that belongs to one."""
    escape = "`" if _ESCAPE.match(source.text) else "\\"
    lines = list(source.located().lines())
    index = 0
    parts: list[Located] = []
    while index < len(lines):
        line = lines[index].part(0, len(lines[index].text.rstrip("\r")))
        index += 1
        if line.text.lstrip().startswith("#") or (parts and not line.text.strip()):
            continue
        stripped = line.text.rstrip()
        if stripped.endswith(escape):
            parts.append(line.part(0, len(stripped) - 1))
            parts.append(substitute(" ", line, len(stripped) - 1, len(stripped)))
            continue
        parts.append(line)
        text = join(parts)
        parts = []
        heredoc = _HEREDOC.search(text.text) if re.match(r"\s*(?:RUN|COPY|ADD)\b", text.text, re.IGNORECASE) else None
        body: list[Located] = []
        if heredoc is not None:
            while index < len(lines) and lines[index].text.strip() != heredoc[2]:
                body.append(lines[index])
                index += 1
            index += 1
        yield text, _lines(body) if heredoc is not None else None
    if parts:
        yield join(parts), None


def _lines(lines: list[Located]) -> Located:
    """Lines as one text again."""
    found: list[Located] = []
    for line in lines:
        found.append(line)
        end = line.runs[-1] if line.runs else None
        if end is not None:
            found.append(end.source.located(end.end, end.end + 1))
    return join(found)


def _form(text: Located) -> tuple[Word, ...] | Located:
    """Words where the instruction is a JSON list, else the text, for a shell."""
    words = _form_words(text)
    return tuple(words) if words is not None else text


def _form_words(text: Located) -> list[Word] | None:
    if not text.text.startswith("["):
        return None
    tree = YamlTree(text)
    root = tree.documents[0] if tree.documents and tree.problem is None else None
    if root is None or not root.is_list or not all(item.is_scalar for item in root.items):
        return None
    return [Word(item.located) for item in root.items]


def _job(stage: _Stage, source: SourceText, reading: Reading) -> Job | None:
    files = dict(stage.texts)
    for target, origin in stage.copied.items():
        found = reading.companions.read(origin.lstrip("/"), source.directory)
        if found is not None:
            files[target] = found.located()
    job = Job(
        name=stage.name,
        environment=stage.variables,
        image=stage.image or Located(),
        versions=stage.versions,
        inside=Inside(files=files),
        directory=source.directory,
    )
    entrypoint, command = stage.entrypoint, stage.command
    if isinstance(entrypoint, Located):
        return replace(job, script=entrypoint)
    if isinstance(command, Located):
        return replace(job, words=(*entrypoint, Word(command))) if entrypoint else replace(job, script=command)
    words = (*(entrypoint or ()), *(command or ()))
    return replace(job, words=words) if words else None


FORMAT = Dockerfile()
