"""Which format a file is taken for."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from sm_gatecheck.launch import LaunchError, format_names, read_arguments, read_launch
from tests.launch.conftest import Read
from tests.launch.tables import table

START = "python -m sglang.launch_server --model-path /m"
TEXTS = {
    "systemd": f"[Unit]\nDescription=x\n[Service]\nExecStart={START}\n",
    "supervisord": f"[program:x]\ncommand={START}\n",
    "compose": f"services:\n  x:\n    image: y\n    command: {START}\n",
    "kubernetes": "apiVersion: v1\nkind: Pod\nspec: {containers: [{image: sglang, command: [sglang, serve, --model-path, /m]}]}\n",
    "argo": "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\n"
    "spec: {templates: [{container: {image: x, command: [sglang, serve, --model-path, /m]}}]}\n",
    "helm": 'server:\n  image: {repository: x/sglang, tag: v0.5.9}\n  extraArgs: "--model-path /m"\n',
    "config": "model-path: /m\ntp-size: 2\n",
    "json": '{"model_path": "/m", "tp_size": 2}\n',
    "python": "import sglang\nsglang.Engine(model_path='/m')\n",
    "dockerfile": f"# a comment\nFROM x\nCMD {START}\n",
    "slurm": f"#!/bin/bash\n#SBATCH -N 1\nsrun {START}\n",
    "shell": f"#!/bin/sh\nexec {START}\n",
    "makefile": f"serve:\n\t{START}\n",
    "arguments": "--model-path /m --tp 2\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_without_a_name_is_told_by_what_is_in_it(name: str, read: Read) -> None:
    (launch,) = read(TEXTS[name])
    assert launch.format == name
    assert launch.model_path == "/m"


@pytest.mark.parametrize(
    ("file", "format"),
    [
        ("start", "shell"),
        ("run.txt", "shell"),
        ("Dockerfile.gpu", "dockerfile"),
        ("gpu.dockerfile", "dockerfile"),
        ("llm.service", "systemd"),
        ("rules.mk", "makefile"),
        ("Procfile", "shell"),
    ],
)
def test_a_name_counts_where_the_text_leaves_it_open(file: str, format: str, tmp_path: Path) -> None:
    texts = {"systemd": TEXTS["systemd"], "dockerfile": TEXTS["dockerfile"], "makefile": TEXTS["makefile"], "shell": f"{START} --tp 2\n"}
    (tmp_path / file).write_text(f"web: {texts[format]}" if file == "Procfile" else texts[format], encoding="utf-8")
    (launch,) = read_launch(tmp_path / file, table())
    assert launch.format == format


def test_a_format_can_be_forced(read: Read) -> None:
    (launch,) = read("tp-size: 2\nunheard-of: 1\n", format="config")
    assert launch.options["tp_size"].value == 2
    with pytest.raises(LaunchError, match="did you mean compose"):
        read("x", format="composer")
    with pytest.raises(LaunchError, match=r"known are .*systemd"):
        read("x", format="zzz")


def test_what_starts_no_server_has_no_launch(read: Read) -> None:
    assert read("#!/bin/sh\nls -l\n") == ()
    assert read("services:\n  web: {image: nginx, command: nginx}\n") == ()
    assert read("python -m sglang.bench_serving --model-path /m\n", format="shell") == ()


def test_a_broken_file_is_refused_with_its_line(read: Read) -> None:
    with pytest.raises(LaunchError, match=r"<text>:4: no YAML"):
        read("services:\n  a:\n    image: x\n   command: sglang serve\n", format="compose")
    with pytest.raises(LaunchError, match=r"<text>:2: no JSON"):
        read('{"model_path": "/m",\n "tp_size": }\n', format="json")
    with pytest.raises(LaunchError, match=r"<text>:1: no Python"):
        read("import sglang as\n", format="python")


def test_standard_input_is_a_dash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TEXTS["compose"].encode())))
    (launch,) = read_launch("-", table())
    assert (launch.file, launch.format, launch.line) == ("<stdin>", "compose", 4)


def test_arguments_of_our_own_command_line() -> None:
    launch = read_arguments(["--tp", "4", "--served-model-name", "a b", "--quantisation"], table())
    assert launch.values == {"tp_size": 4, "served_model_name": "a b"}
    assert [(problem.suggestion, problem.span.column) for problem in launch.problems] == [("--quantization", 32)]
    whole = read_arguments(["env", "A=1", "sglang", "serve", "--tp", "2"], table())
    assert (whole.entry, whole.values, whole.environment["A"].value) == ("sglang serve", {"tp_size": 2}, "1")
    assert read_arguments([], table()).values == {}


def test_every_format_is_found_by_looking() -> None:
    folder = Path(__file__).parents[2] / "sm_gatecheck" / "launch" / "formats"
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__", "interface"}
    assert set(format_names()) == modules
