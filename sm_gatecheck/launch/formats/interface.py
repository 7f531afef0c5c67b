"""What a launch format is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from typing import Protocol

from sm_gatecheck.launch.files import Companions
from sm_gatecheck.launch.job import Start
from sm_gatecheck.launch.located import SourceText
from sm_gatecheck.launch.rules import LaunchRules
from sm_gatecheck.launch.yaml_tree import YamlTree
from sm_gatecheck.target.options import OptionTable

SURE, LIKELY, POSSIBLE, FALLBACK, NO = 100, 60, 30, 5, 0
"""How well a file fits a format; the best fit reads it."""


@dataclass
class Reading:
    """What formats are given beside the file. ``environment`` are variables that the machine is known to have."""

    rules: LaunchRules
    table: OptionTable | None
    companions: Companions
    environment: Mapping[str, str]
    version: str | None = None
    _yaml: dict[int, YamlTree] = field(default_factory=dict)

    def yaml(self, source: SourceText) -> YamlTree:
        """A file as YAML, parsed once."""
        found = self._yaml.get(id(source))
        if found is None:
            found = self._yaml[id(source)] = YamlTree(source.located())
        return found


class LaunchFormat(Protocol):
    """One kind of file. A module of this package has one as ``FORMAT``; nothing else needs to know of it."""

    @property
    def name(self) -> str: ...

    @property
    def title(self) -> str: ...

    def recognise(self, source: SourceText, reading: Reading) -> int:
        """How well a file fits, 0 to 100, by its name and what is in it."""

    def read(self, source: SourceText, reading: Reading) -> Iterator[Start]:
        """What the file starts. LaunchError where it is broken as a whole."""


def base_name(source: SourceText) -> str:
    return source.name.replace("\\", "/").rsplit("/", 1)[-1]


def is_named(source: SourceText, *patterns: str) -> bool:
    return any(fnmatch(base_name(source).lower(), pattern) for pattern in patterns)
