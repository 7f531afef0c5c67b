"""The truth on disk, read; nothing here is about gatecheck."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from packaging.version import Version

from sm_gatecheck.rulebook import read_toml

HERE = Path(__file__).parent
PREDICATES = HERE / "oracle" / "predicates"
RESOLUTION = HERE / "oracle" / "resolution"
MODELS = HERE / "oracle" / "models"
LABELLED_RELEASE = "0.5.10"


def predicate_files() -> tuple[str, ...]:
    """Names of the predicate oracles: a release, or a release and a CUDA version (``0.5.9-cuda12.4``)."""
    return tuple(sorted((path.stem for path in PREDICATES.glob("*.json")), key=release_key))


def predicates(name: str) -> Any:
    return json.loads((PREDICATES / f"{name}.json").read_text("utf-8"))


def resolution_releases() -> tuple[str, ...]:
    return tuple(sorted((path.name.removesuffix(".json.gz") for path in RESOLUTION.glob("*.json.gz")), key=release_key))


@cache
def resolution(release: str) -> Any:
    """The runs of a release, with ``left_out``: those and fields that must not be compared."""
    truth = json.loads(gzip.decompress((RESOLUTION / f"{release}.json.gz").read_bytes()))
    left_out = read_toml(RESOLUTION / "left_out.toml")
    return {
        **truth,
        "left_out": [run for run in left_out["run"] if release in run["releases"]],
        "left_out_fields": [name for row in left_out["field"] for name in row["names"]],
    }


def facts() -> Any:
    return read_toml(HERE / "facts.toml")


def labels() -> Any:
    return json.loads((HERE / "labels.json").read_text("utf-8"))


def cases() -> Any:
    return json.loads((HERE / "cases.json").read_text("utf-8"))


def logs() -> Any:
    return json.loads((HERE / "logs.json").read_text("utf-8"))


def ratchet() -> dict[str, float]:
    """The figures reached so far, in percent, by ``table/release/score name``."""
    recorded: dict[str, float] = read_toml(HERE / "ratchet.toml")["reached"]
    return recorded


def raise_ratchet(measured: Mapping[str, float]) -> None:
    """Records each figure that is better than what stands in ratchet.toml; none is lowered."""
    path = HERE / "ratchet.toml"
    recorded = ratchet()
    better = {name: max(percent, recorded.get(name, 0.0)) for name, percent in measured.items()}
    head = path.read_text("utf-8").partition("[reached]\n")[0]
    rows = (f'"{name}" = {percent}\n' for name, percent in sorted({**recorded, **better}.items()))
    path.write_text(f"{head}[reached]\n{''.join(rows)}", "utf-8")


def release_key(name: str) -> tuple[Version, str]:
    """Sorts ``0.5.9`` before ``0.5.10`` and ``0.5.9`` before ``0.5.9-cuda12.4``."""
    release, _, rest = name.partition("-")
    return Version(release), rest
