from __future__ import annotations

from pathlib import Path

import pytest

from sm_gatecheck.cli.session import assumed_settings, read_model_config, tree_options
from sm_gatecheck.model.errors import TreeError, UsageError
from sm_gatecheck.model.report import Source
from sm_gatecheck.rulebook import Rulebook
from sm_gatecheck.trees import Tree, open_tree
from tests.cli.conftest import FUSION_STORY

BOOK = Rulebook.open()


def test_a_model_config_is_a_file_or_the_directory_that_holds_it(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"architectures": ["X"]}')
    assert read_model_config(tmp_path / "config.json") == read_model_config(tmp_path) == {"architectures": ["X"]}
    assert read_model_config(None) is None


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("conifg.json", None, "no such file: did you mean 'config.json'?"),
        ("config.json", "{", "is no JSON"),
        ("config.json", "[" * 100_000, "is no JSON"),
        ("config.json", "[]", "has to be a JSON object"),
    ],
)
def test_what_is_no_model_config(tmp_path: Path, name: str, content: str | None, said: str) -> None:
    (tmp_path / "config.json").write_text(content or "{}")
    with pytest.raises(UsageError) as refusal:
        read_model_config(tmp_path / name)
    assert said in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="is no JSON"):
        read_model_config(tmp_path)


def test_settings_are_typed_by_the_tree() -> None:
    tree = open_tree(FUSION_STORY)
    assert assumed_settings(["tensor-parallel-size=4", "enable_wide_loads=1"], tree, BOOK) == {"tp_size": 4, "enable_wide_loads": True}
    with pytest.raises(UsageError, match="did you mean 'queue_order'"):
        assumed_settings(["queue_ordr=arrival"], tree, BOOK)


def test_a_tree_without_options_is_refused() -> None:
    tree = Tree(Source("somewhere", "package", None), {"srt/server_args.py": b"x = 1\n"})
    with pytest.raises(TreeError, match="somewhere: no server options were found"):
        tree_options(tree, BOOK)
