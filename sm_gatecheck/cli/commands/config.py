"""``gatecheck config [COMMAND]``: the settings in force, and where each came from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from sm_gatecheck.cli.configuration import key_of, variable_of
from sm_gatecheck.cli.group import CONFIGURATION, DEFAULT_COMMAND, CommandGroup
from sm_gatecheck.cli.output import Destination
from sm_gatecheck.cli.outputs import Output
from sm_gatecheck.cli.parameters import output_options
from sm_gatecheck.cli.refusal import unknown


@dataclass(frozen=True)
class Setting:
    """An option by its key, its value as JSON has it, and its source: a variable, a file, or ``default``."""

    key: str
    value: Any
    source: str


@click.command("config", short_help="The settings in force, and where each came from.")
@click.argument("name", required=False, default=DEFAULT_COMMAND, metavar="[COMMAND]")
@output_options(("text", "json"))
@click.pass_context
def command(ctx: click.Context, /, **parameters: Any) -> int:
    """Show the value of every option of COMMAND (check unless named) and what gives it that value.

    The command line comes first, then GATECHECK_* variables, then the nearest gatecheck.toml or [tool.gatecheck] of a
    pyproject.toml at or above the working directory, then the default.
    """
    from sm_gatecheck.report import json, setting_list

    group = ctx.parent
    assert group is not None
    program = group.command
    assert isinstance(program, CommandGroup)
    name = parameters["name"]
    if name not in program.list_commands(group):
        raise unknown("command", name, program.list_commands(group), "the commands are " + ", ".join(program.list_commands(group)))
    program.configure(group, name)
    configuration = ctx.meta[CONFIGURATION]
    file = None if configuration is None else str(configuration.path)
    settings = _settings(group, program, name, file)
    destination = Destination(parameters["output"], parameters["color"])
    rows = [(setting.key, setting.value, setting.source) for setting in settings]
    if parameters["format_name"] == "json":
        destination.write(json.render(setting_list.document(name, file, rows)))
    else:
        destination.write(setting_list.text(name, file, rows, destination.width, destination.wants_color))
    return 0


def _settings(group: click.Context, program: CommandGroup, name: str, file: str | None) -> list[Setting]:
    command = program.get_command(group, name)
    assert command is not None
    context = command.make_context(name, [], parent=group)
    found = []
    for parameter in command.params:
        key = key_of(parameter)
        if key is not None and parameter.name is not None:
            source = _source(context, parameter, file)
            found.append(Setting(key, _plain(context.params.get(parameter.name)), source))
    return found


def _source(context: click.Context, parameter: click.Parameter, file: str | None) -> str:
    assert parameter.name is not None
    source = context.get_parameter_source(parameter.name)
    if source is ParameterSource.ENVIRONMENT:
        return variable_of(parameter) or "environment"
    if source is ParameterSource.DEFAULT_MAP and file is not None:
        return file
    return "default"


def _plain(value: Any) -> Any:
    if isinstance(value, Output):
        return str(value.path) if value.format_name is None else f"{value.format_name}:{value.path}"
    if isinstance(value, Path):
        return str(value)
    return [_plain(item) for item in value] if isinstance(value, (tuple, list)) else value
