"""JSON: what the fixtures leave out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.launch.conftest import Read


@pytest.mark.parametrize(
    "document",
    [
        {"model_path": "/m", "tp_size": 2},
        {"model-path": "/m", "tp-size": 2},
        {"engine_kwargs": {"model_path": "/m", "tp_size": 2}},
        {"a": {"b": [{"server_args": {"model_path": "/m", "tp_size": 2}}]}},
        ["sglang", "serve", "--model-path", "/m", "--tp", "2"],
        {"cmd": ["sglang", "serve", "--model-path", "/m", "--tp", "2"]},
        {"command": "sglang serve --model-path /m --tp 2"},
        {"command": ["sglang", "serve"], "args": ["--model-path", "/m", "--tp", "2"]},
        {"args": "--model-path /m --tp 2"},
        {"containerDefinitions": [{"name": "c", "image": "lmsysorg/sglang:v0.5.9", "command": ["--model-path", "/m", "--tp", "2"]}]},
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "spec": {"containers": [{"image": "x", "args": ["sglang", "serve", "--model-path=/m", "--tp=2"]}]},
        },
    ],
)
@pytest.mark.parametrize("indent", [None, 2, "\t"])
def test_launches_in_every_form(document: Any, indent: int | str | None, read: Read) -> None:
    (launch,) = read(json.dumps(document, indent=indent), format="json")
    assert launch.values == {"model_path": "/m", "tp_size": 2}
    assert launch.problems == ()


def test_values_keep_their_types(read: Read) -> None:
    text = '{"model_path": "/m\\u00e9\\/x", "tp_size": 2, "mem_fraction_static": 5e-1, "cuda_graph_bs": [1, 2], "quantization": null}'
    (launch,) = read(text, format="json")
    assert launch.values == {"model_path": "/mé/x", "tp_size": 2, "mem_fraction_static": 0.5, "cuda_graph_bs": [1, 2]}
    assert type(launch.options["mem_fraction_static"].value) is float


def test_other_json_has_no_launch(read: Read) -> None:
    assert read('{"name": "x", "scripts": {"start": "node ."}, "port": 3}', format="json") == ()
    assert read("[1, 2]", format="json") == ()
    assert read('"text"', format="json") == ()
