"""The rules about options are checked while they are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from sm_gatecheck.rulebook import Rulebook, RulesError
from sm_gatecheck.target.options import OptionRules
from sm_gatecheck.target.options.rules import OPTIONS_FILE


def changed(tmp_path: Path, old: str, new: str) -> Rulebook:
    source = Rulebook.open().path(OPTIONS_FILE).read_text("utf-8")
    assert old in source
    (tmp_path / OPTIONS_FILE).parent.mkdir(parents=True)
    (tmp_path / OPTIONS_FILE).write_text(source.replace(old, new), "utf-8")
    return Rulebook.open(tmp_path)


def test_the_shipped_rules_are_well_formed() -> None:
    assert OptionRules.read(Rulebook.open()).modules


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('class = "ServerArgs"', "", "declaration: class: a text is needed"),
        ('heads = ["typing.Annotated", "typing_extensions.Annotated"]', "heads = [1]", "annotations: heads: a list of texts is needed"),
        ("[deprecated]", "[withdrawn]", "deprecated: a table is needed"),
    ],
)
def test_a_mistake_names_the_key(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    with pytest.raises(RulesError, match=complaint):
        OptionRules.read(changed(tmp_path, old, new))
