"""What a container finds under its paths: texts that the launch file itself holds, and files of the host that are mounted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sm_gatecheck.launch.files import Companions
from sm_gatecheck.launch.located import Located


@dataclass(frozen=True)
class Inside:
    """``files`` by path (a mounted ConfigMap, a copied script), ``mounts`` as (path inside, path on the host); the host's are
    relative to ``directory``.
    """

    files: Mapping[str, Located] = field(default_factory=dict)
    mounts: tuple[tuple[str, str], ...] = ()
    directory: Path | None = None

    def read(self, path: str, companions: Companions) -> Located | None:
        """The text of a file; None where nothing is known of it."""
        if path in self.files:
            return self.files[path]
        for inner, outer in sorted(self.mounts, key=lambda mount: -len(mount[0])):
            inner = inner.rstrip("/")
            if path == inner or path.startswith(inner + "/"):
                source = companions.read(outer.rstrip("/") + path[len(inner) :], self.directory)
                return source.located() if source is not None else None
        return None


NOTHING = Inside()
