"""Why is piecewise CUDA graph off on my server? The question that started this project, asked of the release it was asked about."""

from __future__ import annotations

import json
import os
import re
from functools import cache
from typing import Any

import pytest

from sm_gatecheck.trees import TreeError, open_tree
from tests.cli.conftest import Run, run
from tests.truth import files
from tests.truth.command import tree_argument

__all__ = ["run"]

pytestmark = pytest.mark.release

RELEASE = "0.5.10"
FIELD = "disable_piecewise_cuda_graph"
HANDLER = "ServerArgs._handle_piecewise_cuda_graph"
BLAMED = "enable_flashinfer_allreduce_fusion"
CONDITIONS = (
    "enforce_piecewise_cuda_graph",
    "is_piecewise_cuda_graph_disabled_model",
    "speculative_algorithm",
    "enable_dp_attention",
    "enable_torch_compile",
    "pp_size",
    "is_hip()",
    "moe_a2a_backend",
    "enable_lora",
    "is_multimodal",
    "gguf",
    "dllm_algorithm",
    "cpu_offload_gb",
    "enable_deterministic_inference",
    "disaggregation_mode",
    "enable_symm_mem",
    "enable_eplb",
    "attn_cp_size",
)
"""What the handler asks before each of its writes, in order."""


@cache
def source() -> str:
    try:
        return open_tree(tree_argument(RELEASE)).files["srt/server_args.py"].decode("utf-8")
    except TreeError as error:
        if os.environ.get("CI") == "true":
            pytest.fail(f"sglang {RELEASE} could not be had: {error}")
        pytest.skip(f"sglang {RELEASE} could not be had: {error}")


def asked(run: Run, *settings: str) -> Any:
    source()
    words = [word for setting in settings for word in ("--set", setting)]
    ended = run("explain", "--sm", "120", tree_argument(RELEASE), FIELD, "--what-sets", *words, "--format", "json")
    assert ended.status == 0, ended.stderr
    return json.loads(ended.stdout)


def met(found: Any, name: str) -> set[str]:
    """What is said of the writes whose last test names something."""
    return {entry["met"] for write in found["writes"] if name in write["tests"][-1]["source"] for entry in write["met"]}


def test_every_write_is_listed_once_with_its_condition(run: Run) -> None:
    found = asked(run)
    lines = [number for number, line in enumerate(source().splitlines(), 1) if re.search(rf"\bself\.{FIELD}\s*=[^=]", line)]
    assert [write["line"] for write in found["writes"]] == lines
    handler = [write for write in found["writes"] if write["function"] == HANDLER]
    assert [name for name in CONDITIONS if not any(name in write["tests"][-1]["source"] for write in handler)] == []
    assert len(handler) == len(CONDITIONS)
    assert found["unfinished"] is None


def test_the_option_that_was_blamed_does_not_set_it(run: Run) -> None:
    for found in (asked(run), asked(run, f"{BLAMED}=true")):
        assert BLAMED not in json.dumps(found["writes"])
    plain, blamed = asked(run), asked(run, f"{BLAMED}=true")
    assert [write["met"] for write in plain["writes"]] == [write["met"] for write in blamed["writes"]]


@pytest.mark.parametrize(
    ("setting", "name"),
    [
        ("enable_lora=true", "enable_lora"),
        ("moe_a2a_backend=deepep", "moe_a2a_backend"),
        ("enable_dp_attention=true", "enable_dp_attention"),
        ("pp_size=2", "pp_size"),
    ],
)
def test_what_a_launch_meets_is_said(run: Run, setting: str, name: str) -> None:
    assert met(asked(run), name) == {"never"}
    found = asked(run, setting, *(["dp_size=2", "tp_size=2"] if name == "enable_dp_attention" else []))
    assert met(found, name) == {"always"}
    assert [[value["value"] for value in entry["values"]] for entry in found["final"]] == [[True]]


def test_a_condition_of_the_model_stays_open(run: Run) -> None:
    assert met(asked(run), "is_multimodal") == {"depends"}
    assert met(asked(run, "enforce_piecewise_cuda_graph=true"), "is_multimodal") == {"never"}


@pytest.mark.parametrize(("model", "said"), [("qwen3_5_moe", "always"), ("qwen3_moe", "never")])
def test_the_model_s_own_configuration_answers(run: Run, model: str, said: str) -> None:
    source()
    config = str(files.MODELS / model / "config.json")
    ended = run("explain", "--sm", "120", tree_argument(RELEASE), FIELD, "--what-sets", "--model-config", config, "--format", "json")
    found = json.loads(ended.stdout)
    assert met(found, "is_multimodal") == {said}
    assert [[value["value"] for value in entry["values"]] for entry in found["final"]] == [[said == "always"]]
