"""Small packages, archives and repositories in the shape of the real ones."""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

SOURCES: dict[str, bytes] = {
    "__init__.py": b"",
    "srt/__init__.py": b"",
    "srt/server_args.py": b"class ServerArgs:\n    chunk: int = 4\n",
    "srt/layers/attention.py": "# naïve\n".encode(),
}
METADATA = b"Metadata-Version: 2.1\nName: sglang\nVersion: 0.7.1\n\nVersion: 9.9.9 is only mentioned here\n"
PYPROJECT = b'[project]\nname = "sglang"\nversion = "0.7.0"\n'


def write(root: Path, files: Mapping[str, bytes]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return root


def under(prefix: str, files: Mapping[str, bytes] = SOURCES) -> dict[str, bytes]:
    return {f"{prefix}{name}": content for name, content in files.items()}


def checkout(root: Path, **extra: bytes) -> Path:
    """A source checkout without git."""
    return write(root, {**under("python/sglang/"), "python/pyproject.toml": PYPROJECT, "README.md": b"words\n", **extra})


def wheel(path: Path, files: Mapping[str, bytes] | None = None) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (files or wheel_files()).items():
            archive.writestr(name, content)
    return path


def wheel_files(version: str = "0.7.1") -> dict[str, bytes]:
    """The members of a wheel that pip accepts."""
    info = f"sglang-{version}.dist-info"
    return {
        **under("sglang/"),
        f"{info}/METADATA": METADATA.replace(b"0.7.1", version.encode(), 1),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: by hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": b"",
    }


def sdist(path: Path, files: Mapping[str, bytes], links: Mapping[str, str] | None = None, mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        for name, target in (links or {}).items():
            member = tarfile.TarInfo(name)
            member.type = tarfile.SYMTYPE
            member.linkname = target
            archive.addfile(member)
    return path


def git(root: Path, *arguments: str) -> str:
    """Run git as nobody in particular, with no configuration but the repository's."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_AUTHOR_NAME": "A",
        "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "A",
        "GIT_COMMITTER_EMAIL": "a@example.org",
    }
    command = ["git", "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always", *arguments]
    return subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True, text=True).stdout.strip()


def repository(root: Path, **extra: bytes) -> Path:
    """A checkout that is committed whole."""
    checkout(root, **extra)
    git(root, "init", "--quiet")
    commit(root)
    return root


def commit(root: Path, message: str = "change") -> str:
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", message)
    return git(root, "rev-parse", "HEAD")
