"""Reports kept from one run to the next, under a name made of everything that they rest on."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cached_property
from typing import Any

from sm_gatecheck.cache.encoding import CannotEncode, Codec
from sm_gatecheck.cache.entries import Entries
from sm_gatecheck.cache.keys import Key, program_name
from sm_gatecheck.model import option, report, verdict
from sm_gatecheck.model.report import Report
from sm_gatecheck.rulebook import Rulebook
from sm_gatecheck.trees.cache import cache_directory
from sm_gatecheck.trees.tree import Tree
from sm_gatecheck.verdicts.request import Request

FOLDER = "reports"


class Memory:
    """What is remembered of one tree under one request. Where the tree came from and how many processes work do not count."""

    def __init__(self, tree: Tree, request: Request, rules: Rulebook) -> None:
        self._tree = tree
        self._request = request
        self._rules = rules
        self._entries = Entries(cache_directory() / FOLDER)
        self._codec = Codec((option, report, verdict))

    def recall(self) -> Report | None:
        """The report of an earlier run; None where there is none that can be believed."""
        document = None if self._name is None else self._entries.read(self._name)
        if document is None:
            return None
        try:
            found = self._codec.decode(document)
        except ValueError:
            return None
        if not isinstance(found, Report):
            return None
        return replace(found, source=self._tree.source, statistics=replace(found.statistics, cache="warm"))

    def keep(self, result: Report) -> None:
        """Remember a report, if every part of it can be written down."""
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
            key = Key().add(program_name(), json.dumps(_ordered(asked), sort_keys=True))
            key.add_directories(self._rules.directories, "*.toml")
        except (OSError, TypeError, ValueError):
            return None
        key.add(*(f"{left.file}:{left.line}:{left.message}" for left in tree.diagnostics))
        return key.add("files").add_files(tree.files).name()


def _ordered(value: Any) -> Any:
    """Plain data with the types of its parts, so that ``1``, ``True`` and ``"1"`` are three settings."""
    if isinstance(value, dict):
        return ["dict", [[_ordered(key), _ordered(value[key])] for key in sorted(value, key=repr)]]
    if isinstance(value, (tuple, list)):
        return [type(value).__name__, [_ordered(item) for item in value]]
    return [type(value).__name__, value]
