"""Compose files: services with their own command, image and variables; ``.env`` beside the file fills in ``${X}``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sm_gatecheck.launch.containers import mount
from sm_gatecheck.launch.formats.interface import NO, SURE, Reading, is_named
from sm_gatecheck.launch.formats.kubernetes import checked
from sm_gatecheck.launch.inside import Inside
from sm_gatecheck.launch.interpolation import interpolated
from sm_gatecheck.launch.job import Job, Setting, Start
from sm_gatecheck.launch.located import Located, SourceText, Word, substitute
from sm_gatecheck.launch.variables_file import variables
from sm_gatecheck.launch.words import split_words
from sm_gatecheck.launch.yaml_tree import YamlNode

_SERVICE_KEYS = ("image", "build", "command", "entrypoint", "extends")
_MAX_EXTENDS = 8


@dataclass(frozen=True)
class Compose:
    name: str = "compose"
    title: str = "Compose file"

    def recognise(self, source: SourceText, reading: Reading) -> int:
        if "services" not in source.text:
            return NO
        for document in reading.yaml(source).documents:
            services = document.get("services")
            if services is None or document.get("apiVersion") is not None:
                continue
            if any(value.get(key) is not None for _, value in services.entries.values() for key in _SERVICE_KEYS):
                return SURE - 10
        return SURE if is_named(source, "*compose*.y*ml") and reading.yaml(source).documents else NO

    def read(self, source: SourceText, reading: Reading) -> Iterator[Start]:
        for document in checked(source, reading).documents:
            services = document.get("services")
            if services is None:
                continue
            reader = _Reader(source, reading, services, dict(_dotenv(source, reading)))
            for name, (_, service) in services.entries.items():
                job = reader.job(name, service)
                if job is not None:
                    yield job


def _dotenv(source: SourceText, reading: Reading) -> Iterator[tuple[str, Setting]]:
    found = reading.companions.read(".env", source.directory)
    if found is not None:
        yield from variables(found.located())


@dataclass
class _Reader:
    source: SourceText
    reading: Reading
    services: YamlNode
    dotenv: Mapping[str, Setting]

    def job(self, name: str, service: YamlNode) -> Job | None:
        chain = self._chain(service)
        entrypoint, command = self._first(chain, "entrypoint"), self._first(chain, "command")
        image = self._first(chain, "image")
        words = (*self._words(entrypoint), *self._words(command))
        if not words:
            return None
        notes: list[str] = []
        environment: dict[str, Setting] = {}
        for part in reversed(chain):
            self._files(part, environment, notes)
        for part in reversed(chain):
            self._environment(part, environment, notes)
        return Job(
            name=name,
            words=words,
            environment=environment,
            image=self._text(image.located) if image is not None else Located(),
            notes=tuple(notes),
            inside=Inside(mounts=tuple(self._mounts(chain)), directory=self.source.directory),
            directory=self.source.directory,
        )

    def _chain(self, service: YamlNode) -> list[YamlNode]:
        """A service and those that it extends in this file, the nearest first."""
        chain = [service]
        while len(chain) < _MAX_EXTENDS:
            extends = chain[-1].get("extends")
            if extends is None or (extends.is_mapping and extends.get("file") is not None):
                break
            name = extends.get("service") if extends.is_mapping else extends
            base = self.services.get(name.text) if name is not None else None
            if base is None or base in chain:
                break
            chain.append(base)
        return chain

    def _first(self, chain: list[YamlNode], key: str) -> YamlNode | None:
        return next((value for part in chain if (value := part.get(key)) is not None), None)

    def _words(self, node: YamlNode | None) -> list[Word]:
        if node is None or node.is_null:
            return []
        if node.is_list:
            return [Word(self._text(item.located), item.extent) for item in node.items if item.is_scalar]
        return split_words(self._text(node.located))

    def _text(self, text: Located) -> Located:
        return interpolated(text, lambda name: self._variable(name, text))

    def _variable(self, name: str, place: Located) -> Located | None:
        """What fills in ``${X}``: the machine's variables before ``.env``."""
        if name in self.reading.environment:
            return substitute(self.reading.environment[name], place, 0, 1)
        return self.dotenv[name].value if name in self.dotenv else None

    def _files(self, service: YamlNode, environment: dict[str, Setting], notes: list[str]) -> None:
        files = service.get("env_file")
        if files is None:
            return
        for item in files.items if files.is_list else [files]:
            path = item.get("path") if item.is_mapping else item
            if path is None or not path.text:
                continue
            name = self._text(path.located)
            found = self.reading.companions.read(name.text, self.source.directory) if not name.unresolved else None
            if found is None:
                required = item.get("required")
                is_optional = required is not None and required.value is False
                notes.append(f"env_file {name.text} ({'optional, ' if is_optional else ''}not available)")
            else:
                environment.update(variables(found.located(), lambda known: _earlier(environment, known)))

    def _environment(self, service: YamlNode, environment: dict[str, Setting], notes: list[str]) -> None:
        block = service.get("environment")
        if block is None:
            return
        for key, value in block.entries.values():
            self._set(key.text, None if value.is_null else value.located, key, environment, notes)
        for item in block.items:
            name, separator, _ = item.text.partition("=")
            self._set(name, item.located.part(len(name) + 1) if separator else None, item, environment, notes)

    def _set(self, name: str, value: Located | None, node: YamlNode, environment: dict[str, Setting], notes: list[str]) -> None:
        extent = node.located.part(0, len(name)).extent or node.extent
        if value is None:
            known = self._variable(name, node.located)
            if known is None:
                notes.append(f"${name}")
                return
            environment[name] = Setting(known, extent)
            return
        text = self._text(value)
        environment[name] = Setting(text if text.runs else Located((), extent), extent)

    def _mounts(self, chain: list[YamlNode]) -> Iterator[tuple[str, str]]:
        for part in chain:
            volumes = part.get("volumes")
            for item in volumes.items if volumes is not None else ():
                if item.is_scalar:
                    text = self._text(item.located)
                    if not text.unresolved:
                        yield from mount(text.text)
                    continue
                outer, inner = item.get("source"), item.get("target")
                if outer is not None and inner is not None and outer.text.startswith((".", "/")):
                    yield inner.text, outer.text


def _earlier(environment: Mapping[str, Setting], name: str) -> Located | None:
    return environment[name].value if name in environment else None


FORMAT = Compose()
