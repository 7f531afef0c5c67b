"""``--launch FILE`` and ``-- ARGS…``: the launches that a command line names, and a check of them on one tree."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sm_gatecheck.cli.inventory import Context
from sm_gatecheck.cli.progress import DelayedProgress
from sm_gatecheck.cli.refusal import did_you_mean
from sm_gatecheck.cli.session import Gpus, Rules, assumed_settings, read_model_config
from sm_gatecheck.model.errors import UsageError

if TYPE_CHECKING:
    from sm_gatecheck.launch.checking import LaunchCheck, LaunchInput
    from sm_gatecheck.model.report import Report

Decorated = Callable[..., Any]
STDIN = "-"


def launch_options(function: Decorated) -> Decorated:
    """The options with which a command takes launches."""
    for decorate in reversed(
        (
            click.option(
                "--launch", "launches", multiple=True, metavar="FILE", help="Check what FILE starts; - is stdin. May be repeated."
            ),
            click.option("--launch-format", metavar="FORMAT", help="Format of the launch files (default: by name and content)."),
            click.option(
                "--env",
                "variables",
                multiple=True,
                metavar="NAME[=VALUE]",
                help="A variable the launch will find; NAME alone (or SGLANG_*) takes it from this environment.",
            ),
        )
    ):
        function = decorate(function)
    return function


def wanted_launches(parameters: Mapping[str, Any], arguments: Sequence[str] | None) -> LaunchInput | None:
    """What the command line names as launches; None for an inventory. UsageError, one line, where it contradicts itself."""
    files, format_name, variables = parameters["launches"], parameters["launch_format"], parameters["variables"]
    if not files and arguments is None:
        for given, flag in ((format_name, "--launch-format"), (variables, "--env")):
            if given:
                raise UsageError(f"{flag} is about a launch: name one with --launch FILE, or write its arguments after --")
        return None
    from sm_gatecheck.launch import format_names
    from sm_gatecheck.launch.checking import LaunchInput

    if format_name is not None and format_name not in format_names():
        raise UsageError(
            f"--launch-format {format_name}: no such format{did_you_mean(format_name, format_names()) or ': ' + ', '.join(format_names())}"
        )
    if list(files).count(STDIN) > 1:
        raise UsageError("--launch -: stdin can be read once")
    if arguments is not None and not arguments:
        raise UsageError("nothing follows --: write the arguments of the launch there, or leave the -- out for the inventory")
    for name in files:
        _refuse_missing(name)
    return LaunchInput(tuple(files), None if arguments is None else tuple(arguments), format_name, _environment(variables, os.environ))


def open_check(target: str | None, gpus: Gpus, rules: Rules, context: Context, progress: Any) -> LaunchCheck:
    """A check of launches on a tree. UsageError or TreeError, one line, when there can be none."""
    from sm_gatecheck.launch.checking import LaunchCheck
    from sm_gatecheck.trees import open_tree
    from sm_gatecheck.verdicts.request import Request

    model_config = read_model_config(context.model_config)
    tree = open_tree(target, rules=rules.book)
    request = Request(
        sms=gpus.sms,
        cuda=context.cuda,
        settings=assumed_settings(context.settings, tree, rules.book),
        model_config=model_config,
        gpu_memory=gpus.memory_under(context.gpu_memory, rules.devices),
        rules_dir=rules.directory,
        use_cache=context.use_cache,
        processes=context.processes,
    )
    return LaunchCheck(tree, request, rules.book, progress)


def check_launches(target: str | None, gpus: Gpus, rules: Rules, context: Context, wanted: LaunchInput) -> Report:
    """The report on launches. UsageError or TreeError, one line, when there can be none."""
    with DelayedProgress(enabled=not context.quiet) as progress:
        check = open_check(target, gpus, rules, context, progress)
        return check.check(check.read(wanted))


def _environment(written: Iterable[str], own: Mapping[str, str]) -> dict[str, str]:
    """The variables of ``--env``. UsageError for one that is named, and not set here."""
    found: dict[str, str] = {}
    for text in written:
        name, separator, value = text.partition("=")
        if not name:
            raise UsageError(f"--env {text!r}: write NAME=VALUE, or NAME to take it from this environment")
        if separator:
            found[name] = value
        elif any(character in name for character in "*?["):
            found.update({known: own[known] for known in sorted(own) if fnmatchcase(known, name)})
        elif name in own:
            found[name] = own[name]
        else:
            raise UsageError(f"--env {name}: it is not set here; write {name}=VALUE")
    return found


def _refuse_missing(name: str) -> None:
    if name == STDIN or os.path.lexists(name):
        return
    path = Path(name)
    try:
        siblings = [entry.name for entry in path.parent.iterdir()]
    except (OSError, ValueError):
        siblings = []
    raise UsageError(f"--launch {name}: no such file{did_you_mean(path.name, siblings)}")
