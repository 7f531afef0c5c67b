"""``gatecheck explain TREE OPTION[=VALUE]``: the whole proof for one option, or everything that writes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sm_gatecheck.cli.inventory import Context, request_for
from sm_gatecheck.cli.named_option import named_option
from sm_gatecheck.cli.outcome import exit_status
from sm_gatecheck.cli.output import Destination
from sm_gatecheck.cli.parameters import context_options, gpu_options, output_options, run_options
from sm_gatecheck.cli.rendering import verbosity_of
from sm_gatecheck.cli.session import Rules, read_variables, tree_options, wanted_gpus
from sm_gatecheck.model.errors import UsageError


@click.command(
    "explain",
    short_help="The whole proof for one option; or what sets it.",
    context_settings={"ignore_unknown_options": True},  # OPTION may be a flag of SGLang
)
@click.argument("words", nargs=-1, metavar="[TREE] OPTION[=VALUE]")
@gpu_options
@context_options
@output_options(("text", "json"))
@click.option("--what-sets", is_flag=True, help="List every condition that writes OPTION, and which are met.")
@run_options
def command(**parameters: Any) -> int:
    """Walk through the proof for OPTION: where it is read, on which SMs that counts, what it does, what was not followed.

    OPTION is a field (tp_size), a flag (--tp-size) or a variable (env:NAME). With --what-sets: every place that writes OPTION
    while the arguments are resolved, under which condition, and whether that is met by the defaults and what --set assumes.
    """
    tree_name, written = _words(parameters["words"])
    from sm_gatecheck.trees import open_tree

    rules = Rules.open(parameters["rules"])
    gpus = wanted_gpus(parameters["sms"], parameters["gpus"], rules.devices, parameters["quiet"])
    context = Context.of(parameters)
    tree = open_tree(tree_name, rules=rules.book)
    request = request_for(tree, gpus, rules, context)
    option, values = named_option(written, tree_options(tree, rules.book), read_variables(tree, rules, written))
    destination = Destination(parameters["output"], parameters["color"])
    if parameters["what_sets"]:
        from sm_gatecheck.report import writes
        from sm_gatecheck.verdicts.what_sets import what_sets

        if values is not None:
            raise UsageError(f"--what-sets {written}: name the option without a value")
        found = what_sets(tree, request, option)
        if parameters["format_name"] == "json":
            destination.write(writes.json(found))
        else:
            destination.write(writes.text(found, rules.devices, destination.width, destination.wants_color, verbosity_of(parameters)))
        return exit_status((), found.diagnostics, "never", parameters["strict"])
    from sm_gatecheck.report import explanation
    from sm_gatecheck.verdicts.explaining import explain

    result = explain(tree, request, option, values)
    if parameters["format_name"] == "json":
        destination.write(explanation.json(result))
    else:
        destination.write(explanation.text(result, rules.devices, destination.width, destination.wants_color, verbosity_of(parameters)))
    return exit_status((), result.diagnostics, "never", parameters["strict"])


def _words(words: tuple[str, ...]) -> tuple[str | None, str]:
    """TREE, None where it is left out, and OPTION; a flag is never TREE."""
    if len(words) == 2:
        return (words[1], words[0]) if words[0].startswith("-") and not words[1].startswith("-") else (words[0], words[1])
    if len(words) == 1 and not Path(words[0]).is_dir():
        return None, words[0]
    problem = f"{words[2]!r} is one word too many" if len(words) > 2 else "name an option"
    raise UsageError(f"{problem}: gatecheck explain --sm 120 TREE OPTION[=VALUE]")
