"""Which kind of tree a target is."""

from __future__ import annotations

import os
from pathlib import Path

from packaging.version import InvalidVersion, Version

from sm_gatecheck.rulebook import Rulebook
from sm_gatecheck.trees.archive import open_archive
from sm_gatecheck.trees.directory import open_directory
from sm_gatecheck.trees.installed import open_installed
from sm_gatecheck.trees.names import printable
from sm_gatecheck.trees.refusal import no_such_path
from sm_gatecheck.trees.release import open_release, release_version
from sm_gatecheck.trees.revision import open_revision, split_revision
from sm_gatecheck.trees.shape import PackageShape, load_shape
from sm_gatecheck.trees.tree import Tree, TreeError, UsageError


def open_tree(target: str | None, *, cache_dir: Path | None = None, offline: bool = False, rules: Rulebook | None = None) -> Tree:
    """The sources that ``target`` names: a directory, a wheel, an sdist, ``sglang==VERSION``, ``PATH@REV``; None for what is installed.

    ``cache_dir`` is where releases are kept (else ``$GATECHECK_CACHE``, else the user's cache directory); ``offline``
    forbids fetching one; ``rules`` are the shipped ones unless given. UsageError for a target that names nothing,
    TreeError for one that cannot be analysed.
    """
    shape = load_shape(rules or Rulebook.open())
    try:
        return _open(target, shape, cache_dir, offline)
    except (TreeError, UsageError) as error:
        error.args = (printable(str(error)),)  # one line, whatever the names in it hold
        raise


def _open(target: str | None, shape: PackageShape, cache_dir: Path | None, offline: bool) -> Tree:
    if target is None:
        return open_installed(shape)
    if not target.strip() or "\0" in target:
        raise UsageError(f"no tree is named: name {shape.kinds}, or leave TREE out for what is installed")
    path = Path(target)
    if os.path.isdir(path):
        return open_directory(target, path, shape)
    if os.path.exists(path):
        return open_archive(target, path, shape)
    version = release_version(target, shape)
    if version is not None:
        return open_release(target, version, shape, cache_dir, offline)
    revision = split_revision(target)
    if revision is not None:
        return open_revision(target, *revision, shape)
    raise _unknown(target, shape)


def _unknown(target: str, shape: PackageShape) -> UsageError:
    """What is no path: perhaps a version by itself, the distribution's name, or a revision of a path that is not there."""
    name, _, rest = target.partition("@")
    if os.sep not in target and "/" not in target:
        for text in (target, rest if name.lower() == shape.distribution else ""):
            if _is_version(text):
                return UsageError(f"{target}: no such file or directory; did you mean {shape.distribution}=={text.lstrip('vV')}?")
        if name.lower() == shape.distribution:
            return UsageError(
                f"{target}: no such file or directory; write {shape.distribution}==VERSION, or leave TREE out for what is installed"
            )
    missing = target.rpartition("@")[0] or target
    return no_such_path(target, Path(missing), shape)


def _is_version(text: str) -> bool:
    try:
        Version(text)
    except InvalidVersion:
        return False
    return True
