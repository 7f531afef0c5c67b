"""``gatecheck log FILE [FILE2]``: what a server said when it started."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sm_gatecheck.cli.group import LAUNCH_ARGUMENTS
from sm_gatecheck.cli.inventory import Context, take_inventory
from sm_gatecheck.cli.outcome import FINDINGS, LEFT_OUT, NOTHING
from sm_gatecheck.cli.output import Destination
from sm_gatecheck.cli.parameters import Word, context_options, gpu_options, output_options, run_options
from sm_gatecheck.cli.rendering import verbosity_of
from sm_gatecheck.cli.session import Gpus, Rules, assumed_settings, read_model_config, wanted_gpus
from sm_gatecheck.model.errors import UsageError

if TYPE_CHECKING:
    from sm_gatecheck.logs.comparison import Costs
    from sm_gatecheck.logs.model import Log, Start
    from sm_gatecheck.logs.prediction import Predictor
    from sm_gatecheck.logs.rules import LogRules
    from sm_gatecheck.model.verdict import Effect, Verdict
    from sm_gatecheck.report.log_text import Shown
    from sm_gatecheck.trees.tree import Tree


@click.command("log", short_help="What a server said when it started, and what changed between two starts.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True), metavar="FILE [FILE2]")
@click.option("--tree", metavar="TREE", help="Hold the log against this tree (with --sm or --gpu).")
@gpu_options
@context_options
@click.option("--launch", type=click.Path(path_type=Path, allow_dash=True), metavar="FILE", help="The launch file of the start.")
@click.option("--start", "starts", multiple=True, type=int, metavar="N", help="Which start in the log: 1 the first, -1 the last (default).")
@output_options(("text", "json"))
@click.option("--fail-on", type=Word(("any", "never")), default="never", show_default=True, help="Exit 1 for any difference.")
@run_options
@click.pass_context
def command(ctx: click.Context, /, **parameters: Any) -> int:
    """Read the arguments that a server resolved, and its figures of capacity and memory, out of its log.

    With two logs (or one and two --start): what changed, and which option is behind it. With --tree and --sm: what the tree's
    resolution makes of the launch, and why a logged value is another. A log may be plain, or come from journald, docker or Kubernetes;
    '-' is standard input.
    """
    from sm_gatecheck.logs.rules import LogRules

    rules = Rules.open(parameters["rules"])
    book = LogRules.read(rules.book)
    shown = _chosen(parameters["files"], parameters["starts"], book)
    is_launch_named = parameters["launch"] is not None or ctx.meta.get(LAUNCH_ARGUMENTS) is not None
    if is_launch_named and len(shown) > 1:
        raise UsageError("--launch and arguments after -- go with one log: of two, leave out one or them")
    wants_tree = parameters["tree"] is not None or bool(parameters["sms"] or parameters["gpus"])
    if is_launch_named and not wants_tree:
        raise UsageError("a launch is held against a tree: name it with --tree, and the GPU with --sm or --gpu")
    from sm_gatecheck.logs.comparison import compare

    source = prediction = predictor = costs = None
    if wants_tree:
        tree, predictor, gpus = _predictor(parameters, shown[-1].start, rules, book)
        source = tree.source
        costs = _costs(parameters, gpus, rules)
        if len(shown) == 1:
            given = _given(ctx, parameters["launch"], tree, rules) if is_launch_named else None
            prediction = None if shown[0].start.arguments is None else predictor.compare(shown[0].start, given)
    comparison = None if len(shown) == 1 else compare(shown[0].start, shown[1].start, book.is_drawn, predictor, costs)
    destination = Destination(parameters["output"], parameters["color"])
    if parameters["format_name"] == "json":
        from sm_gatecheck.report import json, log_json

        destination.write(json.render(log_json.log_document(shown, source, prediction, comparison)))
    else:
        from sm_gatecheck.report import log_text

        style = log_text.Style(destination.width, destination.wants_color, verbosity_of(parameters))
        destination.write(log_text.render(shown, style, source, prediction, comparison))
    differs = (comparison is not None and not comparison.is_same) or (prediction is not None and bool(prediction.differences))
    if differs and parameters["fail_on"] == "any":
        return FINDINGS
    is_left_out = any(item.log.notes or item.start.is_cut or item.start.arguments is None for item in shown)
    return LEFT_OUT if parameters["strict"] and is_left_out else NOTHING


def _chosen(files: Sequence[Path], numbers: Sequence[int], rules: LogRules) -> list[Shown]:
    """The one or two starts that are asked for."""
    from sm_gatecheck.report.log_text import Shown

    if len(files) > 2:
        raise UsageError(f"{len(files)} logs are too many: name one, or two to compare")
    if len(numbers) > 2 or (len(files) == 2 and len(numbers) == 1):
        raise UsageError("--start goes once with one log, twice with two, and twice with one to compare two starts of it")
    logs = [_read(file, rules) for file in files]
    if len(logs) == 1 and len(numbers) == 2:
        logs *= 2
    return [Shown(log, _start(log, number)) for log, number in zip(logs, numbers or (-1,) * len(logs), strict=True)]


def _read(file: Path, rules: LogRules) -> Log:
    from sm_gatecheck.logs import open_log, read_log

    if str(file) == "-":
        return read_log(sys.stdin.buffer, "<stdin>", rules)
    with open_log(file) as stream:
        return read_log(stream, str(file), rules)


def _start(log: Log, number: int) -> Start:
    count = len(log.starts)
    if number == 0 or abs(number) > count:
        raise UsageError(f"--start {number}: {log.name} holds {count} start{'s' if count != 1 else ''}, numbered from 1; -1 is the last")
    return log.starts[number - 1 if number > 0 else number]


def _predictor(parameters: dict[str, Any], start: Start, rules: Rules, book: LogRules) -> tuple[Tree, Predictor, Gpus]:
    from sm_gatecheck.logs.prediction import open_predictor
    from sm_gatecheck.trees import open_tree
    from sm_gatecheck.verdicts.request import Request

    gpus = wanted_gpus(parameters["sms"], parameters["gpus"], rules.devices, parameters["quiet"])
    if len(gpus.sms) != 1:
        raise UsageError(f"a log is of one kind of GPU, and {len(gpus.sms)} are named: name one with --sm or --gpu")
    model_config = read_model_config(parameters["model_config"])
    tree = open_tree(parameters["tree"], rules=rules.book)
    settings = assumed_settings(parameters["settings"], tree, rules.book)
    if start.architecture is not None and model_config is None:
        settings.setdefault(book.architecture_fact, start.architecture)
    request = Request(
        sms=gpus.sms,
        cuda=parameters["cuda"],
        settings=settings,
        model_config=model_config,
        gpu_memory=gpus.memory_under(parameters["gpu_memory"] or start.gpu_memory, rules.devices),
        rules_dir=rules.directory,
    )
    return tree, open_predictor(tree, request, book.is_drawn), gpus


def _given(ctx: click.Context, launch: Path | None, tree: Tree, rules: Rules) -> dict[str, Any]:
    """The options that the launch gives. UsageError where it does not start one server."""
    from sm_gatecheck.cli.session import tree_options
    from sm_gatecheck.launch import read_arguments, read_launch

    arguments = ctx.meta.get(LAUNCH_ARGUMENTS)
    table = tree_options(tree, rules.book)
    version = tree.source.sglang_version
    if launch is None:
        found = read_arguments(arguments or [], table, rules=rules.book, version=version)
    else:
        every = read_launch(launch, table, rules=rules.book, version=version)
        if len(every) != 1:
            raise UsageError(
                f"--launch {launch}: {len(every)} servers are started in it, and the log is of one: give its arguments after --"
            )
        found = every[0]
    return {name: setting.value for name, setting in found.options.items() if setting.is_resolved}


def _costs(parameters: dict[str, Any], gpus: Gpus, rules: Rules) -> Costs:
    """What values do on the SM, from an inventory that is taken when the first is asked for."""
    from sm_gatecheck.model.verdict import EffectKind

    @cache
    def rows() -> dict[tuple[str, str], tuple[Verdict, tuple[Effect, ...]]]:
        report = take_inventory(parameters["tree"], gpus, rules, replace(Context.of(parameters), model_config=None))
        return {
            (option.option.field, repr(judgement.value)): (
                judgement.verdict,
                tuple(effect for effect in judgement.effects if effect.kind is EffectKind.ALLOCATES),
            )
            for option in report.options
            for judgement in option.judgements
        }

    def costs(field: str, value: Any) -> tuple[Verdict | None, tuple[Effect, ...]]:
        return rows().get((field, repr(value)), (None, ()))

    return costs
