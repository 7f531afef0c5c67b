"""``docker run`` lines: docker's own flags, the image, and what runs inside."""

from __future__ import annotations

import pytest

from sm_gatecheck.launch import read_launch
from tests.launch.conftest import Read

INNER = "sglang serve --model-path /m --tp 2"


@pytest.mark.parametrize(
    "flags",
    [
        "-d --rm -it",
        "-dit --init --privileged",
        "-p 1:2 -p3:4 -v /a:/b --volume=/c:/d",
        '--gpus all --gpus=all --gpus "device=0,1"',
        "--shm-size 32g --ulimit memlock=-1 --ulimit stack=67108864 --ipc=host --network host",
        "--name x --hostname y -u 0:0 -w /w --cap-add SYS_PTRACE --security-opt seccomp=unconfined",
        "--restart unless-stopped --log-driver json-file --log-opt max-size=1g --health-cmd 'curl -f x'",
        "--device /dev/dri --group-add video --env-file /nowhere/x.env --label a=b --sig-proxy=false",
        "--entrypoint ''",
        "$DOCKER_FLAGS",
        "${DOCKER_FLAGS:-}",
        '"${FLAGS[@]}"',
    ],
)
@pytest.mark.parametrize(
    "command", ["docker run", "sudo docker run", "docker container run", "podman run", "nerdctl run", "docker --context gpu run"]
)
def test_dockers_flags_are_not_the_servers(command: str, flags: str, read: Read) -> None:
    (launch,) = read(f"#!/bin/bash\n{command} {flags} lmsysorg/sglang:v0.5.12 {INNER}\n")
    assert launch.values == {"model_path": "/m", "tp_size": 2}
    assert launch.sglang_version is not None
    assert launch.sglang_version.version == "0.5.12"
    assert launch.environment == {}


@pytest.mark.parametrize(
    ("image", "version"),
    [
        ("lmsysorg/sglang:v0.5.12", "0.5.12"),
        ("lmsysorg/sglang:v0.5.12-cu129-amd64", "0.5.12"),
        ("lmsysorg/sglang:v0.5.6.post2", "0.5.6.post2"),
        ("lmsysorg/sglang:v0.5.3rc0-cu126", "0.5.3rc0"),
        ("registry.test:5000/team/my-sglang:0.5.9", "0.5.9"),
        ("lmsysorg/sglang:v0.5.9@sha256:0123", "0.5.9"),
        ("lmsysorg/sglang:latest", None),
        ("lmsysorg/sglang:dev-cu13", None),
        ("lmsysorg/sglang@sha256:0123", None),
        ("nvcr.io/nvidia/sglang:25.10-py3", None),
        ("team/server:v0.5.9", None),
        ("lmsysorg/sglang:$TAG", None),
        ("lmsysorg/sglang:${TAG:-v0.5.10}", "0.5.10"),
    ],
)
def test_the_release_is_in_the_tag(image: str, version: str | None, read: Read) -> None:
    (launch,) = read(f"#!/bin/bash\ndocker run {image} {INNER}\n")
    assert (launch.sglang_version.version if launch.sglang_version is not None else None) == version
    if version is not None and launch.sglang_version is not None:
        assert launch.sglang_version.source == "image"


def test_the_containers_environment_is_its_own(read: Read) -> None:
    (launch,) = read(
        f"""
        #!/bin/bash
        export SGLANG_OUTSIDE=1 SGLANG_HANDED=2
        X=3
        docker run -e A=1 -eB=2 --env C="three 3" --env=D -e X -e SGLANG_HANDED -e E=$X img {INNER}
        """
    )
    assert {name: setting.value for name, setting in launch.environment.items()} == {
        "A": "1", "B": "2", "C": "three 3", "X": "3", "SGLANG_HANDED": "2", "E": "3",
    }  # fmt: skip
    assert launch.unresolved == ("$D",)


def test_a_shell_inside_knows_only_what_is_handed_in(read: Read) -> None:
    (launch,) = read(
        """
        #!/bin/bash
        TP=8
        export PORT=1
        docker run -e PORT=2 lmsysorg/sglang:v0.5.9 /bin/bash -lc 'sglang serve --model-path /m --tp $TP --port $PORT'
        """
    )
    assert (launch.options["tp_size"].value, launch.options["port"].value, launch.unresolved) == ("$TP", 2, ("$TP",))


def test_what_is_only_dockers_is_named_so(read: Read) -> None:
    (launch,) = read(f'#!/bin/bash\ndocker run -v $HOME/m:/m --gpus "device=$GPU" --name $NAME -e KEY=$KEY lmsysorg/sglang:$TAG {INNER}\n')
    assert launch.unresolved == ("$HOME (volume only)", "$GPU (--gpus only)", "$NAME (--name only)", "$KEY", "$TAG (image only)")


def test_arguments_alone_need_an_image_of_the_server(read: Read) -> None:
    (launch,) = read("#!/bin/bash\ndocker run lmsysorg/sglang:v0.5.9 --model-path /m --tp 2\n")
    assert launch.values == {"model_path": "/m", "tp_size": 2}
    assert read("#!/bin/bash\ndocker run vllm/vllm-openai:v1 --model-path /m --tp 2\n") == ()
    assert read("#!/bin/bash\ndocker run lmsysorg/sglang:v0.5.9 nvidia-smi\n") == ()


def test_commands_of_docker_that_start_nothing(read: Read) -> None:
    for command in ("docker pull lmsysorg/sglang:v0.5.9", "docker build -t sglang .", "docker stop sglang", "docker run", "docker"):
        assert read(f"#!/bin/bash\n{command}\n") == ()


def test_without_a_table_too() -> None:
    (launch,) = read_launch(f"#!/bin/bash\ndocker run -d img {INNER} --trust-remote-code\n", None)
    assert launch.values == {"model_path": "/m", "tp": "2", "trust_remote_code": True}
