from __future__ import annotations

from typing import Any

import pytest

from sm_gatecheck.cli.settings import read_settings
from sm_gatecheck.model.errors import UsageError
from sm_gatecheck.model.option import Option

OPTIONS = (
    Option("tp_size", ("--tensor-parallel-size", "--tp-size"), ("--tensor-parallel-size",), type="int", default=1),
    Option("mem_fraction_static", ("--mem-fraction-static",), type="Optional[float]"),
    Option("enable_x", ("--enable-x",), type="bool", default=False),
    Option("backend", ("--backend",), type="Optional[str]", choices=("fa3", "triton")),
    Option("level", ("--level",), type="int", default=1, choices=(1, 2)),
    Option("model_path", ("--model-path",), type="str"),
    Option("sizes", ("--sizes",), type="Optional[List[int]]", nargs="+"),
    Option("names", ("--names",), type="list[str] | None"),
    Option("kinds", ("--kinds",), choices=("a", "b"), nargs="+"),
    Option("ratio", ("--ratio",), default=0.5),
    Option("limit", ("--limit",), type="int", default=8, help="Rows at most, -1 for no limit."),
    Option("port", ("--port",), type="int | None", default=None),
    Option("env:SGLANG_FAST", type="bool", default=False),
)


@pytest.mark.parametrize(
    ("written", "field", "value"),
    [
        ("tp_size=4", "tp_size", 4),
        ("tensor-parallel-size=4", "tp_size", 4),
        ("--tp-size=4", "tp_size", 4),
        ("tensor_parallel_size=4", "tp_size", 4),
        ("mem_fraction_static=0.8", "mem_fraction_static", 0.8),
        ("mem_fraction_static=None", "mem_fraction_static", None),
        ("enable_x=true", "enable_x", True),
        ("enable_x=0", "enable_x", False),
        ("backend=fa3", "backend", "fa3"),
        ("backend=none", "backend", None),
        ("level=2", "level", 2),
        ("model_path=a=b", "model_path", "a=b"),
        ("model_path=", "model_path", ""),
        ("sizes=1,2", "sizes", [1, 2]),
        ("sizes=[1, 2]", "sizes", [1, 2]),
        ("names=x y", "names", ["x", "y"]),
        ("names=['x']", "names", ["x"]),
        ("kinds=a,b", "kinds", ["a", "b"]),
        ("ratio=1", "ratio", 1.0),
        ("port=null", "port", None),
        ("port=8", "port", 8),
        ("port=-1", "port", -1),
        ("limit=-1", "limit", -1),
        ("model_arch=Qwen3MoeForCausalLM", "model_arch", "Qwen3MoeForCausalLM"),
        ("env:SGLANG_FAST=1", "env:SGLANG_FAST", True),
        ("env:OTHER=1", "env:OTHER", "1"),
    ],
)
def test_a_value_has_the_type_of_its_option(written: str, field: str, value: Any) -> None:
    settings = read_settings([written], OPTIONS)
    assert settings == {field: value}
    assert type(settings[field]) is type(value)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("tp_size", "write FIELD=VALUE"),
        ("=4", "write FIELD=VALUE"),
        ("tp_sise=4", "there is no option 'tp_sise': did you mean 'tp_size'?"),
        ("model-arch_=x", "did you mean 'model_arch'?"),
        ("zzzzzz=4", "there is no option 'zzzzzz': 'gatecheck options TREE' lists them"),
        ("tp_size=four", "--set tp_size=four: tp_size takes a whole number"),
        ("tp_size=1.5", "takes a whole number"),
        ("mem_fraction_static=high", "takes a number"),
        ("tp_size=-4", "tp_size cannot be below zero; by default it is 1"),
        ("ratio=nan", "ratio cannot be that large"),
        ("ratio=-0.5", "ratio cannot be below zero"),
        ("tp_size=99999999999999999999", "tp_size cannot be that large"),
        ("enable_x=maybe", "enable_x is true or false"),
        ("backend=fa", "'fa' is no choice of it: did you mean 'fa3'?"),
        ("backend=xyz", "'xyz' is no choice of it: fa3, triton"),
        ("kinds=a,c", "'c' is no choice of it"),
        ("sizes=1,x", "takes numbers"),
        ("sizes=[1", "that is no list"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_mend(written: str, said: str) -> None:
    with pytest.raises(UsageError) as refusal:
        read_settings([written], OPTIONS)
    assert said in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_the_last_of_several_counts() -> None:
    assert read_settings(["tp_size=2", "enable_x=1", "tp=8".replace("tp", "tp_size")], OPTIONS) == {"tp_size": 8, "enable_x": True}
