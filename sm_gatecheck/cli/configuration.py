"""``gatecheck.toml``, ``[tool.gatecheck]`` of ``pyproject.toml`` and ``GATECHECK_*``: a value for every option, given once.

A key is an option's long name. At the top it holds for every command that has the option (``format`` and ``output`` for ``check``,
whose forms are its own); in a table named after a command for that command alone. Paths are relative to the file they stand in.
What is given on the command line comes first, then the environment, then the file, then the default.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from sm_gatecheck.cli.outputs import OutputWord
from sm_gatecheck.cli.refusal import did_you_mean
from sm_gatecheck.model.errors import UsageError
from sm_gatecheck.rulebook import parse_toml

FILE = "gatecheck.toml"
PROJECT = "pyproject.toml"
TABLE = ("tool", "gatecheck")
IGNORE = "ignore"
PREFIX = "GATECHECK"
SEPARATOR = ";"
"""Between the values of an option that takes several, in a variable: names of GPUs have blanks, and lists have commas."""

OWN_FORMS = frozenset({"format", "output"})
"""Options whose values one command understands and another does not: without a command's name they are for the default command."""

NOT_HERE = frozenset({"write-baseline", "write"})
"""Options that say what to do once, not how things are."""

NAMED_IN_FULL = frozenset({"env"})
"""Options that could take something from the environment of whoever runs gatecheck: a file in a repository may not ask for it."""

MAX_BYTES = 1_000_000


@dataclass(frozen=True)
class Configuration:
    """A configuration file: its path as it is to be shown, its text, and the table that is ours."""

    path: Path
    text: str
    table: Mapping[str, Any]

    @property
    def directory(self) -> Path:
        return self.path.parent


def find_configuration(start: Path) -> Configuration | None:
    """The nearest configuration at or above ``start``, not looked for outside the repository that ``start`` lies in."""
    start = start.absolute()
    for directory in (start, *start.parents):
        for name in (FILE, PROJECT):
            path = directory / name
            if path.is_file():
                found = _read(Path(os.path.relpath(path, start)), path)
                if found is not None:
                    return found
        if os.path.lexists(directory / ".git"):
            break
    return None


def read_configuration(path: Path) -> Configuration:
    """The configuration in a file that was named. UsageError where there is none in it."""
    if not path.is_file():
        near = did_you_mean(path.name, (entry.name for entry in path.parent.iterdir())) if path.parent.is_dir() else ""
        raise UsageError(f"--config {path}: no such file{near}")
    found = _read(path, path)
    if found is None:
        raise UsageError(f"--config {path}: it has no table [{'.'.join(TABLE)}]")
    return found


def _read(shown: Path, path: Path) -> Configuration | None:
    try:
        with path.open("rb") as stream:
            source = stream.read(MAX_BYTES + 1)
        if len(source) > MAX_BYTES:
            raise ValueError(f"more than {MAX_BYTES:,} bytes")
        if path.name == PROJECT and b"gatecheck" not in source:
            return None
        table: Any = parse_toml(source)
    except OSError as error:
        raise UsageError(f"{shown}: {error.strerror or error}") from None
    except ValueError as error:
        raise UsageError(f"{shown}: {error}") from None
    if path.name == PROJECT:
        for name in TABLE:
            table = table.get(name) if isinstance(table, dict) else None
        if table is None:
            return None
    if not isinstance(table, dict):
        raise UsageError(f"{shown}: {'.'.join(TABLE)}: a table is needed here")
    return Configuration(shown, source.decode("utf-8"), table)


def key_of(parameter: click.Parameter) -> str | None:
    """What an option or argument is called in a file; None for what cannot stand there."""
    if isinstance(parameter, click.Argument):
        return parameter.name if parameter.name == "tree" else None
    long_names = [spelling[2:] for spelling in parameter.opts if spelling.startswith("--")]
    return long_names[0] if long_names and long_names[0] not in ("help", *NOT_HERE) else None


def settings_for(configuration: Configuration, name: str, commands: Mapping[str, click.Command], default_command: str) -> dict[str, Any]:
    """What a configuration gives the parameters of the command ``name``. UsageError, one line, for a key that nothing takes."""
    by_key = {command: {key: parameter for parameter in taken.params if (key := key_of(parameter))} for command, taken in commands.items()}
    every = {key for keys in by_key.values() for key in keys}
    settings: dict[str, Any] = {}
    for written, value in configuration.table.items():
        key = written.replace("_", "-")
        if key == IGNORE:
            continue
        if key in commands and isinstance(value, dict):
            for inner, held in value.items():
                _take(settings, configuration, f"{written}.{inner}", inner.replace("_", "-"), held, by_key[key], key == name)
            continue
        if key not in every:
            raise _unknown(configuration, written, [*every, *commands, IGNORE])
        applies = key in by_key[name] and (key not in OWN_FORMS or name == default_command)
        if applies and by_key[name][key].name not in settings:
            _take(settings, configuration, written, key, value, by_key[name], True)
    own = configuration.table.get(name)
    if isinstance(own, dict):  # a command's own table comes before what holds for all
        for inner, held in own.items():
            _take(settings, configuration, f"{name}.{inner}", inner.replace("_", "-"), held, by_key[name], True)
    return settings


def _take(
    settings: dict[str, Any],
    configuration: Configuration,
    written: str,
    key: str,
    value: Any,
    parameters: Mapping[str, click.Parameter],
    applies: bool,
) -> None:
    parameter = parameters.get(key)
    if parameter is None:
        raise _unknown(configuration, written, parameters)
    if not applies:
        return
    where = f"{configuration.path}: {written}"
    taken = _value(configuration, parameter, value, where)
    try:
        with click.Context(click.Command("gatecheck")) as context:
            parameter.type_cast_value(context, taken)
    except click.UsageError as error:
        raise UsageError(f"{where}: {error.message}") from None
    assert parameter.name is not None
    settings[parameter.name] = taken


def _value(configuration: Configuration, parameter: click.Parameter, value: Any, where: str) -> Any:
    """A value of TOML as click takes it from a command line."""
    option = isinstance(parameter, click.Option)
    if option and (parameter.is_flag or parameter.count):  # type: ignore[attr-defined]
        if isinstance(value, bool) or (parameter.count and isinstance(value, int)):  # type: ignore[attr-defined]
            return value
        raise UsageError(f"{where}: true or false is needed here")
    if parameter.multiple:
        if isinstance(value, dict):
            return [f"{name}={_word(item, where)}" for name, item in value.items()]
        values = value if isinstance(value, list) else [value]
        if key_of(parameter) in NAMED_IN_FULL and not all("=" in str(item) for item in values):
            raise UsageError(f"{where}: write NAME=VALUE here; what this machine's environment has to give is named on the command line")
        return [_placed(configuration, parameter, _word(item, where), where) for item in values]
    return _placed(configuration, parameter, _word(value, where), where)


def _word(value: Any, where: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, list) and all(isinstance(item, (str, int, float, bool)) for item in value):
        return json.dumps(value)
    raise UsageError(f"{where}: a text or a number is needed here")


def _placed(configuration: Configuration, parameter: click.Parameter, word: str, where: str) -> str:
    """A path in a file is relative to that file. Reports go below the file's directory: who can edit it chooses no place elsewhere."""
    directory = configuration.directory
    if isinstance(parameter.type, OutputWord):
        output = parameter.type.convert(word, None, None)
        if str(output.path) == "-":
            return word
        inside = os.path.realpath(directory / output.path).startswith(os.path.join(os.path.realpath(directory), ""))
        if not inside:
            raise UsageError(f"{where}: {output.path} lies outside {os.path.realpath(directory)}; give such a place on the command line")
        path = os.path.join(directory, output.path)
        return path if output.format_name is None else f"{output.format_name}:{path}"
    named = isinstance(parameter.type, click.Path) or parameter.metavar in ("FILE", "DIR")
    if named and word != "-":
        return os.path.join(directory, word)
    if parameter.name == "tree" and (word.startswith(".") or (directory / word.split("@")[0]).exists()):
        return os.path.join(directory, word)
    return word


def _unknown(configuration: Configuration, written: str, known: Iterable[str]) -> UsageError:
    last = written.rpartition(".")[2].replace("_", "-")
    if last in NOT_HERE:
        return UsageError(f"{configuration.path}: {written} belongs on the command line")
    return UsageError(f"{configuration.path}: there is no option {written!r}{did_you_mean(last, known) or '; see gatecheck config'}")


def read_environment_too(name: str, command: click.Command, default_command: str) -> click.Command:
    """Let each option of a command be given by ``GATECHECK_COMMAND_OPTION`` and, where one meaning fits all, ``GATECHECK_OPTION``."""
    for parameter in command.params:
        key = key_of(parameter)
        if key is None or parameter.envvar is not None:
            continue
        own, common = (f"{PREFIX}_{word.upper().replace('-', '_')}" for word in (f"{name}-{key}", key))
        parameter.envvar = [own] if key in OWN_FORMS and name != default_command else [own, common]
        if parameter.multiple:
            parameter.type = copy.copy(parameter.type)
            vars(parameter.type)["envvar_list_splitter"] = SEPARATOR  # of this option alone, not of every option of the type
    return command


def strongest(context: click.Context, names: Iterable[str]) -> set[str]:
    """Of parameters that say the same in different ways, those that were given where it counts most."""
    order = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT, ParameterSource.DEFAULT_MAP)
    given = {name: context.get_parameter_source(name) for name in names}
    for source in order:
        found = {name for name, held in given.items() if held is source}
        if found:
            return found
    return set(given)


def variable_of(parameter: click.Parameter) -> str | None:
    """The environment variable that gives a parameter its value, None where none does."""
    names = [parameter.envvar] if isinstance(parameter.envvar, str) else list(parameter.envvar or ())
    return next((name for name in names if os.environ.get(name)), None)
