"""``gatecheck rule [GC101]``: the card of a check."""

from __future__ import annotations

from typing import Any

import click

from sm_gatecheck.cli.output import Destination
from sm_gatecheck.cli.parameters import output_options, rules_option
from sm_gatecheck.cli.refusal import unknown
from sm_gatecheck.rulebook import Rulebook


@click.command("rule", short_help="What a finding means, why it matters, what to do.")
@click.argument("ids", nargs=-1, metavar="[GC…]")
@output_options(("text", "json", "markdown"))
@rules_option
def command(**parameters: Any) -> int:
    """Show the cards of checks: what a finding means, why it matters, what to do, an example. All without an argument."""
    from sm_gatecheck.checks.cards import load_cards
    from sm_gatecheck.report import json, rule_cards

    rules = parameters["rules"]
    cards = load_cards(Rulebook.open() if rules is None else Rulebook.open(rules))
    wanted = [name.upper() for name in parameters["ids"]] or list(cards)
    for name in wanted:
        if name not in cards:
            raise unknown("rule", name, cards, "there are " + ", ".join(cards))
    chosen = [cards[name] for name in wanted]
    destination = Destination(parameters["output"], parameters["color"])
    if parameters["format_name"] == "json":
        destination.write(json.render(rule_cards.document(chosen)))
    elif parameters["format_name"] == "markdown":
        destination.write(rule_cards.markdown(chosen))
    else:
        destination.write(rule_cards.text(chosen, destination.width, destination.wants_color))
    return 0
