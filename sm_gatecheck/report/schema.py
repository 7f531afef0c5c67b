"""The JSON Schema (2020-12) of every JSON report; it ships in the package."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def text() -> str:
    """The schema as it is written."""
    return Path(__file__).with_name("schema.json").read_text(encoding="utf-8")


def document() -> dict[str, Any]:
    """The schema as a value."""
    parsed: dict[str, Any] = json.loads(text())
    return parsed
