"""The yardstick: ``libcst.parse_module`` over files, in this one process.

``python -m benchmarks.parsing`` reads paths from stdin, one a line, and prints a JSON object: ``seconds`` spent parsing, ``bytes``,
``files``, and ``failed``, the number of files that libcst does not parse.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import libcst


@dataclass(frozen=True)
class Parsed:
    """``seconds`` for all ``files``: measured, or extrapolated by size where ``measured_files`` is fewer."""

    seconds: float
    files: int
    measured_files: int

    @property
    def is_extrapolated(self) -> bool:
        return self.measured_files < self.files


def measure(paths: Sequence[Path], every: int = 1) -> Parsed:
    """The time that libcst takes for ``paths``, in a process of its own; of each ``every`` files one is parsed."""
    chosen = sample(paths, every)
    command = [sys.executable, "-m", "benchmarks.parsing"]
    text = "".join(f"{path}\n" for path in chosen)
    root = Path(__file__).resolve().parent.parent
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True, cwd=root)
    result = json.loads(done.stdout)
    whole = sum(path.stat().st_size for path in paths)
    return Parsed(result["seconds"] * whole / max(1, result["bytes"]), len(paths), len(chosen))


def sample(paths: Sequence[Path], every: int) -> list[Path]:
    """One of each ``every`` files in order of size, so that large and small ones are there in proportion."""
    by_size = sorted(paths, key=lambda path: (path.stat().st_size, path))
    return by_size[every // 2 :: every]


def main() -> None:
    contents = [Path(name).read_bytes() for name in sys.stdin.read().splitlines()]
    failed = 0
    started = time.perf_counter()
    for content in contents:
        try:
            libcst.parse_module(content)
        except (libcst.ParserSyntaxError, UnicodeDecodeError, RecursionError):
            failed += 1
    seconds = time.perf_counter() - started
    print(json.dumps({"seconds": seconds, "bytes": sum(map(len, contents)), "files": len(contents), "failed": failed}))


if __name__ == "__main__":
    main()
