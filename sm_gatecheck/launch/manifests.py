"""Containers as Kubernetes and its like describe them: command and arguments, variables, mounted texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sm_gatecheck.launch.inside import Inside
from sm_gatecheck.launch.interpolation import expanded
from sm_gatecheck.launch.job import Job, Setting
from sm_gatecheck.launch.located import Located, Word, join, substitute
from sm_gatecheck.launch.words import split_words
from sm_gatecheck.launch.yaml_tree import YamlNode

CONTAINER_LISTS = ("containers", "initContainers", "sidecars", "containerDefinitions")
ENVIRONMENT_KEYS = ("env", "envs", "environment", "extraEnv", "extraEnvs", "extraEnvVars")
_COMMAND_KEYS = ("command", "args", "entrypoint", "entryPoint")


@dataclass
class Shared:
    """What the documents of one file define for each other: ConfigMaps by name, key and text."""

    maps: dict[str, dict[str, Located]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    places: dict[tuple[str, str], YamlNode] = field(default_factory=dict)
    """The keys as nodes, by ConfigMap and key."""

    @classmethod
    def of(cls, documents: list[YamlNode]) -> Shared:
        shared = cls()
        for document in documents:
            for node in (document, *(item for item in _items(document))):
                kind, name = node.get("kind"), node.get("metadata", "name")
                if kind is not None and kind.text == "ConfigMap" and name is not None:
                    data = node.get("data")
                    shared.places.update(
                        {(name.text, key): place for key, (place, _) in (data.entries if data is not None else {}).items()}
                    )
                    shared.maps[name.text] = {
                        key: value.located for key, (_, value) in (data.entries if data is not None else {}).items() if value.is_scalar
                    }
        return shared


def _items(document: YamlNode) -> list[YamlNode]:
    found = document.get("items")
    return found.items if found is not None else []


def is_container(node: YamlNode) -> bool:
    """Whether a mapping describes a container by itself: an image and something to run."""
    return node.is_mapping and node.get("image") is not None and any(node.get(key) is not None for key in _COMMAND_KEYS)


def container_job(
    node: YamlNode, name: str | None, pod: YamlNode | None, shared: Shared, directory: Path | None, image: Located | None = None
) -> Job | None:
    """The job of a container; ``pod`` holds the volumes. None where it says nothing of what is run."""
    notes: list[str] = []
    environment = container_environment(node, shared, notes)
    command = [*command_words(node.get("entrypoint") or node.get("entryPoint")), *command_words(node.get("command"))]
    words = [*command, *command_words(node.get("args"))]
    if not words:
        return None
    found_image = image_text(node.get("image")) or image
    texts = [expanded(word.value, environment) for word in words]
    return Job(
        name=name,
        words=tuple(Word(text if text.runs else Located((), word.extent), word.extent) for text, word in zip(texts, words, strict=True)),
        environment=environment,
        image=found_image if found_image is not None else Located(),
        notes=tuple(notes),
        inside=Inside(files=_mounted(node, pod, shared)),
        directory=directory,
    )


def command_words(node: YamlNode | None) -> list[Word]:
    """A list's items as words; a text split as a shell would split it, but not run by one."""
    if node is None or node.is_null:
        return []
    if node.is_list:
        return [Word(item.located) for item in node.items if item.is_scalar]
    return split_words(node.located) if node.is_scalar else []


def image_text(node: YamlNode | None) -> Located | None:
    """``repository:tag``, or a mapping of the two (Helm)."""
    if node is None or node.is_null:
        return None
    if node.is_scalar:
        return node.located
    repository, tag = node.get("repository") or node.get("name") or node.get("image"), node.get("tag")
    if repository is None or not repository.is_scalar or not repository.text:
        return None
    registry = node.get("registry")
    parts = [repository.located]
    if registry is not None and registry.is_scalar and registry.text:
        parts = [registry.located, substitute("/", registry.located, 0, 1), *parts]
    if tag is not None and tag.is_scalar and tag.text:
        parts.extend((substitute(":", tag.located, 0, 1), tag.located))
    return join(parts)


def container_environment(node: YamlNode, shared: Shared, notes: list[str]) -> dict[str, Setting]:
    """``envFrom`` first, then ``env``; a value may name the variables before it."""
    environment: dict[str, Setting] = {}
    sources = node.get("envFrom")
    for source in sources.items if sources is not None else ():
        _from_source(source, shared, environment, notes)
    for key in ENVIRONMENT_KEYS:
        variables = node.get(key)
        if variables is None:
            continue
        for item in variables.items:
            _variable(item, shared, environment, notes)
        for name_node, value in variables.entries.values():
            if value.is_scalar:
                _set(environment, name_node.text, expanded(value.located, environment), name_node)
            elif value.is_mapping:
                _variable_from(name_node.text, name_node, value, shared, environment, notes)
    return environment


def _from_source(source: YamlNode, shared: Shared, environment: dict[str, Setting], notes: list[str]) -> None:
    for kind in ("configMapRef", "secretRef"):
        name = source.get(kind, "name")
        if name is None:
            continue
        prefix = source.get("prefix")
        known = shared.maps.get(name.text) if kind == "configMapRef" else None
        if known is None:
            notes.append(f"envFrom {kind} {name.text} (not available)")
            continue
        for key, value in known.items():
            _set(environment, (prefix.text if prefix is not None else "") + key, value, shared.places[name.text, key])


def _variable(item: YamlNode, shared: Shared, environment: dict[str, Setting], notes: list[str]) -> None:
    if item.is_scalar:
        name, separator, _ = item.text.partition("=")
        if separator:
            _set(environment, name, item.located.part(len(name) + 1), item, len(name))
        return
    name_node, value = item.get("name"), item.get("value")
    if name_node is None:
        return
    if value is not None and value.is_scalar:
        _set(environment, name_node.text, expanded(value.located, environment), name_node)
    else:
        _variable_from(name_node.text, name_node, item, shared, environment, notes)


def _variable_from(name: str, place: YamlNode, item: YamlNode, shared: Shared, environment: dict[str, Setting], notes: list[str]) -> None:
    source = item.get("valueFrom")
    if source is None or not source.is_mapping:
        if item.get("value") is None and item.is_mapping and source is None and item.get("name") is not None:
            _set(environment, name, Located(), place)
        return
    for kind, (_, reference) in source.entries.items():
        owner, key = reference.get("name"), reference.get("key")
        if kind == "configMapKeyRef" and owner is not None and key is not None and key.text in shared.maps.get(owner.text, {}):
            _set(environment, name, shared.maps[owner.text][key.text], place)
            return
        what = " ".join(node.text for node in (owner, key, reference.get("fieldPath"), reference.get("resource")) if node is not None)
        notes.append(f"${name} ({kind} {what})".replace(" )", ")"))


def _set(environment: dict[str, Setting], name: str, value: Located, place: YamlNode, length: int | None = None) -> None:
    extent = place.located.part(0, length).extent if length is not None else place.extent
    extent = extent or place.extent
    environment[name] = Setting(value if value.runs else Located((), extent), extent)


def _mounted(node: YamlNode, pod: YamlNode | None, shared: Shared) -> Mapping[str, Located]:
    """Texts of ConfigMaps by the path at which the container has them."""
    volumes = pod.get("volumes") if pod is not None else None
    mounts = node.get("volumeMounts")
    if volumes is None or mounts is None:
        return {}
    maps: dict[str, tuple[str, dict[str, str]]] = {}
    for volume in volumes.items:
        name, owner = volume.get("name"), volume.get("configMap", "name")
        if name is not None and owner is not None:
            items = volume.get("configMap", "items")
            maps[name.text] = (owner.text, dict(_renamed(items)) if items is not None else {})
    files: dict[str, Located] = {}
    for mount in mounts.items:
        name, path, sub = mount.get("name"), mount.get("mountPath"), mount.get("subPath")
        if name is None or path is None or name.text not in maps:
            continue
        owner_name, renamed = maps[name.text]
        shared.used.add(owner_name)
        for key, text in shared.maps.get(owner_name, {}).items():
            file = renamed.get(key, key)
            if sub is None:
                files[f"{path.text.rstrip('/')}/{file}"] = text
            elif sub.text == file:
                files[path.text] = text
    return files


def _renamed(items: YamlNode) -> Iterator[tuple[str, str]]:
    for item in items.items:
        key, path = item.get("key"), item.get("path")
        if key is not None and path is not None:
            yield key.text, path.text
