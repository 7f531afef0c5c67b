from typing import Any

import pytest

from tests.truth.answers import inventory, option, row
from tests.truth.inventory import same_value


@pytest.mark.parametrize(
    ("truth", "answer"),
    [("True", True), (True, True), ("64", 64), ("None", None), ("fa3", "fa3"), (">1", 2), (None, None)],
)
def test_spellings_of_one_setting(truth: Any, answer: Any) -> None:
    assert same_value(truth, answer)


@pytest.mark.parametrize(
    ("truth", "answer"), [("True", False), (True, 1), ("64", 128), (">1", 1), (">1", True), ("fa3", "fa4"), (None, False)]
)
def test_different_settings(truth: Any, answer: Any) -> None:
    assert not same_value(truth, answer)


def test_one_is_true_in_the_environment_only() -> None:
    assert same_value("1", True, is_environment=True)
    assert same_value("0", False, is_environment=True)
    assert not same_value("1", True)
    assert not same_value("1", False, is_environment=True)


def test_a_row_of_the_value_comes_before_the_row_of_any_value() -> None:
    found = inventory(option("x", [row(90, "*", "noop"), row(90, "a", "active"), row(100, "a", "rejected")]))
    assert found.verdict("x", "a", 90) == "active"
    assert found.verdict("x", "b", 90) == "noop"
    assert found.verdict("x", "b", 100) == "ungated"


def test_defaults() -> None:
    found = inventory(option("x", default=1, defaults={90: [2], 100: [3, 4]}))
    by_sm = {sm: found.default("x", sm) for sm in (80, 90, 100)}
    assert [(item.values, item.is_declared, item.is_decided) for item in by_sm.values() if item] == [
        ((1,), True, True),
        ((2,), False, True),
        ((3, 4), False, False),
    ]
    assert found.default("y", 90) is None


def test_a_nested_default_is_found_inside_its_owner() -> None:
    found = inventory(option("graphs", defaults={90: [{"decode": {"backend": "full"}}]}))
    default = found.default("graphs.decode.backend", 90)
    assert default is not None
    assert default.values == ("full",)
    assert found.default("graphs.prefill.backend", 90) is None
