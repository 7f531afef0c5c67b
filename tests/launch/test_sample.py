"""Launch files of tests/truth/launch against what a person wrote down about each, with the options of the release that each is for."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from sm_gatecheck.launch import Launch, read_launch
from sm_gatecheck.program.modules import Program
from sm_gatecheck.rulebook import Rulebook
from sm_gatecheck.target.options import OptionTable, read_options
from sm_gatecheck.trees import TreeError, open_tree
from tests.truth import command

SAMPLE = Path(__file__).parents[1] / "truth" / "launch"
EXPECTED: dict[str, dict[str, Any]] = json.loads((SAMPLE / "expect.json").read_text(encoding="utf-8"))


@lru_cache(maxsize=8)
def options(version: str) -> OptionTable:
    """The options of a release; skipped where it cannot be had, a failure where the CI cannot have it."""
    try:
        tree = open_tree(command.tree_argument(version))
    except TreeError as error:
        reason = f"sglang {version} could not be had: {error}"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return read_options(Program(tree.files), Rulebook.open())


def parts() -> Iterator[tuple[str, str | None, Mapping[str, Any]]]:
    """File, service (None where there is one launch only), and what is expected of it."""
    for name, expected in EXPECTED.items():
        for service, inner in expected.get("services", {None: expected}).items():
            yield name, service, inner


def launch_of(name: str, service: str | None) -> Launch:
    launches = read_launch(SAMPLE / name, options(EXPECTED[name]["sglang_version"]), version=EXPECTED[name]["sglang_version"])
    chosen = [launch for launch in launches if service is None or launch.name == service]
    assert len(chosen) == 1
    return chosen[0]


@pytest.mark.release
@pytest.mark.parametrize(("name", "service", "expected"), [pytest.param(*part, id=f"{part[0]}-{part[1]}") for part in parts()])
def test_options_and_environment_are_those_written_down(name: str, service: str | None, expected: Mapping[str, Any]) -> None:
    launch = launch_of(name, service)
    # Where the sample gives a default that a variable would replace, the default counts and is noted.
    assert launch.values == {**expected["args"], **expected.get("args_with_defaults_applied", {})}
    assert {name: setting.value for name, setting in launch.environment.items()} == {
        name: value.split(" (")[0] for name, value in expected["env"].items()
    }
    assert sorted(launch.unresolved) == sorted(expected.get("unresolved", []))
    assert sorted(launch.conditional) == sorted(expected.get("conditional_args", {}))
    assert sorted(launch.ignored) == sorted(expected.get("explicit_false", []))
    assert launch.problems == ()


@pytest.mark.release
@pytest.mark.parametrize("name", EXPECTED)
def test_the_release_is_found_where_the_image_names_it(name: str) -> None:
    expected = EXPECTED[name]["sglang_version"] if EXPECTED[name]["version_source"] == "image tag" else None
    for launch in read_launch(SAMPLE / name, options(EXPECTED[name]["sglang_version"])):
        assert (launch.sglang_version.version if launch.sglang_version is not None else None) == expected


@pytest.mark.release
def test_values_with_a_condition_or_a_default_say_so() -> None:
    script = launch_of("05_start_l40s.sh", None)
    assert script.options["tp_size"].assumed == ("$TP is not set",)
    assert script.options["attention_backend"].assumed == ()
    (conditional,) = script.conditional["enable_deterministic_inference"]
    assert conditional.value is True
    assert "DETERMINISTIC" in (conditional.when or "")
    engine = launch_of("09_engine.py", None)
    assert engine.environment["SGLANG_ENABLE_JIT_DEEPGEMM"].when == "not already set"
