"""The package that is installed beside gatecheck: found, not imported."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from sm_gatecheck.trees.directory import open_directory
from sm_gatecheck.trees.shape import PackageShape
from sm_gatecheck.trees.tree import Tree, UsageError


def open_installed(shape: PackageShape) -> Tree:
    """The installed package, or the checkout of an editable install. UsageError where there is none."""
    directory = _spec_directory(shape.name) or _recorded_directory(shape)
    if directory is None:
        raise UsageError(f"no {shape.name} is installed beside gatecheck: name a TREE, which is {shape.kinds}")
    return open_directory(f"installed {shape.distribution}", directory, shape)


def _spec_directory(name: str) -> Path | None:
    """Where an import would find the package; a top-level name is looked up without importing anything."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    locations = list(spec.submodule_search_locations or ()) if spec is not None else []
    return next((Path(location) for location in locations if Path(location).is_dir()), None)


def _recorded_directory(shape: PackageShape) -> Path | None:
    """Where the distribution says its files are, for an environment whose import hooks are not active."""
    try:
        distribution = importlib.metadata.distribution(shape.distribution)
    except importlib.metadata.PackageNotFoundError:
        return None
    located = Path(str(distribution.locate_file(shape.name)))
    if located.is_dir():
        return located
    try:
        address = json.loads(distribution.read_text("direct_url.json") or "{}").get("url", "")
    except (ValueError, AttributeError):
        return None
    parts = urlsplit(str(address))
    directory = Path(url2pathname(unquote(parts.path))) if parts.scheme == "file" else None
    return directory if directory is not None and directory.is_dir() else None
