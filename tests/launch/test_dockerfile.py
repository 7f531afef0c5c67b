"""Dockerfiles: what the fixtures leave out."""

from __future__ import annotations

from typing import Any

import pytest

from tests.launch.conftest import Read

SERVE = '["sglang", "serve", "--model-path", "/m"]'


@pytest.mark.parametrize(
    ("lines", "values"),
    [
        (f"CMD {SERVE}", {}),
        ("CMD sglang serve --model-path /m", {}),
        ("CMD exec sglang serve --model-path /m --tp ${TP:-2}", {"tp_size": 2}),
        ('ENTRYPOINT ["sglang", "serve"]\nCMD ["--model-path", "/m", "--tp", "2"]', {"tp_size": 2}),
        (f'ENTRYPOINT {SERVE}\nCMD ["--tp", "2"]', {"tp_size": 2}),
        (f"CMD ls\nCMD {SERVE}", {}),
        ('ENTRYPOINT ["/bin/sh", "-c"]\nCMD ["sglang serve --model-path /m --tp $TP"]\nENV TP=2', {"tp_size": 2}),
        (f"entrypoint {SERVE}", {}),
        ("ENTRYPOINT sglang serve --model-path /m\nCMD --tp 2", {}),
        ("ENV A=1 \\\n  # within\n\n  TP=2\nCMD sglang serve --model-path /m --tp $TP", {"tp_size": 2}),
        ("ARG TP=2\nENV SIZE=${TP}\nCMD sglang serve --model-path /m --tp $SIZE", {"tp_size": 2}),
        ('CMD [ "python3" , "-m", "sglang.launch_server",\\\n "--model-path", "/m" ]', {}),
    ],
)  # fmt: skip
def test_what_the_image_starts(lines: str, values: dict[str, Any], read: Read) -> None:
    (launch,) = read(f"FROM lmsysorg/sglang:v0.5.9\n{lines}\n", format="dockerfile")
    assert launch.values == {"model_path": "/m", **values}
    assert launch.problems == ()
    assert launch.sglang_version is not None
    assert launch.sglang_version.version == "0.5.9"


def test_arguments_of_the_build_are_gone_when_it_runs(read: Read) -> None:
    (launch,) = read("FROM x\nARG TP=2\nCMD sglang serve --model-path /m --tp $TP\n", format="dockerfile")
    assert launch.unresolved == ("$TP",)
    assert launch.environment == {}


def test_only_the_last_stage_and_those_on_their_own(read: Read) -> None:
    launches = read(
        f"""
        FROM a AS one
        CMD {SERVE}
        FROM b AS two
        CMD ["sglang", "serve", "--model-path", "/two"]
        FROM one AS three
        ENV X=1
        """,
        format="dockerfile",
    )
    assert [(launch.name, launch.model_path, sorted(launch.environment)) for launch in launches] == [
        ("two", "/two", []),
        ("three", "/m", ["X"]),
    ]


def test_another_escape_character(read: Read) -> None:
    (launch,) = read("# escape=`\nFROM x\nCMD sglang serve `\n  --model-path C:\\\\m --tp 2\n", format="dockerfile")
    assert launch.options["tp_size"].value == 2


def test_the_release_that_is_installed(read: Read) -> None:
    (launch,) = read(f'FROM python:3.12\nRUN <<EOF\npip install -U pip\nuv pip install "sglang[all]==0.5.10.post1"\nEOF\nCMD {SERVE}\n')
    assert launch.sglang_version is not None
    assert (launch.sglang_version.version, launch.sglang_version.source, launch.sglang_version.span.line) == (
        "0.5.10.post1",
        "requirement",
        4,
    )
