"""docs/story.md from end to end: its unit is written, its commands are run in order, and print what the page shows."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Ended, Run

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "story.md"
UNIT = re.compile(r"^```ini\n(.*?)^```$", re.M | re.S)
BLOCK = re.compile(r"^```console\n\$ gatecheck ([^\n]+)\n(.*?)^```$", re.M | re.S)
HARMFUL = "  --enable-flashinfer-allreduce-fusion \\\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GATECHECK_CACHE", str(tmp_path / "cache"))
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    return tmp_path


def unit(page: str) -> str:
    found = UNIT.search(page)
    assert found is not None
    return found[1]


def neutral(ended: Ended) -> str:
    """What the run printed, stderr last, without what differs from machine to machine."""
    return re.sub(r"\d+\.\d s, (cold|warm) cache", r"0.1 s, \1 cache", ended.stdout) + ended.stderr


def test_the_page_shows_what_happens(run: Run) -> None:
    page = PAGE.read_text(encoding="utf-8")
    Path("chat.service").write_text(unit(page), encoding="utf-8")
    statuses = []

    def shown(match: re.Match[str]) -> str:
        ended = run(*shlex.split(match[1]))
        statuses.append(ended.status)
        return f"```console\n$ gatecheck {match[1]}\n{neutral(ended)}```"

    made = BLOCK.sub(shown, page)
    if os.environ.get("GATECHECK_GOLDEN") == "write":
        PAGE.write_text(made, encoding="utf-8")
    assert made == page
    assert statuses == [1, 1, 0, 0, 0, 0, 0]
    assert Path("chat.service").read_text(encoding="utf-8") == unit(page).replace(HARMFUL, "")


def test_the_finding_names_the_line_of_the_unit(run: Run) -> None:
    text = unit(PAGE.read_text(encoding="utf-8"))
    Path("chat.service").write_text(text, encoding="utf-8")
    line = text[: text.index(HARMFUL)].count("\n") + 1
    assert f"chat.service:{line}:3: GC102" in run("--sm", "120", "fixtures/fusion-story", "--launch", "chat.service", "-q").stdout


def test_where_the_option_works_both_stay(run: Run) -> None:
    text = unit(PAGE.read_text(encoding="utf-8"))
    Path("chat.service").write_text(text, encoding="utf-8")
    assert run("--sm", "100", "fixtures/fusion-story", "--launch", "chat.service").status == 0
    assert run("fix", "--sm", "100", "fixtures/fusion-story", "--launch", "chat.service", "--write").status == 0
    assert Path("chat.service").read_text(encoding="utf-8") == text
