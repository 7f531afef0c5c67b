"""Reports kept from one run to the next, under a name made of everything that they rest on."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from types import ModuleType
from typing import Any, Generic, TypeVar

from sm_gatecheck.cache.encoding import CannotEncode, Codec
from sm_gatecheck.cache.entries import Entries
from sm_gatecheck.cache.keys import Key, program_name
from sm_gatecheck.model import gaps, launch_report, option, report, span, verdict
from sm_gatecheck.model.report import Report
from sm_gatecheck.rulebook import Rulebook
from sm_gatecheck.trees.cache import cache_directory
from sm_gatecheck.trees.tree import Tree
from sm_gatecheck.verdicts.request import Request

FOLDER = "reports"


Kept = TypeVar("Kept")


class Keeper(Generic[Kept]):
    """What is remembered of one tree under one request. Where the tree came from and how many processes work do not count.

    ``kind`` is what is kept, of classes that ``modules`` define; ``about`` tells apart what is asked beside the request.
    """

    def __init__(
        self, tree: Tree, request: Request, rules: Rulebook, kind: type[Kept], modules: Iterable[ModuleType], about: tuple[Any, ...]
    ) -> None:
        self._tree = tree
        self._request = request
        self._rules = rules
        self._kind = kind
        self._about = about
        self._entries = Entries(cache_directory() / FOLDER)
        self._codec = Codec(modules)

    def recall(self) -> Kept | None:
        """What an earlier run kept; None where there is none that can be believed."""
        document = None if self._name is None else self._entries.read(self._name)
        if document is None:
            return None
        try:
            found = self._codec.decode(document)
        except ValueError:
            return None
        return found if isinstance(found, self._kind) else None

    def keep(self, result: Kept) -> None:
        """Remember a result, if every part of it can be written down."""
        if self._name is None:
            return
        try:
            document = self._codec.encode(result)
        except CannotEncode:
            return
        self._entries.write(self._name, document)

    @cached_property
    def _name(self) -> str | None:
        request, tree = self._request, self._tree
        asked = (request.sms, request.cuda, request.settings, request.model_config, request.gpu_memory, tree.source.sglang_version)
        try:
            key = Key().add(program_name(), json.dumps(_ordered((*asked, *self._about)), sort_keys=True))
            key.add_directories(self._rules.directories, "*.toml")
        except (OSError, TypeError, ValueError):
            return None
        key.add(*(f"{left.file}:{left.line}:{left.message}" for left in tree.diagnostics))
        return key.add("files").add_files(tree.files).name()


class Memory(Keeper[Report]):
    """The reports of inventories, and of what ``about`` names beside the tree."""

    def __init__(self, tree: Tree, request: Request, rules: Rulebook, about: tuple[Any, ...] = ()) -> None:
        super().__init__(tree, request, rules, Report, (gaps, launch_report, option, report, span, verdict), about)

    def recall(self) -> Report | None:
        found = super().recall()
        if found is None:
            return None
        return replace(found, source=self._tree.source, statistics=replace(found.statistics, cache="warm"))


def _ordered(value: Any) -> Any:
    """Plain data with the types of its parts, so that ``1``, ``True`` and ``"1"`` are three settings."""
    if isinstance(value, dict):
        return ["dict", [[_ordered(key), _ordered(value[key])] for key in sorted(value, key=repr)]]
    if isinstance(value, (tuple, list)):
        return [type(value).__name__, [_ordered(item) for item in value]]
    return [type(value).__name__, value]
