"""The tables of truth: for each, the releases that it speaks of and how one of them is measured."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from tests.truth import (
    cases_score,
    command,
    facts_score,
    files,
    labels_score,
    logs_score,
    options_score,
    predicates_score,
    resolution_score,
    resolved,
)
from tests.truth.score import Score

ALL = "all"


@dataclass(frozen=True)
class Table:
    """``rows`` are what is measured one by one: a release, a release under a CUDA version (``0.5.9-cuda12.4``), or all
    ``releases`` at once, each of which can then be measured alone too."""

    name: str
    rows: tuple[str, ...]
    measure: Callable[[str], tuple[Score, ...]]
    releases: tuple[str, ...] = ()

    def rows_of(self, chosen: Collection[str]) -> tuple[str, ...]:
        """The rows of the chosen releases; all rows where none is chosen."""
        if not chosen:
            return self.rows
        return tuple(row for row in (*self.rows, *self.releases) if row != ALL and release_of(row) in chosen)

    def needs(self, row: str) -> tuple[str, ...]:
        """The releases that must be at hand to measure a row."""
        return self.releases if row == ALL else (release_of(row),)


def tables() -> tuple[Table, ...]:
    """In the order in which they are printed."""
    return (
        Table("predicates", files.predicate_files(), _predicates),
        Table("facts", tuple(sorted(facts_score.releases(files.facts()), key=files.release_key)), _facts),
        Table("labels", (files.LABELLED_RELEASE,), _labels),
        Table("cases", (ALL,), _cases, _case_releases()),
        Table("resolution", files.resolution_releases(), _resolution),
        Table("logs", tuple(sorted({server["version"] for server in files.logs()}, key=files.release_key)), _logs),
        Table("options", tuple(sorted(options_score.releases(), key=files.release_key)), _options),
    )


def release_of(row: str) -> str:
    return row.partition("-")[0]


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


def _cases(row: str) -> tuple[Score, ...]:
    return cases_score.score(command.inventory, [case for case in files.cases() if row in (ALL, case["version"])])


def _case_releases() -> tuple[str, ...]:
    return tuple(sorted({case["version"] for case in files.cases()}, key=files.release_key))


def _resolution(row: str) -> tuple[Score, ...]:
    truth = files.resolution(row)
    inventories = {context: resolved.context_inventory(row, context) for context in truth["runs"]}
    return resolution_score.score(inventories, truth)


def _logs(row: str) -> tuple[Score, ...]:
    servers = [server for server in files.logs() if server["version"] == row]
    return logs_score.score(command.log, servers)


def _options(row: str) -> tuple[Score, ...]:
    return (options_score.score(row, command.options(row)["options"]),)
