"""``gatecheck diff OLD NEW``: what an upgrade changes on a GPU."""

from __future__ import annotations

from typing import Any

import click

from sm_gatecheck.cli.inventory import Context, take_inventory
from sm_gatecheck.cli.outcome import exit_status
from sm_gatecheck.cli.output import Destination
from sm_gatecheck.cli.parameters import context_options, gpu_options, output_options, run_options
from sm_gatecheck.cli.rendering import command_line, verbosity_of
from sm_gatecheck.cli.session import Rules, wanted_gpus


@click.command("diff", short_help="What changed between two trees, for these SMs.")
@click.argument("old")
@click.argument("new")
@gpu_options
@context_options
@output_options(("text", "json", "markdown"))
@run_options
def command(**parameters: Any) -> int:
    """Say what is different in NEW: verdicts and defaults that changed and what decides them, options new, gone and renamed.

    OLD and NEW are trees of any kind: sglang==0.5.12 sglang==0.5.14, or .@v0.5.12 .@main in a checkout. Exits 0 whatever
    has changed.
    """
    rules = Rules.open(parameters["rules"])
    gpus = wanted_gpus(parameters["sms"], parameters["gpus"], rules.devices, parameters["quiet"])
    context = Context.of(parameters)
    from sm_gatecheck.report import difference
    from sm_gatecheck.verdicts.diff import compare

    found = compare(take_inventory(parameters["old"], gpus, rules, context), take_inventory(parameters["new"], gpus, rules, context))
    destination = Destination(parameters["output"], parameters["color"])
    if parameters["format_name"] == "json":
        destination.write(difference.json(found))
    elif parameters["format_name"] == "markdown":
        again = command_line("diff", gpus.sms, parameters)
        destination.write(difference.markdown(found, again))
    else:
        destination.write(difference.text(found, rules.devices, destination.width, destination.wants_color, verbosity_of(parameters)))
    return exit_status((), found.diagnostics, "never", parameters["strict"])
