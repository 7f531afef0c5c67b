"""Which kind of tree a target is."""

from __future__ import annotations

import os
from pathlib import Path

from sm_gatecheck.rulebook import Rulebook
from sm_gatecheck.trees.directory import open_directory
from sm_gatecheck.trees.refusal import no_such_path
from sm_gatecheck.trees.shape import load_shape
from sm_gatecheck.trees.tree import Tree
from sm_gatecheck.trees.wheel import open_zip


def open_tree(target: str | None, *, cache_dir: Path | None = None, offline: bool = False, rules: Rulebook | None = None) -> Tree:
    """The sources that ``target`` names: a directory, a wheel, an sdist, ``sglang==VERSION``, ``PATH@REV``; None for what is installed.

    ``cache_dir`` is where releases are kept (else ``$GATECHECK_CACHE``, else the user's cache directory); ``offline``
    forbids fetching one; ``rules`` are the shipped ones unless given. UsageError for a target that names nothing,
    TreeError for one that cannot be analysed.
    """
    shape = load_shape(rules or Rulebook.open())
    assert target is not None
    path = Path(target)
    if os.path.isdir(path):
        return open_directory(target, path, shape)
    if os.path.exists(path):
        return open_zip(target, path, shape, "wheel")
    raise no_such_path(target, path, shape)
