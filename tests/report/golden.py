"""Expected outputs in files. ``GATECHECK_GOLDEN=write`` rewrites them, for a person to read in the diff."""

from __future__ import annotations

import os
from pathlib import Path

from sm_gatecheck import __version__

DIRECTORY = Path(__file__).parent / "golden"


def assert_golden(name: str, text: str) -> None:
    """``text`` is what the file holds, the version of gatecheck aside."""
    path = DIRECTORY / name
    neutral = text.replace(f"gatecheck {__version__}", "gatecheck VERSION").replace(f'"version": "{__version__}"', '"version": "VERSION"')
    if os.environ.get("GATECHECK_GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(neutral, encoding="utf-8")
    assert neutral == path.read_text(encoding="utf-8")
