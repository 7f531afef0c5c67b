"""The two ways in which a request can fail; each message is one line that names the mend."""

from __future__ import annotations


class TreeError(Exception):
    """The tree cannot be analysed (exit status 3)."""


class UsageError(Exception):
    """The request is wrong: a typo, an unknown GPU, a broken rule file (exit status 2)."""
