"""Rules are files that a user can lay others over; what is wrong in them is said in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from sm_gatecheck.rulebook import Rulebook, RulesError, parse_toml, read_toml, shipped_rules
from sm_gatecheck.trees.shape import RULE_FILE, load_shape


def test_the_shipped_rules_are_found() -> None:
    assert (shipped_rules() / "devices.toml").is_file()
    assert Rulebook.open().path("devices.toml") == shipped_rules() / "devices.toml"


def test_a_file_of_a_later_directory_counts(tmp_path: Path) -> None:
    (tmp_path / "sglang").mkdir()
    (tmp_path / "devices.toml").write_text("a = 1\n")
    (tmp_path / "sglang/own.toml").write_text("b = 2\n")
    book = Rulebook.open(tmp_path)
    assert book.path("devices.toml") == tmp_path / "devices.toml"
    assert book.layers("devices.toml") == (shipped_rules() / "devices.toml", tmp_path / "devices.toml")
    assert book.read("devices.toml") == {"a": 1}
    assert "sglang/own.toml" in book.names("sglang")
    assert RULE_FILE in book.names("sglang")
    assert book.names("sglang") == tuple(sorted(book.names("sglang")))


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RulesError, match=r"--rules .*nowhere: no such directory"):
        Rulebook.open(tmp_path / "nowhere")
    with pytest.raises(RulesError, match=r"nothing\.toml: no such rule file"):
        Rulebook.open(tmp_path).path("nothing.toml")
    with pytest.raises(RulesError, match="no such file"):
        read_toml(tmp_path / "nothing.toml")


@pytest.mark.parametrize("content", [b"a = ", b"\xff", b"a = 1\na = 2\n", b"x = " + b"[" * 5000])
def test_what_is_no_toml(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.toml").write_bytes(content)
    with pytest.raises(RulesError) as caught:
        read_toml(tmp_path / "a.toml")
    assert str(caught.value).startswith(f"{tmp_path / 'a.toml'}: ")
    assert "\n" not in str(caught.value)


def test_toml_is_read_as_plain_values() -> None:
    assert parse_toml(b"a = 1\n[b]\nc = [true, 'x']\n") == {"a": 1, "b": {"c": [True, "x"]}}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("[package]", "[packages]", "package: a table is needed"),
        ('name = "sglang"', "name = 7", "package.name: a text is needed"),
        ('markers = ["srt/server_args.py"]', "markers = [7]", "package.markers: a list of texts is needed"),
        ('markers = ["srt/server_args.py"]', 'markers = "x"', "package.markers: a list is needed"),
        ("[release]", "[other]", "release: a table is needed"),
    ],
)
def test_a_mistake_about_trees_names_file_and_key(tmp_path: Path, old: str, new: str, words: str) -> None:
    text = (shipped_rules() / RULE_FILE).read_text()
    assert old in text
    (tmp_path / "sglang").mkdir()
    (tmp_path / RULE_FILE).write_text(text.replace(old, new, 1))
    with pytest.raises(RulesError) as caught:
        load_shape(Rulebook.open(tmp_path))
    assert str(caught.value).startswith(f"{tmp_path / RULE_FILE}: {words}")
