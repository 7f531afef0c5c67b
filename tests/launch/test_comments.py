from __future__ import annotations

import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sm_gatecheck.checks.ignores import Ignore
from sm_gatecheck.launch.comments import read_ignores
from sm_gatecheck.launch.model import LaunchError


def lines_of(text: str) -> list[tuple[int, int] | None]:
    return [ignore.lines for ignore in read_ignores("run", text)]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("--wide  # gatecheck: ignore[GC102] known", (1, 1)),
        ("# gatecheck: ignore[GC102] known\n--wide\n--other", (2, 2)),
        ("# gatecheck: ignore[GC102]\n\n# another comment\npython \\\n  --wide \\\n  --x\n--other", (4, 6)),
        ("python \\\n  # gatecheck: ignore[GC102]\n  --wide \\\n  # between\n  --x\n--other", (3, 5)),
        ("; gatecheck: ignore[GC102] known\nExecStart=x", (2, 2)),
        ("// gatecheck: ignore[GC102] known\n{}", (2, 2)),
        ("## #gatecheck:ignore [ gc102 ] known\nx", (2, 2)),
        ("a\n# gatecheck: ignore-file[GC102] known\nb", (1, 3)),
        ("x\n# gatecheck: ignore[GC102]", (3, 3)),
    ],
)
def test_which_lines_it_speaks_of(text: str, lines: tuple[int, int]) -> None:
    assert lines_of(text) == [lines]


def test_rules_reason_and_place() -> None:
    (ignore,) = read_ignores("run.sh", "x\n  --wide # gatecheck: ignore[GC102, gc104]: the workspace is small")
    assert (ignore.rules, ignore.reason) == (("GC102", "GC104"), "the workspace is small")
    assert (ignore.place.file, ignore.place.line, ignore.place.column) == ("run.sh", 2, 10)


@pytest.mark.parametrize("text", ["", "# ignore[GC102]", "gatecheck: ignore[GC102]", "# gatecheck: ignored[GC102]", "# gatecheck: note"])
def test_what_is_no_ignore(text: str) -> None:
    assert read_ignores("run.sh", text) == ()


@pytest.mark.parametrize("text", ["ignore", "ignore[]", "ignore everything", "ignore[all]", "ignore[GC102", "ignore[GC1]", "ignore-file"])
def test_an_ignore_of_everything_is_refused(text: str) -> None:
    with pytest.raises(LaunchError, match=r"^run.sh:2: an ignore names its rules"):
        read_ignores("run.sh", f"\n# gatecheck: {text}")


@given(st.text(alphabet="# ;/gatecheck:ignore[GC102]\n\\ -", max_size=200))
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    found: tuple[Ignore, ...] = ()
    with suppress(LaunchError):
        found = read_ignores("run.sh", text)
    for ignore in found:
        assert ignore.lines is not None
        assert 1 <= ignore.lines[0] <= ignore.lines[1] <= text.count("\n") + 2


@pytest.mark.parametrize("unit", ["#", "# ", "# gatecheck:", "# gatecheck: ignore", "# gatecheck: ignore[GC102] \\\n", "\\\n", "#\n"])
def test_long_files_take_no_long_time(unit: str) -> None:
    text = "# gatecheck: ignore[GC102]\n" + unit * (1_000_000 // len(unit))
    before = time.perf_counter()
    with suppress(LaunchError):
        read_ignores("run.sh", text)
    assert time.perf_counter() - before < 5
