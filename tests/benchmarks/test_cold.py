from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import cold, figures, parsing, process, releases
from benchmarks.figures import Figures

FIGURES = Figures("1.0", 1000, cold=1.0, one_cold=0.9, warm=[0.3, 0.1, 0.2], one_warm=[0.1], peak_mib=100.0, is_same_output=True)


def test_a_run_is_timed_and_its_children_are_weighed() -> None:
    child = "import time; block = bytearray(b'x') * (80 << 20); time.sleep(0.8)"
    program = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}], check=True); print('done')"
    measured = process.run([sys.executable, "-c", program])
    assert measured.output == b"done\n"
    assert 0.8 <= measured.seconds < 30
    assert 80 < measured.peak_mib < 400


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")
def test_what_the_measuring_process_holds_is_not_counted() -> None:
    ballast = bytearray(b"x") * (500 << 20)
    assert process.run([sys.executable, "-c", "import time; time.sleep(0.8)"]).peak_mib < 200
    assert len(ballast) == 500 << 20


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="needs Linux's /proc")
def test_memory_is_summed_over_processes() -> None:
    child = "import time; block = bytearray(b'x') * (60 << 20); time.sleep(1.5)"
    program = f"""
import subprocess, sys
children = [subprocess.Popen([sys.executable, '-c', {child!r}]) for _ in range(2)]
sys.exit(max(child.wait() for child in children))
"""
    assert process.run([sys.executable, "-c", program]).peak_mib > 120


def test_a_command_that_fails_is_no_measurement() -> None:
    with pytest.raises(process.CommandFailed, match="status 3: no such tree"):
        process.run([sys.executable, "-c", "import sys; print('no such tree', file=sys.stderr); sys.exit(3)"])


def test_the_environment_is_handed_on() -> None:
    program = "import os; print(os.environ['GATECHECK_CACHE'])"
    assert process.run([sys.executable, "-c", program], {"GATECHECK_CACHE": "here"}).output == b"here\n"


def test_family_is_this_process_and_its_children() -> None:
    if not Path("/proc/self/stat").exists():
        pytest.skip("needs /proc")
    assert os.getpid() in process.family(os.getpid())
    assert os.getppid() not in process.family(os.getpid())


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for index in range(10):
        path = tmp_path / "sglang" / "srt" / f"m{index}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n" * (index + 1))
    (tmp_path / "sglang" / "srt" / "notes.txt").write_text("no code")
    return tmp_path / "sglang"


def test_libcst_is_measured_over_python_files(package: Path) -> None:
    paths = releases.sources(package)
    assert len(paths) == 10
    whole = parsing.measure(paths)
    assert whole.seconds > 0
    assert (whole.files, whole.measured_files, whole.is_extrapolated) == (10, 10, False)
    part = parsing.measure(paths, every=5)
    assert (part.files, part.measured_files, part.is_extrapolated) == (10, 2, True)


def test_a_file_that_libcst_refuses_does_not_end_the_run(package: Path) -> None:
    (package / "srt" / "broken.py").write_bytes(b"def (\n")
    assert parsing.measure(releases.sources(package)).measured_files == 11


def test_a_release_at_hand_is_not_fetched(tmp_path: Path) -> None:
    (tmp_path / "9.9.9" / "sglang").mkdir(parents=True)
    assert releases.package("9.9.9", tmp_path) == tmp_path / "9.9.9" / "sglang"


def test_targets() -> None:
    assert figures.misses(FIGURES) == []
    slow = replace(FIGURES, libcst=parsing.Parsed(5.0, 10, 10), warm=[2.1, 2.2, 1.0], one_cold=0.5, peak_mib=2000.0, is_same_output=False)
    assert figures.misses(slow) == [
        "1.0: cold takes 20.0% of libcst's time, over 15%",
        "1.0: warm takes 2.10 s, over 2 s",
        "1.0: all SMs cost 2.00 times one SM, over 1.3",
        "1.0: 2000 MiB at the peak, over 1536",
        "1.0: cold and warm runs print different reports",
    ]


def test_the_table_marks_what_is_extrapolated() -> None:
    assert "| 1.0 | 1,000 | – | 1.00 | – | 0.20 | 0.90 | 1.11 | 0.10 | 100 |" in figures.table([FIGURES])
    assert "| ~8.0 | 1.00 | ~12.5% |" in figures.table([replace(FIGURES, libcst=parsing.Parsed(8.0, 10, 2))])
    assert "| 8.0 | 1.00 | 12.5% |" in figures.table([replace(FIGURES, libcst=parsing.Parsed(8.0, 10, 10))])


def test_the_table_replaces_the_one_before() -> None:
    page = figures.inserted("# Performance\n\nText.\n", "old")
    assert page == f"# Performance\n\nText.\n\n{figures.BEGIN}\nold\n{figures.END}\n"
    assert figures.inserted(f"{page}\nAfter.\n", "new\n") == f"# Performance\n\nText.\n\n{figures.BEGIN}\nnew\n{figures.END}\n\nAfter.\n"
    assert figures.inserted("", "first").startswith(figures.BEGIN)


def test_reports_are_compared_without_their_statistics() -> None:
    first, second, third = (cold.report(text) for text in (b'{"a": 1, "stats": 1}', b'{"a": 1, "stats": 2}', b'{"a": 2, "stats": 1}'))
    assert cold.is_same([first, second])
    assert not cold.is_same([first, second, third])
