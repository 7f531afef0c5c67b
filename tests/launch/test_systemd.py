"""systemd units: what the fixtures leave out."""

from __future__ import annotations

from pathlib import Path

from sm_gatecheck.launch import read_launch
from tests.launch.conftest import Read
from tests.launch.tables import table


def test_several_commands_are_several_launches(read: Read) -> None:
    launches = read(
        """
        [Service]
        Type=oneshot
        ExecStart=-/usr/bin/python3 -m sglang.launch_server --model-path /a
        ExecStart=@/opt/sglang sglang-two serve --model-path /b
        ExecStart=+/opt/bin/sglang serve --model-path /c
        """
    )
    assert [(launch.entry, launch.model_path) for launch in launches] == [
        ("python -m sglang.launch_server", "/a"),
        ("sglang serve", "/b"),
        ("sglang serve", "/c"),
    ]


def test_only_the_service_section_counts(read: Read) -> None:
    (launch,) = read(
        """
        [Unit]
        Environment=SGLANG_UNIT=1
        [Service]
        Environment=SGLANG_SERVICE=1
        Environment=
        Environment=SGLANG_LATER=1
        ExecStart=sglang serve --model-path /a
        [X-Other]
        Environment=SGLANG_OTHER=1
        """
    )
    assert list(launch.environment) == ["SGLANG_LATER"]


def test_quotes_and_escapes_are_systemds(read: Read) -> None:
    (launch,) = read(
        r"""
        [Service]
        Environment="A=one two" 'B=thr"ee' C=a\x20b D="e\tf"
        ExecStart=sglang serve --served-model-name "a 'b' c" --model-path '/m/"x"' --log-level in"fo" --api-key a\x20b
        """
    )
    assert {name: setting.value for name, setting in launch.environment.items()} == {"A": "one two", "B": 'thr"ee', "C": "a b", "D": "e\tf"}
    assert launch.values == {"served_model_name": "a 'b' c", "model_path": '/m/"x"', "log_level": "info", "api_key": "a b"}


def test_variables_and_specifiers(read: Read) -> None:
    (launch,) = read(
        """
        [Service]
        Environment=DIR=/models "FLAGS=--tp 2  --enable-metrics" EMPTY=
        ExecStart=sglang serve --model-path ${DIR}/x $FLAGS $EMPTY --served-model-name 100%% --api-key ${KEY} --log-level $LEVEL $REST
        """
    )
    assert launch.values == {
        "model_path": "/models/x",
        "tp_size": 2,
        "enable_metrics": True,
        "served_model_name": "100%",
        "api_key": "${KEY}",
        "log_level": "$LEVEL",
    }
    assert launch.unresolved == ("$KEY", "$LEVEL", "$REST")


def test_a_colon_keeps_dollar_signs(read: Read) -> None:
    (launch,) = read("[Service]\nEnvironment=X=1\nExecStart=:sglang serve --api-key ${X} --model-path $X\n")
    assert launch.values == {"api_key": "${X}", "model_path": "$X"}
    assert launch.unresolved == ()


def test_variables_of_the_machine_where_they_are_given(read: Read) -> None:
    (launch,) = read(
        "[Service]\nPassEnvironment=HF_TOKEN LANG\nExecStart=sglang serve --model-path ${MODEL}\n",
        environment={"MODEL": "/m", "HF_TOKEN": "t"},
    )
    assert launch.model_path == "/m"
    assert launch.environment["HF_TOKEN"].value == "t"
    assert launch.unresolved == ("$LANG",)


def test_the_name_of_an_instance_fills_in(tmp_path: Path) -> None:
    unit = "[Service]\nExecStart=sglang serve --model-path /m/%i --served-model-name %p --log-level %n\n"
    (tmp_path / "chat@qwen.service").write_text(unit, encoding="utf-8")
    (tmp_path / "chat@.service.d").mkdir()
    (tmp_path / "chat@.service.d" / "a.conf").write_text("[Service]\nEnvironment=SGLANG_X=%i\n", encoding="utf-8")
    (launch,) = read_launch(tmp_path / "chat@qwen.service", table())
    assert launch.values == {"model_path": "/m/qwen", "served_model_name": "chat", "log_level": "chat@qwen.service"}
    assert launch.environment["SGLANG_X"].value == "qwen"


def test_a_container_that_podman_makes_of_a_unit(read: Read) -> None:
    (launch,) = read(
        """
        [Container]
        Image=docker.io/lmsysorg/sglang:v0.5.9
        ContainerName=chat
        Environment=SGLANG_A=1
        Exec=sglang serve --model-path /m
        """
    )
    assert (launch.name, launch.model_path, sorted(launch.environment)) == ("chat", "/m", ["SGLANG_A"])
    assert launch.sglang_version is not None


def test_a_unit_that_runs_a_script_beside_it(tmp_path: Path) -> None:
    (tmp_path / "start.sh").write_text('#!/bin/sh\nexec sglang serve --model-path /m "$@"\n', encoding="utf-8")
    (tmp_path / "a.service").write_text(f"[Service]\nExecStart={tmp_path}/start.sh --tp 2\n", encoding="utf-8")
    (launch,) = read_launch(tmp_path / "a.service", table())
    assert (Path(launch.file).name, launch.line, launch.values) == ("start.sh", 2, {"model_path": "/m", "tp_size": 2})
