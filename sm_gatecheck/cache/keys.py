"""Names for contents: equal names for equal inputs, whatever the process, the machine and the order of a dict."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

from sm_gatecheck import __version__


class Key:
    """Gathers inputs, each with its length, so that no two sequences of them run together."""

    def __init__(self) -> None:
        self._hash = blake2b(digest_size=24)

    def add(self, *parts: str | bytes) -> Key:
        for part in parts:
            content = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
            self._hash.update(len(content).to_bytes(8, "big"))
            self._hash.update(content)
        return self

    def add_files(self, files: Mapping[str, bytes]) -> Key:
        for name in sorted(files):
            self.add(name, files[name])
        return self

    def add_directories(self, directories: Iterable[Path], pattern: str) -> Key:
        """Every file below each directory whose name fits, by relative name and content. OSError where one cannot be read."""
        for directory in directories:
            paths = sorted(path for path in directory.rglob(pattern) if path.is_file())
            self.add_files({path.relative_to(directory).as_posix(): path.read_bytes() for path in paths})
        return self

    def name(self) -> str:
        return self._hash.hexdigest()


@lru_cache(maxsize=1)
def program_name() -> str:
    """A name for this gatecheck and the Python that runs it: whatever it worked out before, another one may see otherwise."""
    key = Key().add(__version__, platform.python_implementation(), ".".join(map(str, sys.version_info)))
    return key.add_directories([Path(__file__).resolve().parent.parent], "*.py").name()
