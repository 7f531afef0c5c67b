"""Short ways to read a text as one format."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent

import pytest

from sm_gatecheck.launch import Launch, read_launch
from tests.launch.tables import table

Read = Callable[..., tuple[Launch, ...]]


@pytest.fixture
def read() -> Read:
    """``read(text, format=…, environment=…)``; the text without the indentation that it has in the test."""

    def read_text(text: str, format: str | None = None, **options: object) -> tuple[Launch, ...]:
        return read_launch(dedent(text).lstrip("\n"), table(), format=format, **options)  # type: ignore[arg-type]

    return read_text
