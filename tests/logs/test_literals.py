from __future__ import annotations

import ast
import dataclasses
import enum
import math
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sm_gatecheck.logs.literals import DEPTH_LIMIT, Fields, read_fields
from sm_gatecheck.logs.model import Unread
from sm_gatecheck.logs.values import is_same


class Mode(enum.Enum):
    FAST = "fast"


@dataclasses.dataclass
class Inner:
    sizes: list[int]
    mode: Mode


@dataclasses.dataclass
class Args:
    path: str
    inner: Inner
    share: float
    pair: tuple[int, str]
    table: dict[str, Any]
    nothing: None = None


def fields(text: str) -> Fields:
    found = read_fields(text, 0)
    assert found is not None
    return found


def values(text: str) -> dict[str, Any]:
    found = fields(text)
    assert found.end == len(text)
    return found.values


def test_the_repr_of_a_dataclass() -> None:
    args = Args("/m/it's, (one)\\\"\n", Inner([1, 2], Mode.FAST), -0.5, (1, "b"), {"k": {"x": None}, "a=b": True})
    assert values(repr(args).replace("test_the_repr_of_a_dataclass.<locals>.", "")) == {
        "path": args.path,
        "inner": {"sizes": [1, 2], "mode": "fast"},
        "share": -0.5,
        "pair": [1, "b"],
        "table": {"k": {"x": None}, "a=b": True},
        "nothing": None,
    }


LITERALS = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.from_regex(r"\A[a-z_]{1,9}\Z").filter(lambda name: name not in ("if", "is")), LITERALS, max_size=6))
def test_it_reads_what_python_writes(wanted: dict[str, Any]) -> None:
    assert is_same(values(repr(wanted)), wanted)
    assert is_same(values(f"Args({', '.join(f'{name}={value!r}' for name, value in wanted.items())})"), wanted)


@given(st.text(alphabet="()[]{}<>,=:'\"\\ab1-. \n", max_size=200))
def test_any_text_ends_in_an_answer(text: str) -> None:
    found = fields("Args(" + text)
    assert found.end is None or found.end <= len(text) + 5


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("float('inf')", math.inf),
        ("inf", math.inf),
        ("-inf", -math.inf),
        ("1e-05", 1e-05),
        ("1_000", 1000),
        ("set()", []),
        ("{1, 2}", [1, 2]),
        ("frozenset({'a'})", ["a"]),
        ("PosixPath('/m')", "/m"),
        ("<Mode.FAST: 'fast'>", "fast"),
        ("<Level.LOW: 3>", 3),
        ("<object object at 0x7f>", Unread("<object object at 0x7f>")),
        ("torch.float16", Unread("torch.float16")),
        ("OrderedDict([('a', 1)])", [["a", 1]]),
        ("1 + 2", Unread("1 + 2")),
        ("f(1, 2)", Unread("f(1, 2)")),
        ("lambda: (1, 2)", Unread("lambda: (1, 2)")),
        ("b'x'", Unread("b'x'")),
        (r"'\xzz'", Unread(r"'\xzz'")),
        ("9" * 500, Unread("9" * 500)),
        ("", Unread("")),
    ],
)
def test_a_value(text: str, value: Any) -> None:
    assert values(f"Args(a={text}, z=1)") == {"a": value, "z": 1}
    assert values("{'a': " + text + ", 'z': 1}") == {"a": value, "z": 1}


def test_nothing_is_run() -> None:
    assert values("Args(a=__import__('os').system('false'), z=1)")["z"] == 1


def test_one_bad_field_costs_that_field_alone() -> None:
    found = fields("Args(a=1, ?!, b=*2, 7=3, c=3)").values
    assert found == {"a": 1, "b": Unread("*2"), "c": 3}


def test_depth_is_limited_and_the_rest_is_read() -> None:
    deep = "[" * (DEPTH_LIMIT + 5) + "]" * (DEPTH_LIMIT + 5)
    assert values(f"Args(a={deep}, z=1)") == {"a": Unread(deep), "z": 1}
    assert fields("Args(a=" + "[" * 100_000).values == {}


@pytest.mark.parametrize("text", ["Args(a=1, b='unfinished", "Args(a=1, b=[1, 2", "Args(a=1, b", "Args(a=1, b=", "{'a': 1, 'b': {"])
def test_a_text_that_is_cut_keeps_what_is_whole(text: str) -> None:
    found = fields(text)
    assert found.values == {"a": 1}
    assert found.end is None


@pytest.mark.parametrize("text", ["", "None", "Args", "Args [", "3", "'x'"])
def test_no_object(text: str) -> None:
    assert read_fields(text, 0) is None


@pytest.mark.parametrize("unit", ["(", "<", "a=", "'", '"', "\\", ",", "-", "a=[{", "a=<"])
def test_time_grows_with_the_length_alone(unit: str) -> None:
    started = time.monotonic()
    read_fields("Args(" + unit * (300_000 // len(unit)), 0)
    assert time.monotonic() - started < 10


def test_the_words_of_python_are_the_same() -> None:
    text = "{'a': [True, False, None, -3, 2.5, 'x']}"
    assert values(text) == ast.literal_eval(text)
