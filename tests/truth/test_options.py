"""Option tables of real releases: those whose parsers were asked row by row, others by what their own source says."""

from __future__ import annotations

import ast
import os
import re
import time
from collections.abc import Iterator

import pytest

from sm_gatecheck.program.modules import Program
from sm_gatecheck.rulebook import Rulebook
from sm_gatecheck.target.options import OptionTable, read_environment, read_options
from sm_gatecheck.trees import Tree, TreeError, open_tree
from tests.truth import command, files, options_score
from tests.truth.score import by_fault

ASKED = sorted(options_score.releases(), key=files.release_key)
UNASKED = ("0.4.7", "0.4.10.post2", "0.5.3", "0.5.8", "0.5.14", "0.5.18", "0.5.19", "0.5.20", "0.5.22")
"""Releases on both sides of every change in how options are declared."""
FLAG = re.compile(r"--[a-z0-9][a-z0-9-]*")
ASKING = re.compile(rb"^[^#\n]*\bos\.(?:getenv\(|environ\.get\()[\"']([A-Z][A-Z0-9_]+)[\"']", re.MULTILINE)
SECONDS = 5.0
"""Reading takes about half a second; this catches what has become slow by an order of magnitude on any machine."""


def release(version: str) -> Tree:
    """The tree of a release; skipped where it cannot be had, a failure where the CI cannot have it."""
    try:
        return open_tree(command.tree_argument(version))
    except TreeError as error:
        reason = f"sglang {version} could not be had: {error}"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.mark.release
@pytest.mark.parametrize("version", ASKED)
def test_the_table_is_that_of_the_parser(version: str) -> None:
    release(version)
    score = options_score.score(version, command.options(version)["options"])
    assert score.is_reached, "\n".join(by_fault(score))


@pytest.mark.release
@pytest.mark.parametrize("version", UNASKED)
def test_nothing_is_left_open_and_every_flag_is_there(version: str) -> None:
    tree = release(version)
    started = time.process_time()
    table = read_options(Program(tree.files), Rulebook.open())
    assert time.process_time() - started < SECONDS
    assert table.gaps == ()
    assert len(table) > 100
    assert sorted(set(flags_in(tree, table)) - set(table.by_flag)) == []
    assert [option.field for option in table if option.default_source is not None] == []


@pytest.mark.release
@pytest.mark.parametrize("version", ["0.4.6", "0.5.23"])
def test_every_variable_that_is_asked_for_by_name_is_found(version: str) -> None:
    tree = release(version)
    found = {option.field.removeprefix("env:") for option in read_environment(Program(tree.files), Rulebook.open())}
    asked = {
        match[1].decode()
        for path, source in tree.files.items()
        if not re.search(r"(^|/)tests?/", path)
        for match in ASKING.finditer(source)
    }
    assert sorted(asked - found) == []
    assert len(asked) > 20


def flags_in(tree: Tree, table: OptionTable) -> Iterator[str]:
    """Every text in the files that declare an option which is a flag and nothing else."""
    for path in sorted({option.file for option in table}):
        for node in ast.walk(ast.parse(tree.files[path])):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and FLAG.fullmatch(node.value):
                yield node.value
