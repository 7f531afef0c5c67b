from collections.abc import Mapping
from typing import Any

import pytest

from tests.truth import files
from tests.truth.answers import inventory, option, raises, row
from tests.truth.facts_score import releases, score
from tests.truth.inventory import Inventory


def one_fact(**fact: Any) -> dict[str, Any]:
    return {"required": {"releases": ["1"]}, "fact": [{"releases": ["1", "2"], "option": "x", "value": True, **fact}]}


def fault(found: Inventory, **fact: Any) -> str | None:
    (result,) = score(lambda release, settings: found, one_fact(**fact), "1")
    return result.disagreements[0].fault if result.disagreements else None


def test_a_verdict_is_compared() -> None:
    found = inventory(option("x", [row(90, True, "active"), row(120, True, "noop")]))
    assert fault(found, expect={"90": "active", "120": "noop"}) is None
    assert fault(found, expect={"90": "noop"}) == "says active where noop"
    assert fault(found, expect={"100": "active"}) == "says ungated where active"


def test_the_settings_of_the_row_are_handed_on() -> None:
    asked: list[tuple[str, Mapping[str, Any]]] = []

    def inventory_of(release: str, settings: Mapping[str, Any]) -> Inventory:
        asked.append((release, settings))
        return inventory(option("x"))

    score(inventory_of, one_fact(expect={"90": "active"}, set={"a": 1}), "2")
    assert asked == [("2", {"a": 1})]


def test_a_row_is_demanded_in_required_releases_only() -> None:
    def inventory_of(release: str, settings: Mapping[str, Any]) -> Inventory:
        return inventory(option("x"))

    facts = one_fact(expect={"90": "active"})
    assert score(inventory_of, facts, "1")[0].target == 100.0
    assert score(inventory_of, facts, "2")[0].target is None
    assert score(inventory_of, facts, "3")[0].total == 0


def test_the_files_that_the_proof_must_name() -> None:
    rows = [row(120, True, "noop", evidence=["a.py"])]
    assert fault(inventory(option("x", rows)), expect={"120": "noop"}, places={"120": ["a.py"]}) is None
    assert fault(inventory(option("x", rows)), expect={"120": "noop"}, places={"120": ["a.py", "b.py"]}) == "names no line of b.py"


def test_a_default_that_is_refused() -> None:
    refused = inventory(option("x", [row(120, "fa", "rejected")], defaults={120: ["fa"]}))
    assert fault(refused, value=None, expect={"120": "rejected"}) is None
    accepted = inventory(option("x", [row(120, "fa", "active")], defaults={120: ["fa"]}))
    assert fault(accepted, value=None, expect={"120": "rejected"}) == "says accepted where the default is refused"


def test_refused_but_not_by_resolution() -> None:
    expect = {"120": "not_rejected_by_resolution"}
    assert fault(inventory(option("x", [row(120, True, "partial")])), expect=expect) is None
    later = row(120, True, "rejected", raises("f.py:1", phase="startup"))
    assert fault(inventory(option("x", [later])), expect=expect) is None
    early = row(120, True, "rejected", raises("f.py:1", phase="resolution"))
    assert fault(inventory(option("x", [early])), expect=expect) == "says refused by resolution where it is not"


def test_every_fact_can_be_read_and_failed() -> None:
    facts = files.facts()
    assert set(facts["required"]["releases"]) <= set(releases(facts))
    for release in releases(facts):
        (result,) = score(lambda release, settings: inventory(), facts, release)
        assert result.total > 0
        assert result.agree <= sum(text == "not_rejected_by_resolution" for fact in facts["fact"] for text in fact["expect"].values())


def test_an_expectation_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(ValueError, match="cannot expect"):
        fault(inventory(option("x")), value=None, expect={"90": "active"})
    with pytest.raises(ValueError, match="nothing here can read"):
        fault(inventory(option("x")), expect={"90": "sometimes"})
