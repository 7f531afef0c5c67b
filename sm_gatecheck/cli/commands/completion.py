"""``gatecheck completion SHELL``: what a shell needs to complete gatecheck's command line."""

from __future__ import annotations

from pathlib import Path

import click
from click.shell_completion import get_completion_class

from sm_gatecheck.cli.output import Destination
from sm_gatecheck.cli.parameters import Word

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_GATECHECK_COMPLETE"


@click.command("completion", short_help="Completions for a shell.")
@click.argument("shell", type=Word(SHELLS))
@click.option("-o", "--output", type=click.Path(path_type=Path, allow_dash=True), metavar="FILE", help="Write to FILE, atomically.")
@click.pass_context
def command(ctx: click.Context, shell: str, output: Path | None) -> int:
    """Print the completions of gatecheck for bash (4.4 or later), zsh or fish, to be read by the shell at its start."""
    program = ctx.find_root().command
    complete = get_completion_class(shell)
    assert complete is not None
    script = complete(program, {}, "gatecheck", VARIABLE)
    Destination(output).write(script.source_template % script.source_vars())
    return 0
