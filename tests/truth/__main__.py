"""``python -m tests.truth``: one line a figure, the target and whether it is reached; ``-v`` tells where it is missed.

Exit status: 0 every target reached, 1 something behind, 2 something could not be measured.
"""

from __future__ import annotations

import argparse
import sys
import time

from tests.truth import files
from tests.truth.command import CannotMeasure
from tests.truth.score import Score, by_fault, line, rounded_down
from tests.truth.tables import figure_name, tables


def main(arguments: list[str] | None = None) -> int:
    known = tables()
    parser = argparse.ArgumentParser(prog="python -m tests.truth", description="gatecheck against the truth, figure by figure.")
    parser.add_argument("--table", action="append", choices=[table.name for table in known], help="only this table (repeatable)")
    parser.add_argument("--release", action="append", help="only this release (repeatable)")
    parser.add_argument("-v", "--verbose", action="count", default=0, help="disagreements by kind of fault; twice: every place")
    parser.add_argument("--raise-ratchet", action="store_true", help="write figures that are better than recorded to ratchet.toml")
    chosen = parser.parse_args(arguments)
    measured: dict[str, float] = {}
    status = 0
    for table in known:
        if chosen.table and table.name not in chosen.table:
            continue
        for row in table.rows_of(chosen.release or ()):
            started = time.monotonic()
            try:
                scores = table.measure(row)
            except CannotMeasure as failure:
                print(f"{table.name + ' ' + row:<22} could not be measured: {failure}", flush=True)
                status = 2
                continue
            for score in scores:
                print(line(f"{table.name} {row}", score), flush=True)
                measured[figure_name(table.name, row, score)] = rounded_down(score.percent)
                _explain(score, chosen.verbose)
                if not score.is_reached and (score.target is not None or not score.total):
                    status = max(status, 1)
            print(f"  measured in {time.monotonic() - started:.1f} s", file=sys.stderr)
    if chosen.raise_ratchet:
        files.raise_ratchet(measured)
    return status


def _explain(score: Score, verbosity: int) -> None:
    if verbosity:
        for text in by_fault(score, examples=3 if verbosity == 1 else None):
            print(f"    {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
