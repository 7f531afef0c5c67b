"""``python -m benchmarks.cold``: a cold inventory of real releases against the time that libcst takes to parse them.

For each release, in one go: libcst over every file of ``srt/`` in one process; ``gatecheck check --sm all`` with an empty cache, then
with a full one; the same for one SM. Ratios, peak memory over all processes, and the time of ``--help``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import figures, parsing, process, releases
from benchmarks.figures import Figures

DEFAULT_RELEASES = ("0.5.10",)
ONE_SM = "120"
GATECHECK = (sys.executable, "-m", "sm_gatecheck")


def main(arguments: Sequence[str] | None = None) -> int:
    chosen = _parser().parse_args(arguments)
    help_seconds = measure_help(chosen.repeat)
    print(f"gatecheck --help: {help_seconds:.2f} s (target {figures.HELP_SECONDS:g} s)", flush=True)
    rows: list[Figures] = []
    for release in chosen.release or DEFAULT_RELEASES:
        try:
            package = releases.package(release, chosen.releases_dir)
            row = measure_release(release, package, None if chosen.skip_libcst else chosen.libcst_every, chosen.repeat, chosen.arguments)
        except (releases.CannotFetch, process.CommandFailed) as failure:
            print(f"{release}: not measured: {failure}", file=sys.stderr)
            return 2
        rows.append(row)
        print(figures.table([row]), flush=True)
    missed = [text for row in rows for text in figures.misses(row)]
    if help_seconds > figures.HELP_SECONDS:
        missed.append(f"--help takes {help_seconds:.2f} s, over {figures.HELP_SECONDS:g} s")
    for text in missed:
        print(f"behind: {text}")
    if chosen.markdown:
        block = f"{machine()} `--help`: {help_seconds:.2f} s.\n\n{figures.table(rows)}"
        page = chosen.markdown.read_text("utf-8") if chosen.markdown.exists() else ""
        chosen.markdown.write_text(figures.inserted(page, block), "utf-8")
    return 1 if missed and chosen.check else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cold", description=(__doc__ or "").partition("\n\n")[2])
    parser.add_argument("--release", action="append", metavar="VERSION", help=f"repeatable; {', '.join(DEFAULT_RELEASES)} when left out")
    parser.add_argument("--releases-dir", type=Path, default=releases.default_directory(), help="where releases are kept, VERSION/sglang")
    parser.add_argument("--skip-libcst", action="store_true", help="do not measure libcst (a minute and more)")
    parser.add_argument("--libcst-every", type=int, default=1, metavar="N", help="parse one of each N files and extrapolate by size")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="warm runs and --help: the median of N (default 3)")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="put the table into FILE, between its marks")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a target is missed")
    parser.add_argument("arguments", nargs="*", metavar="-- ARGUMENT", help="handed to every gatecheck check")
    return parser


def measure_help(repeat: int) -> float:
    return statistics.median(process.run([*GATECHECK, "--help"]).seconds for _ in range(repeat))


def measure_release(release: str, package: Path, libcst_every: int | None, repeat: int, extra: Sequence[str] = ()) -> Figures:
    """Everything about one release; files are read once beforehand, so that no run pays for the disk."""
    paths = releases.sources(package)
    lines = sum(path.read_bytes().count(b"\n") for path in paths)
    parsed = None if libcst_every is None else parsing.measure(paths, libcst_every)
    with tempfile.TemporaryDirectory() as scratch:
        everything = [_check(package, "all", Path(scratch) / "all", extra) for _ in range(1 + repeat)]
        one = [_check(package, ONE_SM, Path(scratch) / "one", extra) for _ in range(1 + repeat)]
    documents = [report(item.output) for item in (*everything, *one)]
    return Figures(
        release=release,
        lines=lines,
        cold=everything[0].seconds,
        one_cold=one[0].seconds,
        warm=[item.seconds for item in everything[1:]],
        one_warm=[item.seconds for item in one[1:]],
        peak_mib=max(item.peak_mib for item in everything),
        is_same_output=is_same(documents[: 1 + repeat]) and is_same(documents[1 + repeat :]),
        libcst=parsed,
    )


def _check(package: Path, sms: str, cache: Path, extra: Sequence[str]) -> process.Measured:
    command = [*GATECHECK, "check", "--sm", sms, str(package), "--format", "json", *extra]
    return process.run(command, {"GATECHECK_CACHE": str(cache)})


def report(output: bytes) -> Any:
    """The JSON without what may differ from run to run."""
    document = json.loads(output)
    document.pop("stats", None)
    return document


def is_same(documents: Sequence[Any]) -> bool:
    return all(document == documents[0] for document in documents)


def machine() -> str:
    """The machine in a sentence: processor, cores that this process may use, Python."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{_processor()}, {cores} cores, Python {platform.python_version()}."


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


if __name__ == "__main__":
    sys.exit(main())
