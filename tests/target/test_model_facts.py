"""What the tree's own configuration class makes of a model of which the architecture alone is known."""

from __future__ import annotations

from typing import Any

import pytest

from sm_gatecheck.rulebook import Rulebook
from sm_gatecheck.target.session import Session
from sm_gatecheck.verdicts.resolved import values_on

SERVER_ARGS = b"""
import argparse
import dataclasses
from typing import Optional

from sglang.srt.configs.model_config import ModelConfig


@dataclasses.dataclass
class ServerArgs:
    model_path: str
    page_size: Optional[int] = None
    window: Optional[int] = None
    load_format: str = "auto"

    def __post_init__(self):
        self._handle_model()

    def get_model_config(self):
        return ModelConfig.from_server_args(self)

    def _handle_model(self):
        model_config = self.get_model_config()
        if model_config.is_latent:
            self.page_size = 64
        else:
            self.page_size = 1
        if model_config.hf_config.sliding:
            self.window = 128

    @staticmethod
    def add_cli_args(parser: argparse.ArgumentParser):
        parser.add_argument("--model-path", type=str, required=True)
        parser.add_argument("--page-size", type=int, default=ServerArgs.page_size)
        parser.add_argument("--window", type=int, default=ServerArgs.window)
        parser.add_argument("--load-format", type=str, default=ServerArgs.load_format)
"""
MODEL_CONFIG = b"""
from sglang.srt.hf_transformers_utils import get_config


class ModelConfig:
    def __init__(self, model_path):
        self.hf_config = get_config(model_path)
        self.is_latent = is_latent(self.hf_config.architectures)

    @staticmethod
    def from_server_args(server_args):
        return ModelConfig(server_args.model_path)


def is_latent(architectures):
    return "LatentForCausalLM" in architectures
"""
HELPERS = b"""
def get_config(model):
    raise NotImplementedError
"""
FILES = {
    "version.py": b'__version__ = "0.5.9"\n',
    "srt/server_args.py": SERVER_ARGS,
    "srt/configs/model_config.py": MODEL_CONFIG,
    "srt/hf_transformers_utils.py": HELPERS,
}


def resolved(settings: dict[str, Any], model_config: dict[str, Any] | None = None) -> dict[str, list[Any]]:
    session = Session(FILES, Rulebook.open(), cuda="12.9", settings=settings, version="0.5.9", model_config=model_config)
    outcome = session.resolver.run({"model_path": "org/model"})
    bits = session.devices.bit(120)
    return {
        name: [item.value for item in values_on(session.space, outcome.fields[name], bits).values()] for name in ("page_size", "window")
    }


@pytest.mark.parametrize(("architecture", "page_size"), [("LatentForCausalLM", 64), ("PlainForCausalLM", 1)])
def test_what_hangs_on_the_architecture_is_decided(architecture: str, page_size: int) -> None:
    found = resolved({"model_arch": architecture})
    assert found["page_size"] == [page_size]
    assert sorted(found["window"], key=repr) == [128, None]  # the rest of the configuration stays open


def test_nothing_is_decided_of_a_model_that_nothing_is_known_of() -> None:
    assert sorted(resolved({})["page_size"]) == [1, 64]


def test_a_configuration_decides_the_rest() -> None:
    found = resolved({}, {"architectures": ["LatentForCausalLM"], "sliding": False})
    assert found == {"page_size": [64], "window": [None]}
