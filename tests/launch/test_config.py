"""Files of arguments, as the releases of each time read them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sm_gatecheck.launch import read_launch
from sm_gatecheck.target.options import OptionTable
from tests.launch.conftest import Read
from tests.launch.tables import table


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("tp-size: 4", {"tp_size": 4}),
        ("tensor-parallel-size: '4'", {"tp_size": 4}),
        ("enable-metrics: true", {"enable_metrics": True}),
        ("enable-metrics: yes", {"enable_metrics": True}),
        ("enable-metrics: false", {}),
        ("cuda-graph-bs: []", {}),
        ("cuda-graph-bs:\n- 1\n- 2", {"cuda_graph_bs": [1, 2]}),
        ("served-model-name: null", {"served_model_name": "None"}),
        ("served-model-name: 1.10", {"served_model_name": "1.1"}),
        ("served-model-name: '1.10'", {"served_model_name": "1.10"}),
        ("mem-fraction-static: 0.85", {"mem_fraction_static": 0.85}),
        ("port: 017", {"port": 15}),
        ("x: &x 4\ntp-size: *x", {"tp_size": 4}),
    ],
)
def test_keys_become_words(line: str, values: dict[str, Any], read: Read) -> None:
    (launch,) = read(f"model-path: /m\n{line}\n", format="config")
    assert launch.values == {"model_path": "/m", **values}


@pytest.mark.parametrize(("version", "is_refused"), [("0.5.6", False), ("0.5.9", True), ("0.5.22", True)])
def test_an_option_with_a_negation_is_refused_by_some_releases(version: str, is_refused: bool) -> None:
    (launch,) = read_launch("model-path: /m\nlora-strict-loading: true\n", table(), format="config", version=version)
    assert any(problem.kind == "config" for problem in launch.problems) is is_refused
    assert ("lora_strict_loading" in launch.options) is not is_refused


def test_false_is_dropped_or_handed_over(read: Read) -> None:
    text = "model-path: /m\nserved-model-name: false\nenable-metrics: false\n"
    (old,) = read_launch(text, table(), format="config", version="0.5.6")
    assert (old.values, sorted(old.ignored)) == ({"model_path": "/m"}, ["enable_metrics", "served_model_name"])
    (new,) = read_launch(text, table(), format="config", version="0.5.12")
    assert (new.values, sorted(new.ignored)) == ({"model_path": "/m", "served_model_name": "false"}, ["enable_metrics"])


def test_the_command_line_wins_wherever_the_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("tp-size: 2\nport: 3\n", encoding="utf-8")
    (tmp_path / "a.sh").write_text("sglang serve --tp 4 --config a.yaml --model-path /m\n", encoding="utf-8")
    (launch,) = read_launch(tmp_path / "a.sh", table())
    assert launch.values == {"port": 3, "tp_size": 4, "model_path": "/m"}
    assert [(earlier.value, Path(earlier.span.file).name) for earlier in launch.options["tp_size"].overridden] == [(2, "a.yaml")]
    assert launch.config == "a.yaml"


def test_a_release_that_knows_no_such_file(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("tp-size: 2\n", encoding="utf-8")
    (tmp_path / "a.sh").write_text("sglang serve --config a.yaml --model-path /m\n", encoding="utf-8")
    without = OptionTable(tuple(option for option in table() if option.field != "config"))
    (launch,) = read_launch(tmp_path / "a.sh", without)
    assert (launch.values, [problem.kind for problem in launch.problems]) == ({"model_path": "/m"}, ["unknown-flag"])


def test_a_file_that_is_broken_is_a_problem_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("tp-size: 2\n  port: 3\n", encoding="utf-8")
    (tmp_path / "list.yaml").write_text("- 1\n", encoding="utf-8")
    (tmp_path / "a.sh").write_text(
        "sglang serve --config a.yaml\nsglang serve --config list.yaml\nsglang serve --config=a.yaml\n", encoding="utf-8"
    )
    broken, wrong, joined = read_launch(tmp_path / "a.sh", table())
    assert [(problem.kind, Path(problem.span.file).name, problem.span.line) for problem in broken.problems] == [("config", "a.yaml", 2)]
    assert [problem.kind for problem in wrong.problems] == ["config"]
    assert [problem.suggestion for problem in joined.problems] == ["--config a.yaml"]
