"""Makefiles: what the fixture leaves out."""

from __future__ import annotations

from tests.launch.conftest import Read


def test_each_target_is_a_script(read: Read) -> None:
    launches = read(
        """
        TP=1
        TP+=2
        a b: dep
        \t@sglang serve --model-path /a --tp $(TP)

        c:
        \tcd x && sglang serve --model-path /c \\
        \t  --port $${P:-3}
        """
    )
    assert [(launch.name, launch.model_path) for launch in launches] == [("a b", "/a"), ("c", "/c")]
    assert launches[1].options["port"].value == 3
    assert [problem.kind for problem in launches[0].problems] == ["unexpected-argument"]


def test_functions_of_make_are_not_known(read: Read) -> None:
    (launch,) = read("x:\n\tsglang serve --model-path /m --tp $(shell nproc) --port $(PORT)\n")
    assert launch.values["model_path"] == "/m"
    assert set(launch.unresolved) == {"$(shell nproc)", "$PORT"}
