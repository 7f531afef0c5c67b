"""The configuration of a model that lies where a launch says, on this machine: read, where it can be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sm_gatecheck.launch.files import read_file
from sm_gatecheck.launch.model import Launch, LaunchError

CONFIGURATION = "config.json"


def local_configuration(launch: Launch) -> tuple[Path, dict[str, Any]] | None:
    """The ``config.json`` of the launch's model and what it holds; None where the model is not here, or its file holds no such thing."""
    name = launch.model_path
    if not name or "\0" in name or name.startswith("~"):
        return None
    path = Path(name) / CONFIGURATION
    if not path.is_absolute():
        path = Path(launch.file).parent / path
    try:
        if not path.is_file():
            return None
        found = json.loads(read_file(path).text)
    except (LaunchError, OSError, ValueError, RecursionError):
        return None
    return (path, found) if isinstance(found, dict) else None
