"""Which rules are about the code of a tree, told by their ids alone: whoever only asks that loads no check."""

from __future__ import annotations

from collections.abc import Collection

PREFIX = "GC3"


def is_about_code(rules: Collection[str]) -> bool:
    """Whether there are rules, and all of them are about the code."""
    return bool(rules) and all(rule.startswith(PREFIX) for rule in rules)
