"""Shell scripts, and command lines such as ``docker run`` copied out of one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sm_gatecheck.launch.formats.interface import FALLBACK, LIKELY, POSSIBLE, SURE, Reading, is_named
from sm_gatecheck.launch.job import Job, Start
from sm_gatecheck.launch.located import SourceText


@dataclass(frozen=True)
class Shell:
    name: str = "shell"
    title: str = "shell script"

    def recognise(self, source: SourceText, reading: Reading) -> int:
        first = source.text.split("\n", 1)[0]
        if first.startswith("#!") and any(f"/{shell}" in first or f" {shell}" in first for shell in reading.rules.shells):
            return SURE - 10
        if is_named(source, "*.sh", "*.bash", "*.zsh"):
            return LIKELY
        return POSSIBLE if reading.rules.entry_mention.search(source.text) and is_named(source, "<*>", "*.txt", "*.env") else FALLBACK

    def read(self, source: SourceText, reading: Reading) -> Iterator[Start]:
        yield Job(script=source.located(), directory=source.directory)


FORMAT = Shell()
