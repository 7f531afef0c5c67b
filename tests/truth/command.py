"""gatecheck run as a user runs it: a subprocess that prints JSON. Every answer is asked for once a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tests.truth import files, logs_score
from tests.truth.inventory import Inventory

TREES_VARIABLE = "GATECHECK_TRUTH_TREES"
"""Names a directory of unpacked releases (``VERSION/sglang``), to be read instead of fetching them."""

ORACLE_SMS = "80,89,90,100,103,120,121"
ORACLE_MEMORY_MIB = 81559
LIMIT_SECONDS = 1800


class CannotMeasure(Exception):
    """gatecheck gave no JSON for a release; the message is the last line that it wrote to stderr."""


def tree_argument(release: str) -> str:
    """How a release is named on the command line: its unpacked directory where one is at hand, else ``sglang==VERSION``."""
    trees = os.environ.get(TREES_VARIABLE)
    if trees:
        package = Path(trees) / release / "sglang"
        if package.is_dir():
            return str(package)
    return f"sglang=={release}"


def inventory(release: str, settings: Mapping[str, Any]) -> Inventory:
    """``check --sm all`` under ``--set`` of each setting."""
    pairs = tuple(f"{name}={_written(value)}" for name, value in sorted(settings.items()))
    arguments = [part for pair in pairs for part in ("--set", pair)]
    return _inventory("check", "--sm", "all", tree_argument(release), *arguments)


def context_inventory(release: str, context: str) -> Inventory:
    """``check`` in a context of the resolution oracle (``"llama|tp4"``): model, parallel size and memory given."""
    model, _, parallel = context.partition("|tp")
    return _inventory(
        "check",
        "--sm",
        ORACLE_SMS,
        tree_argument(release),
        "--set",
        f"tp_size={parallel}",
        "--model-config",
        str(files.MODELS / model / "config.json"),
        "--gpu-memory",
        str(ORACLE_MEMORY_MIB),
    )


def predicates(release: str, cuda: str) -> Any:
    """The document of ``predicates --sm all``."""
    return document("predicates", "--sm", "all", "--cuda", cuda, tree_argument(release))


def options(release: str) -> Any:
    """The document of ``options``."""
    return document("options", tree_argument(release))


def log(text: str, server: Mapping[str, Any]) -> Any:
    """The document of ``log`` for what a server logged, held against its release with what is known of its launch."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "server.log")
        file.write_text(text, "utf-8")
        command = ["log", str(file), "--tree", tree_argument(server["version"]), "--sm", str(server["sm"])]
        command += ["--gpu-memory", f"{server['gpu_mem_gib']}GiB", "--set", f"model_arch={server['model_arch']}"]
        return document(*command, after=logs_score.arguments(server))


@cache
def _inventory(*arguments: str) -> Inventory:
    return Inventory(document(*arguments))


def document(*arguments: str, after: Sequence[str] = ()) -> Any:
    """The JSON that a command prints, with the arguments of a launch after ``--``. CannotMeasure where it prints none."""
    command = [sys.executable, "-m", "sm_gatecheck", *arguments, "--format", "json", *(("--", *after) if after else ())]
    done = subprocess.run(command, capture_output=True, timeout=LIMIT_SECONDS, check=False, cwd=files.HERE.parent.parent)
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise CannotMeasure(f"gatecheck {' '.join(arguments)}: status {done.returncode}: {said[-1] if said else 'no message'}")
    return json.loads(done.stdout)


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
