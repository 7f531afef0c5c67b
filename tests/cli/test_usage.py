"""Whatever is wrong is said in one line on stderr that names the mend."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sm_gatecheck.cli.commands import check, schema
from sm_gatecheck.model.errors import TreeError, UsageError
from tests.cli.conftest import FUSION_STORY, Asked, Run


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("chek", "--sm", "120", "TREE"), "there is no command and no path 'chek': did you mean 'check'?"),
        (("--sm", "120", "matirx", "TREE"), "did you mean 'matrix'?"),
        (("rulez",), "did you mean 'rule'?"),
        (("frobnicate", "TREE"), "there is no command and no path 'frobnicate': the commands are check, "),
        (("--smm", "120", "TREE"), "there is no option '--smm': did you mean '--sm'?"),
        (("matrix", "--fromat", "json", "TREE"), "did you mean '--format'?"),
        (("--zzzzz", "TREE"), "there is no option '--zzzzz'; see gatecheck check --help"),
        (("--sm", "-120", "TREE"), "unknown SM '-120': a compute capability has no sign"),
        (("--sm=-1", "TREE"), "a compute capability has no sign"),
        (("--sm", "120", "TREE", "--gpu-memory", "-5"), "'-5' is no amount of memory"),
        (("--sm", "120", "TREE", "--gpu-memory", "24"), "'24' is the memory of no GPU, did you mean 24GiB?"),
        (("--sm", "120", "TREE", "--gpu-memory", "99999999999999"), "is the memory of no GPU"),
        (("help", "matirx"), "there is no command 'matirx': did you mean 'matrix'?"),
        (("--sm", "130", "TREE"), "unknown SM '130': did you mean 120"),
        (("--sm", "", "TREE"), "no SM is named"),
        (("--sm", "TREE"), "unknown SM 'TREE'"),
        (("--gpu", "RTX 6090", "TREE"), "unknown GPU 'RTX 6090': did you mean"),
        (
            ("--sm", "120", "TREE", "--format", "jsno"),
            "none of text, json, jsonl, sarif, github, gitlab, junit, markdown: did you mean 'json'?",
        ),
        (("matrix", "TREE", "--format", "text"), "'text' is none of markdown, json"),
        (("--sm", "120", "TREE", "--fail-on", "harmfull"), "did you mean 'harmful'?"),
        (("--sm", "120", "TREE", "--cuda", "twelve"), "'twelve' is no CUDA version, write 12.9 or 13.0"),
        (("--sm", "120", "TREE", "--gpu-memory", "lots"), "'lots' is no amount of memory, write 97887 (MiB) or 96GiB"),
        (("--sm", "120", "TREE", "-j", "0"), "x>=1"),
        (("--sm", "120", "one", "two"), "there is no command and no path 'one'"),
        (("--sm", "120", "./one", "two"), "unexpected extra argument"),
        (("TREE", "--sm"), "requires an argument"),
        (("--sm", "120", "TREE", "--baseline", "nowhere.json"), "--baseline nowhere.json: no such file; --write-baseline writes one"),
        (("--sm", "120", "TREE", "--rules", "nowhere"), "--rules nowhere: no such directory"),
        (("--sm", "120", "TREE", "-o", "/nowhere/out.txt"), "cannot write /nowhere/out.txt: No such file or directory"),
        (("--sm", "120", "TREE", "-o", "/"), "/ is a directory: name a file"),
        (("--sm", "120", "TREE", "--launch", "nowhere.service"), "--launch nowhere.service: no such file"),
        (("--sm", "120", "TREE", "--launch", "-", "--launch", "-"), "--launch -: stdin can be read once"),
        (("--sm", "120", "TREE", "--launch", "-", "--launch-format", "sistemd"), "no such format: did you mean 'systemd'?"),
        (("--sm", "120", "TREE", "--launch-format", "systemd"), "--launch-format is about a launch: name one"),
        (("--sm", "120", "TREE", "--env", "A=1"), "--env is about a launch: name one"),
        (("--sm", "120", "TREE", "--resolved"), "--resolved is about a launch: name one"),
        (("--sm", "120", "TREE", "--launch", "-", "--env", "=1"), "--env '=1': write NAME=VALUE"),
        (("--sm", "120", "TREE", "--launch", "-", "--env", "GATECHECK_NOT_SET"), "it is not set here; write GATECHECK_NOT_SET=VALUE"),
        (("--sm", "120", "TREE", "--"), "nothing follows --"),
        (("rule", "GC999"), "there is no rule 'GC999'"),
        (("schema", "x"), "unexpected extra argument"),
    ],
)
def test_wrong_usage_is_status_2_and_one_line(run: Run, asked: Asked, arguments: tuple[str, ...], said: str) -> None:
    ended = run(*arguments)
    assert ended.status == 2
    assert said in ended.stderr
    assert ended.stderr.startswith("gatecheck: ")
    assert ended.stderr.count("\n") == 1
    assert ended.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("options", FUSION_STORY + "x"), 2, "did you mean"),
        (("options", "/"), 3, "no SGLang tree"),
        (("options", str(Path(__file__).parents[2] / "LICENSE")), 3, ""),
    ],
)
def test_what_is_no_tree(run: Run, arguments: tuple[str, ...], status: int, said: str) -> None:
    ended = run(*arguments)
    assert ended.status == status
    assert said in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert ended.stdout == ""


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (TreeError("not SGLang:\nname a checkout"), 3, "not SGLang: name a checkout"),
        (UsageError("no such path \x1b[2J"), 2, r"no such path \x1b[2J"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (MemoryError(), 3, "out of memory"),
        (RecursionError("deep"), 3, "internal error: RecursionError: deep; this is a bug in gatecheck, GATECHECK_TRACEBACK=1 shows where"),
    ],
)
def test_whatever_happens_is_one_line(run: Run, monkeypatch: pytest.MonkeyPatch, error: BaseException, status: int, said: str) -> None:
    def take_inventory(*_: object) -> None:
        raise error

    monkeypatch.setattr(check, "take_inventory", take_inventory)
    ended = run("--sm", "120", "TREE")
    assert (ended.status, ended.stdout) == (status, "")
    assert said in ended.stderr
    assert ended.stderr.strip().count("\n") == 0


def test_a_bug_shows_its_traceback_to_who_asks(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def take_inventory(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(check, "take_inventory", take_inventory)
    monkeypatch.setenv("GATECHECK_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        run("--sm", "120", "TREE")


@pytest.mark.parametrize(
    "arguments", ["--help", "-h", "check --help", "--sm 120 --help", "matrix -h", "rule -h", "help", "help check", "help help"]
)
def test_help(run: Run, arguments: str) -> None:
    ended = run(*arguments.split())
    assert (ended.status, ended.stderr) == (0, "")
    assert ended.stdout.startswith("Usage: gatecheck")


@pytest.mark.parametrize("name", ["check", "fix", "log"])
def test_help_with_a_command_says_what_its_help_says(run: Run, name: str) -> None:
    assert run("help", name).stdout == run(name, "--help").stdout


def test_help_lists_every_command_and_the_default_one_first(run: Run) -> None:
    listed = [line.split()[0] for line in run("--help").stdout.split("Commands:\n")[1].split("\n\n")[0].splitlines()]
    assert listed[0] == "check"
    assert {"check", "matrix", "options", "predicates", "rule", "schema"} <= set(listed)


def test_version(run: Run) -> None:
    from sm_gatecheck import __version__

    assert run("--version").stdout == run("-V").stdout == f"gatecheck {__version__}\n"


def test_a_directory_named_like_a_misspelt_command_is_a_tree(
    run: Run, asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "chek").mkdir()
    assert run("--sm", "120", "chek").status == 0
    assert asked.target == "chek"


def test_help_is_answered_without_the_analysis() -> None:
    program = (
        "import sys; from sm_gatecheck.cli.main import main; main(['--help']); "
        "heavy = ('rich', 'libcst', 'git', 'sm_gatecheck.evaluate', 'sm_gatecheck.verdicts.analysis'); "
        "print([name for name in heavy if name in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines()[-1] == "[]"


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"{sys.executable} -c 'import sys; from sm_gatecheck.cli.main import main; sys.exit(main([\"schema\"]))'"
    program = f"{command} | true; echo ${{PIPESTATUS[0]}}"
    for _ in range(3):
        ended = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
        assert (ended.stdout, ended.stderr) == ("0\n", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run([sys.executable, "-m", "sm_gatecheck", "schema"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert (ended.returncode, ended.stderr) == (2, "gatecheck: cannot write to stdout: No space left on device\n")


def test_a_closed_stdout_is_no_traceback() -> None:
    ended = subprocess.run(["bash", "-c", f"{sys.executable} -m sm_gatecheck schema >&-"], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_schema_writes_what_ships(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "schema.json"
    assert run("schema", "-o", str(target)).status == 0
    assert target.read_text("utf-8") == run("schema").stdout
    assert schema.command.name == "schema"
