"""``gatecheck bisect`` over a short history of the fusion story."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from sm_gatecheck.report import schema
from sm_gatecheck.verdicts.bisecting import first_that_differs
from tests.cli.conftest import Run
from tests.cli.test_diff import LAYER, OPTION, Story, git

README = "README"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATECHECK_CACHE", str(tmp_path / "cache"))


class History:
    """Commits by their subjects, in a repository whose every second commit leaves the package alone."""

    def __init__(self, directory: Path) -> None:
        self.story = Story(directory)
        self.directory = directory
        self.commits: dict[str, str] = {}
        git(directory, "init", "-q", "-b", "main")
        self.commit("first")

    def commit(self, subject: str) -> None:
        git(self.directory, "add", ".")
        git(self.directory, "commit", "-qm", subject)
        self.commits[subject] = git(self.directory, "rev-parse", "HEAD")

    def change(self, subject: str, file: str, old: str, new: str) -> None:
        (self.directory / README).write_text(subject, encoding="utf-8")
        self.commit(f"about {subject}")
        self.story.change(file, old, new)
        self.commit(subject)


@pytest.fixture
def history(tmp_path: Path) -> History:
    made = History(tmp_path / "repository")
    made.change("a remark", LAYER, "MAX_FUSED_TOKENS = 512\n", "MAX_FUSED_TOKENS = 512  # at most\n")
    made.change("fewer", LAYER, "MAX_FUSED_TOKENS = 512", "MAX_FUSED_TOKENS = 256")
    made.change("Hopper only", LAYER, "(_is_sm90_supported or _is_sm100_supported)", "_is_sm90_supported")
    made.change("more", LAYER, "MAX_FUSED_TOKENS = 256", "MAX_FUSED_TOKENS = 1024")
    made.change("another remark", LAYER, "# at most", "# at the very most")
    return made


def document(run: Run, *arguments: str) -> Any:
    ended = run("bisect", *arguments, "--format", "json", "-q")
    assert (ended.status, ended.stderr) == (0, "")
    found = json.loads(ended.stdout)
    jsonschema.Draft202012Validator(schema.document()).validate(found)
    return found


def test_the_commit_is_found_and_says_what_decides(run: Run, history: History) -> None:
    before = git(history.directory, "status", "--porcelain")
    found = document(run, "--sm", "100,120", str(history.directory), history.commits["first"], "main", OPTION)
    assert found["first"]["commit"] == history.commits["Hopper only"]
    assert found["first"]["subject"] == "Hopper only"
    assert found["before"] == history.commits["fewer"]
    assert found["between"] == 5
    (change,) = found["changes"]
    assert (change["sm"], change["old"], change["new"]) == (100, "active", "noop_with_side_effects")
    assert change["after"]["source"] == "_is_sm90_supported"
    assert set(found["judged"][0]) == {"commit", "verdicts"}
    assert git(history.directory, "status", "--porcelain") == before


def test_few_commits_are_judged_and_none_that_leaves_the_package_alone(run: Run, history: History) -> None:
    found = document(run, "--sm", "100", str(history.directory), history.commits["first"], "main", OPTION)
    judged = [entry["commit"] for entry in found["judged"]]
    assert len(judged) == len(set(judged)) <= 6
    assert not {commit for subject, commit in history.commits.items() if subject.startswith("about")} & set(judged)


def test_the_page_names_commit_and_guards(run: Run, history: History) -> None:
    ended = run("bisect", "--sm", "100", str(history.directory), history.commits["first"], "main", "--enable-flashinfer-allreduce-fusion")
    assert ended.status == 0
    assert f"{history.commits['Hopper only']}  " in ended.stdout
    assert "works → does nothing, and still costs" in ended.stdout
    assert f"gatecheck: judging {history.commits['first'][:12]}" in ended.stderr
    quiet = run("bisect", "--sm", "100", str(history.directory), history.commits["first"], "main", OPTION, "-q")
    assert (quiet.stdout.split()[0], quiet.stderr) == (history.commits["Hopper only"], "")
    assert "no such option" not in run("bisect", "--sm", "100", str(history.directory), "main~8", "main", OPTION, "-v").stdout


def test_an_option_that_came_is_a_change(run: Run, history: History) -> None:
    history.change("news", "srt/server_args.py", "    # Speed\n", "    # Speed\n    enable_news: bool = False\n")
    found = document(run, "--sm", "120", str(history.directory), history.commits["first"], "main", "enable_news")
    assert found["first"]["commit"] == history.commits["news"]


def test_what_cannot_be_answered_is_refused(run: Run, history: History, tmp_path: Path) -> None:
    directory, first = str(history.directory), history.commits["first"]
    for arguments, message in (
        ((directory, first, history.commits["fewer"], OPTION), "is the same at both revisions"),
        ((directory, "main", first, OPTION), f"main does not lead to {first}: write {first} main"),
        ((directory, first, "mian", OPTION), "did you mean main?"),
        ((directory, first, "main", "enable_flashinfer_allreduce_fuson"), "did you mean"),
        ((str(tmp_path), first, "main", OPTION), "cannot be read as a git repository"),
    ):
        ended = run("bisect", "--sm", "120", *arguments, "-q")
        assert (ended.status, ended.stdout) == (2, ""), arguments
        assert message in ended.stderr


@pytest.mark.parametrize("index", range(7))
def test_the_search_looks_at_few(index: int) -> None:
    looked: list[int] = []

    def is_as_before(commit: str) -> bool:
        looked.append(int(commit))
        return int(commit) < index

    assert first_that_differs([str(number) for number in range(7)], is_as_before) == index
    assert len(looked) <= 3
