"""How much of a tree is read before it is taken for broken or hostile."""

from __future__ import annotations

from dataclasses import dataclass

from sm_gatecheck.model.errors import TreeError

MAX_FILE_BYTES = 8_000_000
"""One source file; a larger one is left out with a diagnostic. ``syntax`` refuses the same size."""

MAX_METADATA_BYTES = 1 << 20
"""A file that is read for the version it states."""

MAX_TOTAL_BYTES = 1 << 30
MAX_MEMBERS = 200_000

MAX_RATIO = 100
"""Uncompressed to compressed bytes of a whole archive. Source code packs to a fifth or a quarter."""

RATIO_COUNTS_FROM = 64 << 20
"""Archives that unpack to less do no harm whatever their ratio."""


@dataclass
class Budget:
    """What one tree has used so far. ``packed_bytes`` is the size of the archive, None for what is not compressed."""

    name: str
    packed_bytes: int | None = None
    members: int = 0
    total_bytes: int = 0

    def count_member(self) -> None:
        self.members += 1
        if self.members > MAX_MEMBERS:
            raise TreeError(f"{self.name} has more than {MAX_MEMBERS:,} members: too many for a source tree; name a smaller part of it")

    def count_bytes(self, number: int) -> None:
        """TreeError where the limit of bytes, or of compression, is passed."""
        self.total_bytes += number
        if self.total_bytes > MAX_TOTAL_BYTES:
            raise TreeError(f"{self.name} holds more than {MAX_TOTAL_BYTES >> 20:,} MiB uncompressed: too much for a source tree")
        if self.packed_bytes is not None and self.total_bytes > RATIO_COUNTS_FROM and self.total_bytes > MAX_RATIO * self.packed_bytes:
            raise TreeError(f"{self.name} unpacks to more than {MAX_RATIO} times its size: it looks like an archive bomb, and was not read")
