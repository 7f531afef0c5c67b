"""The tables of truth: for each, the releases that it speaks of and how one of them is measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.truth import cases_score, command, facts_score, files, labels_score, predicates_score, resolution_score
from tests.truth.score import Score


@dataclass(frozen=True)
class Table:
    """``rows`` are what is measured one by one (a release, or a release under a CUDA version, or ``all`` releases at once)."""

    name: str
    rows: tuple[str, ...]
    measure: Callable[[str], tuple[Score, ...]]


def tables() -> tuple[Table, ...]:
    """In the order in which they are printed."""
    return (
        Table("predicates", files.predicate_files(), _predicates),
        Table("facts", tuple(sorted(facts_score.releases(files.facts()), key=files.release_key)), _facts),
        Table("labels", (files.LABELLED_RELEASE,), _labels),
        Table("cases", ("all",), _cases),
        Table("resolution", files.resolution_releases(), _resolution),
        *_options_table(),
    )


def releases_of(row: str) -> tuple[str, ...]:
    """The releases that must be at hand to measure a row."""
    if row == "all":
        return tuple(sorted({case["version"] for case in files.cases()}, key=files.release_key))
    return (row.partition("-")[0],)


def figure_name(table: str, row: str, score: Score) -> str:
    """The key of a figure in ratchet.toml."""
    return f"{table}/{row}/{score.name}"


def _predicates(row: str) -> tuple[Score, ...]:
    truth = files.predicates(row)
    return predicates_score.score(command.predicates(truth["version"], truth["cuda"]), truth)


def _facts(row: str) -> tuple[Score, ...]:
    return facts_score.score(command.inventory, files.facts(), row)


def _labels(row: str) -> tuple[Score, ...]:
    return labels_score.score(command.inventory(row, {}), files.labels())


def _cases(_: str) -> tuple[Score, ...]:
    return cases_score.score(command.inventory, files.cases())


def _resolution(row: str) -> tuple[Score, ...]:
    truth = files.resolution(row)
    inventories = {context: command.context_inventory(row, context) for context in truth["runs"]}
    return resolution_score.score(inventories, truth)


def _options_table() -> tuple[Table, ...]:
    return ()
