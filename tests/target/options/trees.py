"""Trees of a few lines, written out in the test that is about them."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import dedent

from sm_gatecheck.model.option import Option
from sm_gatecheck.program.modules import Program
from sm_gatecheck.rulebook import Rulebook
from sm_gatecheck.target.options import OptionTable, read_environment, read_options

DECLARATIONS = "srt/server_args.py"


def program(files: Mapping[str, str]) -> Program:
    return Program({path: dedent(text).encode() for path, text in files.items()})


def table(source: str, **others: str) -> OptionTable:
    """The options of a tree whose declaring file is ``source``; ``others`` are modules beside it (``colours`` is srt/colours.py)."""
    files = {DECLARATIONS: source, **{f"srt/{name}.py": text for name, text in others.items()}}
    return read_options(program(files), Rulebook.open())


def by_hand(*statements: str, head: str = "", fields: str = "speed: int = 3", **others: str) -> OptionTable:
    """The table of a dataclass whose ``add_cli_args`` runs ``statements``; ``head`` stands above the class."""
    body = "\n".join(f"        {line}" for statement in statements for line in dedent(statement).strip().splitlines())
    declared = "\n".join(f"    {line}" for line in dedent(fields).strip().splitlines())
    source = (
        f"import argparse\n{dedent(head)}\n\nclass ServerArgs:\n{declared}\n\n    @staticmethod\n    def add_cli_args(parser):\n{body}\n"
    )
    return table(source, **others)


def variables(**files: str) -> dict[str, Option]:
    """The environment variables of a tree by name; ``files`` are modules under srt/."""
    found = read_environment(program({f"srt/{name}.py": text for name, text in files.items()}), Rulebook.open())
    return {option.field.removeprefix("env:"): option for option in found}
