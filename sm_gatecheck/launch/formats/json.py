"""JSON: engine keywords, lists of arguments, containers; read as the YAML that it also is, for the places."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from sm_gatecheck.launch.extra_arguments import mapping_starts
from sm_gatecheck.launch.formats.config import known_keys
from sm_gatecheck.launch.formats.interface import LIKELY, NO, POSSIBLE, SURE, Reading, is_named
from sm_gatecheck.launch.formats.kubernetes import manifest_jobs
from sm_gatecheck.launch.job import EngineCall, Job, Keyword, Setting, Start
from sm_gatecheck.launch.located import Located, Run, SourceText, Word
from sm_gatecheck.launch.manifests import Shared, container_environment, image_text
from sm_gatecheck.launch.model import LaunchError
from sm_gatecheck.launch.versions import image_version
from sm_gatecheck.launch.yaml_tree import YamlNode, YamlTree

_KNOWN_SHARE = 0.6
_MAX_DEPTH = 20


@dataclass(frozen=True)
class Json:
    name: str = "json"
    title: str = "JSON"

    def recognise(self, source: SourceText, reading: Reading) -> int:
        if is_named(source, "*.json", "*.jsonc"):
            return SURE
        text = source.text.lstrip()
        if not text.startswith(("{", "[")) or is_named(source, "*.y*ml", "*.py", "*.sh"):
            return NO
        return LIKELY if _is_json(text) else POSSIBLE - 20

    def read(self, source: SourceText, reading: Reading) -> Iterator[Start]:
        try:
            json.loads(source.text, parse_constant=str)
        except RecursionError:
            raise LaunchError(f"{source.name}: JSON nested too deep") from None
        except ValueError as error:
            line = getattr(error, "lineno", 1)
            raise LaunchError(f"{source.name}:{line}: no JSON: {getattr(error, 'msg', error)}") from None
        tree = YamlTree(_without_tabs(source))
        if tree.problem is not None:
            raise LaunchError(f"{source.name}:{tree.problem.line}: JSON that cannot be read: {tree.problem}")
        for root in tree.documents:
            found = list(manifest_jobs([root], source.directory, reading)) if _has_containers(root) else []
            if found:
                yield from found
            else:
                yield from _of(root, source, reading, None, 0)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _without_tabs(source: SourceText) -> Located:
    """The same text with blanks for tabs, which JSON has between values only; each character keeps its place."""
    whole = source.located()
    return Located(tuple(Run(run.text.replace("\t", " "), run.source, run.start, run.end) for run in whole.runs), whole.anchor)


def _has_containers(root: YamlNode) -> bool:
    return any(node.is_mapping and node.get("image") is not None and (node.get("command") or node.get("args")) for node in root.walk())


def _of(node: YamlNode, source: SourceText, reading: Reading, name: str | None, depth: int) -> Iterator[Start]:
    if depth > _MAX_DEPTH:
        return
    if node.is_list:
        words = tuple(Word(item.located) for item in node.items if item.is_scalar)
        if len(words) > 1 and reading.rules.entry_mention.search(" ".join(word.text for word in words)):
            yield Job(name, words, directory=source.directory)
            return
        for item in node.items:
            yield from _of(item, source, reading, name, depth + 1)
    elif node.is_mapping:
        yield from _mapping(node, source, reading, name, depth)
    elif reading.rules.entry_mention.search(node.text):
        yield Job(name, script=node.located, directory=source.directory)


def _mapping(node: YamlNode, source: SourceText, reading: Reading, name: str | None, depth: int) -> Iterator[Start]:
    title = node.get("name")
    name = title.text if title is not None and title.is_scalar and title.text else name
    if _are_keywords(node, reading, name):
        yield _engine(node, reading, name)
        return
    module = node.get("module")
    arguments = node.get("args")
    if module is not None and arguments is not None and arguments.is_list:
        flag = reading.rules.module_flags[0]
        first = Word(module.located)
        dash = Located(tuple(Run(flag, run.source, run.start, run.end) for run in module.located.runs[:1]))
        words = (Word(dash), first, *(Word(item.located) for item in arguments.items if item.is_scalar))
        yield Job(name, words, environment=container_environment(node, Shared(), []), directory=source.directory)
        return
    if any(reading.rules.is_argument_key(key) for key in node.entries):
        found = list(mapping_starts(node, source.directory, reading, name, is_alone=True))
        if found:
            yield from found
            return
    for key, (_, value) in node.entries.items():
        if value.is_mapping or value.is_list or value.is_scalar:
            yield from _of(value, source, reading, key, depth + 1)


def _are_keywords(node: YamlNode, reading: Reading, name: str | None) -> bool:
    """Whether the keys of a mapping are fields of an engine."""
    keys = [key for key in node.entries if key != "name"]
    known = known_keys(node, reading)
    if not keys or known == 0:
        return False
    is_called_so = name is not None and any(fnmatchcase(name, pattern) for pattern in reading.rules.engine_keys)
    has_model = any(key.replace("-", "_") == reading.rules.model for key in keys)
    return (is_called_so or has_model) and known >= len(keys) * _KNOWN_SHARE


def _engine(node: YamlNode, reading: Reading, name: str | None) -> EngineCall:
    keywords: list[Keyword] = []
    environment: dict[str, Setting] = {}
    image = image_text(node.get("image"))
    for key, value in node.entries.values():
        if key.text == "name" and value.text == name and (reading.table is None or key.text not in reading.table.by_field):
            continue
        if key.text in ("env", "environment") and value.is_mapping:
            environment = container_environment(node, Shared(), [])
            continue
        if value.is_null:
            continue
        keywords.append(
            Keyword(
                name=key.text.replace("-", "_"),
                value=value.plain() if not value.is_scalar else value.value,
                extent=key.extent,
                value_extent=value.extent,
                text=value.text if value.is_scalar else json.dumps(value.plain(), default=str),
                unresolved=value.located.unresolved if value.is_scalar else (),
            )
        )
    mention = image_version(image, reading.rules)
    return EngineCall(
        entry="(engine keywords)",
        extent=node.extent if not keywords else keywords[0].extent,
        keywords=tuple(keywords),
        environment=environment,
        name=name,
        versions=(mention,) if mention is not None else (),
    )


FORMAT = Json()
