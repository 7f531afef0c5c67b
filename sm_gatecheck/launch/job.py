"""What a launch file asks to be started, before it is known which of it is a server: what formats give, and what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sm_gatecheck.launch.inside import NOTHING, Inside
from sm_gatecheck.launch.located import Located, Word
from sm_gatecheck.launch.model import Extent, Problem, VersionMention
from sm_gatecheck.launch.rules import EntryRule


@dataclass(frozen=True)
class Setting:
    """An environment variable's value, and where its name was written. ``when``: the condition under which it is set, if any."""

    value: Located
    name: Extent
    when: str | None = None


@dataclass(frozen=True)
class Job:
    """A command (``words``) or a script for a shell, and the environment in which it runs.

    ``inside`` are files that the job finds in its container, ``directory`` is where relative names are looked up, ``notes``
    is what the file does not tell, ``alternatives`` the words under each condition that the file leaves open.
    """

    name: str | None = None
    words: tuple[Word, ...] = ()
    script: Located | None = None
    environment: Mapping[str, Setting] = field(default_factory=dict)
    image: Located | None = None
    notes: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    inside: Inside = NOTHING
    directory: Path | None = None
    versions: tuple[VersionMention, ...] = ()
    alternatives: tuple[tuple[str, tuple[Word, ...]], ...] = ()


@dataclass(frozen=True)
class Keyword:
    """A keyword argument of an engine. ``value`` is the literal, or the source text where ``unresolved`` says that it is none."""

    name: str
    value: Any
    extent: Extent
    value_extent: Extent
    text: str = ""
    unresolved: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    when: str | None = None


@dataclass(frozen=True)
class EngineCall:
    """An engine made in a program: its keywords are fields."""

    entry: str
    extent: Extent
    keywords: tuple[Keyword, ...] = ()
    environment: Mapping[str, Setting] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    versions: tuple[VersionMention, ...] = ()
    name: str | None = None
    when: str | None = None


@dataclass(frozen=True)
class ConfigFile:
    """A file of arguments given by itself."""

    text: Located
    versions: tuple[VersionMention, ...] = ()


@dataclass(frozen=True)
class Invocation:
    """A command found to start a server. ``key`` is the same for the same place of the file, whatever the conditions."""

    key: tuple[Any, ...]
    entry: EntryRule
    extent: Extent
    words: tuple[Word, ...]
    environment: Mapping[str, Setting] = field(default_factory=dict)
    image: Located | None = None
    name: str | None = None
    when: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    versions: tuple[VersionMention, ...] = ()
    inside: Inside = NOTHING
    directory: Path | None = None
    is_container: bool = False


Start = Job | EngineCall | ConfigFile | Invocation
"""What a format may find in a file."""


@dataclass(frozen=True)
class Variant:
    """An invocation under one more condition. ``against`` is how it happens without; ``replaces``: something is done without it, too."""

    when: str
    invocation: Invocation
    against: Invocation
    replaces: bool = False


@dataclass(frozen=True)
class Outcome:
    """An invocation as it happens when no open condition holds, and what changes when one does."""

    invocation: Invocation
    variants: tuple[Variant, ...] = ()
