"""From a command to the server that it starts: wrappers are looked through, containers entered, nested scripts handed back.

Any word before an entry point may belong to a wrapper (``numactl``, ``torchrun``, ``uv run``, ``srun``); only those need a rule
that set variables, run a text as a script, or start a container whose environment is its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path

from sm_gatecheck.launch.containers import Container, enter
from sm_gatecheck.launch.files import Companions
from sm_gatecheck.launch.inside import NOTHING, Inside
from sm_gatecheck.launch.job import Setting
from sm_gatecheck.launch.located import Located, Word
from sm_gatecheck.launch.model import Extent, VersionMention
from sm_gatecheck.launch.rules import EntryRule, LaunchRules
from sm_gatecheck.launch.versions import image_version, is_program_image, versions_in

MAX_DEPTH = 8
"""Shells in containers in shells."""


@dataclass(frozen=True)
class Surroundings:
    """What a command is started in. ``shell`` holds variables that a shell has but does not hand on."""

    environment: Mapping[str, Setting] = field(default_factory=dict)
    shell: Mapping[str, Setting] = field(default_factory=dict)
    image: Located | None = None
    name: str | None = None
    notes: tuple[str, ...] = ()
    versions: tuple[VersionMention, ...] = ()
    directory: Path | None = None
    is_container: bool = False
    inside: Inside = NOTHING


@dataclass(frozen=True)
class Server:
    """A server is started, with ``words``."""

    entry: EntryRule
    extent: Extent
    words: tuple[Word, ...]
    surroundings: Surroundings


@dataclass(frozen=True)
class Nested:
    """A shell is started on a text, with parameters of its own (None: not known)."""

    script: Located
    positional: tuple[Word, ...] | None
    surroundings: Surroundings
    directory: Path | None = None


def unwrap(words: Sequence[Word], around: Surroundings, rules: LaunchRules, companions: Companions) -> Server | Nested | None:
    """What a command starts: a server, a script to look into, or nothing of interest."""
    return _Unwrapping(rules, companions).of(list(words), around, 0)


@dataclass
class _Unwrapping:
    rules: LaunchRules
    companions: Companions

    def of(self, words: list[Word], around: Surroundings, depth: int) -> Server | Nested | None:
        if depth > MAX_DEPTH or self._is_silent(words):
            return None
        environment = dict(around.environment)
        index = 0
        while index < len(words):
            text = words[index].text
            head = text.rsplit("/", 1)[-1]
            entry = self._entry(words, index)
            if entry is not None:
                seen = versions_in(words[:index], self.rules)
                around = replace(around, environment=environment, versions=(*around.versions, *seen))
                rest = words[index + len(entry.words) - (1 if self._is_joined(words[index]) else 0) :]
                return Server(entry, self._place(words, index), tuple(rest), around)
            if head in self.rules.container.commands:
                container = enter(words, index, around.shell, self.rules, self.companions, around.directory)
                if container is not None:
                    return self._inside(container, words[index], around, depth)
            if head in self.rules.environment_wrappers:
                index = self._variables(words, index + 1, environment)
                continue
            if head in self.rules.shells and not words[index].unresolved:
                nested = self._shell(words, index, replace(around, environment=environment))
                if nested is not None:
                    return nested
            self._flag(words, index, environment)
            index += 1
        return self._loose_script(words, replace(around, environment=environment))

    # -- entry points ----------------------------------------------------------------------------------------------------

    def _entry(self, words: Sequence[Word], index: int) -> EntryRule | None:
        for rule in self.rules.entries:
            if self._matches(rule.words, words, index):
                return rule
        return None

    def _matches(self, patterns: Sequence[str], words: Sequence[Word], index: int) -> bool:
        first, text = patterns[0], words[index].text
        if words[index].unresolved:
            return False
        if first in self.rules.module_flags and len(patterns) > 1 and text == first + patterns[1]:
            return self._follow(patterns[2:], words, index + 1)
        if "*" in first:
            fits = fnmatchcase(text, first)
        elif first.startswith("-"):
            fits = text == first
        else:
            fits = text.rsplit("/", 1)[-1] == first
        return fits and self._follow(patterns[1:], words, index + 1)

    def _follow(self, patterns: Sequence[str], words: Sequence[Word], index: int) -> bool:
        return [word.text for word in words[index : index + len(patterns)]] == list(patterns)

    def _is_joined(self, word: Word) -> bool:
        return any(word.text.startswith(flag) and len(word.text) > len(flag) for flag in self.rules.module_flags)

    def _place(self, words: Sequence[Word], index: int) -> Extent:
        """Where the start is written: at the interpreter before ``-m``, if there is one."""
        is_module = any(words[index].text.startswith(flag) for flag in self.rules.module_flags)
        if is_module and index and words[index - 1].text.rsplit("/", 1)[-1].startswith("python"):
            return words[index - 1].extent
        return words[index].extent

    def _is_silent(self, words: Sequence[Word]) -> bool:
        """Whether the command prints its words, looks for them, or ends what they name."""
        for word in words:
            head = word.text.rsplit("/", 1)[-1]
            if head in self.rules.silent:
                return True
            if head not in self.rules.builtins and head not in self.rules.environment_wrappers and "=" not in head:
                return False
        return False

    # -- wrappers --------------------------------------------------------------------------------------------------------

    def _variables(self, words: Sequence[Word], index: int, environment: dict[str, Setting]) -> int:
        """``env -i -u NAME NAME=VALUE …``; the index of the command after it."""
        while index < len(words):
            text = words[index].text
            if text in self.rules.clear_flags:
                environment.clear()
            elif text in self.rules.unset_flags and index + 1 < len(words):
                environment.pop(words[index + 1].text, None)
                index += 1
            elif not text.startswith("-") and not _assign(words[index].value, environment):
                return index
            index += 1
        return index

    def _flag(self, words: Sequence[Word], index: int, environment: dict[str, Setting]) -> None:
        """A wrapper's flag that sets variables."""
        text = words[index].text
        if not text.startswith("-"):
            return
        for rule in self.rules.environment_flags:
            name = next((flag for flag in rule.flags if text == flag or text.startswith(flag + "=")), None)
            if name is None or not any(word.text.rsplit("/", 1)[-1] in rule.commands for word in words[:index]):
                continue
            value = words[index].value.part(len(name) + 1) if text != name else words[index + 1].value if index + 1 < len(words) else None
            for part in _separated(value, rule.separator) if value is not None else ():
                _assign(part, environment)
            return

    def _shell(self, words: list[Word], index: int, around: Surroundings) -> Nested | None:
        """``bash -c 'text' …`` or ``bash file …``, the file beside the launch file."""
        position = index + 1
        is_text = False
        while position < len(words) and words[position].text.startswith(("-", "+")) and not words[position].unresolved:
            text = words[position].text
            position += 1
            if text.startswith("-") and not text.startswith("--") and "c" in text[1:]:
                is_text = True
                break
            if text in ("-o", "+o", "-O", "+O", "--rcfile", "--init-file"):
                position += 1
        if position < len(words) and is_text and words[position].text in ("-o", "pipefail"):
            position += 2 if words[position].text == "-o" else 1
        if position >= len(words):
            return None
        if is_text:
            return Nested(words[position].value, tuple(words[position + 2 :]), around, around.directory)
        return self._script_file(words[position], tuple(words[position + 1 :]), around)

    def _script_file(self, word: Word, positional: tuple[Word, ...], around: Surroundings) -> Nested | None:
        if word.unresolved:
            return None
        if around.is_container:
            text = around.inside.read(word.text, self.companions)
        else:
            source = self.companions.read(word.text, around.directory)
            text = source.located() if source is not None else None
        if text is None or self.rules.entry_mention.search(text.text) is None:
            return None
        return Nested(text, positional, around, text.source.directory if text.source is not None else None)

    def _loose_script(self, words: list[Word], around: Surroundings) -> Nested | None:
        """A word that is itself a command line (``ssh host "…"``, ``tmux new -d "…"``), or a script run by its name."""
        for word in words:
            if any(blank in word.text for blank in " \n\t") and self.rules.entry_mention.search(word.text):
                return Nested(word.value, None, around, around.directory)
        if words and (words[0].text.endswith((".sh", ".bash")) or around.is_container):
            return self._script_file(words[0], tuple(words[1:]), around)
        return None

    # -- containers ------------------------------------------------------------------------------------------------------

    def _inside(self, container: Container, command: Word, around: Surroundings, depth: int) -> Server | Nested | None:
        mention = image_version(container.image, self.rules)
        inner = Surroundings(
            environment=container.environment,
            shell=container.environment,
            image=container.image or around.image,
            name=container.name or around.name,
            notes=(*around.notes, *container.notes),
            versions=(*((mention,) if mention is not None else ()), *(() if container.image is not None else around.versions)),
            directory=around.directory,
            is_container=True,
            inside=Inside(mounts=tuple(container.mounts), directory=around.directory),
        )
        words = list(container.words)
        found = self.of(words, inner, depth + 1)
        if found is None and container.image is not None:
            return image_entry(words, container.image, command.extent, inner, self.rules)
        return found


def image_entry(words: Sequence[Word], image: Located, extent: Extent, around: Surroundings, rules: LaunchRules) -> Server | None:
    """Arguments alone, for an image of the server: its own entry point takes them."""
    if not words or not words[0].text.startswith("-") or not is_program_image(image.text, rules):
        return None
    if not any(word.text.partition("=")[0] in rules.image_flags for word in words):
        return None
    return Server(EntryRule(rules.image_entry, ()), extent, tuple(words), around)


def _assign(text: Located, environment: dict[str, Setting]) -> bool:
    """Take ``NAME=VALUE`` in; False where the text is none."""
    name, separator, _ = text.text.partition("=")
    if not separator or not name.isidentifier():
        return False
    place = text.part(0, len(name)).extent
    if place is None:
        return False
    value = text.part(len(name) + 1)
    environment[name] = Setting(value if value.runs else Located((), place), place)
    return True


def _separated(text: Located, separator: str | None) -> list[Located]:
    if separator is None:
        return [text]
    found: list[Located] = []
    start = 0
    for index, character in enumerate(text.text):
        if character == separator:
            found.append(text.part(start, index))
            start = index + 1
    return [*found, text.part(start)]
