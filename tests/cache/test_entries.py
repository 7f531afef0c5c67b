"""Entries under what a shared directory meets: damage, rivals, a full disk's worth of old ones."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sm_gatecheck.cache.entries import MAGIC, SUFFIX, UNFINISHED, Entries


def only_file(directory: Path) -> Path:
    (found,) = directory.iterdir()
    return found


def test_what_was_written_is_read(tmp_path: Path) -> None:
    entries = Entries(tmp_path / "deep" / "down")
    entries.write("a", b"payload")
    assert entries.read("a") == b"payload"
    assert entries.read("b") is None


def test_a_second_write_replaces_the_first(tmp_path: Path) -> None:
    entries = Entries(tmp_path)
    entries.write("a", b"old")
    entries.write("a", b"new")
    assert entries.read("a") == b"new"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("place", [0, len(MAGIC), len(MAGIC) + 31, len(MAGIC) + 32, -1])
def test_a_changed_byte_is_noticed_wherever_it_stands(tmp_path: Path, place: int) -> None:
    entries = Entries(tmp_path)
    entries.write("a", b"payload" * 10)
    file = only_file(tmp_path)
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(bytes(content))
    assert entries.read("a") is None
    assert not file.exists()


@pytest.mark.parametrize("kept", [0, 5, len(MAGIC) + 10, -1])
def test_a_file_that_was_cut_off_is_no_entry(tmp_path: Path, kept: int) -> None:
    entries = Entries(tmp_path)
    entries.write("a", b"payload" * 10)
    file = only_file(tmp_path)
    file.write_bytes(file.read_bytes()[:kept])
    assert entries.read("a") is None


def test_an_entry_answers_to_its_own_key_only(tmp_path: Path) -> None:
    entries = Entries(tmp_path)
    entries.write("a", b"payload")
    os.rename(tmp_path / f"a{SUFFIX}", tmp_path / f"b{SUFFIX}")
    assert entries.read("b") is None


def test_the_oldest_make_room_and_reading_keeps_young(tmp_path: Path) -> None:
    entries = Entries(tmp_path, max_bytes=3 * 1100)
    for number, name in enumerate("abc"):
        entries.write(name, os.urandom(1000))
        os.utime(tmp_path / f"{name}{SUFFIX}", (1000 + number, 1000 + number))
    assert entries.read("a") is not None
    entries.write("d", os.urandom(1000))
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{name}{SUFFIX}" for name in "acd"]


def test_what_a_killed_run_left_is_cleared_once_it_is_old(tmp_path: Path) -> None:
    entries = Entries(tmp_path)
    for name, age in (("old", 7200), ("young", 0)):
        (tmp_path / f"{name}{UNFINISHED}").write_bytes(b"half")
        os.utime(tmp_path / f"{name}{UNFINISHED}", (time.time() - age,) * 2)
    entries.write("a", b"payload")
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"a{SUFFIX}", f"young{UNFINISHED}"]


def test_a_directory_that_cannot_be_made_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    entries = Entries(tmp_path / "file")
    entries.write("a", b"payload")
    assert entries.read("a") is None


WRITER = """
import os, sys
from pathlib import Path
from sm_gatecheck.cache.entries import Entries
entries = Entries(Path(sys.argv[1]))
print("ready", flush=True)
while True:
    entries.write("a", bytes([os.getpid() % 256]) * 200_000)
"""


def test_rivals_that_are_killed_while_writing_leave_whole_entries(tmp_path: Path) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE) for _ in range(2)]
    entries = Entries(tmp_path)
    try:
        for writer in writers:
            assert writer.stdout is not None
            writer.stdout.readline()
        read = [entries.read("a") for _ in range(300)]
    finally:
        for writer in writers:
            writer.send_signal(signal.SIGKILL)
            writer.communicate()
    whole = [payload for payload in [*read, entries.read("a")] if payload is not None]
    assert whole
    assert all(len(payload) == 200_000 and len(set(payload)) == 1 for payload in whole)
