"""The launch formats, one a module; found by looking, never listed twice."""

from __future__ import annotations

import importlib
import pkgutil

from sm_gatecheck.launch.formats.interface import LaunchFormat, Reading


def _found() -> dict[str, LaunchFormat]:
    formats: dict[str, LaunchFormat] = {}
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda module: module.name):
        loaded = importlib.import_module(f"{__name__}.{module.name}")
        found = getattr(loaded, "FORMAT", None)
        if found is not None:
            formats[found.name] = found
    return formats


FORMATS: dict[str, LaunchFormat] = _found()

__all__ = ["FORMATS", "LaunchFormat", "Reading"]
