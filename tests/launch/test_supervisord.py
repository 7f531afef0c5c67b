"""supervisord programs: what the fixture leaves out."""

from __future__ import annotations

from typing import Any

import pytest

from tests.launch.conftest import Read


@pytest.mark.parametrize(
    ("command", "values"),
    [
        ("sglang serve --model-path /m --tp 2", {"tp_size": 2}),
        ("sglang serve --model-path '/m' --served-model-name \"a 'b'\"", {"served_model_name": "a 'b'"}),
        ("bash -c 'exec sglang serve --model-path /m --tp 2 2>&1 | tee x'", {"tp_size": 2}),
        ("env TP=2 sglang serve --model-path /m", {}),
        ("sglang serve --model-path /m ; the rest is a comment --tp 2", {}),
        ("sglang serve --model-path /m --api-key a;b", {"api_key": "a;b"}),
        ("sglang serve\n  --model-path /m\n  ; between\n  --tp 2", {"tp_size": 2}),
    ],
)
def test_commands(command: str, values: dict[str, Any], read: Read) -> None:
    (launch,) = read(f"[program:x]\ncommand={command}\n")
    assert launch.values == {"model_path": "/m", **values}
    assert (launch.name, launch.problems) == ("x", ())


def test_environment_in_every_form(read: Read) -> None:
    (launch,) = read(
        '[program:x]\nenvironment=A="1,2",B=\'3 4\', C=5,\n  D="%(program_name)s 50%%"\ncommand: sglang serve --model-path /m/%(ENV_C)s\n'
    )
    assert {name: setting.value for name, setting in launch.environment.items()} == {"A": "1,2", "B": "3 4", "C": "5", "D": "x 50%"}
    assert launch.model_path == "/m/5"


def test_a_backslash_at_the_end_of_a_line_is_a_mistake_and_meant_as_in_a_shell(read: Read) -> None:
    (launch,) = read("[program:x]\ncommand=sglang serve \\\n  --model-path /m\n")
    assert launch.model_path == "/m"
    assert [(problem.kind, problem.span.line) for problem in launch.problems] == [("syntax", 2)]
