"""Ignores in the configuration file, at the command line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from sm_gatecheck.checks.cards import load_cards
from sm_gatecheck.cli.configuration import find_configuration
from sm_gatecheck.cli.ignores import configured_ignores, ignore_findings, today
from sm_gatecheck.cli.session import Rules
from sm_gatecheck.model.span import Span
from sm_gatecheck.rulebook import Rulebook
from tests.cli.conftest import Asked, Run
from tests.report.samples import sample

FUSED = '[[ignore]]\nrule = "GC102"\noption = "enable-fused-reduce"\nreason = "the workspace is small"\n'


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1796000000")  # 2026-11-30
    return tmp_path


def found(run: Run, *arguments: str) -> tuple[list[str], str]:
    """The rules of the findings, and what was said about them."""
    ended = run("--sm", "120", "TREE", "--format", "json", *arguments)
    assert ended.status == 0
    return [finding["rule"] for finding in json.loads(ended.stdout)["findings"]], ended.stderr


def test_what_is_ignored_is_not_reported(run: Run, asked: Asked, here: Path) -> None:
    assert "GC102" in found(run)[0]
    (here / "gatecheck.toml").write_text(FUSED)
    assert found(run) == (
        ["GC101", "GC101", "GC101", "GC104", "GC104", "GC105"],
        "gatecheck: 1 finding is ignored, as gatecheck.toml says\n",
    )
    assert run("--sm", "120", "TREE", "--fail-on", "harmful").status == 1
    more = FUSED + '[[ignore]]\nrule = "gc101"\noption = "*backend"\nsm = ["sm_120", 121]\nreason = "x"\n'
    (here / "gatecheck.toml").write_text(more)
    assert run("--sm", "120", "TREE", "--fail-on", "harmful").status == 0
    assert found(run, "--no-config")[1] == ""


def test_pyproject_toml_will_do(run: Run, asked: Asked, here: Path) -> None:
    (here / "pyproject.toml").write_text("[project]\n\n" + FUSED.replace("[[ignore]]", "[[tool.gatecheck.ignore]]"))
    assert "GC102" not in found(run)[0]


def test_unused_and_expired_ones_are_findings_at_their_line(run: Run, asked: Asked, here: Path) -> None:
    (here / "gatecheck.toml").write_text(
        "sm = 120\n\n" + FUSED + "until = 2026-11-29\n\n" + FUSED.replace("fused", "fusde") + 'sglang = ">=9"\n' + FUSED + 'sglang = "<9"\n'
    )
    ended = run("TREE", "--format", "json", "--fail-on", "any")
    about = [finding for finding in json.loads(ended.stdout)["findings"] if finding["rule"] >= "GC9"]
    assert [(finding["rule"], finding["launch"]) for finding in about] == [
        ("GC902", {"file": "gatecheck.toml", "line": 3, "column": 1}),
        ("GC901", {"file": "gatecheck.toml", "line": 9, "column": 1}),
    ]
    assert "enable-fusde-reduce matches nothing (it was for: the workspace is small)" in about[1]["message"]
    text = run("TREE").stdout
    assert "GC901" in text
    assert "Ignore that matches nothing" in text
    assert "::warning file=gatecheck.toml,line=9,col=1,title=GC901" in run("TREE", "--format", "github").stdout
    for name in ("sarif", "junit", "gitlab", "markdown", "jsonl"):
        assert run("TREE", "--format", name).status == 0


def test_a_baseline_lists_neither_what_is_ignored_nor_ignores(run: Run, asked: Asked, here: Path) -> None:
    (here / "gatecheck.toml").write_text(FUSED + FUSED.replace("fused", "fusde"))
    run("--sm", "120", "TREE", "--write-baseline", "base.json")
    assert {entry["rule"] for entry in json.loads((here / "base.json").read_text())["findings"]} == {"GC101", "GC104", "GC105"}
    assert found(run, "--baseline", "base.json")[0] == ["GC901"]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ('reason = "x"', "gatecheck.toml:2: ignore: name a rule or an option"),
        ('rule = "GC102"', "it needs a reason"),
        ('rule = "GC102"\nreason = " "', "it needs a reason"),
        ('rule = "GC10"\nreason = "x"', "there is no rule 'GC10': did you mean 'GC10"),
        ('rule = "GC102"\nresaon = "x"', "there is no key 'resaon': did you mean 'reason'?"),
        ('rule = "GC102"\nreason = "x"\nsm = 130', "unknown SM '130'"),
        ('rule = "GC102"\nreason = "x"\nuntil = "soon"', "until: 'soon' is no date, write 2026-12-31"),
        ('rule = "GC102"\nreason = "x"\nuntil = 3', "until: 3 is no date"),
        ('rule = "GC102"\nreason = "x"\nsglang = "0.5"', "sglang: '0.5' is no range of releases, write '>=0.5.9,<0.6'"),
        ('rule = "GC102"\nreason = "x"\nsglang = 5', "sglang: 5 is no range of releases"),
        ('rule = {}\nreason = "x"', "rule: a text, or a list of them, is needed here"),
    ],
)
def test_what_an_entry_cannot_say(run: Run, asked: Asked, here: Path, entry: str, said: str) -> None:
    (here / "gatecheck.toml").write_text(f"\n[[ignore]]\n{entry}\n")
    ended = run("--sm", "120", "TREE")
    assert (ended.status, ended.stdout) == (2, "")
    assert said in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_values_are_texts_as_one_writes_them(here: Path) -> None:
    (here / "gatecheck.toml").write_text('ignore = [{ option = "x", value = [true, 4, "a"], reason = "y", until = "2026-12-31" }]\n')
    configuration = find_configuration(here)
    assert configuration is not None
    (ignore,) = configured_ignores(configuration, Rules.open(None))
    assert ignore.values == ("true", "4", "a")
    assert ignore.place == Span("gatecheck.toml", 1)


def test_comments_of_a_launch_file_count_for_its_lines(here: Path) -> None:
    script = Path("run.sh")
    script.write_text("python \\\n  --enable-fused-reduce # gatecheck: ignore[GC102] small\n# gatecheck: ignore[GC104] old\necho\n")
    report = sample((120,))
    fused = next(finding for finding in report.findings if finding.rule == "GC102")
    report = replace(report, findings=(replace(fused, launch=Span("run.sh", 2, 3)),))
    ignored = ignore_findings(report, None, Rules.open(None), True, [script], complete=False)
    assert ignored.kept == ()
    assert [(about.rule, about.launch) for about in ignored.about] == [("GC901", Span("run.sh", 3, 1))]


def test_the_day_is_that_of_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    assert str(today()) == "1970-01-01"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "soon")
    assert today().year >= 2026


def test_the_ignores_of_the_cards_are_ignores(here: Path) -> None:
    for name in ("GC901", "GC902"):
        (here / "gatecheck.toml").write_text(load_cards(Rulebook.open())[name].example)
        configuration = find_configuration(here)
        assert configuration is not None
        assert len(configured_ignores(configuration, Rules.open(None))) == 1
