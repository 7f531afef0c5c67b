"""Completions and the manual page."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from sm_gatecheck.cli.commands.completion import SHELLS
from sm_gatecheck.cli.group import program
from tests.cli.conftest import Run

COMMANDS = program.list_commands(click.Context(program))


def completed(*words: str) -> list[str]:
    """What a shell is offered for the last word."""
    shell = ShellComplete(program, {}, "gatecheck", "_GATECHECK_COMPLETE")
    return [item.value for item in shell.get_completions(list(words[:-1]), words[-1])]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("m",), ["man", "matrix"]),
        (("--for",), ["--format"]),
        (("--format", "sa"), ["sarif"]),
        (("matrix", "--format", ""), ["markdown", "json"]),
        (("--sm", "12"), ["120", "121"]),
        (("--gpu", "rtx pro"), ["RTX PRO 6000"]),
        (("--sm", "120", "--fail-on", "h"), ["harmful"]),
        (("check", "--base"), ["--baseline"]),
        (("--conf",), ["--config"]),
        (("completion", "z"), ["zsh"]),
    ],
)
def test_what_a_shell_is_offered(words: tuple[str, ...], offered: list[str]) -> None:
    found = completed(*words)
    assert [word for word in found if word != words[-1]][: len(offered)] == offered


def test_all_commands_and_a_tree_come_first() -> None:
    assert set(COMMANDS) < set(completed(""))
    shell = ShellComplete(program, {}, "gatecheck", "_GATECHECK_COMPLETE")
    assert [item.value for item in shell.get_completions(["--sm", "120"], "./x") if item.type == "file"] == ["./x"]


@pytest.mark.parametrize("name", SHELLS)
def test_a_script_a_shell(run: Run, name: str) -> None:
    ended = run("completion", name)
    assert (ended.status, ended.stderr) == (0, "")
    assert "_GATECHECK_COMPLETE" in ended.stdout
    if shutil.which(name):
        subprocess.run([name, "-n"], input=ended.stdout, text=True, check=True, capture_output=True)


def test_bash_completes_with_it(run: Run, tmp_path: Path) -> None:
    script = tmp_path / "completion.bash"
    run("completion", "bash", "-o", str(script))
    command = tmp_path / "gatecheck"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m sm_gatecheck "$@"\n')
    command.chmod(0o755)
    asked = f"source {script}; COMP_WORDS=(gatecheck --fail-on har); COMP_CWORD=2; _gatecheck_completion {command}; echo ${{COMPREPLY[@]}}"
    ended = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert ended.stdout == "harmful\n", ended.stderr


def test_an_unknown_shell_is_refused(run: Run) -> None:
    ended = run("completion", "bsh")
    assert ended.status == 2
    assert "'bsh' is none of bash, zsh, fish: did you mean 'bash'?" in ended.stderr


def test_the_manual_has_every_command_and_option(run: Run) -> None:
    page = run("man").stdout
    assert page.isascii()
    for name in COMMANDS:
        command = program.get_command(click.Context(program), name)
        assert command is not None
        section = page.split(f'.SS "gatecheck {name}"\n')[1].split("\n.SS ")[0]
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                assert parameter.opts[-1].replace("-", r"\-") in section


@pytest.mark.skipif(shutil.which("groff") is None, reason="needs groff")
def test_groff_reads_the_manual_without_complaint(run: Run) -> None:
    ended = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=run("man").stdout, text=True, capture_output=True)
    assert (ended.returncode, ended.stderr) == (0, "")
