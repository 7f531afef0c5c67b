"""Where the rule files lie, and how a user's directory is laid over those that ship.

Below every layer that reads rules: it knows files and TOML, and nothing of what the files say.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sm_gatecheck.model.errors import UsageError

# By name, so that type checks need neither the newest standard library nor its backport.
_tomllib: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")


class RulesError(UsageError):
    """A rule file is missing or says something that cannot be; the message names file and key."""


@dataclass(frozen=True)
class Rulebook:
    """Directories of rule files, the shipped one first; a file of a later directory adds to or replaces an earlier one."""

    directories: tuple[Path, ...]

    @classmethod
    def open(cls, *overlays: Path) -> Rulebook:
        """The shipped rules under each of ``overlays`` (what ``--rules DIR`` names). RulesError where one is no directory."""
        for overlay in overlays:
            if not overlay.is_dir():
                raise RulesError(f"--rules {overlay}: no such directory")
        return cls((shipped_rules(), *overlays))

    def layers(self, relative: str) -> tuple[Path, ...]:
        """Every file of that name (``devices.toml``, ``sglang/tree.toml``), shipped first."""
        return tuple(path for path in (directory / relative for directory in self.directories) if path.is_file())

    def path(self, relative: str) -> Path:
        """The file of that name that counts: the last. RulesError where there is none."""
        found = self.layers(relative)
        if not found:
            raise RulesError(f"{relative}: no such rule file in {', '.join(map(str, self.directories))}")
        return found[-1]

    def names(self, folder: str, suffix: str = ".toml") -> tuple[str, ...]:
        """The relative names of the rule files in a folder, over all directories, sorted."""
        found = {
            f"{folder}/{path.name}" for directory in self.directories for path in (directory / folder).glob(f"*{suffix}") if path.is_file()
        }
        return tuple(sorted(found))

    def read(self, relative: str) -> Mapping[str, Any]:
        """The contents of the file that counts. RulesError where it is missing or no TOML."""
        return read_toml(self.path(relative))


def shipped_rules() -> Path:
    """The rules that came with this gatecheck: inside the package when installed, beside it in a source checkout."""
    package = Path(__file__).resolve().parent
    for directory in (package / "rules", package.parent / "rules"):
        if (directory / "devices.toml").is_file():
            return directory
    raise RulesError(f"{package / 'rules'}: the shipped rules are missing; reinstall sm-gatecheck")


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file as plain values. RulesError, with the place, where it cannot be read."""
    try:
        return parse_toml(path.read_bytes())
    except OSError as error:
        raise RulesError(f"{path}: {(error.strerror or str(error)).lower()}") from error
    except ValueError as error:
        raise RulesError(f"{path}: {error}") from error


def parse_toml(source: bytes) -> dict[str, Any]:
    """ValueError, one line long, where the bytes are no TOML."""
    try:
        document: dict[str, Any] = _tomllib.loads(source.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(" ".join(str(error).split())) from error
    return document
