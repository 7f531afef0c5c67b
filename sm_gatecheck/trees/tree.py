"""The interface that every kind of tree offers to the analysis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sm_gatecheck.model.errors import TreeError, UsageError
from sm_gatecheck.model.report import Diagnostic, Source

__all__ = ["Tree", "TreeError", "UsageError"]


@dataclass(frozen=True)
class Tree:
    """The Python sources of one ``sglang`` package, read and never imported.

    ``files`` maps a path relative to the package directory (``srt/server_args.py``) to its bytes, in sorted order.
    ``diagnostics`` lists what had to be left out (too large, unreadable, a loop of links), sorted by file.
    """

    source: Source
    files: Mapping[str, bytes]
    diagnostics: tuple[Diagnostic, ...] = field(default=())
