"""``gatecheck --sm 120 TREE``: the inventory of what is refused, dead or harmful on a GPU."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from sm_gatecheck.cli.baselines import apply_baseline, save_baseline
from sm_gatecheck.cli.gate import STDIN, check_launches, launch_options, wanted_launches
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
@click.option(
    "--fail-on", type=Word(FAIL_ON), help="Exit 1 for findings of this kind or worse (default: harmful for a launch, else never)."
)
@click.option("--baseline", type=click.Path(path_type=Path), metavar="FILE", help="Leave out the findings that FILE lists.")
@click.option("--write-baseline", type=click.Path(path_type=Path), metavar="FILE", help="Accept today's findings: list them in FILE.")
@launch_options
@click.option("--maintainer", is_flag=True, help="Look at the code of TREE instead: tests, defaults and messages that do not fit together.")
@click.option("--resolved", is_flag=True, help="Show what the server will really run with: what resolution changes for the launch.")
@run_options
@click.pass_context
def command(ctx: click.Context, /, **parameters: Any) -> int:
    """Say what each server option of TREE does on a GPU: what is refused, what does nothing, what does nothing but cost.

    With --launch FILE, or the arguments of a launch after --, only what that launch really sets, on the file's own lines.

    With --maintainer, what SGLang's own maintainers would mend in TREE, on every GPU unless some are named.

    The GPU is that of this machine unless --sm or --gpu names one. Exits 0; with --fail-on, 1 when there are such
    findings; 2 for wrong usage; 3 when TREE cannot be analysed; 4 with --strict when anything was left out.
    """
    quiet = parameters["quiet"]
    launches = wanted_launches(parameters, ctx.meta.get(LAUNCH_ARGUMENTS))
    if parameters["resolved"] and launches is None:
        raise UsageError("--resolved is about a launch: name one with --launch FILE, or write its arguments after --")
    maintainer = parameters["maintainer"]
    if maintainer and launches is not None:
        raise UsageError("--maintainer is about the code of a tree and not about a launch: leave one of them out")
    rules = Rules.open(parameters["rules"])
    sms = parameters["sms"] or (("all",) if maintainer and not parameters["gpus"] else ())
    gpus = wanted_gpus(sms, parameters["gpus"], rules.devices, quiet)
    context = Context.of(parameters)
    if launches is None:
        report = take_inventory(parameters["tree"], gpus, rules, context, maintainer)
    else:
        report = check_launches(parameters["tree"], gpus, rules, context, launches)
    files = [] if launches is None else [Path(name) for name in launches.files if name != STDIN]
    ignored = ignore_findings(report, ctx.meta.get(CONFIGURATION), rules, quiet, files, complete=launches is None)
    fresh = (*apply_baseline(ignored.kept, parameters["baseline"], report.sms, quiet), *ignored.about)
    report = replace(report, findings=fresh)
    again, verbosity, resolved = command_line("check", gpus.sms, parameters), verbosity_of(parameters), parameters["resolved"]
    fail_on = parameters["fail_on"] or ("never" if launches is None else "harmful")
    write_reports(parameters, lambda name, where: render_apart(report, gpus, name, rules, where, verbosity, again, fail_on, resolved))
    if parameters["write_baseline"] is not None:
        save_baseline(ignored.kept, parameters["write_baseline"], quiet)
        fresh = ignored.about
    return exit_status(fresh, report.diagnostics, fail_on, parameters["strict"])
