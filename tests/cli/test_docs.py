"""The pages in docs/ say what the program does: they are checked against it."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import click
import pytest

from sm_gatecheck.cli.group import program
from sm_gatecheck.logs.prediction import Agreement
from sm_gatecheck.model.verdict import Verdict
from sm_gatecheck.report import schema
from tests.cli.conftest import Run

ROOT = Path(__file__).parents[2]
COMMANDS = program.list_commands(click.Context(program))


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_documented(name: str) -> None:
    command = importlib.import_module(f"sm_gatecheck.cli.commands.{name}").command
    text = page("commands.md")
    assert f"gatecheck {name}" in text
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            for spelling in parameter.opts:
                assert re.search(rf"`{re.escape(spelling)}\b", text), spelling
            assert parameter.help, spelling


def test_the_cards_in_the_docs_are_the_cards(run: Run) -> None:
    begin, end = "<!-- gatecheck rule --format markdown: begin -->\n\n", "\n<!-- gatecheck rule --format markdown: end -->"
    held = page("rules.md").split(begin)[1].split(end)[0]
    assert held == run("rule", "--format", "markdown").stdout


def keys(definition: Any) -> set[str]:
    if isinstance(definition, list):
        return set().union(*map(keys, definition)) if definition else set()
    if not isinstance(definition, dict):
        return set()
    own = set(definition["properties"]) if isinstance(definition.get("properties"), dict) else set()
    return own.union(*map(keys, definition.values()))


def test_every_key_of_the_json_is_documented() -> None:
    text = page("json.md")
    assert {key for key in keys(schema.document()) if f"`{key}" not in text and f".{key}`" not in text and f"[].{key}" not in text} == set()


@pytest.mark.parametrize("verdict", Verdict)
def test_every_verdict_is_documented(verdict: Verdict) -> None:
    assert f"| `{verdict.value}` |" in page("concepts.md")


@pytest.mark.parametrize("document", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", document.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (document.parent / target).exists(), target


def test_every_agreement_is_documented() -> None:
    for agreement in Agreement:
        assert f"| `{agreement.value}` |" in page("log.md")
