"""What the pages in docs/ show is what the program prints: each console block is run and compared."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Run

ROOT = Path(__file__).parents[2]
IN_ORDER = ("story.md",)
"""Pages whose commands rest on each other; ``test_story.py`` runs them."""
PAGES = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md")) if path.name not in IN_ORDER]
SHOWN = [block for page in PAGES for block in re.findall(r"^```console\n\$ gatecheck ([^\n]+)\n(.*?)^```$", page, re.M | re.S)]


@pytest.mark.parametrize(("command", "shown"), SHOWN, ids=[command[:60] for command, _ in SHOWN])
def test_a_shown_command_prints_what_is_shown(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: str, shown: str) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("GATECHECK_CACHE", str(tmp_path))
    assert run(*shlex.split(command)).stdout == shown


def test_something_is_shown() -> None:
    assert SHOWN
