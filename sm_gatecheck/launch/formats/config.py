"""The server's own file of arguments (``--config FILE``), given by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sm_gatecheck.launch.formats.interface import LIKELY, NO, SURE, Reading
from sm_gatecheck.launch.formats.kubernetes import checked
from sm_gatecheck.launch.job import ConfigFile, Start
from sm_gatecheck.launch.located import SourceText
from sm_gatecheck.launch.yaml_tree import YamlNode

_KNOWN_SHARE = 0.6


@dataclass(frozen=True)
class Config:
    name: str = "config"
    title: str = "file of arguments (--config)"

    def recognise(self, source: SourceText, reading: Reading) -> int:
        if ":" not in source.text or source.text.lstrip().startswith(("{", "[", "#!")):
            return NO
        documents = reading.yaml(source).documents
        if len(documents) != 1 or not documents[0].entries:
            return NO
        keys = list(documents[0].entries)
        known = known_keys(documents[0], reading)
        if known < max(1, len(keys) * _KNOWN_SHARE):
            return NO
        return SURE - 15 if known == len(keys) else LIKELY

    def read(self, source: SourceText, reading: Reading) -> Iterator[Start]:
        checked(source, reading)
        yield ConfigFile(source.located())


def known_keys(root: YamlNode, reading: Reading) -> int:
    """How many keys of a mapping are options, dashes and underscores alike; without a table, all where the model's is among them."""
    keys = [key.replace("-", "_") for key in root.entries]
    if reading.table is None:
        return len(keys) if reading.rules.model in keys else 0
    fields = {flag.lstrip("-").replace("-", "_") for flag in reading.table.by_flag} | set(reading.table.by_field)
    return sum(1 for key in keys if key in fields)


FORMAT = Config()
