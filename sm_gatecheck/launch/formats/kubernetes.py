"""Kubernetes manifests: whatever has a pod template, custom resources included; ConfigMaps of the same file are looked into."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sm_gatecheck.launch.formats.interface import NO, SURE, Reading
from sm_gatecheck.launch.job import Job, Start
from sm_gatecheck.launch.located import SourceText
from sm_gatecheck.launch.manifests import CONTAINER_LISTS, Shared, container_job, is_container
from sm_gatecheck.launch.model import LaunchError
from sm_gatecheck.launch.yaml_tree import YamlNode, YamlTree


@dataclass(frozen=True)
class Kubernetes:
    name: str = "kubernetes"
    title: str = "Kubernetes manifest"

    def recognise(self, source: SourceText, reading: Reading) -> int:
        if "apiVersion" not in source.text or "kind" not in source.text:
            return NO
        documents = reading.yaml(source).documents
        return SURE - 10 if any(document.get("apiVersion") is not None for document in documents) else NO

    def read(self, source: SourceText, reading: Reading) -> Iterator[Start]:
        tree = checked(source, reading)
        yield from manifest_jobs(tree.documents, source.directory, reading)


def checked(source: SourceText, reading: Reading) -> YamlTree:
    """A file as YAML. LaunchError where it is none."""
    tree = reading.yaml(source)
    if tree.problem is not None:
        raise LaunchError(f"{source.name}:{tree.problem.line}: no YAML: {tree.problem}")
    return tree


def manifest_jobs(
    documents: list[YamlNode],
    directory: Path | None,
    reading: Reading,
    change: Callable[[YamlNode, Job], Iterator[Job]] | None = None,
    seen: set[int] | None = None,
) -> Iterator[Job]:
    """Every container of the documents; then scripts that stand anywhere else in them. ``change`` may put in parameters.

    ``seen`` are nodes (by the identity of what was composed) that were read already.
    """
    shared = Shared.of(documents)
    seen = set() if seen is None else seen
    for document in documents:
        for job, owner in _containers(document, shared, directory, seen):
            yield from change(owner, job) if change is not None else (job,)
    for document in documents:
        yield from _loose_scripts(document, shared, directory, reading, seen)


def _containers(document: YamlNode, shared: Shared, directory: Path | None, seen: set[int]) -> Iterator[tuple[Job, YamlNode]]:
    title = document.get("metadata", "name")
    for node in document.walk():
        for key in CONTAINER_LISTS:
            containers = node.get(key) if node.is_mapping else None
            for container in containers.items if containers is not None else ():
                yield from _one(container, node, document, shared, directory, title, seen)
        if node.is_mapping:
            for name, (_, value) in node.entries.items():
                if is_container(value) and value.get("containers") is None:
                    yield from _one(value, node, document, shared, directory, title, seen, name)


def _one(
    container: YamlNode,
    pod: YamlNode,
    document: YamlNode,
    shared: Shared,
    directory: Path | None,
    title: YamlNode | None,
    seen: set[int],
    key: str | None = None,
) -> Iterator[tuple[Job, YamlNode]]:
    if id(container.raw) in seen or not container.is_mapping:
        return
    seen.add(id(container.raw))
    own = container.get("name")
    names = [node.text for node in (title, own) if node is not None and node.is_scalar]
    if own is None and key is not None:
        names.append(key)
    job = container_job(container, "/".join(names) or None, pod, shared, directory)
    if job is not None:
        for node in container.walk():
            seen.add(id(node.raw))
        yield job, pod


def _loose_scripts(document: YamlNode, shared: Shared, directory: Path | None, reading: Reading, seen: set[int]) -> Iterator[Job]:
    """Texts that start a server and belong to no container that was read: an entry point of a job, a ConfigMap for others to mount."""
    kind, title = document.get("kind"), document.get("metadata", "name")
    if kind is not None and kind.text == "ConfigMap" and title is not None and title.text in shared.used:
        return
    name = title.text if title is not None and title.is_scalar else None
    for node in document.walk():
        if node.is_scalar and id(node.raw) not in seen and reading.rules.entry_mention.search(node.text):
            yield Job(name=name, script=node.located, directory=directory)


FORMAT = Kubernetes()
