"""Names of contents: what differs is named otherwise, what only moves is not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from sm_gatecheck.cache.keys import Key, program_name


def test_parts_do_not_run_together() -> None:
    names = {Key().add(*parts).name() for parts in (("ab", "c"), ("a", "bc"), ("abc",), ("abc", ""))}
    assert len(names) == 4


def test_files_count_by_name_and_content_in_any_order() -> None:
    one = Key().add_files({"a": b"1", "b": b"2"}).name()
    assert Key().add_files({"b": b"2", "a": b"1"}).name() == one
    assert Key().add_files({"a": b"2", "b": b"1"}).name() != one


def test_directories_count_by_what_is_in_them(tmp_path: Path) -> None:
    for name in ("here", "there"):
        (tmp_path / name / "inner").mkdir(parents=True)
        (tmp_path / name / "inner" / "rule.toml").write_text("x = 1")
    here, there = (Key().add_directories([tmp_path / name], "*.toml").name() for name in ("here", "there"))
    assert here == there
    (tmp_path / "there" / "inner" / "rule.toml").write_text("x = 2")
    assert Key().add_directories([tmp_path / "there"], "*.toml").name() != here


def test_the_program_has_one_name_whatever_the_hash_seed() -> None:
    command = "from sm_gatecheck.cache.keys import program_name; print(program_name())"
    names = {
        subprocess.run(
            [sys.executable, "-c", command], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert names == {program_name()}
