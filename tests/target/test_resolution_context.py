"""Resolution under a model's configuration, a memory size and variables, on small trees of our own."""

from __future__ import annotations

from typing import Any

import pytest

from sm_gatecheck.target.outcome import Outcome
from sm_gatecheck.target.rules import open_rules
from sm_gatecheck.target.session import Session
from sm_gatecheck.verdicts.resolved import values_on

LOADER = """
def get_config(model, **kwargs):
    return fetch(model)
"""
MODEL_CONFIG = """
from sglang.srt.utils.hf_transformers_utils import get_config

class ModelConfig:
    def __init__(self, model_path, quantization):
        self.hf_config = get_config(model_path)
        self.is_vision = hasattr(self.hf_config, "vision_config")
        self.heads = getattr(self.hf_config, "num_attention_heads", 1)
        if quantization is not None and quantization != "fp8":
            raise ValueError("unknown method")
"""
MEMORY = """
import subprocess

def get_nvgpu_memory_capacity():
    return float(subprocess.run(["nvidia-smi"]).stdout)
"""
ARGS = """
import dataclasses
import os
from typing import Dict, List, Optional
from sglang.srt.utils.common import get_nvgpu_memory_capacity

REGISTRY: Dict[str, List] = {}

def register(name):
    def put(function):
        REGISTRY.setdefault(name, []).append(function)
        return function
    return put

@register("wide")
def _wide(args):
    args.page_size = 128

@dataclasses.dataclass
class Phase:
    backend: str = "full"
    sizes: Optional[list] = None

@dataclasses.dataclass
class Graphs:
    decode: Phase = dataclasses.field(default_factory=lambda: Phase(backend="full"))
    prefill: Phase = dataclasses.field(default_factory=Phase)

@dataclasses.dataclass
class ServerArgs:
    model_path: str
    quantization: Optional[str] = None
    page_size: Optional[int] = None
    batch: Optional[int] = None
    disable_overlap: bool = False
    enable_quiet: bool = False
    shape: str = "narrow"
    graphs: Optional[Graphs] = None

    def __post_init__(self):
        from sglang.srt.configs.model_config import ModelConfig

        memory = get_nvgpu_memory_capacity()
        self.batch = 8 if memory < 40 * 1024 else 256
        self.graphs = Graphs()
        try:
            model = ModelConfig(self.model_path, self.quantization)
        except BaseException:
            self.failed = True
            raise
        if model.is_vision:
            self.disable_overlap = True
        for function in REGISTRY.get(self.shape, ()):
            function(self)
        if self.enable_quiet:
            self.graphs.decode.backend = "off"
            os.environ["LOUD"] = "0"
        if os.getenv("LOUD", "1") == "0":
            self.page_size = model.heads

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--model-path", type=str)
        parser.add_argument("--quantization", type=str)
        parser.add_argument("--page-size", type=int)
        parser.add_argument("--batch", type=int)
        parser.add_argument("--disable-overlap", action="store_true")
        parser.add_argument("--enable-quiet", action="store_true")
        parser.add_argument("--shape", type=str, default="narrow")

    def check_server_args(self):
        assert self.batch != 8, "too small"
        self.batch = 1
"""
FILES = {
    "srt/server_args.py": ARGS,
    "srt/configs/model_config.py": MODEL_CONFIG,
    "srt/utils/hf_transformers_utils.py": LOADER,
    "srt/utils/common.py": MEMORY,
}
TEXT = {"architectures": ["TextModel"], "model_type": "text", "num_attention_heads": 16}
VISION = {**TEXT, "vision_config": {"depth": 2}}


def session(config: dict[str, Any] | None = None, memory: int | None = None) -> Session:
    files = {name: text.encode() for name, text in FILES.items()}
    return Session(files, open_rules(), cuda="12.9", settings={}, version="0.5.9", model_config=config, gpu_memory=memory)


def resolved(given: Session, outcome: Outcome, name: str) -> list[Any]:
    found = values_on(given.space, outcome.fields[name], given.devices.bit(90))
    return [alternative.value if alternative.known else "?" for alternative in found.values()]


@pytest.mark.parametrize(("config", "expected"), [(TEXT, [False]), (VISION, [True])])
def test_what_the_tree_derives_from_the_model_decides(config: dict[str, Any], expected: list[bool]) -> None:
    given = session(config)
    assert resolved(given, given.resolver.run({}), "disable_overlap") == expected


def test_without_a_model_both_remain() -> None:
    given = session()
    assert sorted(map(str, resolved(given, given.resolver.run({}), "disable_overlap"))) == ["False", "True"]


@pytest.mark.parametrize(("memory", "expected"), [(24 * 1024, [8]), (81559, [256])])
def test_memory_decides_what_memory_decides(memory: int, expected: list[int]) -> None:
    given = session(TEXT, memory)
    assert resolved(given, given.resolver.run({}), "batch") == expected


def test_a_check_after_resolution_refuses_and_changes_nothing() -> None:
    small, large = session(TEXT, 24 * 1024), session(TEXT, 81559)
    assert [event.kind for event in small.resolver.run({}).events] == ["assert"]
    outcome = large.resolver.run({})
    assert outcome.events == []
    assert resolved(large, outcome, "batch") == [256]


def test_a_refusal_of_the_models_own_class_is_told_where_it_stands() -> None:
    given = session(TEXT, 81559)
    events = [event for event in given.resolver.run({"quantization": "int1"}).events if event.kind == "raise"]
    assert [event.module.path for event in events] == ["srt/configs/model_config.py"]
    assert given.resolver.run({"quantization": "fp8"}).events == []


def test_a_registry_holds_what_decorators_put_there() -> None:
    given = session(TEXT, 81559)
    assert resolved(given, given.resolver.run({"shape": "wide"}), "page_size") == [128]
    assert resolved(given, given.resolver.run({}), "page_size") == [None]


def test_a_variable_that_is_written_is_read_afterwards() -> None:
    given = session(TEXT, 81559)
    outcome = given.resolver.run({"enable_quiet": True})
    assert resolved(given, outcome, "env:LOUD") == ["0"]
    assert resolved(given, outcome, "page_size") == [16]


def test_the_fields_of_an_object_are_fields() -> None:
    given = session(TEXT, 81559)
    quiet, plain = given.resolver.run({"enable_quiet": True}), given.resolver.run({})
    assert resolved(given, quiet, "graphs.decode.backend") == ["off"]
    assert resolved(given, quiet, "graphs.prefill.backend") == ["full"]
    assert resolved(given, plain, "graphs.decode.backend") == ["full"]
    assert resolved(given, plain, "graphs") == [
        {"decode": {"backend": "full", "sizes": None}, "prefill": {"backend": "full", "sizes": None}}
    ]


def test_a_run_leaves_nothing_behind_for_the_next() -> None:
    given = session(TEXT, 81559)
    before = given.resolver.run({}).fields
    given.resolver.run({"enable_quiet": True})
    after = given.resolver.run({}).fields
    for name in ("graphs.decode.backend", "page_size", "disable_overlap"):
        assert before[name] == after[name]
    assert "env:LOUD" not in after


def test_a_variable_that_is_set_sets_options() -> None:
    given = session(TEXT, 81559)
    assert given.resolver.sees("env:LOUD") is None
    given.resolver.run({})
    assert given.resolver.sees("env:LOUD") is True
    assert resolved(given, given.resolver.run({"env:LOUD": "0"}), "page_size") == [16]
    assert resolved(given, given.resolver.run({"env:LOUD": "1"}), "page_size") == [None]
    assert given.resolver.sees("env:OTHER") is None


def test_a_variable_read_by_an_import_is_asked_for_anew() -> None:
    files = {name: text.encode() for name, text in FILES.items()}
    files["srt/server_args.py"] = (
        ARGS.replace('os.getenv("LOUD", "1") == "0"', "QUIET")
        .replace("REGISTRY:", 'QUIET = os.getenv("LOUD", "1") == "0"\nREGISTRY:')
        .encode()
    )
    given = Session(files, open_rules(), cuda="12.9", settings={}, version="0.5.9", model_config=TEXT, gpu_memory=81559)
    given.resolver.run({})
    assert given.resolver.sees("env:LOUD") is False
    assert resolved(given, given.resolver_under({"env:LOUD": "0"}).run({}), "page_size") == [16]


NAMED = """
import enum

class Shape(enum.Enum):
    ROUND = "round"
    SQUARE = "square"

def of(name):
    try:
        return Shape[name.upper()]
    except KeyError:
        pass
    return Shape.SQUARE
"""


@pytest.mark.parametrize(("shape", "expected"), [("round", 1), ("oval", 4)])
def test_an_enum_is_asked_for_a_member_by_name(shape: str, expected: int) -> None:
    files = {name: text.encode() for name, text in FILES.items()}
    files["srt/shapes.py"] = NAMED.encode()
    files["srt/server_args.py"] = ARGS.replace(
        "        for function in REGISTRY",
        "        from sglang.srt.shapes import Shape, of\n"
        "        self.page_size = 1 if of(self.shape) == Shape.ROUND else 4\n"
        "        for function in REGISTRY",
    ).encode()
    given = Session(files, open_rules(), cuda="12.9", settings={}, version="0.5.9", model_config=TEXT, gpu_memory=81559)
    assert resolved(given, given.resolver.run({"shape": shape}), "page_size") == [expected]


HANDED_ON = """
import dataclasses
from typing import Optional

def check_width(width, shape):
    if shape == "narrow" and width > 4:
        raise ValueError("too wide")

@dataclasses.dataclass
class ServerArgs:
    model_path: str
    width: int = 4
    height: Optional[int] = None
    shape: str = "narrow"

    def _mine(self):
        return self

    def __post_init__(self):
        check_width(width=self.width, shape=self.shape)
        self.height = 2 * self._mine().width

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--model-path", type=str)
        parser.add_argument("--width", type=int, default=4)
        parser.add_argument("--height", type=int)
        parser.add_argument("--shape", type=str, default="narrow")
"""


def handed_on() -> Session:
    return Session({"srt/server_args.py": HANDED_ON.encode()}, open_rules(), cuda="12.9", settings={}, version="0.5.9")


def test_a_check_that_is_given_plain_values_refuses_too() -> None:
    given = handed_on()
    assert given.resolver.run({}).events == []
    assert [(event.kind, event.condition.is_true) for event in given.resolver.run({"width": 8}).events] == [("raise", True)]
    assert given.resolver.run({"width": 8, "shape": "wide"}).events == []


def test_a_method_that_hands_out_the_options_object_does_so_in_every_run() -> None:
    given = handed_on()
    assert [resolved(given, given.resolver.run({"width": width}), "height") for width in (4, 3, 4)] == [[8], [6], [8]]
