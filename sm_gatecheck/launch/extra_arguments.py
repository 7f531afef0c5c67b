"""Arguments that stand under keys of a mapping (``extraArgs: "--tp 4"``), for a command that is written elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from sm_gatecheck.launch.following import follow
from sm_gatecheck.launch.formats.interface import Reading
from sm_gatecheck.launch.job import Invocation, Job, Setting, Start
from sm_gatecheck.launch.located import Located, Word, before
from sm_gatecheck.launch.manifests import ENVIRONMENT_KEYS, Shared, command_words, container_environment, image_text
from sm_gatecheck.launch.versions import image_version, is_program_image
from sm_gatecheck.launch.yaml_tree import YamlNode

_KNOWN_SHARE = 0.5


def mapping_starts(
    root: YamlNode,
    directory: Path | None,
    reading: Reading,
    name: str | None = None,
    image: Located | None = None,
    outer: Mapping[str, Setting] | None = None,
    seen: set[int] | None = None,
    is_alone: bool = False,
) -> Iterator[Start]:
    """A launch for every mapping with keys of arguments, the mappings below it included (unless ``is_alone``), each mapping once.

    Image and variables hold below, too.
    """
    seen = set() if seen is None else seen
    if id(root.raw) in seen:
        return
    seen.add(id(root.raw))
    image = image_text(root.get("image")) or image
    if root.get("image") is None and root.get("repository") is not None and root.get("tag") is not None:
        image = image_text(root) or image
    title = root.get("name")
    own = title.text if title is not None and title.is_scalar and title.text else name
    notes: list[str] = []
    environment = {**(outer or {}), **container_environment(root, Shared(), notes)}
    yield from _start(root, directory, reading, own, image, environment, notes)
    for key, (_, value) in root.entries.items():
        if key in ENVIRONMENT_KEYS or is_alone:
            continue
        for below in (value, *value.items):
            if below.is_mapping:
                yield from mapping_starts(below, directory, reading, own or key, image, environment, seen)


def _start(
    node: YamlNode,
    directory: Path | None,
    reading: Reading,
    name: str | None,
    image: Located | None,
    environment: Mapping[str, Setting],
    notes: list[str],
) -> Iterator[Start]:
    words: list[Word] = []
    for key, (_, value) in node.entries.items():
        if reading.rules.is_argument_key(key):
            words.extend(argument_words(value))
    if not words:
        return
    job = Job(name, tuple(words), environment=environment, image=image, notes=tuple(notes), directory=directory)
    if any(True for _ in follow(job, reading.rules, reading.companions, reading.environment)):
        yield job
        return
    flags = [word.text.partition("=")[0] for word in words if word.text.startswith("--")]
    if not flags or not words[0].text.startswith("-") or not _are_ours(flags, image, reading):
        return
    mention = image_version(image, reading.rules)
    extent = words[0].extent
    yield Invocation(
        key=(extent,),
        entry=reading.rules.entries[0],
        extent=extent,
        words=tuple(words),
        environment=environment,
        image=image,
        name=name,
        notes=tuple(notes),
        versions=(mention,) if mention is not None else (),
        directory=directory,
        is_container=image is not None,
    )


def argument_words(value: YamlNode) -> list[Word]:
    """A list, a text, or a mapping of flags to values (``tp-size: 4``, ``trust-remote-code: true``)."""
    if value.is_mapping:
        found: list[Word] = []
        for key, setting in value.entries.values():
            found.extend(_flag_words(key, setting))
        return found
    if value.is_list:
        return [word for item in value.items if item.is_scalar for word in _item_words(item)]
    text = value.located
    return command_words(value) if text.text.lstrip().startswith("-") or " " in text.text.strip() else []


def _item_words(item: YamlNode) -> list[Word]:
    """A list's item is one word, unless it is a flag and its value with a blank between (charts join the items with blanks)."""
    text = item.text
    if text.startswith("--") and " " in text and "=" not in text.split(" ", 1)[0]:
        return command_words(item)
    return [Word(item.located)]


def _flag_words(key: YamlNode, setting: YamlNode) -> list[Word]:
    name = key.text
    if not name or setting.is_mapping:
        return []
    dashes = name.startswith("--")
    flag = key.located if dashes else before("--", key.located) + key.located
    if setting.is_list:
        return [Word(flag), *(Word(item.located) for item in setting.items if item.is_scalar)] if setting.items else []
    if setting.is_null or setting.value is True or setting.text == "":
        return [Word(flag)]
    return [] if setting.value is False else [Word(flag), Word(setting.located)]


def _are_ours(flags: list[str], image: Located | None, reading: Reading) -> bool:
    """Whether arguments are for the server: its image takes them, or most of the flags are its own."""
    if image is not None and is_program_image(image.text, reading.rules):
        return True
    if reading.table is None:
        return any(flag in reading.rules.image_flags for flag in flags)
    known = sum(
        1 for flag in flags if flag in reading.table.by_flag or any(spelling.startswith(flag) for spelling in reading.table.by_flag)
    )
    return known >= max(1, len(flags) * _KNOWN_SHARE)
