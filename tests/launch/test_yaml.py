"""Other YAML, and the places of scalars in every style."""

from __future__ import annotations

from io import StringIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML
from ruamel.yaml.scalarstring import DoubleQuotedScalarString, FoldedScalarString, LiteralScalarString, SingleQuotedScalarString

from sm_gatecheck.launch.located import SourceText
from sm_gatecheck.launch.yaml_tree import YamlTree
from tests.launch.conftest import Read

STYLES = [
    "a: plain text\n",
    "a: plain\n  over\n\n  lines\n",
    "a: 'it''s\n  folded\n\n  twice'\n",
    'a: "tab\\t \\x41 \\u00e9 \\\n  joined\n  folded"\n',
    "a: |\n  one\n   two\n\n  three\n\n",
    "a: |-\n  one\n  two\n",
    "a: |+\n  one\n\n\n",
    "a: >\n  one\n  two\n\n  three\n   more\n  four\n",
    "a: >-\n\n  one\n\n\n  two\n",
    "a: |2\n    indented\n  less\n",
    "- >+\n  x\n\n- y\n",
    "a: \"\"\nb: ''\nc: |\nd:\n",
    "a: 'x' # comment\nb: x#y #z\n",
    "a: |  # comment\n  # kept\n  x\n",
    "a: >\r\n  one\r\n  two\r\nb: 'x\r\n  y'\r\n",
]


@pytest.mark.parametrize("text", STYLES)
def test_every_character_of_a_scalar_has_its_place(text: str) -> None:
    source = SourceText("x.yaml", text)
    tree = YamlTree(source.located())
    assert tree.problem is None
    for node in tree.documents[0].walk():
        if not node.is_scalar or not node.text:
            continue
        located = node.located
        assert located.text == node.raw.value
        copied = sum(len(run.text) for run in located.runs if source.text[run.start : run.end] == run.text)
        # All but escapes and line breaks stands in the file as it is in the value.
        assert copied >= len("".join(character for character in located.text if character.isalnum())) - text.count("\\")


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ab '\"\\\n:#-|>é\t", max_size=30), st.sampled_from(["plain", "|", ">", "'", '"']))
def test_places_never_change_a_value(value: str, style: str) -> None:
    yaml = YAML()
    kinds = {"|": LiteralScalarString, ">": FoldedScalarString, "'": SingleQuotedScalarString, '"': DoubleQuotedScalarString, "plain": str}
    stream = StringIO()
    try:
        yaml.dump({"a": kinds[style](value)}, stream)
    except Exception:  # the writer does not take every text in every style
        return
    tree = YamlTree(SourceText("x.yaml", stream.getvalue()).located())
    if tree.problem is None and tree.documents and (node := tree.documents[0].get("a")) is not None and not node.is_null:
        assert node.text == node.raw.value


def test_texts_and_lists_anywhere_in_a_file(read: Read) -> None:
    launches = read(
        """
        env: {SGLANG_A: "1"}
        jobs:
          serve:
            steps:
              - name: start
                env: {SGLANG_B: "2"}
                run: |
                  pip install "sglang==0.5.9"
                  sglang serve --model-path /a --tp ${{ matrix.tp }}
              - cmd: [python3, -m, sglang.launch_server, --model-path, /b]
        """,
        format="yaml",
    )
    assert [launch.model_path for launch in launches] == ["/a", "/b"]
    assert [sorted(launch.environment) for launch in launches] == [["SGLANG_A", "SGLANG_B"], ["SGLANG_A"]]
    assert launches[0].unresolved == ("${{ matrix.tp }}",)
    assert launches[0].sglang_version is not None
    assert launches[0].sglang_version.version == "0.5.9"
