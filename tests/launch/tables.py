"""A table of options without a tree: the rows of a real release's parser, with the types that the launch files here need."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from sm_gatecheck.model.option import DeclarationAction, Option
from sm_gatecheck.target.options import Deprecation, OptionTable

ROWS = Path(__file__).parents[1] / "truth" / "oracle" / "options" / "0.5.12.json"
_ACTIONS: dict[str, DeclarationAction] = {"StoreAction": "store", "StoreTrueAction": "store_true", "AppendAction": "append"}
_TYPES = {
    "context_length": "Optional[int]",
    "cuda_graph_bs": "Optional[List[int]]",
    "dist_init_addr": "Optional[str]",
    "enable_dp_attention": "bool",
    "max_running_requests": "Optional[int]",
    "mem_fraction_static": "Optional[float]",
    "page_size": "Optional[int]",
    "speculative_num_steps": "Optional[int]",
}
"""Where the default does not tell."""

_NARGS: dict[str, str] = {"cuda_graph_bs": "+"}


@lru_cache(maxsize=1)
def table() -> OptionTable:
    """The options of 0.5.12."""
    rows: list[dict[str, Any]] = json.loads(ROWS.read_text(encoding="utf-8"))["options"]
    return OptionTable(tuple(_option(row) for row in rows))


def _option(row: dict[str, Any]) -> Option:
    default = row["default"]
    return Option(
        field=row["field"],
        flags=tuple(row["flags"]),
        deprecated_flags=tuple(row["deprecated_flags"]),
        type=_TYPES.get(row["field"], type(default).__name__ if isinstance(default, (bool, int, float, str)) else None),
        default=default,
        choices=tuple(row["choices"]) if row["choices"] is not None else None,
        action=_ACTIONS.get(row["action"], "other"),
        nargs=_NARGS.get(row["field"]),
    )


def made(*options: Option, deprecations: tuple[Deprecation, ...] = ()) -> OptionTable:
    """A table of a few options."""
    return OptionTable(tuple(sorted(options, key=lambda option: option.field)), deprecations=deprecations)
