"""The command as it was installed, run away from any checkout: its rules, schema and cards came with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import FUSION_STORY

COMMAND = Path(sys.executable).with_name("gatecheck")


def installed(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    if not COMMAND.exists():
        if os.environ.get("CI") == "true":
            pytest.fail(f"{COMMAND} is missing: install gatecheck before testing it")
        pytest.skip("gatecheck is not installed in this environment")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run([str(COMMAND), *arguments], cwd=directory, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize(
    "arguments", [("--version",), ("rule", "GC102"), ("schema",), ("options", FUSION_STORY)], ids=lambda arguments: arguments[0]
)
def test_it_finds_what_it_needs(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    ended = installed(tmp_path, *arguments)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout


def test_its_rules_know_the_devices(tmp_path: Path) -> None:
    assert "known are 70 72 75" in installed(tmp_path, "--sm", "7", "x").stderr


def test_options_as_json(tmp_path: Path) -> None:
    assert json.loads(installed(tmp_path, "options", FUSION_STORY, "--format", "json").stdout)["options"]
