"""The cache when runs are killed and when many run at once: the answer is the one without a cache.

``GATECHECK_KILLS`` and ``GATECHECK_PARALLEL`` set how many; a hundred kills take a minute.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
TREE = ROOT / "fixtures" / "fusion-story"
KILLS = int(os.environ.get("GATECHECK_KILLS", "8"))
PARALLEL = int(os.environ.get("GATECHECK_PARALLEL", "20"))


def started(cache: Path, *arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "sm_gatecheck", "--sm", "90,120", str(TREE), "--format", "json", "--no-config", *arguments]
    environment = {**os.environ, "GATECHECK_CACHE": str(cache), "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def answer(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, b"")
    document: dict[str, Any] = json.loads(out)
    del document["stats"]
    return document


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return answer(started(tmp_path_factory.mktemp("none"), "--no-cache"))


def test_runs_that_are_killed_leave_nothing_wrong_behind(tmp_path: Path, expected: dict[str, Any]) -> None:
    chance = random.Random(20261130)
    for _ in range(KILLS):
        process = started(tmp_path)
        try:
            process.communicate(timeout=chance.uniform(0.1, 0.9))
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
    assert answer(started(tmp_path)) == expected
    assert answer(started(tmp_path)) == expected


def test_many_at_once_say_the_same(tmp_path: Path, expected: dict[str, Any]) -> None:
    for document in [answer(process) for process in [started(tmp_path) for _ in range(PARALLEL)]]:
        assert document == expected
    (entry,) = (tmp_path / "reports").glob("*")
    assert entry.suffix == ".entry"


@pytest.mark.parametrize("damage", [lambda content: content[:-1], lambda content: b"", lambda content: content[:60] + b"x" + content[61:]])
def test_a_damaged_entry_is_worked_out_again(tmp_path: Path, expected: dict[str, Any], damage: Any) -> None:
    answer(started(tmp_path))
    (entry,) = (tmp_path / "reports").glob("*.entry")
    entry.write_bytes(damage(entry.read_bytes()))
    assert answer(started(tmp_path)) == expected
    assert answer(started(tmp_path)) == expected
