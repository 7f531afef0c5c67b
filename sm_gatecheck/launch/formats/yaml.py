"""Any other YAML whose texts or lists start a server: pipelines, playbooks, cluster launchers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sm_gatecheck.launch.formats.interface import FALLBACK, NO, POSSIBLE, Reading, is_named
from sm_gatecheck.launch.formats.kubernetes import checked
from sm_gatecheck.launch.job import Job, Setting, Start
from sm_gatecheck.launch.located import Located, SourceText, Word
from sm_gatecheck.launch.manifests import Shared, container_environment, image_text
from sm_gatecheck.launch.yaml_tree import YamlNode

_MAX_DEPTH = 40


@dataclass(frozen=True)
class PlainYaml:
    name: str = "yaml"
    title: str = "other YAML with commands"

    def recognise(self, source: SourceText, reading: Reading) -> int:
        if not is_named(source, "*.yaml", "*.yml"):
            return NO
        return POSSIBLE if reading.rules.entry_mention.search(source.text) else FALLBACK + 5

    def read(self, source: SourceText, reading: Reading) -> Iterator[Start]:
        for document in checked(source, reading).documents:
            yield from _Walk(source, reading, set()).of(document, {}, None, None, 0)


@dataclass
class _Walk:
    source: SourceText
    reading: Reading
    seen: set[int]

    def of(self, node: YamlNode, environment: dict[str, Setting], image: Located | None, name: str | None, depth: int) -> Iterator[Job]:
        """Texts and lists below a node; variables of the mappings above count."""
        if id(node.raw) in self.seen or depth > _MAX_DEPTH:
            return
        self.seen.add(id(node.raw))
        notes: list[str] = []
        if node.is_mapping:
            environment = {**environment, **container_environment(node, Shared(), notes)}
            image = image_text(node.get("image")) or image_text(node.get("image_id")) or image
            title = node.get("name")
            name = title.text if title is not None and title.is_scalar and title.text else name
            for key, (_, value) in node.entries.items():
                yield from self.of(value, environment, image, name or key, depth + 1)
        elif node.is_list:
            words = tuple(Word(item.located) for item in node.items if item.is_scalar)
            if words and self.reading.rules.entry_mention.search(" ".join(word.text for word in words)) and len(words) > 1:
                yield Job(name, words, environment=environment, image=image, directory=self.source.directory)
                self.seen.update(id(item.raw) for item in node.items if item.is_scalar)
            for item in node.items:
                yield from self.of(item, environment, image, name, depth + 1)
        elif self.reading.rules.entry_mention.search(node.text):
            yield Job(name, script=node.located, environment=environment, image=image, directory=self.source.directory)


FORMAT = PlainYaml()
