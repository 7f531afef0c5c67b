"""``gatecheck --sm 120 TREE``: the inventory of what is refused, dead or harmful on a GPU."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from sm_gatecheck.cli.baselines import apply_baseline, save_baseline
from sm_gatecheck.cli.group import CONFIGURATION, LAUNCH_ARGUMENTS
from sm_gatecheck.cli.ignores import ignore_findings
from sm_gatecheck.cli.inventory import Context, take_inventory
from sm_gatecheck.cli.outcome import FAIL_ON, exit_status
from sm_gatecheck.cli.outputs import write_reports
from sm_gatecheck.cli.parameters import Word, context_options, gpu_options, reports_options, run_options, tree_argument
from sm_gatecheck.cli.rendering import REPORT_FORMATS, command_line, render_apart, verbosity_of
from sm_gatecheck.cli.session import Rules, wanted_gpus
from sm_gatecheck.model.errors import UsageError


@click.command("check", short_help="What is refused, dead or harmful on a GPU (the default command).")
@tree_argument
@gpu_options
@context_options
@reports_options(REPORT_FORMATS)
@click.option("--fail-on", type=Word(FAIL_ON), default="never", show_default=True, help="Exit 1 for findings of this kind or worse.")
@click.option("--baseline", type=click.Path(path_type=Path), metavar="FILE", help="Leave out the findings that FILE lists.")
@click.option("--write-baseline", type=click.Path(path_type=Path), metavar="FILE", help="Accept today's findings: list them in FILE.")
@click.option("--launch", "launches", multiple=True, hidden=True)
@run_options
@click.pass_context
def command(ctx: click.Context, /, **parameters: Any) -> int:
    """Say what each server option of TREE does on a GPU: what is refused, what does nothing, what does nothing but cost.

    The GPU is that of this machine unless --sm or --gpu names one. Exits 0; with --fail-on, 1 when there are such
    findings; 2 for wrong usage; 3 when TREE cannot be analysed; 4 with --strict when anything was left out.
    """
    if parameters["launches"] or ctx.meta.get(LAUNCH_ARGUMENTS) is not None:
        raise UsageError("checking one launch (--launch, or arguments after --) is not in this version yet; leave it out for the inventory")
    quiet = parameters["quiet"]
    rules = Rules.open(parameters["rules"])
    gpus = wanted_gpus(parameters["sms"], parameters["gpus"], rules.devices, quiet)
    report = take_inventory(parameters["tree"], gpus, rules, Context.of(parameters))
    ignored = ignore_findings(report, ctx.meta.get(CONFIGURATION), rules, quiet)
    fresh = (*apply_baseline(ignored.kept, parameters["baseline"], report.sms, quiet), *ignored.about)
    report = replace(report, findings=fresh)
    again, verbosity, fail_on = command_line("check", gpus.sms, parameters), verbosity_of(parameters), parameters["fail_on"]
    write_reports(parameters, lambda name, where: render_apart(report, gpus, name, rules, where, verbosity, again, fail_on))
    if parameters["write_baseline"] is not None:
        save_baseline(ignored.kept, parameters["write_baseline"], quiet)
        fresh = ignored.about
    return exit_status(fresh, report.diagnostics, fail_on, parameters["strict"])
