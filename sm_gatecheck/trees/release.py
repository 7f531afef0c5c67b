"""``sglang==VERSION``: fetched once with pip, kept, and read as the archive it is."""

from __future__ import annotations

import contextlib
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from sm_gatecheck.trees.archive import open_archive
from sm_gatecheck.trees.cache import VARIABLE, cache_directory
from sm_gatecheck.trees.shape import PackageShape
from sm_gatecheck.trees.tree import Tree, TreeError, UsageError

_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)(?:\[[^]]*\])?\s*(?P<operator>===?|[<>~!]=|[<>])\s*(?P<version>.*)")
MAX_BYTES = 2_000_000_000
"""What fetched releases may take together, some hundreds of them."""
_ARCHIVES = (".whl", ".tar.gz", ".zip")
_ABANDONED = ".fetching-"
_ABANDONED_SECONDS = 24 * 3600
_FETCH_SECONDS = 1800
_NETWORK = (
    r"\[Errno -?\d+\] [^'\"):]+|certificate verify failed|Cannot connect to proxy|[Rr]ead timed out|\b[45]\d\d (?:Client|Server) Error"
)


def release_version(target: str, shape: PackageShape) -> Version | None:
    """The version of ``sglang==VERSION``, None for what is no requirement at all.

    UsageError for another distribution, for a range, and for what is no version.
    """
    match = _REQUIREMENT.fullmatch(target.strip())
    if match is None:
        return None
    name = shape.distribution
    if canonicalize_name(match["name"]) != canonicalize_name(name):
        near = difflib.SequenceMatcher(None, match["name"].lower(), name).ratio() > 0.6
        meant = f"did you mean {name}=={match['version']}?" if near else f"only releases of {name} can be analysed"
        raise UsageError(f"{target}: {meant}")
    example = f"{name}=={shape.examples[0]}" if shape.examples else f"{name}==VERSION"
    if match["operator"] not in ("==", "==="):
        raise UsageError(f"{target}: one release is needed, not a range; write {example}")
    try:
        return Version(match["version"])
    except InvalidVersion:
        raise UsageError(f"{target}: {match['version']!r} is no version; write {example}") from None


def open_release(target: str, version: Version, shape: PackageShape, cache_dir: Path | None, offline: bool) -> Tree:
    """The tree of a release, out of the cache or fetched into it.

    UsageError for a version that does not exist, TreeError where it cannot be fetched or what was kept is broken.
    """
    kept = cache_directory(cache_dir) / "releases" / f"{shape.distribution}-{version}"
    archive = _kept_archive(kept)
    if archive is None:
        if offline:
            raise TreeError(
                f"{target} is not kept in {kept.parent} yet, and may not be fetched now: run once with the network, or name a wheel"
            )
        archive = _fetch(target, version, shape, kept)
        _drop_least_used(kept)
    else:
        with contextlib.suppress(OSError):
            os.utime(archive)  # a release that is used stays
    try:
        return open_archive(target, archive, shape, "release")
    except TreeError as error:
        raise TreeError(f"{error} ; remove {archive} to fetch it again") from error


def kept_releases(shape: PackageShape, cache_dir: Path | None = None) -> list[tuple[Version, Path]]:
    """The releases that were fetched and are still kept, oldest first, each with its archive."""
    folder = cache_directory(cache_dir) / "releases"
    found: list[tuple[Version, Path]] = []
    with contextlib.suppress(OSError):
        for directory in folder.iterdir():
            name, _, version = directory.name.partition("-")
            archive = _kept_archive(directory)
            if name == shape.distribution and archive is not None:
                with contextlib.suppress(InvalidVersion):
                    found.append((Version(version), archive))
    return sorted(found)


def _kept_archive(directory: Path) -> Path | None:
    try:
        names = sorted(os.listdir(directory))
    except OSError:
        return None
    return next((directory / name for name in names if name.endswith(_ARCHIVES) and not name.startswith(".")), None)


def _fetch(target: str, version: Version, shape: PackageShape, kept: Path) -> Path:
    """Fetch into a directory of our own, then rename: a killed or a parallel run leaves no half file under a good name."""
    try:
        kept.mkdir(parents=True, exist_ok=True)
        _sweep(kept.parent)
        with tempfile.TemporaryDirectory(prefix=_ABANDONED, dir=kept.parent, ignore_cleanup_errors=True) as directory:
            fetched = _download(target, f"{shape.distribution}=={version}", version, shape, Path(directory))
            archive = kept / fetched.name
            os.replace(fetched, archive)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise TreeError(f"{target} cannot be kept in {kept}: {reason}; name another place with {VARIABLE}") from error
    finally:
        if _kept_archive(kept) is None:
            shutil.rmtree(kept, ignore_errors=True)
    return archive


def _drop_least_used(fetched: Path) -> None:
    """Keep the releases below their bound: the least recently used go, the one just fetched stays."""
    kept: list[tuple[float, int, Path]] = []
    with contextlib.suppress(OSError):
        for directory in fetched.parent.iterdir():
            archive = _kept_archive(directory)
            if archive is not None and directory != fetched:
                with contextlib.suppress(OSError):
                    status = archive.stat()
                    kept.append((status.st_mtime, status.st_size, directory))
    room = MAX_BYTES
    for _, size, directory in sorted(kept, reverse=True):
        room -= size
        if room < 0:
            shutil.rmtree(directory, ignore_errors=True)


def _sweep(directory: Path) -> None:
    """Remove what runs that were killed a day or more ago have left."""
    for path in directory.glob(f"{_ABANDONED}*"):
        try:
            if time.time() - path.stat().st_mtime > _ABANDONED_SECONDS:
                shutil.rmtree(path, ignore_errors=True)
        except OSError:
            continue


@dataclass(frozen=True)
class PipRun:
    """One run of pip: whether it fetched something, and what it said."""

    fetched: bool
    said: str

    @property
    def versions(self) -> list[str]:
        """The versions that pip names as those it could have fetched."""
        match = re.search(r"from versions: ([^)]*)\)", self.said)
        return [name.strip() for name in match[1].split(",") if name.strip() != "none"] if match else []

    @property
    def last_error(self) -> str:
        cause = re.search(_NETWORK, self.said)
        if cause is not None:
            return cause[0].strip()
        lines = [line for line in self.said.splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR:")]
        line = (errors or lines or ["pip said nothing"])[-1].removeprefix("ERROR:").strip()
        return line if len(line) <= 200 else f"{line[:200]}…"


def _download(target: str, requirement: str, version: Version, shape: PackageShape, directory: Path) -> Path:
    known: set[str] = set()
    run = PipRun(False, "")
    for options in _wheel_choices(shape):
        run = run_pip(("download", "--no-deps", "--only-binary=:all:", *options, "--dest", str(directory), requirement), directory)
        if run.fetched:
            found = _kept_archive(directory)
            if found is None:
                raise TreeError(f"{target}: pip fetched no archive; name a wheel instead")
            return found
        if not run.versions:
            break
        known.update(run.versions)
    if known and str(version) not in known:
        raise UsageError(f"{target}: there is no such release{_nearest(version, known, shape)}")
    if known:
        raise TreeError(f"{target}: there is no wheel of it, only sources that would have to be run; name a checkout at that tag")
    raise TreeError(f"{target} could not be fetched: {run.last_error}; check the network or pip's configuration, or name a wheel")


def _wheel_choices(shape: PackageShape) -> Iterator[tuple[str, ...]]:
    """pip's options for wheels of this machine, then for those of others. Never an sdist: pip runs its build."""
    yield ("--ignore-requires-python",)
    platforms = [option for platform in shape.platforms for option in ("--platform", platform)]
    for python in shape.pythons:
        yield (*platforms, "--python-version", python)


def run_pip(arguments: tuple[str, ...], directory: Path) -> PipRun:
    """Run pip in a directory of our own, so that nothing in the user's can be taken for one of its modules.

    TreeError where no pip is to be found.
    """
    options = ("--disable-pip-version-check", "--no-input", "--quiet", "--retries", "2")
    programs = [[sys.executable, "-m", "pip"], *([path] for name in ("pip3", "pip") if (path := shutil.which(name)))]
    for program in programs:
        try:
            done = subprocess.run(
                [*program, arguments[0], *options, *arguments[1:]],
                cwd=directory,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_FETCH_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return PipRun(False, f"ERROR: pip took more than {_FETCH_SECONDS // 60} minutes")
        except OSError:
            continue
        if done.returncode != 0 and "No module named pip" in done.stderr:
            continue
        return PipRun(done.returncode == 0, f"{done.stdout}\n{done.stderr}")
    raise TreeError("pip is needed to fetch a release, and this Python has none: run python -m ensurepip, or name a wheel")


def _nearest(version: Version, known: set[str], shape: PackageShape) -> str:
    versions = sorted((Version(name) for name in known if _is_version(name)), reverse=True)
    near = difflib.get_close_matches(str(version), [str(other) for other in versions], n=1, cutoff=0.5)
    newest = next((other for other in versions if not other.is_prerelease), versions[0])
    meant = f"; did you mean {shape.distribution}=={near[0]}?" if near else ""
    return f"{meant} (the newest is {newest})"


def _is_version(name: str) -> bool:
    try:
        Version(name)
    except InvalidVersion:
        return False
    return True
