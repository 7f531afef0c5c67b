"""``gatecheck matrix TREE``: every option on every SM, fit to be committed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sm_gatecheck.cli.drifting import read_committed, say_drift
from sm_gatecheck.cli.inventory import Context, take_inventory
from sm_gatecheck.cli.outcome import exit_status
from sm_gatecheck.cli.output import Destination
from sm_gatecheck.cli.outputs import write_reports
from sm_gatecheck.cli.parameters import context_options, gpu_options, reports_options, run_options, tree_argument
from sm_gatecheck.cli.rendering import command_line, render_report, verbosity_of
from sm_gatecheck.cli.session import Gpus, Rules, wanted_gpus

MAIN_SMS = (80, 89, 90, 100, 103, 120, 121)


@click.command("matrix", short_help="Options x SMs, as Markdown, a web page or JSON.")
@tree_argument
@gpu_options
@context_options
@reports_options(("markdown", "json", "html"))
@click.option("--check", "committed", type=click.Path(path_type=Path), metavar="FILE", help="Write nothing; exit 1 where FILE has drifted.")
@run_options
def command(**parameters: Any) -> int:
    """Say for every server option of TREE on which GPUs it works, with the lines that decide.

    Without --sm: 80, 89, 90, 100, 103, 120 and 121. The Markdown is the same bytes every time, so that it can be committed
    and compared: --check FILE says what is different today, and exits 1 if something is. It takes the SMs of FILE.
    """
    rules = Rules.open(parameters["rules"])
    committed = None if parameters["committed"] is None else read_committed(parameters["committed"])
    if committed is not None and not parameters["sms"] and not parameters["gpus"]:
        gpus = wanted_gpus([sm.removeprefix("SM") for sm in committed.columns], (), rules.devices)
    elif parameters["sms"] or parameters["gpus"]:
        gpus = wanted_gpus(parameters["sms"], parameters["gpus"], rules.devices, parameters["quiet"])
    else:
        gpus = Gpus(tuple(sm for sm in rules.devices.sms if sm in MAIN_SMS), None)
    report = take_inventory(parameters["tree"], gpus, rules, Context.of(parameters))
    if committed is not None:
        fresh = render_report(report, "markdown", rules, Destination(), 0, command_line("matrix", gpus.sms, parameters))
        return say_drift(parameters["committed"], committed, fresh, parameters["quiet"])
    again, verbosity = command_line("matrix", gpus.sms, parameters), verbosity_of(parameters)
    write_reports(parameters, lambda name, where: render_report(report, name, rules, where, verbosity, again))
    return exit_status((), report.diagnostics, "never", parameters["strict"])
