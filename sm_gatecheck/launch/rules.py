"""``sglang/launch.toml`` as values: what counts as a start of the server, and which words before it do what."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from sm_gatecheck.rulebook import Rulebook, RulesError

LAUNCH_FILE = "sglang/launch.toml"


@dataclass(frozen=True)
class EntryRule:
    """Words that start a server. ``consumed`` are flags of the entry point alone, ``positional`` is what a bare first word stands for."""

    name: str
    words: tuple[str, ...]
    consumed: tuple[str, ...] = ()
    positional: str | None = None
    positional_versions: str | None = None
    has_own_flags: bool = False


@dataclass(frozen=True)
class EnvironmentFlag:
    """A wrapper's flag that sets variables."""

    commands: tuple[str, ...]
    flags: tuple[str, ...]
    separator: str | None = None


@dataclass(frozen=True)
class ConfigEra:
    """How a file of arguments is read by some releases. ``false``: ``dropped``, or ``by-action``; ``refused``: actions it may not name."""

    versions: str
    false: str = "by-action"
    refused: tuple[str, ...] = ()
    mappings: str = "text"


@dataclass(frozen=True)
class ContainerRules:
    commands: tuple[str, ...]
    verbs: tuple[str, ...]
    environment: tuple[str, ...]
    environment_files: tuple[str, ...]
    entrypoint: tuple[str, ...]
    name: tuple[str, ...]
    volumes: tuple[str, ...]
    switches: frozenset[str]
    exec_verbs: tuple[str, ...]
    exec_switches: frozenset[str]


@dataclass(frozen=True)
class LaunchRules:
    """The whole file; the keys are explained there."""

    model: str
    config_flag: str
    distribution: str
    help_flags: tuple[str, ...]
    variables: tuple[str, ...]
    entries: tuple[EntryRule, ...]
    module_flags: tuple[str, ...]
    image_names: tuple[str, ...]
    image_tag: re.Pattern[str]
    image_file: re.Pattern[str]
    image_flags: tuple[str, ...]
    image_entry: str
    requirement: re.Pattern[str]
    engines: frozenset[str]
    engine_options: frozenset[str]
    engine_keyword: str
    engine_arguments: frozenset[str]
    engine_keys: tuple[str, ...]
    argument_keys: tuple[str, ...]
    config_entry: str
    config_eras: tuple[ConfigEra, ...]
    environment_wrappers: frozenset[str]
    unset_flags: frozenset[str]
    clear_flags: frozenset[str]
    builtins: frozenset[str]
    shells: frozenset[str]
    script_readers: frozenset[str]
    silent: frozenset[str]
    environment_flags: tuple[EnvironmentFlag, ...]
    container: ContainerRules
    quiet_sources: tuple[str, ...]
    tests: frozenset[str]

    @classmethod
    def read(cls, rules: Rulebook) -> LaunchRules:
        """RulesError, naming the file, where a key is missing or of the wrong kind."""
        path = rules.path(LAUNCH_FILE)
        try:
            return _read(rules.read(LAUNCH_FILE))
        except KeyError as error:
            raise RulesError(f"{path}: {error.args[0]}: missing") from error
        except (TypeError, AttributeError, re.error, IndexError) as error:
            raise RulesError(f"{path}: {error}") from error

    @cached_property
    def entry_mention(self) -> re.Pattern[str]:
        """Text that may start a server: every word of an entry, in order, with blanks between."""
        patterns = (r"[\s=]*".join(re.escape(word.lstrip("*")) for word in entry.words) for entry in self.entries)
        return re.compile("|".join(patterns))

    def is_argument_key(self, key: str) -> bool:
        return any(fnmatchcase(key, pattern) for pattern in self.argument_keys)

    def era(self, version: str | None) -> ConfigEra:
        """The way in which that release reads a file of arguments; an unknown release counts as the newest."""
        return next((era for era in self.config_eras if version is not None and applies(era.versions, version)), self.config_eras[-1])


@lru_cache(maxsize=256)
def applies(versions: str | None, version: str | None) -> bool:
    """Whether a specifier takes a release; an unknown release, or no specifier, always counts."""
    if versions is None or version is None:
        return True
    try:
        return SpecifierSet(versions).contains(Version(version), prereleases=True)
    except (InvalidVersion, InvalidSpecifier):
        return True


def _read(document: Mapping[str, Any]) -> LaunchRules:
    names, image, engine = document["names"], document["image"], document["engine"]
    wrappers, container = document["wrappers"], document["container"]
    return LaunchRules(
        model=names["model"],
        config_flag=names["config"],
        distribution=names["distribution"],
        help_flags=tuple(names["help"]),
        variables=tuple(names["variables"]),
        entries=tuple(
            EntryRule(
                row["name"],
                tuple(row["words"]),
                tuple(row.get("consumed", ())),
                row.get("positional"),
                row.get("positional_versions"),
                bool(row.get("has_own_flags", False)),
            )
            for row in document["entry"]
        ),
        module_flags=tuple(document["modules"]["flags"]),
        image_names=tuple(image["names"]),
        image_tag=re.compile(image["tag"]),
        image_file=re.compile(image["file"]),
        image_flags=tuple(image["flags"]),
        image_entry=image["entry"],
        requirement=re.compile(document["requirement"]["pattern"]),
        engines=frozenset(engine["names"]),
        engine_options=frozenset(engine["options"]),
        engine_keyword=engine["keyword"],
        engine_arguments=frozenset(engine["arguments"]),
        engine_keys=tuple(engine["keys"]),
        argument_keys=tuple(document["arguments"]["keys"]),
        config_entry=document["config"]["entry"],
        config_eras=tuple(
            ConfigEra(row["versions"], row["false"], tuple(row.get("refused", ())), row.get("mappings", "text"))
            for row in document["config"]["era"]
        ),
        environment_wrappers=frozenset(wrappers["environment"]),
        unset_flags=frozenset(wrappers["unset"]),
        clear_flags=frozenset(wrappers["clear"]),
        builtins=frozenset(wrappers["builtins"]),
        shells=frozenset(wrappers["shells"]),
        script_readers=frozenset(wrappers["readers"]),
        silent=frozenset(wrappers["silent"]),
        environment_flags=tuple(
            EnvironmentFlag(tuple(row["commands"]), tuple(row["flags"]), row.get("separator")) for row in wrappers["flag"]
        ),
        container=ContainerRules(
            commands=tuple(container["commands"]),
            verbs=tuple(container["verbs"]),
            environment=tuple(container["environment"]),
            environment_files=tuple(container["environment_files"]),
            entrypoint=tuple(container["entrypoint"]),
            name=tuple(container["name"]),
            volumes=tuple(container["volumes"]),
            switches=frozenset(container["switches"]),
            exec_verbs=tuple(container["exec"]["verbs"]),
            exec_switches=frozenset(container["exec"]["switches"]),
        ),
        quiet_sources=tuple(document["shell"]["sources"]),
        tests=frozenset(document["shell"]["tests"]),
    )
