"""Helm values: what the fixtures leave out."""

from __future__ import annotations

from typing import Any

import pytest

from tests.launch.conftest import Read

IMAGE = "image: {repository: lmsysorg/sglang, tag: v0.5.9}\n"


@pytest.mark.parametrize(
    ("values", "options"),
    [
        ('extraArgs: "--model-path /m --tp 2"', {"tp_size": 2}),
        ("extraArgs: >-\n  --model-path /m\n  --tp 2", {"tp_size": 2}),
        ("extraArgs: |\n  --model-path /m \\\n  --tp 2", {"tp_size": 2}),
        ("extraArgs: [--model-path, /m, --tp, '2']", {"tp_size": 2}),
        ("extraArgs:\n- --model-path /m\n- --tp=2", {"tp_size": 2}),
        ("extraArgs: {model-path: /m, tp: 2, trust-remote-code: ''}", {"tp_size": 2, "trust_remote_code": True}),
        ("extraArgs: {model-path: /m, enable-metrics: true, disable-radix-cache: false}", {"enable_metrics": True}),
        ("args: [--model-path, /m]\nextraArgs: --tp 2", {"tp_size": 2}),
        ("command: [sglang, serve]\nargs: [--model-path, /m]\nextraArgs: [--tp, '2']", {"tp_size": 2}),
        ("command: [bash, -c]\nargs: ['sglang serve --model-path /m --tp 2']", {"tp_size": 2}),
        ("server:\n  additionalArguments: --model-path /m --tp 2", {"tp_size": 2}),
        ("sglang:\n  serverFlags: --model-path=/m --tp=2", {"tp_size": 2}),
        ("server: {command: 'python3 -m sglang.launch_server --model-path /m --tp 2'}", {"tp_size": 2}),
    ],
)  # fmt: skip
def test_arguments_in_every_form(values: str, options: dict[str, Any], read: Read) -> None:
    (launch,) = read(IMAGE + values + "\n", format="helm")
    assert launch.values == {"model_path": "/m", **options}
    assert launch.problems == ()
    assert launch.sglang_version is not None
    assert launch.sglang_version.version == "0.5.9"


def test_arguments_of_other_programs_are_left_alone(read: Read) -> None:
    assert (
        read('router:\n  image: {repository: x/router, tag: v1}\n  extraArgs: "--policy cache_aware --worker-urls a"\n', format="helm")
        == ()
    )
    assert read("nginx: {args: [-g, daemon off;]}\n", format="helm") == ()


def test_without_an_image_most_flags_have_to_be_the_servers(read: Read) -> None:
    (launch,) = read("engine:\n  extraArgs: --tp 2 --attention-backend triton --of-the-chart 1\n", format="helm")
    assert launch.values == {"tp_size": 2, "attention_backend": "triton"}
    assert [problem.kind for problem in launch.problems] == ["unknown-flag"]


def test_variables_hold_for_what_is_below(read: Read) -> None:
    (launch,) = read(
        IMAGE + "env: {SGLANG_A: '1', SGLANG_B: '1'}\nserver:\n  extraArgs: --tp 2\n  extraEnv: [{name: SGLANG_B, value: '2'}]\n",
        format="helm",
    )
    assert {name: setting.value for name, setting in launch.environment.items()} == {"SGLANG_A": "1", "SGLANG_B": "2"}
    assert launch.name == "server"
