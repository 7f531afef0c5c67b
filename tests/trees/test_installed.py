"""The package beside gatecheck is found without being imported."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from sm_gatecheck.trees import UsageError, open_tree
from tests.trees.shapes import METADATA, SOURCES, checkout, repository, under, write

POISON = {**SOURCES, "__init__.py": b"raise SystemExit('imported')\n"}


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that stands first where imports are looked up."""
    assert "sglang" not in sys.modules
    directory = tmp_path / "site-packages"
    directory.mkdir()
    monkeypatch.syspath_prepend(str(directory))
    return directory


def test_an_installed_package(beside: Path) -> None:
    write(beside, {**under("sglang/", POISON), "sglang-0.7.1.dist-info/METADATA": METADATA})
    tree = open_tree(None)
    assert dict(tree.files) == POISON
    assert (tree.source.target, tree.source.kind, tree.source.sglang_version) == ("installed sglang", "package", "0.7.1")
    assert "sglang" not in sys.modules


def test_a_path_file_of_an_editable_install(beside: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository(tmp_path / "tree")
    monkeypatch.syspath_prepend(str(tmp_path / "tree/python"))
    tree = open_tree(None)
    assert dict(tree.files) == SOURCES
    assert tree.source.kind == "checkout"
    assert tree.source.git is not None


def test_an_editable_install_whose_hook_is_not_active(beside: Path, tmp_path: Path) -> None:
    checkout(tmp_path / "a tree")
    write(
        beside,
        {
            "sglang-0.7.1.dist-info/METADATA": METADATA,
            "sglang-0.7.1.dist-info/direct_url.json": json.dumps({"url": (tmp_path / "a tree/python").as_uri()}).encode(),
        },
    )
    tree = open_tree(None)
    assert dict(tree.files) == SOURCES
    assert tree.source.kind == "checkout"


def test_none_installed(beside: Path) -> None:
    with pytest.raises(UsageError, match="no sglang is installed beside gatecheck: name a TREE"):
        open_tree(None)


@pytest.mark.parametrize("record", [b"{", b"[]", b'{"url": "https://example.org/x"}', b'{"url": 5}'])
def test_a_record_that_leads_nowhere(beside: Path, record: bytes) -> None:
    write(beside, {"sglang-0.7.1.dist-info/METADATA": METADATA, "sglang-0.7.1.dist-info/direct_url.json": record})
    with pytest.raises(UsageError, match="no sglang is installed"):
        open_tree(None)
