"""Compose files: what the fixtures leave out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sm_gatecheck.launch import read_launch
from tests.launch.conftest import Read
from tests.launch.tables import table


def service(command: str, more: str = "") -> str:
    return f"services:\n  a:\n    image: lmsysorg/sglang:v0.5.9\n    command: {command}\n{more}"


@pytest.mark.parametrize(
    ("command", "values"),
    [
        ("sglang serve --model-path /m --tp 2", {"tp_size": 2}),
        ("[sglang, serve, --model-path, /m, --tp, 2]", {"tp_size": 2}),
        ('"sglang serve --model-path /m --served-model-name \\"a b\\""', {"served_model_name": "a b"}),
        ("'sglang serve --model-path /m --served-model-name ''a b'''", {"served_model_name": "a b"}),
        (">\n      sglang serve\n      --model-path /m\n\n      --tp 2\n", {"tp_size": 2}),
        ("|-\n      sglang serve --model-path /m \\\n      --tp 2", {"tp_size": 2}),
        ("sglang serve\n      --model-path /m\n      --tp 2", {"tp_size": 2}),
        ("sh -c \"sglang serve --model-path /m --tp $$((1+1))\"", {"tp_size": 2}),
        ("--model-path /m --tp 2", {"tp_size": 2}),
        ("sglang serve --model-path /m --tp ${TP:-2} --port ${PORT-3}", {"tp_size": 2, "port": 3}),
        ("sglang serve --model-path ${A:+x}/m --api-key ${B:-${C:-d}} --log-level '$$x'", {"api_key": "d", "log_level": "$x"}),
    ],
)  # fmt: skip
def test_commands_in_every_form(command: str, values: dict[str, Any], read: Read) -> None:
    (launch,) = read(service(command))
    assert launch.values == {"model_path": "/m", **values}
    assert launch.name == "a"
    assert launch.problems == ()
    assert launch.unresolved == ()


def test_what_nobody_fills_in_is_listed(read: Read) -> None:
    (launch,) = read(service("sglang serve --model-path $MODEL --tp ${TP} $REST", "    environment: [KEY, 'A=${B}']\n"))
    assert launch.values == {"model_path": "$MODEL", "tp_size": "${TP}"}
    assert launch.unresolved == ("$KEY", "$MODEL", "$TP", "$REST", "$B")
    (filled,) = read(service("sglang serve --model-path $MODEL --tp ${TP}"), environment={"MODEL": "/m", "TP": "4"})
    assert filled.values == {"model_path": "/m", "tp_size": 4}


def test_environment_in_every_form(read: Read) -> None:
    (launch,) = read(
        """
        x-more: &more {SGLANG_A: "1", SGLANG_B: 2}
        services:
          a:
            image: x
            command: sglang serve --model-path /m
            environment:
              <<: *more
              SGLANG_B: true
              SGLANG_C: 0.50
              SGLANG_D: ""
        """
    )
    assert {name: setting.value for name, setting in launch.environment.items()} == {
        "SGLANG_A": "1", "SGLANG_B": "true", "SGLANG_C": "0.50", "SGLANG_D": "",
    }  # fmt: skip


def test_services_that_share_a_command_are_told_apart(read: Read) -> None:
    launches = read(
        """
        services:
          a: &base {image: x, command: &command [sglang, serve, --model-path, /m], environment: {X: "1"}}
          b: {<<: *base, environment: {X: "2"}}
          c: {image: y, command: *command}
        """
    )
    assert [(launch.name, {name: setting.value for name, setting in launch.environment.items()}) for launch in launches] == [
        ("a", {"X": "1"}), ("b", {"X": "2"}), ("c", {}),
    ]  # fmt: skip


def test_a_mounted_file_of_arguments(tmp_path: Path) -> None:
    (tmp_path / "args.yaml").write_text("tp-size: 4\n", encoding="utf-8")
    text = service("sglang serve --model-path /m --config /etc/args.yaml", "    volumes: [./args.yaml:/etc/args.yaml:ro]\n")
    (tmp_path / "compose.yaml").write_text(text, encoding="utf-8")
    (launch,) = read_launch(tmp_path / "compose.yaml", table())
    assert (launch.config, launch.values) == ("/etc/args.yaml", {"tp_size": 4, "model_path": "/m"})
    (tmp_path / "args.yaml").unlink()
    (missing,) = read_launch(tmp_path / "compose.yaml", table())
    assert (missing.values, missing.unresolved) == ({"model_path": "/m"}, ("--config /etc/args.yaml (not available)",))
