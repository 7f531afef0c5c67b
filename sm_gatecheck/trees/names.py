"""Names of files inside a tree: which are fit to be reported, and where among them the package lies."""

from __future__ import annotations

import posixpath
from collections.abc import Container, Iterable, Mapping

from sm_gatecheck.trees.shape import PackageShape

SUFFIX = ".py"
_MAX_PREFIX_DEPTH = 4
_MAX_NAME_LENGTH = 1024


def oddity(name: str) -> str | None:
    """Why a relative ``/``-separated name is not read, None for an ordinary one.

    Such a name cannot be printed in a report, or means another file on another platform.
    """
    if len(name) > _MAX_NAME_LENGTH:
        return f"its name has more than {_MAX_NAME_LENGTH:,} characters"
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return "its name is not UTF-8"
    if not name.isprintable():
        return "its name holds characters that cannot be printed"
    return "its name holds a backslash" if "\\" in name else None


def printable(name: str) -> str:
    """The name with everything unfit for one line of a report escaped."""
    text = "".join(character if character.isprintable() else character.encode("unicode_escape").decode("ascii") for character in name)
    return text if len(text) <= _MAX_NAME_LENGTH else text[:_MAX_NAME_LENGTH] + "…"


def escapes(name: str) -> bool:
    """Whether a member's name leads out of the archive that holds it."""
    return name.startswith(("/", "\\")) or ".." in name.replace("\\", "/").split("/") or name[1:3] in (":/", ":\\")


def package_prefix(names: Iterable[str], shape: PackageShape) -> str | None:
    """The prefix (``""``, ``sglang-0.5.12/python/``) before the package's directory, None where there is no package.

    The shallowest counts: a copy further down is a test's or a vendored one. Among equals, a known source directory.
    """
    endings = tuple(f"{shape.name}/{marker}" for marker in shape.markers)
    found: set[str] = set()
    for name in names:
        for ending in endings:
            if name == ending or name.endswith("/" + ending):
                found.add(name[: -len(ending)])
    shallow = [prefix for prefix in found if prefix.count("/") <= _MAX_PREFIX_DEPTH]

    def rank(prefix: str) -> tuple[int, bool, str]:
        directory = prefix.rstrip("/").rpartition("/")[2]
        return prefix.count("/"), directory not in shape.source_dirs, prefix

    return min(shallow, key=rank, default=None)


def link_end(name: str, links: Mapping[str, str], names: Container[str]) -> str | None:
    """The file, among ``names``, that a symbolic link leads to without leaving them; None where it leads elsewhere or round.

    ``links`` maps each link to its target as it is written, relative to the directory of the link.
    """
    seen: set[str] = set()
    while name in links and name not in seen:
        seen.add(name)
        name = posixpath.normpath(posixpath.join(posixpath.dirname(name), links[name]))
    return name if name not in links and name in names else None
