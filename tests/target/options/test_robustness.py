"""Trees that declare nothing, or something that must not be run."""

from __future__ import annotations

import pytest

from sm_gatecheck.rulebook import Rulebook
from sm_gatecheck.target.options import read_options
from tests.target.options.trees import by_hand, program, table


@pytest.mark.parametrize(
    "source",
    ["", "class Other:\n    x: int = 1\n", "def broken(:\n", "ServerArgs = 3\n", "from sglang.srt.server_args import ServerArgs\n"],
)
def test_what_declares_nothing_gives_an_empty_table(source: str) -> None:
    assert len(table(source)) == 0


def test_a_tree_without_the_file_gives_an_empty_table() -> None:
    assert read_options(program({"srt/other.py": "x = 1"}), Rulebook.open()).declaration == "none"


def test_a_class_that_registers_nothing_still_has_fields() -> None:
    assert [option.field for option in table("class ServerArgs:\n    speed: int = 1\n")] == ["speed"]


@pytest.mark.parametrize(
    "hostile",
    [
        "while True:\n    pass",
        "[x for x in range(10 ** 12)]",
        "'x' * 10 ** 12",
        "10 ** 10 ** 10",
        "f'{1:>999999999}'",
        "1 << 10 ** 9",
        "again()",
        "grown = ['x']\nwhile True:\n    grown += grown",
        "(" * 150 + "1" + ")" * 150,
        "+".join(["1"] * 900),
        "raise SystemExit",
    ],
)
def test_a_statement_that_would_not_end_costs_itself_alone(hostile: str) -> None:
    options = by_hand(hostile, 'parser.add_argument("--after", type=int)', head="def again():\n    return again()")
    assert "after" in options.by_field


def test_nothing_is_imported_or_called_for_real() -> None:
    options = by_hand(
        'parser.add_argument("--speed", default=os.path.getsize("/etc/passwd"))',
        'parser.add_argument("--pace", default=().__class__.__bases__)',
        head="import os",
    )
    assert [(gap.field, gap.what) for gap in options.gaps] == [("pace", "default"), ("speed", "default")]


def test_a_list_that_is_changed_in_a_way_that_cannot_be_followed_is_not_given() -> None:
    options = by_hand('parser.add_argument("--speed", choices=NAMES)', head='import plugins\nNAMES = ["a"]\nNAMES.extend(plugins.names())')
    assert options.by_field["speed"].choices is None


def test_classes_that_inherit_from_each_other_do_no_harm() -> None:
    assert len(table("class ServerArgs(ServerArgs):\n    speed: int = 1\n")) == 1
