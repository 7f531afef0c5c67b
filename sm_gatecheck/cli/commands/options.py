"""``gatecheck options TREE``: what the tree's own argument parser accepts."""

from __future__ import annotations

from typing import Any

import click

from sm_gatecheck.cli.outcome import exit_status
from sm_gatecheck.cli.output import Destination
from sm_gatecheck.cli.parameters import output_options, rules_option, strict_option, tree_argument
from sm_gatecheck.cli.rendering import listing_command_line
from sm_gatecheck.cli.session import Rules, tree_options
from sm_gatecheck.model.report import Diagnostic


@click.command("options", short_help="The options a tree declares.")
@tree_argument
@output_options(("text", "json", "markdown"))
@rules_option
@strict_option
def command(**parameters: Any) -> int:
    """List every option that TREE declares: flags, aliases, deprecated flags, type, default, choices, and where."""
    from sm_gatecheck.trees import open_tree

    rules = Rules.open(parameters["rules"])
    tree = open_tree(parameters["tree"], rules=rules.book)
    options = tree_options(tree, rules.book)
    gaps = (Diagnostic(gap.file, gap.line, f"{gap.field}: its {gap.what} could not be read: {gap.reason}") for gap in options.gaps)
    diagnostics = (*tree.diagnostics, *gaps)
    destination = Destination(parameters["output"], parameters["color"])
    if parameters["format_name"] == "json":
        from sm_gatecheck.report import json

        destination.write(json.render(json.options_document(tree.source, options, diagnostics)))
    elif parameters["format_name"] == "markdown":
        from sm_gatecheck.report import option_list

        destination.write(option_list.markdown(tree.source, options, listing_command_line("options", parameters)))
    else:
        from sm_gatecheck.report import option_list

        destination.write(option_list.text(tree.source, options, destination.width, destination.wants_color))
    return exit_status((), diagnostics, "never", parameters["strict"])
