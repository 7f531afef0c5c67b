"""action.yml, the hooks, the Dockerfile and the recipes in docs/ci.md, as far as they can be run without a network."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from sm_gatecheck.cli.group import launches_apart
from sm_gatecheck.cli.main import main
from tests.cli.conftest import FUSION_STORY

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
RELEASE = "sglang==0.5.12"
FUSION = "--enable-flashinfer-allreduce-fusion"


def block(title: str, language: str) -> str:
    """The first code block of a section of docs/ci.md."""
    section = PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]
    return section.split(f"```{language}\n")[1].split("```")[0]


def yaml(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(text)


ACTION = yaml((ROOT / "action.yml").read_text(encoding="utf-8"))
HOOKS = yaml((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))


def conforms(path: Path, schema: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(path)], capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory to run in, with a ``gatecheck`` in PATH that is this checkout's."""
    binaries = tmp_path / "bin"
    binaries.mkdir()
    command = binaries / "gatecheck"
    command.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(ROOT))} exec {shlex.quote(sys.executable)} -m sm_gatecheck "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{binaries}{os.pathsep}{os.environ['PATH']}")
    workspace = tmp_path / "workspace"
    (workspace / ".git").mkdir(parents=True)
    monkeypatch.chdir(workspace)
    return workspace


def acted(workspace: Path, **inputs: str) -> tuple[subprocess.CompletedProcess[str], dict[str, str]]:
    """The action's check, run as a runner would, and its outputs."""
    step = ACTION["runs"]["steps"][1]
    given = {name: inputs.get(name.replace("-", "_"), declared["default"]) for name, declared in ACTION["inputs"].items()}
    environment = dict(os.environ)
    for variable, expression in step["env"].items():
        name = re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", expression)
        assert name is not None
        environment[variable] = given[name[1]]
    outputs = workspace.parent / "outputs"
    outputs.write_text("")
    environment["GITHUB_OUTPUT"] = str(outputs)
    script = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]]
    ended = subprocess.run(script, capture_output=True, text=True, cwd=workspace, env=environment)
    return ended, dict(line.split("=", 1) for line in outputs.read_text().splitlines())


def test_the_action_is_one() -> None:
    conforms(ROOT / "action.yml", "vendor.github-actions")
    for step in ACTION["runs"]["steps"]:
        subprocess.run(["bash", "-n"], input=step["run"], text=True, check=True)
        assert "${{" not in step["run"], "an input in a script's text could run as a part of it"


def test_the_action_annotates_writes_sarif_and_does_not_fail_an_inventory(installed: Path) -> None:
    ended, outputs = acted(installed, sm="120", tree=FUSION_STORY, sarif="out.sarif")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith("::error file=")
    assert outputs == {"status": "0", "sarif": "out.sarif"}
    assert json.loads((installed / "out.sarif").read_text())["runs"][0]["results"]


def test_the_action_fails_for_what_it_was_told_to(installed: Path) -> None:
    ended, outputs = acted(installed, sm="120", tree=FUSION_STORY, fail_on="harmful", arguments="--set\ntp_size=4\n")
    assert (ended.returncode, outputs) == (1, {"status": "1"})
    assert acted(installed, gpu="H100", tree=FUSION_STORY, fail_on="harmful")[0].returncode == 0


def test_the_action_checks_launch_files(installed: Path) -> None:
    (installed / "a b.sh").write_text(f"python -m sglang.launch_server --model-path /m {FUSION}\n")
    (installed / "good.sh").write_text("python -m sglang.launch_server --model-path /m\n")
    ended, outputs = acted(installed, sm="120", tree=FUSION_STORY, launch="good.sh\na b.sh\n")
    assert (ended.returncode, outputs) == (1, {"status": "1"})
    assert ended.stdout.startswith("::error file=a b.sh,line=1,")
    assert acted(installed, sm="120", tree=FUSION_STORY, launch="good.sh")[1] == {"status": "0"}


def test_the_action_takes_what_is_missing_from_the_configuration(installed: Path) -> None:
    (installed / "gatecheck.toml").write_text(f'sm = 120\ntree = "{FUSION_STORY}"\nfail-on = "any"\n')
    assert acted(installed)[1] == {"status": "1"}


def test_the_action_refuses_a_tree_and_a_version(installed: Path) -> None:
    ended, _ = acted(installed, sm="120", tree="x", version="0.5.12")
    assert ended.returncode == 2
    assert ended.stdout.startswith("::error::")


@pytest.mark.parametrize("name", ["sm", "gpu", "tree", "version", "launch", "fail_on", "sarif", "arguments"])
def test_no_input_runs_as_a_command(installed: Path, name: str) -> None:
    given = {"sm": "120", "tree": FUSION_STORY, name: '"; touch pwned; "$(touch pwned)`touch pwned`'}
    if name == "version":
        del given["tree"]
    acted(installed, **given)
    assert not (installed / "pwned").exists()


def test_the_github_recipe(installed: Path, tmp_path: Path) -> None:
    text = block("GitHub", "yaml")
    (tmp_path / "workflow.yml").write_text(text)
    conforms(tmp_path / "workflow.yml", "vendor.github-workflows")
    (step,) = [step for step in yaml(text)["jobs"]["gatecheck"]["steps"] if step.get("id") == "gatecheck"]
    assert set(step["with"]) <= set(ACTION["inputs"])
    inputs = {key.replace("-", "_"): str(value) for key, value in step["with"].items() if key != "version"}
    assert acted(installed, **inputs, tree=FUSION_STORY)[1] == {"status": "1", "sarif": "gatecheck.sarif"}
    table = set(re.findall(r"^\| ((?:`[\w-]+`(?:, | or )?)+) \|", PAGE, re.MULTILINE))
    assert {name for row in table for name in re.findall(r"`([\w-]+)`", row)} == set(ACTION["inputs"])


def commands(lines: list[str]) -> list[list[str]]:
    """The gatecheck commands among shell lines, asked about the fixture in place of the release."""
    found = [shlex.split(line.replace(".venv/bin/gatecheck", "gatecheck")) for line in lines if "gatecheck --sm" in line]
    assert found
    assert all(RELEASE in words for words in found)
    return [[FUSION_STORY if word == RELEASE else word for word in words] for words in found]


def test_the_gitlab_recipe(installed: Path, tmp_path: Path) -> None:
    text = block("GitLab", "yaml")
    (tmp_path / "gitlab-ci.yml").write_text(text)
    conforms(tmp_path / "gitlab-ci.yml", "vendor.gitlab-ci")
    job = yaml(text)["gatecheck"]
    for words in commands(job["script"]):
        assert subprocess.run(words, capture_output=True, text=True).returncode == 1
    for report in job["artifacts"]["reports"].values():
        assert (installed / report).stat().st_size


def test_the_jenkins_recipe(installed: Path) -> None:
    text = block("Jenkins", "groovy")
    bare = re.sub(r"'[^']*'|\"[^\"]*\"|//[^\n]*", "", text)
    assert bare.count("{") == bare.count("}") > 5
    steps = re.findall(r"^\s*sh '([^']*)'$", text, re.MULTILINE)
    for words in commands(steps):
        assert subprocess.run(words, capture_output=True, text=True).returncode == 1
    for file in re.findall(r"^\s*(?:junit|archiveArtifacts) '([^']*)'$", text, re.MULTILINE):
        assert (installed / file).stat().st_size


def test_the_docker_recipe_and_what_the_image_is_made_of() -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    copied = [word for line in text.splitlines() if line.startswith("COPY ") for word in line.split()[1:-1]]
    assert all((ROOT / name).exists() for name in copied)
    allowed = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert {f"!{name}" for name in copied} <= set(allowed)
    assert {"pyproject.toml", "README.md", "LICENSE", "sm_gatecheck", "rules"} == set(copied), "all that the build reads"
    assert 'ENTRYPOINT ["gatecheck"]' in text
    assert "USER gatecheck" in text
    (line,) = [line for line in block("Docker", "bash").splitlines() if line.startswith("docker run")]
    words = shlex.split(line)
    asked = [FUSION_STORY if word == RELEASE else word for word in words[words.index("gatecheck") + 1 :]]
    assert main(["-q", *asked]) == 1


def test_the_hooks_are_hooks() -> None:
    for hook in HOOKS:
        assert set(hook) >= {"id", "name", "entry", "language"}
        assert hook["language"] == "python"
        assert hook["entry"] == "gatecheck"
        re.compile(hook.get("files", ""))


def test_the_pre_commit_recipe_names_hooks_that_exist() -> None:
    (repository,) = yaml(block("pre-commit", "yaml"))["repos"]
    named = {hook["id"] for hook in repository["hooks"]}
    assert named <= {hook["id"] for hook in HOOKS}
    assert all(f"`{hook['id']}`" in PAGE for hook in HOOKS)


def hooked(identifier: str, files: list[str], arguments: list[str] | None = None) -> subprocess.CompletedProcess[str]:
    """A hook run as pre-commit runs it: its entry, its arguments or those of the user, the names of the files it asks for."""
    (hook,) = [hook for hook in HOOKS if hook["id"] == identifier]
    named = [name for name in files if re.search(hook["files"], name)] if hook.get("pass_filenames", True) else []
    command = [*shlex.split(hook["entry"]), *(hook.get("args", []) if arguments is None else arguments), *named]
    return subprocess.run(command, capture_output=True, text=True)


def test_the_hook_checks_the_launch_files_of_a_commit(installed: Path) -> None:
    for name, option in (("launch.sh", "--enable-wide-loads"), ("sglang-chat.service", FUSION)):
        start = f"python3 -m sglang.launch_server --model-path /m {option}\n"
        (installed / name).write_text(f"[Service]\nExecStart=/usr/bin/{start}" if name.endswith("service") else start)
    (installed / "other.txt").write_text("")
    files = ["launch.sh", "other.txt", "sglang-chat.service"]
    (repository,) = yaml(block("pre-commit", "yaml"))["repos"]
    arguments = [FUSION_STORY if word == RELEASE else word for word in repository["hooks"][0]["args"]]
    ended = hooked("gatecheck", files, arguments)
    assert (ended.returncode, ended.stderr) == (1, "")
    assert re.search(rf"sglang-chat\.service:2:\d+  {FUSION}", ended.stdout)
    assert hooked("gatecheck", files[:2], arguments).returncode == 0
    (installed / "gatecheck.toml").write_text(f'sm = 120\ntree = "{FUSION_STORY}"\n')
    assert hooked("gatecheck", files).returncode == 1


def test_the_configured_hook_runs_what_the_file_says(installed: Path) -> None:
    (installed / "gatecheck.toml").write_text(f'sm = 120\ntree = "{FUSION_STORY}"\nfail-on = "harmful"\n')
    ended = hooked("gatecheck-configured", ["launch.sh"])
    assert ended.returncode == 1
    assert "GC102" in ended.stdout


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["--sm", "120", "T", "--launches", "a.sh", "b c.sh"], ["--sm", "120", "T", "--launch=a.sh", "--launch=b c.sh"]),
        (["--launches", "a.sh", "-q"], ["--launch=a.sh", "-q"]),
        (["--launches"], []),
        (["T"], ["T"]),
    ],
)
def test_files_behind_launches_are_launch_files(words: list[str], meant: list[str]) -> None:
    assert launches_apart(words) == meant


@pytest.mark.parametrize("line", [line for line in block("On a workstation", "bash").splitlines() if line])
def test_the_lines_for_a_workstation(line: str) -> None:
    words = shlex.split(line.split(">")[0])
    assert words[0] == "gatecheck"
    assert main(words[1:]) == 0
