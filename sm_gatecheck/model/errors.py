"""The two ways in which a request can fail; each message is one line that names the mend."""

from __future__ import annotations


class TreeError(Exception):
    """The tree cannot be analysed (exit status 3)."""


def without_options(target: str) -> TreeError:
    """A tree that declares none: an empty report would say that nothing is wrong."""
    return TreeError(f"{target}: no server options were found in it; a release that declares them in a new way needs a rule")


class UsageError(Exception):
    """The request is wrong: a typo, an unknown GPU, a broken rule file (exit status 2)."""
