"""Real releases: no figure may fall below what ratchet.toml records; the targets stand in tables.py."""

from __future__ import annotations

import os
from functools import cache

import pytest

from sm_gatecheck.trees import TreeError, open_tree
from tests.truth import files
from tests.truth.command import tree_argument
from tests.truth.score import Score, by_fault, line, rounded_down
from tests.truth.tables import Table, figure_name, tables

pytestmark = pytest.mark.release

TABLES = {table.name: table for table in tables()}


def rows(*names: str) -> list[tuple[str, str]]:
    """The rows of some tables for which a figure is recorded: of the others nothing is held."""
    held = {figure.rpartition("/")[0] for figure in files.ratchet()}
    return [(name, row) for name in names for row in TABLES[name].rows if f"{name}/{row}" in held]


RATCHETED = ["predicates", "facts", "labels", "logs", "resolution"]
"""Of the facts, those of the releases that facts.toml requires. The options table is demanded by test_options.py. Cases
take dozens of analyses: `just truth` measures them, and they join this list when an analysis is fast enough for CI.
"""


@pytest.mark.parametrize(("table", "row"), rows(*RATCHETED))
def test_no_figure_falls(table: str, row: str) -> None:
    recorded = files.ratchet()
    for score in measured(TABLES[table], row):
        floor = recorded.get(figure_name(table, row, score), 0.0)
        assert rounded_down(score.percent) >= floor, f"was {floor} %\n{explained(table, row, score)}"


def test_the_ratchet_names_figures_that_exist() -> None:
    known = {f"{table.name}/{row}" for table in TABLES.values() for row in table.rows}
    assert {name.rpartition("/")[0] for name in files.ratchet()} <= known


def measured(table: Table, row: str) -> tuple[Score, ...]:
    for release in table.needs(row):
        reason = unavailable(release)
        if reason is None:
            continue
        if os.environ.get("CI") == "true":
            pytest.fail(f"sglang {release} could not be had: {reason}")
        pytest.skip(f"sglang {release} could not be had: {reason}")
    return table.measure(row)


@cache
def unavailable(release: str) -> str | None:
    """Why a release cannot be read; None where it can."""
    try:
        open_tree(tree_argument(release))
    except TreeError as error:
        return str(error)
    return None


def explained(table: str, row: str, score: Score) -> str:
    return "\n".join((line(f"{table} {row}", score), *by_fault(score)))
