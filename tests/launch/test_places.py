"""Every place that a launch names is where it says, in bytes as well as in lines and columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from sm_gatecheck.launch import Extent, Launch, LaunchValue, read_launch
from tests.launch import expectation
from tests.launch.tables import table


def stretch(extent: Extent) -> str:
    return Path(extent.file).read_bytes()[extent.start : extent.end].decode("utf-8")


def by_lines(extent: Extent) -> str:
    """The same stretch by its lines and columns."""
    lines = Path(extent.file).read_bytes().decode("utf-8-sig").split("\n")[extent.line - 1 : extent.end_line]
    lines[-1] = lines[-1][: extent.end_column - 1]
    lines[0] = lines[0][extent.column - 1 :]
    return "\n".join(lines)


def settings(launch: Launch) -> list[LaunchValue]:
    conditional = [setting for values in launch.conditional.values() for setting in values]
    return [*launch.options.values(), *launch.environment.values(), *launch.ignored.values(), *conditional]


@pytest.mark.parametrize("name", expectation.names())
def test_flags_stand_where_they_are_said_to_stand(name: str) -> None:
    count = 0
    for launch in read_launch(expectation.read(name).file, table()):
        for setting in settings(launch):
            written = stretch(setting.extent)
            assert by_lines(setting.extent) == written
            # A key of a mapping stands for its flag; what is quoted may be cut short by its quotes.
            flag = setting.flag.lstrip("-")
            assert flag.replace("_", "-") in written.replace("_", "-"), (setting.flag, written)
            for extent in setting.value_extents:
                assert by_lines(extent) == stretch(extent)
            count += 1
    assert count > 0


def test_a_flag_from_an_array_names_both_places(tmp_path: Path) -> None:
    file = tmp_path / "a.sh"
    file.write_text('A=(--quantization "fp8")\npython -m sglang.launch_server --model-path /m "${A[@]}"\n', encoding="utf-8")
    (launch,) = read_launch(file, table())
    setting = launch.options["quantization"]
    assert (stretch(setting.extent), [stretch(extent) for extent in setting.value_extents]) == ("--quantization", ["fp8"])
    assert setting.used is not None
    assert stretch(setting.used) == '"${A[@]}"'
    assert launch.options["model_path"].used is None


def test_problems_are_placed_like_values(tmp_path: Path) -> None:
    file = tmp_path / "compose.yaml"
    file.write_text(
        "services:\n  a:\n    image: x\n    command: >-\n      sglang serve\n      --tp é\n      --quantisation fp8\n", encoding="utf-8"
    )
    (launch,) = read_launch(file, table())
    assert [(problem.kind, problem.span.line, problem.span.column) for problem in launch.problems] == [
        ("bad-value", 6, 12),
        ("unknown-flag", 7, 7),
    ]
    assert launch.problems[1].suggestion == "--quantization"
