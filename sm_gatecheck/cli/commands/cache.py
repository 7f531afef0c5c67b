"""``gatecheck cache``: what is kept from one run to the next, and how to be rid of it."""

from __future__ import annotations

from typing import Any

import click

from sm_gatecheck.cli.outcome import say
from sm_gatecheck.cli.output import Destination
from sm_gatecheck.cli.parameters import Size, Word, output_options

ACTIONS = ("show", "prune", "clear")
DAY = 24 * 3600.0


@click.command("cache", short_help="What is kept from one run to the next: show, prune, clear.")
@click.argument("action", type=Word(ACTIONS), default="show", required=False)
@click.option("--max-size", type=Size(), help="prune: keep at most this much, the most recently used (for example 1GiB).")
@click.option("--unused", type=click.FloatRange(min=0), metavar="DAYS", help="prune: remove what was not used for DAYS days.")
@click.option("--kind", "kinds", multiple=True, metavar="KIND", help="Of this kind alone: releases, reports. May be repeated.")
@click.option("-n", "--dry-run", is_flag=True, help="prune, clear: say what would go, remove nothing.")
@output_options(("text", "json"))
def command(**parameters: Any) -> int:
    """Show the cache: fetched releases and earlier answers, their size and age. Or make it smaller.

    prune removes what runs that were killed left behind and what --max-size and --unused say; clear removes everything.
    Nothing is lost: what is not there is fetched or worked out again.
    """
    from sm_gatecheck.cache import holdings
    from sm_gatecheck.report import cache_list, json
    from sm_gatecheck.rulebook import Rulebook
    from sm_gatecheck.trees.cache import cache_directory
    from sm_gatecheck.trees.shape import load_shape

    directory = cache_directory()
    every = holdings.holdings(directory, load_shape(Rulebook.open()).distribution)
    held = [holding for holding in every if not parameters["kinds"] or holding.kind in parameters["kinds"]]
    if parameters["action"] == "show":
        unwanted = []
    elif parameters["action"] == "clear":
        unwanted = held
    else:
        days = parameters["unused"]
        unwanted = holdings.chosen(held, max_bytes=parameters["max_size"], unused_seconds=None if days is None else days * DAY)
    gone = unwanted if parameters["dry_run"] else holdings.remove(unwanted)
    left = [holding for holding in held if holding not in gone]
    if parameters["action"] != "show":
        what = "would go" if parameters["dry_run"] else "removed"
        say(f"{what}: {len(gone)} of {len(held)}, {cache_list.size(sum(holding.size for holding in gone))}")
    destination = Destination(parameters["output"], parameters["color"])
    if parameters["format_name"] == "json":
        destination.write(json.render(cache_list.document(directory, left, gone)))
    else:
        destination.write(cache_list.text(directory, left, destination.width, destination.wants_color))
    return 0
