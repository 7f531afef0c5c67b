"""Every launch file under fixtures/launch gives what is written beside it."""

from __future__ import annotations

import pytest

from sm_gatecheck.launch import format_names, read_launch
from tests.launch import expectation
from tests.launch.tables import table


@pytest.mark.parametrize("name", expectation.names())
def test_launches_are_as_expected(name: str) -> None:
    expected = expectation.read(name)
    launches = read_launch(expected.file, table())
    problems = [
        f"{number}: {line}"
        for number, (wanted, launch) in enumerate(zip(expected.launches, launches, strict=False), 1)
        for line in expectation.differences(wanted, launch, expected.directory)
    ]
    assert problems == []
    assert len(launches) == len(expected.launches)
    assert expected.format in (None, *(launch.format for launch in launches))


def test_every_format_has_a_fixture() -> None:
    read = {launch.format for name in expectation.names() for launch in read_launch(expectation.read(name).file, table())}
    assert sorted(read) == sorted(format_names())
