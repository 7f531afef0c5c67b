"""What is measured for a release, what it has to be, and how it is written down."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.parsing import Parsed

COLD_SHARE = 0.15
WARM_SECONDS = 2.0
ALL_TO_ONE = 1.3
MEMORY_MIB = 1536
HELP_SECONDS = 0.4

BEGIN = "<!-- benchmarks/cold.py: begin -->"
END = "<!-- benchmarks/cold.py: end -->"


@dataclass(frozen=True)
class Figures:
    """One release. Times in seconds; ``cold`` and ``warm`` are for all SMs, the ``one_`` figures for a single one."""

    release: str
    lines: int
    cold: float
    one_cold: float
    warm: Sequence[float]
    one_warm: Sequence[float]
    peak_mib: float
    is_same_output: bool
    libcst: Parsed | None = None

    @property
    def warm_median(self) -> float:
        return statistics.median(self.warm)

    @property
    def share(self) -> float | None:
        """Cold over libcst; None where libcst was not measured."""
        return None if self.libcst is None else self.cold / self.libcst.seconds

    @property
    def all_to_one(self) -> float:
        return self.cold / self.one_cold

    @property
    def one_warm_median(self) -> float:
        return statistics.median(self.one_warm)


def misses(figures: Figures) -> list[str]:
    """The targets that are not reached, in words."""
    found = []
    if figures.share is not None and figures.share > COLD_SHARE:
        found.append(f"cold takes {figures.share:.1%} of libcst's time, over {COLD_SHARE:.0%}")
    if figures.warm_median > WARM_SECONDS:
        found.append(f"warm takes {figures.warm_median:.2f} s, over {WARM_SECONDS:g} s")
    if figures.all_to_one > ALL_TO_ONE:
        found.append(f"all SMs cost {figures.all_to_one:.2f} times one SM, over {ALL_TO_ONE:g}")
    if figures.peak_mib > MEMORY_MIB:
        found.append(f"{figures.peak_mib:.0f} MiB at the peak, over {MEMORY_MIB}")
    if not figures.is_same_output:
        found.append("cold and warm runs print different reports")
    return [f"{figures.release}: {text}" for text in found]


HEADINGS = (
    "release",
    "lines of `srt/`",
    "libcst, s",
    "cold, s",
    "cold / libcst",
    "warm, s",
    "one SM cold, s",
    "all / one",
    "one SM warm, s",
    "peak, MiB",
)


def table(rows: Sequence[Figures]) -> str:
    """A Markdown table, one row a release; ``~`` marks an extrapolated time."""
    lines = [f"| {' | '.join(HEADINGS)} |", f"| --- |{' ---: |' * (len(HEADINGS) - 1)}"]
    lines.extend(f"| {' | '.join(_cells(row))} |" for row in rows)
    return "\n".join(lines) + "\n"


def _cells(figures: Figures) -> list[str]:
    libcst = figures.libcst
    about = "~" if libcst is not None and libcst.is_extrapolated else ""
    return [
        figures.release,
        f"{figures.lines:,}",
        "–" if libcst is None else f"{about}{libcst.seconds:.1f}",
        f"{figures.cold:.2f}",
        "–" if figures.share is None else f"{about}{figures.share:.1%}",
        f"{figures.warm_median:.2f}",
        f"{figures.one_cold:.2f}",
        f"{figures.all_to_one:.2f}",
        f"{figures.one_warm_median:.2f}",
        f"{figures.peak_mib:.0f}",
    ]


def inserted(page: str, block: str) -> str:
    """``page`` with what stands between the marks replaced by ``block``; marks and block at the end where there are none."""
    marked = f"{BEGIN}\n{block.rstrip()}\n{END}"
    if BEGIN in page and END in page:
        head, _, rest = page.partition(BEGIN)
        return f"{head}{marked}{rest.partition(END)[2]}"
    return f"{page.rstrip()}\n\n{marked}\n".lstrip()
