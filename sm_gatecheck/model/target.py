"""Compute capabilities, one by one and as sets.

A set of targets is an ``int`` whose bit *i* stands for ``devices[i]``: conditions carry millions of them, and integers
are the cheapest set that Python has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Product:
    """A GPU as people and drivers name it; ``memory_mib`` as nvidia-smi states it, None where not known."""

    name: str
    aliases: tuple[str, ...] = ()
    memory_mib: int | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.aliases)


@dataclass(frozen=True)
class Target:
    """One compute capability: ``sm`` is ``major * 10 + minor`` (103 for 10.3).

    ``block_shared_memory_kib`` is the most shared memory that a thread block can ask for, in KiB; None where not known.
    """

    sm: int
    architecture: str = ""
    catalogue: tuple[Product, ...] = ()
    block_shared_memory_kib: int | None = None

    @property
    def capability(self) -> tuple[int, int]:
        """``(major, minor)`` as ``torch.cuda.get_device_capability()`` returns it."""
        return divmod(self.sm, 10)

    @property
    def products(self) -> tuple[str, ...]:
        """The names of the products, the best known first."""
        return tuple(product.name for product in self.catalogue)

    @property
    def memory_mib(self) -> int | None:
        """The memory of the best known product, in MiB."""
        return self.catalogue[0].memory_mib if self.catalogue else None


@dataclass(frozen=True)
class Devices:
    """The known targets in ascending order; gives each its bit."""

    targets: tuple[Target, ...]

    @property
    def all_bits(self) -> int:
        return (1 << len(self.targets)) - 1

    def bit(self, sm: int) -> int:
        """The one-element set of ``sm``. KeyError when the target is unknown."""
        for index, target in enumerate(self.targets):
            if target.sm == sm:
                return 1 << index
        raise KeyError(sm)

    def bits(self, sms: Iterable[int]) -> int:
        result = 0
        for sm in sms:
            result |= self.bit(sm)
        return result

    def members(self, bits: int) -> tuple[int, ...]:
        """The SMs of a set, ascending."""
        return tuple(target.sm for index, target in enumerate(self.targets) if bits >> index & 1)

    @property
    def sms(self) -> tuple[int, ...]:
        return tuple(target.sm for target in self.targets)

    def __iter__(self) -> Iterator[Target]:
        return iter(self.targets)

    def __len__(self) -> int:
        return len(self.targets)
