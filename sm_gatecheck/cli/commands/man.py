"""``gatecheck man``: the manual page, made from the commands themselves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sm_gatecheck.cli.group import DEFAULT_COMMAND, CommandGroup
from sm_gatecheck.cli.output import Destination

if TYPE_CHECKING:
    from sm_gatecheck.report import manual


@click.command("man", short_help="The manual page.")
@click.option("-o", "--output", type=click.Path(path_type=Path, allow_dash=True), metavar="FILE", help="Write to FILE, atomically.")
@click.pass_context
def command(ctx: click.Context, output: Path | None) -> int:
    """Print the manual page of gatecheck and all its commands, for man(1)."""
    from sm_gatecheck.report import manual

    root = ctx.find_root()
    program = root.command
    assert isinstance(program, CommandGroup)
    commands = {name: found for name in program.list_commands(root) if (found := program.get_command(root, name)) is not None}
    pages = [_page(name, found, root) for name, found in commands.items()]
    Destination(output).write(manual.render(_page("", program, root), pages, DEFAULT_COMMAND))
    return 0


def _page(name: str, found: click.Command, root: click.Context) -> manual.Page:
    from sm_gatecheck.report import manual

    context = click.Context(found, info_name=name, parent=root if name else None)
    arguments = [parameter.make_metavar(context) for parameter in found.params if isinstance(parameter, click.Argument)]
    records = [parameter.get_help_record(context) for parameter in found.get_params(context) if isinstance(parameter, click.Option)]
    options = [record for record in records if record is not None]
    return manual.Page(name, found.help or "", tuple(arguments), tuple(options))
