"""``gatecheck schema``: the JSON Schema of the JSON reports."""

from __future__ import annotations

from pathlib import Path

import click

from sm_gatecheck.cli.output import Destination


@click.command("schema", short_help="The JSON Schema of the reports.")
@click.option("-o", "--output", type=click.Path(path_type=Path, allow_dash=True), metavar="FILE", help="Write to FILE, atomically.")
def command(output: Path | None) -> int:
    """Print the JSON Schema (2020-12) that every JSON report of this gatecheck conforms to."""
    from sm_gatecheck.report import schema

    Destination(output).write(schema.text())
    return 0
