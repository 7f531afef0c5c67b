"""Conditions that a file leaves open. A script is followed once with none of them met, then once for each that could be.

Following is cheap and scripts are short, so that no value needs to carry alternatives: what differs between two runs is what the
condition changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

MAX_RUNS = 32
"""Ways through a file that are followed; what lies behind more conditions than that is named as left out."""

Key = tuple[Any, ...]


@dataclass(frozen=True)
class Branching:
    """An open condition: what each branch needs, and whether something else is done when none is met."""

    needs: tuple[str, ...]
    has_default: bool


@dataclass
class Choices:
    """The choices of one run: ``fixed`` for the conditions that it is about, the default for all others."""

    fixed: Mapping[Key, int] = field(default_factory=dict)
    met: dict[Key, Branching] = field(default_factory=dict)

    def choose(self, key: Key, needs: Sequence[str], has_default: bool) -> int | None:
        """Which branch is taken; None for the default."""
        self.met.setdefault(key, Branching(tuple(needs), has_default))
        return self.fixed.get(key)


def described(fixed: Mapping[Key, int], branchings: Mapping[Key, Branching]) -> str:
    """What choices need, in words of the file."""
    return " and ".join(branchings[key].needs[branch] for key, branch in fixed.items() if key in branchings)


class Exhausted(Exception):
    """More was asked for than a launch file needs."""


@dataclass
class Budget:
    """What following one job may take, over all its runs: a script can say little and do much."""

    statements: int = 60_000
    characters: int = 6_000_000
    is_cut: bool = False
    """Whether something was left out for another reason: scripts within scripts within scripts."""

    def spend(self, statements: int = 0, characters: int = 0) -> None:
        """Exhausted where nothing is left."""
        self.statements -= statements
        self.characters -= characters
        if self.statements < 0 or self.characters < 0:
            raise Exhausted

    @property
    def is_spent(self) -> bool:
        """Whether not everything was followed."""
        return self.is_cut or self.statements < 0 or self.characters < 0
