"""A table in GitHub's Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sm_gatecheck.report.clean import markdown_cell


def table(head: Sequence[str], rows: Iterable[Sequence[str]], left: int) -> list[str]:
    """The lines of a table whose first ``left`` columns are set left and the others centred, and an empty line after it."""
    rule = [":--" if index < left else ":-:" for index in range(len(head))]
    return [*(f"| {' | '.join(markdown_cell(cell) for cell in cells)} |" for cells in (head, rule, *rows)), ""]
