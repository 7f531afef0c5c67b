"""``docker run`` and its like: the container's own flags, its environment, its image, and the command that it is given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sm_gatecheck.launch.files import Companions
from sm_gatecheck.launch.job import Setting
from sm_gatecheck.launch.located import Located, Word
from sm_gatecheck.launch.rules import ContainerRules, LaunchRules

_MAX_GLOBAL_WORDS = 6
"""Words between ``docker`` and its verb: ``container``, ``--context NAME``, ``-H HOST``."""


@dataclass
class Container:
    """``words`` are what runs inside; ``image`` is None where a running container is entered (``docker exec``)."""

    image: Located | None = None
    words: tuple[Word, ...] = ()
    environment: dict[str, Setting] = field(default_factory=dict)
    name: str | None = None
    notes: list[str] = field(default_factory=list)
    mounts: list[tuple[str, str]] = field(default_factory=list)
    """Paths inside and on the host."""


def enter(
    words: Sequence[Word],
    index: int,
    shell: Mapping[str, Setting],
    rules: LaunchRules,
    companions: Companions,
    directory: Path | None,
) -> Container | None:
    """The container that the command at ``index`` starts; None where it does something else. ``shell`` are variables of the caller."""
    known = rules.container
    for position in range(index + 1, min(len(words), index + 1 + _MAX_GLOBAL_WORDS)):
        text = words[position].text
        if text in known.exec_verbs:
            return _Reading(words, position + 1, known, known.exec_switches, shell, companions, directory).read(is_exec=True)
        if text in known.verbs:
            return _Reading(words, position + 1, known, known.switches, shell, companions, directory).read(is_exec=False)
    return None


@dataclass
class _Reading:
    words: Sequence[Word]
    index: int
    rules: ContainerRules
    switches: frozenset[str]
    shell: Mapping[str, Setting]
    companions: Companions
    directory: Path | None
    container: Container = field(default_factory=Container)
    entrypoint: list[Word] = field(default_factory=list)

    def read(self, is_exec: bool) -> Container | None:
        while self.index < len(self.words):
            word = self.words[self.index]
            text = word.text
            if word.is_empty_default:
                self.index += 1
            elif word.starts_unresolved and self._is_open(word):
                self._note(word, "container flags")
                self.index += 1
            elif text == "--":
                self.index += 1
                break
            elif text.startswith("-") and len(text) > 1:
                self._flag(word)
            else:
                break
        if self.index >= len(self.words):
            return None
        target = self.words[self.index]
        if is_exec:
            self.container.name = self.container.name or target.text
        else:
            self.container.image = target.value
        self.container.words = (*self.entrypoint, *self.words[self.index + 1 :])
        return self.container

    def _is_open(self, word: Word) -> bool:
        """Whether a word that is not known stands for flags: the image comes after it."""
        rest = self.words[self.index + 1 :]
        return bool(rest) and (rest[0].text.startswith("-") or "/" in rest[0].text or ":" in rest[0].text)

    def _flag(self, word: Word) -> None:
        text = word.text
        self.index += 1
        if text.startswith("--"):
            name, attached = text.partition("=")[0], word.part(text.index("=") + 1) if "=" in text else None
            if attached is None and name not in self.switches:
                attached = self._next()
            self._take(name, attached)
            return
        # -itd, -eNAME=VALUE, -p8000:8000: letters up to the first that takes a value
        for position in range(1, len(text)):
            name = f"-{text[position]}"
            if name in self.switches:
                continue
            attached = word.part(position + 1) if position + 1 < len(text) else self._next()
            self._take(name, attached)
            return

    def _next(self) -> Word | None:
        while self.index < len(self.words) and self.words[self.index].is_empty_default:
            self.index += 1
        if self.index >= len(self.words):
            return None
        self.index += 1
        return self.words[self.index - 1]

    def _take(self, name: str, value: Word | None) -> None:
        if value is None:
            return
        if name in self.rules.environment:
            self._variable(value)
        elif name in self.rules.environment_files:
            self._variables_file(value)
        elif name in self.rules.entrypoint:
            self.entrypoint = [value] if value.text else []
        else:
            if name in self.rules.name:
                self.container.name = value.text
            if name in self.rules.volumes and not value.unresolved:
                self.container.mounts.extend(mount(value.text))
            self._note(value, "volume" if name in self.rules.volumes else name)

    def _note(self, word: Word, where: str) -> None:
        self.container.notes.extend(f"{reference} ({where} only)" for reference in word.unresolved)

    def _variable(self, word: Word) -> None:
        name, separator, _ = word.text.partition("=")
        place = word.value.part(0, len(name)).extent
        if place is None:
            return
        if separator:
            value = word.value.part(len(name) + 1)
            self.container.environment[name] = Setting(value if value.runs else Located((), place), place)
            self.container.notes.extend(word.unresolved)
        elif name in self.shell:
            self.container.environment[name] = Setting(self.shell[name].value, place)
        else:
            self.container.notes.extend(word.unresolved or (f"${name}",))

    def _variables_file(self, word: Word) -> None:
        source = self.companions.read(word.text, self.directory) if not word.unresolved else None
        if source is None:
            self.container.notes.append(f"--env-file {word.text} (not available)")
            return
        for name, setting in variable_lines(source.located().lines()):
            if setting is not None:
                self.container.environment[name] = setting
            elif name in self.shell:
                self.container.environment[name] = self.shell[name]


def mount(text: str) -> Iterable[tuple[str, str]]:
    """``host:inside:options`` or ``type=bind,source=host,target=inside`` as (inside, host)."""
    if "=" in text.split(":")[0]:
        fields = dict(part.partition("=")[::2] for part in text.split(","))
        outer = fields.get("source", fields.get("src", ""))
        inner = fields.get("target", fields.get("dst", fields.get("destination", "")))
    else:
        outer, _, rest = text.partition(":")
        inner = rest.split(":")[0]
    if inner.startswith("/") and outer.startswith(("/", ".")):
        yield inner, outer


def variable_lines(lines: Iterable[Located]) -> Iterable[tuple[str, Setting | None]]:
    """``NAME=VALUE`` lines taken as they are, quotes and all; None for a name alone, which is the caller's."""
    for line in lines:
        text = line.strip()
        if not text.text or text.text.startswith("#"):
            continue
        name, separator, _ = text.text.partition("=")
        place = text.part(0, len(name)).extent
        if not name.strip() or place is None:
            continue
        if separator:
            value = text.part(len(name) + 1)
            yield name, Setting(value if value.runs else Located((), place), place)
        else:
            yield name, None
