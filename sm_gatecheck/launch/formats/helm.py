"""Helm values: arguments under keys such as ``extraArgs``, as a text, a list or a mapping, with the image and variables beside them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sm_gatecheck.launch.extra_arguments import mapping_starts
from sm_gatecheck.launch.formats.interface import LIKELY, NO, POSSIBLE, Reading, is_named
from sm_gatecheck.launch.formats.kubernetes import checked
from sm_gatecheck.launch.job import Start
from sm_gatecheck.launch.located import SourceText


@dataclass(frozen=True)
class Helm:
    name: str = "helm"
    title: str = "Helm values"

    def recognise(self, source: SourceText, reading: Reading) -> int:
        if not is_named(source, "*.yaml", "*.yml", "<*>") or ("--" not in source.text and "rgs" not in source.text):
            return NO
        documents = reading.yaml(source).documents
        if (
            not documents
            or not documents[0].is_mapping
            or documents[0].get("apiVersion") is not None
            or documents[0].get("services") is not None
        ):
            return NO
        has_keys = any(reading.rules.is_argument_key(key) for node in documents[0].walk() for key in node.entries)
        return (LIKELY + 10 if is_named(source, "*values*") else POSSIBLE + 5) if has_keys else NO

    def read(self, source: SourceText, reading: Reading) -> Iterator[Start]:
        for document in checked(source, reading).documents:
            yield from mapping_starts(document, source.directory, reading)


FORMAT = Helm()
