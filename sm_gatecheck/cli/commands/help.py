"""``gatecheck help [COMMAND]``: what ``--help`` says, for those who ask in words."""

from __future__ import annotations

import click

from sm_gatecheck.cli.refusal import unknown


@click.command("help", short_help="What a command does and takes; without one, all of them.")
@click.argument("name", required=False, metavar="[COMMAND]")
@click.pass_context
def command(ctx: click.Context, /, name: str | None) -> int:
    """Say what COMMAND does and which options it takes, as 'gatecheck COMMAND --help' does."""
    group = ctx.parent
    assert group is not None
    assert isinstance(group.command, click.Group)
    if name is None:
        click.echo(group.get_help())
        return 0
    asked = group.command.get_command(group, name)
    if asked is None:
        names = group.command.list_commands(group)
        raise unknown("command", name, names, "the commands are " + ", ".join(names))
    click.echo(asked.get_help(click.Context(asked, info_name=name, parent=group)))
    return 0
