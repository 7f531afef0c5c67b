"""What the two ways of finding environment variables share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sm_gatecheck.model.option import Option
from sm_gatecheck.target.options.rules import Reader


def variable(name: str, kind: str | None, default: Any, source: str | None, file: str, line: int) -> Option:
    """The option that stands for an environment variable."""
    return Option(f"env:{name}", type=kind, default=default, default_source=source, action="none", file=file, line=line)


def row_for(rows: Iterable[Reader], name: str) -> Reader | None:
    """The first row of the rules that a dotted name fits."""
    return next((row for row in rows if row.matches(name)), None)


def shortest(names: Iterable[str]) -> list[str]:
    """The names that are not found anyway where another of them is searched for."""
    distinct = set(names)
    return sorted(name for name in distinct if not any(other != name and other in name for other in distinct))
