"""What one launch sets, as verdicts take it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

VARIABLE = "env:"


class _NotKnown:
    """Stands for a value that a launch does not tell."""

    def __repr__(self) -> str:
        return "NOT_KNOWN"


NOT_KNOWN = _NotKnown()


@dataclass(frozen=True)
class Scenario:
    """What one launch sets: options by field, variables by ``env:NAME``; ``NOT_KNOWN`` where it does not tell the value.

    ``background`` is what is assumed beside it: taken into account, and not judged.
    """

    settings: Mapping[str, Any]
    background: Mapping[str, Any] = field(default_factory=dict)

    @property
    def everything(self) -> dict[str, Any]:
        return {**self.background, **self.settings}

    def without(self, name: str) -> Scenario:
        return replace(self, settings={other: value for other, value in self.settings.items() if other != name})

    def with_value(self, name: str, value: Any) -> Scenario:
        return replace(self, settings={**self.settings, name: value})
