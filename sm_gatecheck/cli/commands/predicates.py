"""``gatecheck predicates TREE``: what the tree asks of a GPU, and the answer on each SM."""

from __future__ import annotations

from typing import Any

import click

from sm_gatecheck.cli.outcome import exit_status
from sm_gatecheck.cli.output import Destination
from sm_gatecheck.cli.parameters import cuda_option, gpu_options, output_options, run_options, tree_argument
from sm_gatecheck.cli.rendering import listing_command_line
from sm_gatecheck.cli.session import Rules, wanted_gpus


@click.command("predicates", short_help="Every device predicate and its value on each SM.")
@tree_argument
@gpu_options
@cuda_option
@output_options(("text", "json", "markdown"))
@run_options
def command(**parameters: Any) -> int:
    """List every function, constant, property and method of TREE whose value the SM decides, with its value on each SM.

    All known SMs unless --sm or --gpu names some.
    """
    from sm_gatecheck.trees import open_tree
    from sm_gatecheck.verdicts.predicates import predicates
    from sm_gatecheck.verdicts.request import Request

    rules = Rules.open(parameters["rules"])
    named = parameters["sms"] or (() if parameters["gpus"] else ("all",))
    sms = wanted_gpus(named, parameters["gpus"], rules.devices).sms
    tree = open_tree(parameters["tree"], rules=rules.book)
    request = Request(
        sms=sms,
        cuda=parameters["cuda"],
        rules_dir=rules.directory,
        use_cache=not parameters["no_cache"],
        processes=parameters["processes"],
    )
    rows = predicates(tree, request)
    destination = Destination(parameters["output"], parameters["color"])
    if parameters["format_name"] == "json":
        from sm_gatecheck.report import json

        destination.write(json.render(json.predicates_document(tree.source, request.cuda, rows, tree.diagnostics)))
    elif parameters["format_name"] == "markdown":
        from sm_gatecheck.report import predicate_list

        destination.write(predicate_list.markdown(tree.source, request.cuda, rows, listing_command_line("predicates", parameters)))
    else:
        from sm_gatecheck.report import predicate_list

        destination.write(predicate_list.text(tree.source, request.cuda, rows, destination.width, destination.wants_color))
    return exit_status((), tree.diagnostics, "never", parameters["strict"])
