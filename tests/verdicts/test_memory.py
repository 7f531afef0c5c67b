"""A report that is remembered is the one that was made, and is only remembered for what it was made of."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sm_gatecheck.model.report import Report, Source
from sm_gatecheck.rulebook import Rulebook
from sm_gatecheck.trees.cache import VARIABLE
from sm_gatecheck.trees.tree import Tree
from sm_gatecheck.verdicts import analysis
from sm_gatecheck.verdicts.request import Request

FIXTURES = Path(__file__).parent.parent.parent / "fixtures"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


def story() -> Tree:
    package = next((FIXTURES / "fusion-story").rglob("sglang"))
    files = {path.relative_to(package).as_posix(): path.read_bytes() for path in sorted(package.rglob("*.py"))}
    return Tree(Source("story", "package", None), files)


def request(**changes: Any) -> Request:
    return replace(Request(sms=(90, 120), processes=1), **changes)


def claims(report: Report) -> str:
    return repr(replace(report, statistics=replace(report.statistics, seconds=0.0, cache="cold")))


def test_the_second_run_says_the_same_without_analysing(monkeypatch: pytest.MonkeyPatch) -> None:
    first = analysis.analyse(story(), request())
    monkeypatch.setattr(analysis, "_analyse", lambda *arguments: pytest.fail("analysed again"))
    second = analysis.analyse(story(), request())
    assert (first.statistics.cache, second.statistics.cache) == ("cold", "warm")
    assert claims(second) == claims(first)


def test_where_the_tree_came_from_does_not_count() -> None:
    analysis.analyse(story(), request())
    moved = replace(story(), source=Source("elsewhere", "wheel", None))
    again = analysis.analyse(moved, request(processes=2))
    assert again.statistics.cache == "warm"
    assert again.source == moved.source


def overlaid(directory: Path) -> Path:
    (directory / "sglang").mkdir(parents=True)
    shipped = Rulebook.open().path("sglang/registries.toml")
    (directory / "sglang" / "registries.toml").write_bytes(shipped.read_bytes() + b"\n# changed\n")
    return directory


@pytest.mark.parametrize(
    "changes", [{"sms": (90,)}, {"cuda": "13.0"}, {"settings": {"tp_size": 4}}, {"gpu_memory": 1}, {"model_config": {"a": 1}}]
)
def test_another_request_is_analysed(changes: dict[str, Any]) -> None:
    analysis.analyse(story(), request())
    assert analysis.analyse(story(), request(**changes)).statistics.cache == "cold"


def test_another_rule_is_analysed(tmp_path: Path) -> None:
    analysis.analyse(story(), request())
    assert analysis.analyse(story(), request(rules_dir=overlaid(tmp_path / "rules"))).statistics.cache == "cold"


def test_settings_of_other_types_are_other_settings() -> None:
    analysis.analyse(story(), request(settings={"x": 1}))
    assert analysis.analyse(story(), request(settings={"x": True})).statistics.cache == "cold"


def test_a_changed_file_is_analysed() -> None:
    analysis.analyse(story(), request())
    tree = story()
    name = next(iter(tree.files))
    changed = replace(tree, files={**tree.files, name: tree.files[name] + b"\n"})
    assert analysis.analyse(changed, request()).statistics.cache == "cold"


def test_a_damaged_entry_is_made_again(cache: Path) -> None:
    first = analysis.analyse(story(), request())
    (entry,) = (cache / "reports").iterdir()
    content = entry.read_bytes()
    entry.write_bytes(content[:-7] + b"damaged")
    again = analysis.analyse(story(), request())
    assert again.statistics.cache == "cold"
    assert claims(again) == claims(first)
    assert entry.read_bytes() == content or analysis.analyse(story(), request()).statistics.cache == "warm"


def test_without_the_cache_nothing_is_read_or_written(cache: Path) -> None:
    analysis.analyse(story(), request(use_cache=False))
    assert not cache.exists()
    analysis.analyse(story(), request())
    assert analysis.analyse(story(), request(use_cache=False)).statistics.cache == "cold"
