from typing import Any

from tests.truth import files
from tests.truth.answers import Row, inventory, option, row
from tests.truth.inventory import Inventory
from tests.truth.labels_score import score


def label(**accept: list[str]) -> list[dict[str, Any]]:
    return [{"field": "x", "value": "a", "accept": {sm.removeprefix("sm"): listed for sm, listed in accept.items()}}]


def perfect() -> Inventory:
    rows: dict[str, list[Row]] = {}
    for item in files.labels():
        for sm, listed in item["accept"].items():
            rows.setdefault(item["field"], []).append(row(int(sm), item["value"], listed[0]))
    return inventory(*(option(name, listed) for name, listed in rows.items()))


def test_answers_taken_from_the_labels_agree_with_them() -> None:
    verdicts, noops, found = score(perfect(), files.labels())
    assert verdicts.percent == noops.percent == 100.0
    assert verdicts.total == sum(len(item["accept"]) for item in files.labels())
    assert found.total == len({item["field"] for item in files.labels()})
    assert found.is_reached


def test_an_empty_inventory_finds_nothing() -> None:
    verdicts, _, found = score(inventory(), files.labels())
    assert verdicts.agree == found.agree == 0


def test_a_missing_row_says_ungated() -> None:
    verdicts, _, found = score(inventory(option("x")), label(sm90=["active", "ungated"], sm120=["active"]))
    assert (verdicts.agree, verdicts.total) == (1, 2)
    assert found.agree == 0


def test_a_false_noop_is_one_only_where_the_option_works() -> None:
    rows = [row(sm, "a", "noop") for sm in (80, 90, 100, 120)]
    labels = label(sm80=["active"], sm90=["noop", "active"], sm100=["rejected"], sm120=["partial", "rejected"])
    verdicts, noops, _ = score(inventory(option("x", rows)), labels)
    assert verdicts.agree == 1
    assert [item.where for item in noops.disagreements] == ["x=a@SM80", "x=a@SM120"]


def test_unknown_finds_no_gate() -> None:
    assert score(inventory(option("x", [row(90, "a", "unknown")])), label(sm90=["active"]))[2].agree == 0
    assert score(inventory(option("x", [row(90, "b", "noop")])), label(sm90=["active"]))[2].agree == 1
