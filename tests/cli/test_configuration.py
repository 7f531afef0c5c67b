"""gatecheck.toml, [tool.gatecheck], GATECHECK_*: where a setting comes from, and which counts."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as sought
from hypothesis import strategies as st

from sm_gatecheck.cli.configuration import Configuration, find_configuration, key_of, settings_for
from sm_gatecheck.cli.group import program
from sm_gatecheck.cli.ignores import configured_ignores
from sm_gatecheck.cli.session import Rules
from sm_gatecheck.model.errors import UsageError
from sm_gatecheck.report import schema
from tests.cli.conftest import Asked, Ended, Run

SCHEMA = {key: value for key, value in schema.document().items() if key != "anyOf"}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, below which no configuration is found by accident."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def settings(run: Run, *arguments: str) -> dict[str, tuple[Any, str]]:
    ended = run("config", *arguments, "--format", "json")
    assert (ended.status, ended.stderr) == (0, "")
    jsonschema.Draft202012Validator({**SCHEMA, "$ref": "#/$defs/settings_report"}).validate(json.loads(ended.stdout))
    return {row["key"]: (row["value"], row["source"]) for row in json.loads(ended.stdout)["settings"]}


def refused(ended: Ended) -> str:
    assert (ended.status, ended.stdout) == (2, "")
    assert ended.stderr.count("\n") == 1
    return ended.stderr


def test_a_file_gives_what_the_command_line_leaves_out(run: Run, asked: Asked, here: Path) -> None:
    (here / "gatecheck.toml").write_text('sm = 120\ntree = "sglang==9.9.9"\nfail_on = "harmful"\nset = { tp_size = 4, flag = true }\n')
    assert run().status == 1
    assert (asked.target, asked.gpus and asked.gpus.sms) == ("sglang==9.9.9", (120,))
    assert asked.context is not None
    assert asked.context.settings == ("tp_size=4", "flag=true")
    assert run("--sm", "90", "--fail-on", "never").status == 0
    assert asked.gpus is not None
    assert asked.gpus.sms == (90,)


def test_the_nearest_file_counts_up_to_the_repository(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "gatecheck.toml").write_text("sm = 90\n")
    inner = here / "a" / "b"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    assert settings(run)["sm"] == (["90"], "../../gatecheck.toml")
    (here / "a" / "pyproject.toml").write_text("[project]\nname = 'gatecheck-user'\n")
    assert settings(run)["sm"] == (["90"], "../../gatecheck.toml")
    (here / "a" / "pyproject.toml").write_text("[tool.gatecheck]\nsm = [100, 103]\n")
    assert settings(run)["sm"] == (["100", "103"], "../pyproject.toml")
    (inner / ".git").mkdir()
    assert settings(run)["sm"] == ([], "default")


def test_a_file_can_be_named_or_left_alone(run: Run, asked: Asked, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "gatecheck.toml").write_text("sm = 90\n")
    (here / "other.toml").write_text("sm = 100\n")
    for arguments in (("--config", "other.toml", "TREE"), ("TREE", "--config=other.toml"), ("check", "--config", "other.toml", "TREE")):
        assert run(*arguments).status == 0
        assert asked.gpus is not None
        assert asked.gpus.sms == (100,)
    assert settings(run, "--no-config")["sm"] == ([], "default")
    monkeypatch.setenv("GATECHECK_CONFIG", "other.toml")
    assert settings(run)["sm"] == (["100"], "other.toml")


def test_the_environment_comes_before_the_file_and_after_the_command_line(
    run: Run, asked: Asked, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "gatecheck.toml").write_text('cuda = "12.4"\nsm = 90\n')
    monkeypatch.setenv("GATECHECK_CUDA", "13.0")
    monkeypatch.setenv("GATECHECK_NO_CACHE", "1")
    monkeypatch.setenv("GATECHECK_SET", "a=1,2;b=x y")
    found = settings(run)
    assert found["cuda"] == ("13.0", "GATECHECK_CUDA")
    assert found["no-cache"] == (True, "GATECHECK_NO_CACHE")
    assert found["set"] == (["a=1,2", "b=x y"], "GATECHECK_SET")
    assert found["sm"] == (["90"], "gatecheck.toml")
    assert found["color"] == ("auto", "default")
    run("TREE", "--cuda", "12.1")
    assert asked.context is not None
    assert (asked.context.cuda, asked.context.use_cache) == ("12.1", False)


def test_a_gpu_that_is_named_now_takes_the_place_of_the_configured_one(
    run: Run, asked: Asked, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "gatecheck.toml").write_text("sm = 90\n")
    monkeypatch.setenv("GATECHECK_GPU", "RTX PRO 6000;B200")
    sms = []
    for arguments in ((), ("--gpu", "GB10"), ("--sm", "103")):
        run("TREE", *arguments)
        assert asked.gpus is not None
        sms.append(asked.gpus.sms)
    assert sms == [(100, 120), (121,), (103,)]


def test_a_table_of_a_command_is_for_it_alone(run: Run, here: Path) -> None:
    (here / "gatecheck.toml").write_text('sm = 90\nformat = "sarif"\n[matrix]\nsm = "all"\nformat = "json"\n')
    assert settings(run)["format"] == ("sarif", "gatecheck.toml")
    assert settings(run, "check")["sm"] == (["90"], "gatecheck.toml")
    assert settings(run, "matrix")["sm"] == (["all"], "gatecheck.toml")
    assert settings(run, "matrix")["format"] == ("json", "gatecheck.toml")
    assert settings(run, "rule")["format"] == ("text", "default")


def test_forms_in_the_environment_are_those_of_the_default_command(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATECHECK_FORMAT", "sarif")
    monkeypatch.setenv("GATECHECK_OUTPUT", "sarif:a;junit:b")
    monkeypatch.setenv("GATECHECK_MATRIX_FORMAT", "json")
    found = settings(run)
    assert (found["format"], found["output"]) == (("sarif", "GATECHECK_FORMAT"), (["sarif:a", "junit:b"], "GATECHECK_OUTPUT"))
    assert settings(run, "matrix")["format"] == ("json", "GATECHECK_MATRIX_FORMAT")
    assert settings(run, "options")["format"] == ("text", "default")


def test_paths_are_relative_to_their_file(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "tree").mkdir()
    (here / "sub").mkdir()
    (here / "gatecheck.toml").write_text(
        'tree = "tree"\nmodel-config = "model"\nbaseline = "base.json"\nrules = "rules"\n'
        'output = ["sarif:out/a.sarif", "text:-", "plain"]\n'
    )
    monkeypatch.chdir(here / "sub")
    found = settings(run)
    assert [found[key][0] for key in ("tree", "model-config", "baseline", "rules")] == ["../tree", "../model", "../base.json", "../rules"]
    assert found["output"][0] == ["sarif:../out/a.sarif", "text:-", "../plain"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sm = [", "gatecheck.toml: "),
        ("smm = 120", "gatecheck.toml: there is no option 'smm': did you mean 'sm'?"),
        ("[chekc]\nsm = 120", "did you mean 'check'?"),
        ("[check]\nsmm = 120", "gatecheck.toml: there is no option 'check.smm': did you mean 'sm'?"),
        ("[matrix]\nfail-on = 'any'", "there is no option 'matrix.fail-on'"),
        ("fail-on = 'harmfull'", "gatecheck.toml: fail-on: 'harmfull' is none of"),
        ("strict = 'yes'", "gatecheck.toml: strict: true or false is needed here"),
        ("processes = 0", "gatecheck.toml: processes: "),
        ("cuda = {a = 1}", "gatecheck.toml: cuda: a text or a number is needed here"),
        ("write-baseline = 'x'", "gatecheck.toml: write-baseline belongs on the command line"),
        ("[fix]\nwrite = true", "gatecheck.toml: fix.write belongs on the command line"),
        ("output = 'sarif:../x'", "gatecheck.toml: output: ../x lies outside"),
        ("output = '/etc/x'", "gatecheck.toml: output: /etc/x lies outside"),
        ("output = 'sarfi:x'", "'sarfi' is no format: did you mean 'sarif'?"),
        ("env = 'SECRET'", "gatecheck.toml: env: write NAME=VALUE here"),
        ("env = ['A=1', 'SGLANG_*']", "gatecheck.toml: env: write NAME=VALUE here"),
        ("ignore = 3", "gatecheck.toml: ignore: write [[ignore]] above each"),
    ],
)
def test_what_a_file_cannot_say(run: Run, asked: Asked, here: Path, text: str, said: str) -> None:
    (here / "gatecheck.toml").write_text(text)
    assert said in refused(run("--sm", "120", "TREE"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--config", "gatechek.toml"), "--config gatechek.toml: no such file: did you mean 'gatecheck.toml'?"),
        (("--config", "pyproject.toml"), "--config pyproject.toml: it has no table [tool.gatecheck]"),
        (("--config",), "requires an argument"),
        (("config", "chekc"), "there is no command 'chekc': did you mean 'check'?"),
    ],
)
def test_what_cannot_be_asked(run: Run, asked: Asked, here: Path, arguments: tuple[str, ...], said: str) -> None:
    (here / "gatecheck.toml").write_text("")
    (here / "pyproject.toml").write_text("[tool.other]\n")
    assert said in refused(run(*arguments))


def test_a_link_does_not_lead_reports_out(run: Run, asked: Asked, here: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (here / "link").symlink_to(outside)
    (here / "gatecheck.toml").write_text("output = 'link/x'")
    assert "lies outside" in refused(run("--sm", "120", "TREE"))
    assert list(outside.iterdir()) == []


def test_as_text_it_is_what_a_file_could_say(run: Run, here: Path) -> None:
    (here / "gatecheck.toml").write_text("sm = 120\n")
    lines = run("config").stdout.splitlines()
    assert lines[0] == "# gatecheck check: read from gatecheck.toml"
    assert [line.split("  # ")[0].rstrip() for line in lines if "gatecheck.toml" in line][1:] == ['sm = ["120"]']


def test_every_option_of_every_command_has_a_key_and_a_variable() -> None:
    import click

    context = click.Context(program)
    for name in program.list_commands(context):
        command = program.get_command(context, name)
        assert command is not None
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not {"--write-baseline", "--write"} & set(parameter.opts):
                assert key_of(parameter)
                assert f"GATECHECK_{name}_{key_of(parameter)}".upper().replace("-", "_") in (parameter.envvar or ())


def test_the_example_in_the_docs_is_one(run: Run, here: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text(encoding="utf-8")
    (here / "gatecheck.toml").write_text(page.split("```toml\n")[1].split("```")[0])
    found = settings(run)
    assert found["sm"] == (["90", "120"], "gatecheck.toml")
    assert found["set"][0] == ["tp_size=4"]
    assert settings(run, "matrix")["output"][0] == ["support.md"]
    configuration = find_configuration(here)
    assert configuration is not None
    (ignore,) = configured_ignores(configuration, Rules.open(None))
    assert (str(ignore.until), ignore.sms) == ("2027-03-31", (120,))


RULES = Rules.open(None)
WORDS = st.sampled_from(
    ["sm", "set", "tree", "output", "ignore", "check", "matrix", "fail-on", "no_cache", "verbose", "launch", "x", "rule", "reason"]
)
TOML = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=8,
)


@sought(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.dictionaries(WORDS, TOML, max_size=5))
def test_whatever_a_file_says_is_taken_or_refused_in_one_line(here: Path, table: dict[str, Any]) -> None:
    import click

    context = click.Context(program)
    commands = {name: command for name in program.list_commands(context) if (command := program.get_command(context, name)) is not None}
    configuration = Configuration(here / "gatecheck.toml", "", table)
    said: list[str] = []
    for read in (lambda: settings_for(configuration, "check", commands, "check"), lambda: configured_ignores(configuration, RULES)):
        try:
            read()
        except UsageError as error:
            said.append(str(error))
    assert all(line.startswith(str(here)) for line in said)


@given(st.binary(max_size=200))
@sought(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_bytes_are_read_or_refused(here: Path, content: bytes) -> None:
    (here / "gatecheck.toml").write_bytes(content)
    with contextlib.suppress(UsageError):
        find_configuration(here)
