"""Functions of the standard library that are called for real."""

from __future__ import annotations

import pytest

from sm_gatecheck.evaluate.standard_library import MATCH, call_standard
from sm_gatecheck.evaluate.values import Choice, Instance, Known, Opaque, Value, choice
from sm_gatecheck.model.condition import Space

SPACE = Space((90, 120))
EITHER: Value = choice([(SPACE.targets(1), Known("a")), (SPACE.targets(2), Known("b"))], Known(None))


def called(name: str, *args: Value) -> Value | None:
    return call_standard(SPACE, name, args, {})


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("math.ceil", (2.1,), 3),
        ("os.path.join", ("a", "b"), "a/b"),
        ("json.loads", ("3",), 3),
        ("re.match", ("x+", "yy"), None),
    ],
)
def test_plain_arguments(name: str, args: tuple[object, ...], expected: object) -> None:
    assert called(name, *(Known(arg) for arg in args)) == Known(expected)


def test_each_alternative_is_called_on_its_own() -> None:
    joined = called("os.path.join", Known("d"), EITHER)
    assert isinstance(joined, Choice)
    assert {payload for _, payload in joined.alternatives} == {Known("d/a"), Known("d/b")}


def test_a_match_is_something() -> None:
    found = called("re.match", Known(r"(.+)://(.*)"), Known("s3://bucket"))
    assert isinstance(found, Instance)
    assert found.name == MATCH


def test_what_is_not_known_stays_so() -> None:
    assert called("math.ceil", Opaque("x", "x")) is None
    assert called("math.ceil", Known("no number")) is None
    assert called("os.system", Known("true")) is None
    assert call_standard(SPACE, "json.loads", (Known("3"),), {"cls": Known(None)}) is None


def test_a_pattern_that_may_take_for_ever_is_not_tried() -> None:
    assert called("re.match", Known(r"(a+)+$"), Known("a" * 60 + "b")) is None
