"""The command ``gatecheck`` itself: finds its commands, takes ``check`` for granted, keeps what stands after ``--``."""

from __future__ import annotations

import importlib
import pkgutil
import re
from itertools import takewhile
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from sm_gatecheck import __version__
from sm_gatecheck.cli import commands
from sm_gatecheck.cli.configuration import (
    Configuration,
    find_configuration,
    read_configuration,
    read_environment_too,
    settings_for,
)
from sm_gatecheck.cli.refusal import did_you_mean

DEFAULT_COMMAND = "check"
CONFIGURATION = "gatecheck.configuration"
"""Key in ``ctx.meta`` of the configuration file that was read, None when there is none."""
ALL_LAUNCHES = "--launches"
LAUNCH_ARGUMENTS = "gatecheck.launch_arguments"
"""Key in ``ctx.meta`` of the arguments after ``--``: a list, or None when there was no ``--``."""


class CommandGroup(click.Group):
    """A group whose commands are the modules of ``sm_gatecheck.cli.commands`` and whose default command is ``check``.

    Options may stand before the command as well as after it: the command is the first word that is no option and no
    option's value.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        names = sorted(module.name for module in pkgutil.iter_modules(commands.__path__))
        return sorted(names, key=lambda name: name != DEFAULT_COMMAND)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command = importlib.import_module(f"{commands.__name__}.{cmd_name}").command
        return read_environment_too(cmd_name, command, DEFAULT_COMMAND) if isinstance(command, click.Command) else None

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        if name is not None and command is not None:
            self.configure(ctx, name)
        return name, command, rest

    def configure(self, ctx: click.Context, name: str) -> None:
        """Let the configuration file speak for the options of the command ``name``. UsageError where it says something wrong."""
        configuration = self._configuration(ctx)
        ctx.meta[CONFIGURATION] = configuration
        if configuration is not None:
            known = {known: command for known in self.list_commands(ctx) if (command := self.get_command(ctx, known)) is not None}
            ctx.default_map = {**(ctx.default_map or {}), name: settings_for(configuration, name, known, DEFAULT_COMMAND)}

    def _configuration(self, ctx: click.Context) -> Configuration | None:
        if ctx.params.get("no_config"):
            return None
        named = ctx.params.get("config")
        return find_configuration(Path.cwd()) if named is None else read_configuration(named)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[LAUNCH_ARGUMENTS] = None
        if "--" in args:
            split = args.index("--")
            args, ctx.meta[LAUNCH_ARGUMENTS] = args[:split], args[split + 1 :]
        configuration, args = _configuration_first(launches_apart(args))
        return super().parse_args(ctx, [*configuration, *self._command_first(ctx, args)])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Commands, and what the default command takes: its options, and a TREE."""
        found = super().shell_complete(ctx, incomplete)
        default = self.get_command(ctx, DEFAULT_COMMAND)
        if default is None:
            return found
        if incomplete.startswith("-"):
            return found + default.shell_complete(click.Context(default, parent=ctx), incomplete)
        return [*found, CompletionItem(incomplete, type="file")]

    def _command_first(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] in self._own_options(ctx):
            return args
        if not args and ctx.resilient_parsing:  # a shell asks what may come first
            return args
        words = self._words(ctx, args)
        names = self.list_commands(ctx)
        if words and args[words[0]] in names:
            first = words[0]
            return [args[first], *args[:first], *args[first + 1 :]]
        if words:
            _refuse_misspelt(args[words[0]], names, lonely=len(words) == 1)
        return [DEFAULT_COMMAND, *args]

    def _own_options(self, ctx: click.Context) -> set[str]:
        return {spelling for parameter in self.get_params(ctx) for spelling in parameter.opts}

    def _words(self, ctx: click.Context, args: list[str]) -> list[int]:
        """Where in ``args`` the words stand that are neither options nor the values of options."""
        takes_value: set[str] = set()
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            for parameter in command.params if command is not None else ():
                if isinstance(parameter, click.Option) and not parameter.is_flag and not parameter.count:
                    takes_value.update(parameter.opts)
        words: list[int] = []
        index = 0
        while index < len(args):
            argument = args[index]
            if argument in takes_value:
                index += 1
            elif argument == "-" or not argument.startswith("-"):
                words.append(index)
            index += 1
        return words


def launches_apart(args: list[str]) -> list[str]:
    """``--launches A B`` as ``--launch A --launch B``, for programs that append the names of files (pre-commit does)."""
    if ALL_LAUNCHES not in args:
        return args
    split = args.index(ALL_LAUNCHES)
    files = list(takewhile(lambda word: not word.startswith("-"), args[split + 1 :]))
    return [*args[:split], *(f"--launch={file}" for file in files), *args[split + 1 + len(files) :]]


def _configuration_first(args: list[str]) -> tuple[list[str], list[str]]:
    """The words that say which configuration to read, wherever they stand, and the others."""
    taken: list[str] = []
    others: list[str] = []
    words = iter(args)
    for word in words:
        if word == "--config":
            value = next(words, None)
            if value is None:
                raise click.UsageError("option '--config' requires an argument")
            taken += [word, value]
        elif word == "--no-config" or word.startswith("--config="):
            taken.append(word)
        else:
            others.append(word)
    return taken, others


def _refuse_misspelt(word: str, names: list[str], lonely: bool) -> None:
    """A bare word that is no path is taken for a misspelt command when it is near one, or when a TREE follows it."""
    if not re.fullmatch(r"[a-z-]+", word) or Path(word).exists():
        return
    near = did_you_mean(word, names, cutoff=0.72)
    if near or not lonely:
        raise click.UsageError(f"there is no command and no path {word!r}{near or ': the commands are ' + ', '.join(names)}")


def _version(ctx: click.Context, _parameter: click.Parameter, value: bool) -> Any:
    if value and not ctx.resilient_parsing:
        click.echo(f"gatecheck {__version__}")
        ctx.exit(0)


@click.group(
    cls=CommandGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="TREE is a checkout, its python/ directory, an installed package directory, a wheel, an sdist or sglang==VERSION; "
    "left out, it is the sglang installed beside gatecheck. Run 'gatecheck COMMAND --help' for the options of a command.",
)
@click.option("-V", "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version and exit.")
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    metavar="FILE",
    envvar="GATECHECK_CONFIG",
    help="Read options from FILE, not from the nearest gatecheck.toml or pyproject.toml.",
)
@click.option("--no-config", is_flag=True, help="Read no configuration file.")
def program(config: Path | None, no_config: bool) -> None:
    """What each SGLang server option will do on your GPU, with the proof, before you restart the server.

    \b
    gatecheck --sm 120 sglang==0.5.12            what is refused, dead or harmful on SM120
    gatecheck --gpu "RTX PRO 6000" ./sglang      the same by product name
    gatecheck matrix ./sglang                    options x SMs as Markdown

    'check' is the default command: 'gatecheck --sm 120 TREE' is 'gatecheck check --sm 120 TREE'.
    """
