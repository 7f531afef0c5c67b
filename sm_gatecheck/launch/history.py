"""Where a flag that this release does not know is known: told from the releases that were fetched before, and from nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from packaging.version import InvalidVersion, Version

from sm_gatecheck.model.errors import TreeError
from sm_gatecheck.program.modules import Program
from sm_gatecheck.rulebook import Rulebook
from sm_gatecheck.target.options import read_options
from sm_gatecheck.trees.archive import open_archive
from sm_gatecheck.trees.release import kept_releases
from sm_gatecheck.trees.shape import load_shape

RELEASES_READ = 12
"""The nearest ones; reading the options of one takes a third of a second."""


def flags_of_kept_releases(release: str, rules: Rulebook, cache: Path) -> Mapping[Version, frozenset[str]]:
    """The flags of the fetched releases around ``release``, by version. Empty where there are none, or ``release`` is no version."""
    try:
        here = Version(release)
    except InvalidVersion:
        return {}
    shape = load_shape(rules)
    others = [(version, archive) for version, archive in kept_releases(shape, cache) if version != here]
    older = [entry for entry in others if entry[0] < here][-RELEASES_READ // 2 :]
    newer = [entry for entry in others if entry[0] > here][: RELEASES_READ // 2]
    found: dict[Version, frozenset[str]] = {}
    for version, archive in (*older, *newer):
        try:
            table = read_options(Program(open_archive(str(archive), archive, shape, "release").files), rules)
        except TreeError:
            continue
        found[version] = frozenset(table.by_flag)
    return found


def history_of(flag: str, release: str, known: Mapping[Version, Iterable[str]]) -> str | None:
    """``0.5.14 has it: it came later``, where some release at hand knows the flag."""
    having = sorted(version for version, flags in known.items() if flag in flags)
    here = Version(release)
    later = [version for version in having if version > here]
    earlier = [version for version in having if version < here]
    if later and not earlier:
        return f"{later[0]} has it: it came after {release}"
    if earlier and not later:
        return f"{earlier[-1]} had it: it went before {release}"
    return f"{earlier[-1]} and {later[0]} have it" if having else None
