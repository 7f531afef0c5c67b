"""``gatecheck diff OLD NEW``: what an upgrade changes on a GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sm_gatecheck.cli.gate import check_launches, launch_options, wanted_launches
from sm_gatecheck.cli.group import LAUNCH_ARGUMENTS
from sm_gatecheck.cli.inventory import Context, take_inventory
from sm_gatecheck.cli.outcome import exit_status
from sm_gatecheck.cli.output import Destination
from sm_gatecheck.cli.parameters import context_options, gpu_options, output_options, run_options
from sm_gatecheck.cli.rendering import command_line, verbosity_of
from sm_gatecheck.cli.session import Rules, wanted_gpus

if TYPE_CHECKING:
    from sm_gatecheck.model.report import Report


@click.command("diff", short_help="What changed between two trees, for these SMs.")
@click.argument("old")
@click.argument("new")
@gpu_options
@context_options
@output_options(("text", "json", "markdown"))
@launch_options
@run_options
@click.pass_context
def command(ctx: click.Context, /, **parameters: Any) -> int:
    """Say what is different in NEW: verdicts and defaults that changed and what decides them, options new, gone and renamed.

    OLD and NEW are trees of any kind: sglang==0.5.12 sglang==0.5.14, or .@v0.5.12 .@main in a checkout. Exits 0 whatever
    has changed. With --launch FILE, or the arguments of a launch after --, only what that launch sets.
    """
    launches = wanted_launches(parameters, ctx.meta.get(LAUNCH_ARGUMENTS))
    rules = Rules.open(parameters["rules"])
    gpus = wanted_gpus(parameters["sms"], parameters["gpus"], rules.devices, parameters["quiet"])
    context = Context.of(parameters)
    from sm_gatecheck.report import difference
    from sm_gatecheck.verdicts.diff import compare

    def report(tree: str) -> Report:
        if launches is None:
            return take_inventory(tree, gpus, rules, context)
        return check_launches(tree, gpus, rules, context, launches)

    found = compare(report(parameters["old"]), report(parameters["new"]))
    destination = Destination(parameters["output"], parameters["color"])
    if parameters["format_name"] == "json":
        destination.write(difference.json(found))
    elif parameters["format_name"] == "markdown":
        again = command_line("diff", gpus.sms, parameters)
        destination.write(difference.markdown(found, again))
    else:
        destination.write(difference.text(found, rules.devices, destination.width, destination.wants_color, verbosity_of(parameters)))
    return exit_status((), found.diagnostics, "never", parameters["strict"])
