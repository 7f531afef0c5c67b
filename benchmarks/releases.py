"""Real releases on disk, unpacked: fetched once with pip, without dependencies, and never imported."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import platformdirs


class CannotFetch(Exception):
    """A release could not be fetched; the message is the last line that pip wrote."""


def default_directory() -> Path:
    return Path(platformdirs.user_cache_dir("sm-gatecheck-benchmarks"))


def package(release: str, directory: Path) -> Path:
    """The package directory of a release: ``directory/RELEASE/sglang``, unpacked from its wheel when it is not there yet."""
    target = directory / release / "sglang"
    if target.is_dir():
        return target
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory) as scratch:
        wheel = _download(release, Path(scratch))
        unpacked = Path(scratch) / "unpacked"
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(unpacked, [name for name in archive.namelist() if name.startswith("sglang/")])
        target.parent.mkdir(exist_ok=True)
        (unpacked / "sglang").rename(target)
    return target


def _download(release: str, directory: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--ignore-requires-python"]
    done = subprocess.run([*command, "-d", str(directory), f"sglang=={release}"], capture_output=True, text=True, check=False)
    wheels = sorted(directory.glob("*.whl"))
    if done.returncode or not wheels:
        said = done.stderr.strip().splitlines()
        raise CannotFetch(f"sglang {release}: {said[-1] if said else 'pip gave no wheel'}")
    return wheels[0]


def sources(package_directory: Path) -> list[Path]:
    """Every Python file under ``srt/``, sorted."""
    return sorted((package_directory / "srt").rglob("*.py"))
