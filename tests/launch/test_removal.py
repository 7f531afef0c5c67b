"""Every option of every launch file in fixtures/launch taken out by itself: nothing else of the launch changes, and bytes only go."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from sm_gatecheck.launch import Launch, read_launch
from sm_gatecheck.launch.checking import LaunchInput
from sm_gatecheck.launch.fixing import Fix, remove_option
from tests.launch.expectation import names, read
from tests.launch.tables import table

FILES = [read(name).file for name in names()]
LEAST_SHARE = 0.8
"""Of all options of these files; the rest are made of words that other launches share, or are put together from several places."""


class Reading:
    """Reads launches as a check does, without a tree."""

    def read(self, wanted: LaunchInput, contents: Mapping[Path, bytes] | None = None) -> tuple[Launch, ...]:
        return tuple(launch for name in wanted.files for launch in read_launch(Path(name), table(), version="0.5.12", contents=contents))


def is_part(short: bytes, long: bytes) -> bool:
    """Whether ``short`` is ``long`` with bytes left out."""
    rest = iter(long)
    return all(byte in rest for byte in short)


def removed(path: Path, number: int, name: str) -> Fix:
    return remove_option(Reading(), LaunchInput((str(path),)), number, name)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_an_option_goes_alone(path: Path) -> None:
    before = Reading().read(LaunchInput((str(path),)))
    for number, launch in enumerate(before):
        for name, setting in launch.options.items():
            fix = removed(path, number, name)
            if fix.left:
                assert fix.after == {}
                continue
            after = Reading().read(LaunchInput((str(path),)), fix.after)
            left = {other: repr(value.value) for other, value in after[number].options.items()}
            assert left == {other: repr(value.value) for other, value in launch.options.items() if other != name}, setting.extent
            assert all(is_part(data, fix.before[changed]) for changed, data in fix.after.items())
            assert all(name not in later.options for later in after[number : number + 1])


def test_most_options_can_go() -> None:
    results = [
        bool(removed(path, number, name).done)
        for path in FILES
        for number, launch in enumerate(Reading().read(LaunchInput((str(path),))))
        for name in launch.options
    ]
    assert sum(results) / len(results) > LEAST_SHARE
