"""What cannot be read is said, and nothing is claimed that it may decide."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Run

STORY = Path(__file__).parents[2] / "fixtures" / "fusion-story"
OPTION = "enable_flashinfer_allreduce_fusion"


def broken(tmp_path: Path, name: str, text: str) -> Path:
    """fusion-story with something put at the end of one of its files."""
    tree = tmp_path / "tree"
    shutil.copytree(STORY, tree)
    path = tree / "sglang" / "srt" / name
    path.write_text((path.read_text() if path.exists() else "") + text)
    return tree


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("layers/extra.py", f"# {OPTION} may be read here\ndef f(:\n"),
        ("layers/communicator.py", "\ndef f(:\n"),
        ("utils/common.py", "\ndef f(:\n"),
    ],
)
def test_what_a_file_left_out_may_decide_is_not_decided(run: Run, tmp_path: Path, name: str, text: str) -> None:
    result = run("--sm", "120", "--format", "json", "--no-cache", str(broken(tmp_path, name, text)))
    assert result.status == 0
    report = json.loads(result.stdout)
    (option,) = [row for row in report["options"] if row["field"] == OPTION]
    (verdict,) = option["verdicts"]
    assert verdict["verdict"] == "unknown"
    assert f"srt/{name}" in " ".join(verdict["unknown"])
    assert [row["file"] for row in report["diagnostics"]] == [f"srt/{name}"]


def test_bytes_that_are_no_text_cost_their_file_alone(run: Run, tmp_path: Path) -> None:
    tree = broken(tmp_path, "layers/communicator.py", "")
    (tree / "sglang" / "srt" / "layers" / "communicator.py").write_bytes(b"\x80\n\0")
    result = run("--sm", "120", "--format", "json", "--no-cache", str(tree))
    assert result.status == 0
    assert [row["file"] for row in json.loads(result.stdout)["diagnostics"]] == ["srt/layers/communicator.py"]


def test_a_tree_without_options_is_no_clean_tree(run: Run, tmp_path: Path) -> None:
    tree = broken(tmp_path, "server_args.py", "")
    (tree / "sglang" / "srt" / "server_args.py").write_text("")
    result = run("--sm", "120", str(tree))
    assert result.status == 3
    assert "no server options were found" in result.stderr
