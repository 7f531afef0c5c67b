from typing import Any

import pytest

from tests.truth import files
from tests.truth.answers import Row, inventory, option, row, sets
from tests.truth.cases_score import expectations, score
from tests.truth.expectation import accepted_verdicts, fault_of
from tests.truth.inventory import Inventory


def case(expect: dict[str, str], value: Any = "a", flag: str = "x", alone: dict[str, str] | None = None) -> dict[str, Any]:
    return {"id": "c", "version": "1", "flag": flag, "value": value, "set": {}, "sm_expect": expect, "sm_expect_sglang_only": alone}


def wrong(found: Inventory, *cases: dict[str, Any]) -> list[str]:
    return [item.where for item in score(lambda release, settings: found, cases)[0].disagreements]


def test_every_case_can_be_read() -> None:
    cases = files.cases()
    answers, noops = score(lambda release, settings: inventory(), cases)
    assert answers.total == noops.total == sum(len(expectations(item)) for item in cases)
    assert answers.agree == 0


def test_each_case_is_asked_for_under_its_own_settings() -> None:
    asked = []

    def inventory_of(release: str, settings: Any) -> Inventory:
        asked.append((release, dict(settings)))
        return inventory()

    score(inventory_of, files.cases())
    assert asked == [(item["version"], item["set"]) for item in files.cases()]


def test_a_gate_in_a_dependency_counts_as_sglang_alone_has_it() -> None:
    item = case({"90": "rejected", "120": "rejected"}, alone={"120": "noop (path A) + active (path B)"})
    assert expectations(item) == {120: "noop (path A) + active (path B)"}
    assert wrong(inventory(option("x", [row(120, "a", "partial")])), item) == []
    assert wrong(inventory(option("x", [row(120, "a", "noop")])), item) == ["c@SM120"]


@pytest.mark.parametrize("text", ["default:flash", "default:flash (auto)", "default:flash with CUDA 12; other with CUDA 13"])
def test_a_default_by_name(text: str) -> None:
    item = case({"90": text}, value=None)
    assert wrong(inventory(option("x", defaults={90: ["flash"]})), item) == []
    assert wrong(inventory(option("x", defaults={90: ["flash", "other"]})), item) == []
    assert wrong(inventory(option("x", defaults={90: ["other"]})), item) == ["c@SM90"]
    assert wrong(inventory(option("x", default="flash")), item) == []
    assert wrong(inventory(), item) == ["c@SM90"]


def test_a_default_of_a_value_that_is_given() -> None:
    item = case({"90": "default:flash"}, value="auto")
    assert wrong(inventory(option("x", [row(90, "auto", "overridden", sets("x", "flash"))])), item) == []
    assert wrong(inventory(option("x", [row(90, "auto", "active")], default="auto")), item) == []
    assert wrong(inventory(option("x", [row(90, "auto", "active")], defaults={90: ["other"]})), item) == ["c@SM90"]
    assert wrong(inventory(option("x", [row(90, "auto", "noop")], default="auto")), item) == ["c@SM90"]


def test_a_path_in_words() -> None:
    item = case({"90": "default:sparse decode"})
    assert wrong(inventory(option("x", [row(90, "a", "partial")])), item) == []
    assert wrong(inventory(option("x", [row(90, "a", "rejected")])), item) == ["c@SM90"]


def test_the_same_everywhere_needs_no_sm_condition() -> None:
    assert wrong(inventory(option("x")), case({"90": "active", "120": "active"})) == []
    assert wrong(inventory(option("x")), case({"90": "active", "120": "noop"})) == ["c@SM90", "c@SM120"]
    replaced = [row(sm, "a", "active", sets("x", "b")) for sm in (90, 120)]
    assert wrong(inventory(option("x", replaced)), case({"90": "overridden", "120": "overridden"})) == []
    assert wrong(inventory(option("x", replaced)), case({"90": "overridden", "120": "active"})) == ["c@SM90"]
    perhaps: list[Row] = [row(90, "a", "active", sets("x", "b", when="y"))]
    assert wrong(inventory(option("x", perhaps)), case({"90": "overridden"})) == ["c@SM90"]


def test_a_variable_that_nothing_reads() -> None:
    item = case({"90": "noop"}, value="1", flag="env:X")
    assert wrong(inventory(option("env:OTHER")), item) == []
    assert wrong(inventory(option("x")), item) == ["c@SM90"]


def test_a_false_noop_is_counted() -> None:
    found = inventory(option("x", [row(sm, "a", "noop") for sm in (90, 100, 120)]))
    item = case({"90": "active", "100": "rejected", "120": "noop"})
    _, noops = score(lambda release, settings: found, [item])
    assert [text.where for text in noops.disagreements] == ["c@SM90"]
    assert (noops.agree, noops.total) == (2, 3)


def test_what_the_texts_mean() -> None:
    assert accepted_verdicts("active") == {"active"}
    assert accepted_verdicts("active", is_uniform=True) == {"active", "ungated"}
    assert accepted_verdicts("noop") == {"noop"}
    found = inventory(option("x", [row(90, "a", "noop_with_side_effects")]))
    assert fault_of(found, "x", "a", 90, "noop") == "says noop_with_side_effects where noop"
