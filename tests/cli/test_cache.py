"""``gatecheck cache``: what is kept is shown and removed, and nothing else is."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from sm_gatecheck.cache.entries import Entries
from sm_gatecheck.cache.holdings import chosen, holdings
from sm_gatecheck.report import schema
from tests.cli.conftest import Run

DAY = 24 * 3600
SCHEMA = {key: value for key, value in schema.document().items() if key != "anyOf"}


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with two answers (one not used for ten days) and two releases (one not used for twenty)."""
    directory = tmp_path / "cache"
    monkeypatch.setenv("GATECHECK_CACHE", str(directory))
    entries = Entries(directory / "reports")
    for name in ("new", "old"):
        entries.write(name, os.urandom(1000))
    for version in ("0.5.9", "0.5.12"):
        release = directory / "releases" / f"sglang-{version}"
        release.mkdir(parents=True)
        (release / f"sglang-{version}-py3-none-any.whl").write_bytes(b"x" * 5000)
    used(directory / "reports" / "old.entry", days=10)
    used(directory / "releases" / "sglang-0.5.9" / "sglang-0.5.9-py3-none-any.whl", days=20)
    return directory


def used(path: Path, days: float) -> None:
    os.utime(path, (time.time() - days * DAY,) * 2)


def asked(run: Run, *arguments: str) -> Any:
    ended = run("cache", *arguments, "--format", "json")
    assert ended.status == 0
    document = json.loads(ended.stdout)
    jsonschema.Draft202012Validator({**SCHEMA, "$ref": "#/$defs/cache_report"}).validate(document)
    return document


def names(rows: list[dict[str, Any]]) -> list[str]:
    return [row["name"] for row in rows]


def test_show(run: Run, kept: Path) -> None:
    document = asked(run)
    assert [(row["kind"], row["name"]) for row in document["entries"]] == [
        ("releases", "sglang-0.5.12"),
        ("releases", "sglang-0.5.9"),
        ("reports", "new"),
        ("reports", "old"),
    ]
    assert (document["directory"], document["removed"]) == (str(kept), [])
    assert document["bytes"] == sum(path.stat().st_size for path in kept.rglob("*") if path.is_file())
    text = run("cache", "show").stdout
    assert text.splitlines()[0] == str(kept)
    assert "  releases: 2, 9.8 KiB" in text
    assert "    sglang-0.5.9  4.9 KiB  last used 20" in text
    assert text.splitlines()[-1].startswith("4 entries, 11.")


def test_prune_by_age(run: Run, kept: Path) -> None:
    ended = run("cache", "prune", "--unused", "15")
    assert ended.stderr == "gatecheck: removed: 1 of 4, 4.9 KiB\n"
    assert names(asked(run)["entries"]) == ["sglang-0.5.12", "new", "old"]
    assert not (kept / "releases" / "sglang-0.5.9").exists()


def test_prune_by_size_keeps_what_was_used_last(run: Run, kept: Path) -> None:
    assert names(asked(run, "prune", "--max-size", "7kb")["entries"]) == ["sglang-0.5.12", "new"]
    assert names(asked(run, "prune", "--max-size", "0")["entries"]) == []
    assert list(kept.iterdir()) == []


def test_prune_without_a_bound_removes_what_killed_runs_left(run: Run, kept: Path) -> None:
    for days, name in ((1, "tmpold.part"), (0, "tmpnew.part")):
        (kept / "reports" / name).write_bytes(b"gatecheck en")
        used(kept / "reports" / name, days)
    (kept / "releases" / ".fetching-abc").mkdir()
    used(kept / "releases" / ".fetching-abc", 1)
    assert sorted(names(asked(run, "prune")["removed"])) == [".fetching-abc", "tmpold.part"]
    assert [row["name"] for row in asked(run)["entries"] if row["unfinished"]] == ["tmpnew.part"]


def test_clear_and_one_kind(run: Run, kept: Path) -> None:
    assert names(asked(run, "clear", "--kind", "reports")["removed"]) == ["new", "old"]
    assert names(asked(run, "clear")["removed"]) == ["sglang-0.5.12", "sglang-0.5.9"]
    assert run("cache").stdout.endswith("Nothing is kept.\n")
    assert run("cache", "clear").status == 0


def test_dry_run_removes_nothing(run: Run, kept: Path) -> None:
    ended = run("cache", "clear", "--dry-run")
    assert ended.stderr.startswith("gatecheck: would go: 4 of 4")
    assert len(asked(run)["entries"]) == 4


def test_what_is_not_ours_stays(run: Run, kept: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.entry").write_bytes(b"gatecheck entry 1\n")
    strangers = {
        "file": b"",
        "reports/notes.txt": b"",
        "reports/other.entry": b"not ours",
        "reports/download.part": b"",
        "releases/README": b"",
        "releases/sglang-0.5.9/notes.txt": b"",
        "releases/other-1.0/other-1.0.whl": b"",
        "photos/a.jpg": b"",
    }
    for name, content in strangers.items():
        (kept / name).parent.mkdir(parents=True, exist_ok=True)
        (kept / name).write_bytes(content)
    (kept / "linked").symlink_to(outside)
    (kept / "reports" / "link.entry").symlink_to(outside / "a.entry")
    assert sorted(names(asked(run, "clear")["removed"])) == ["new", "old", "sglang-0.5.12"]
    assert all((kept / name).exists() for name in strangers)
    assert (outside / "a.entry").exists()


def test_no_cache_at_all(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATECHECK_CACHE", str(tmp_path / "nowhere"))
    for action in ("show", "prune", "clear"):
        assert asked(run, action)["entries"] == []
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("pruen",), "did you mean 'prune'?"),
        (("prune", "--max-size", "much"), "'much' is no size, write 500MB or 1GiB"),
        (("prune", "--unused", "-1"), "x>=0"),
    ],
)
def test_what_cannot_be_asked(run: Run, kept: Path, arguments: tuple[str, ...], said: str) -> None:
    ended = run("cache", *arguments)
    assert (ended.status, ended.stdout) == (2, "")
    assert said in ended.stderr


def test_what_vanishes_meanwhile_is_no_error(kept: Path) -> None:
    from sm_gatecheck.cache.holdings import remove

    held = holdings(kept, "sglang")
    for holding in held:
        if holding.path.is_file():
            holding.path.unlink()
    assert len(remove(held)) == 4
    assert chosen([], max_bytes=0, unused_seconds=0) == []
