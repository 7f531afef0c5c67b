"""``gatecheck matrix --check FILE`` over a fixture."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import FUSION_STORY, Run


@pytest.fixture
def committed(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GATECHECK_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "matrix.md"
    assert run("matrix", "--sm", "90,120", FUSION_STORY, "-o", str(path)).status == 0
    return path


def test_what_is_the_case_passes_with_the_columns_of_the_file(run: Run, committed: Path) -> None:
    ended = run("matrix", FUSION_STORY, "--check", str(committed))
    assert (ended.status, ended.stdout) == (0, "")
    assert ended.stderr == f"gatecheck: {committed} says what is the case\n"
    assert run("matrix", FUSION_STORY, "--check", str(committed), "-q").stderr == ""


def test_what_drifted_is_named_and_fails(run: Run, committed: Path) -> None:
    committed.write_text(committed.read_text(encoding="utf-8").replace("| ✅ | 💥[^1] |", "| ✅ | ✅ |"), encoding="utf-8")
    ended = run("matrix", FUSION_STORY, "--check", str(committed))
    assert ended.status == 1
    assert ended.stdout == f"{committed}: `--enable-flashinfer-allreduce-fusion` at `True`, SM120: was ✅, is 💥\n"
    assert ended.stderr == ""


def test_lines_that_moved_are_said_and_pass(run: Run, committed: Path) -> None:
    committed.write_text(committed.read_text(encoding="utf-8").replace("communicator.py:16", "communicator.py:99"), encoding="utf-8")
    ended = run("matrix", FUSION_STORY, "--check", str(committed))
    assert (ended.status, ended.stdout) == (0, "")
    assert "name lines that have moved since" in ended.stderr


def test_a_tree_that_changed_has_drifted(run: Run, committed: Path) -> None:
    other = str(Path(FUSION_STORY).parent / "masked")
    ended = run("matrix", other, "--check", str(committed))
    assert ended.status == 1
    assert f"{committed}: `--enable-flashinfer-allreduce-fusion` at `True` is gone" in ended.stdout


@pytest.mark.parametrize(
    ("name", "message"), [("matrx.md", "did you mean 'matrix.md'?"), ("", "directory"), ("note.md", "no table of options")]
)
def test_a_file_that_is_no_matrix_is_refused(run: Run, committed: Path, name: str, message: str) -> None:
    (committed.parent / "note.md").write_text("# nothing\n")
    ended = run("matrix", FUSION_STORY, "--check", str(committed.parent / name))
    assert (ended.status, ended.stdout) == (2, "")
    assert message in ended.stderr
