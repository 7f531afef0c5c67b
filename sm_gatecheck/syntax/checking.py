"""Whether every file of a tree parses, found out beside the analysis.

The analysis looks at a part of the tree; that a file outside this part is broken has to be said all the same. Parsing everything
takes seconds, so another process of this Python does it, from a temporary file, while the analysis goes on.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from sm_gatecheck.model.report import Diagnostic
from sm_gatecheck.syntax import child

PATIENCE_SECONDS = 120


class SyntaxCheck:
    """Started when made; ``result`` waits for it. Nothing of the tree is executed: the other process only parses."""

    def __init__(self, sources: Mapping[str, bytes]) -> None:
        self._sources = tempfile.TemporaryFile()  # noqa: SIM115 - closed by result()
        for path, source in sources.items():
            name = path.encode("utf-8", "surrogateescape")
            self._sources.write(b"%d %d\n%b%b" % (len(name), len(source), name, source))
        self._sources.seek(0)
        command = [sys.executable, "-I", "-S", str(Path(child.__file__))]
        self._process = subprocess.Popen(command, stdin=self._sources, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    @cached_property
    def result(self) -> tuple[Diagnostic, ...]:
        """One diagnostic for each file that does not parse, in the order given; none where the check itself came to nothing."""
        try:
            output, _ = self._process.communicate(timeout=PATIENCE_SECONDS)
            found = json.loads(output or b"[]")
        except (subprocess.TimeoutExpired, ValueError):
            self._process.kill()
            self._process.wait()
            return ()
        finally:
            self._sources.close()
        return tuple(Diagnostic(path, line, f"could not be parsed: {why}") for path, line, why in found)
