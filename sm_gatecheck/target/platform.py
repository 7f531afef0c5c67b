"""The assumed machine: what torch, the CUDA toolkit, the environment and the installed packages answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sm_gatecheck.evaluate.values import External, Instance, Known, Opaque, OptionValue, Payload, Value, choice
from sm_gatecheck.model.condition import Condition, Space
from sm_gatecheck.model.target import Devices, Target
from sm_gatecheck.rulebook import Rulebook

DEVICE_NAME = "gatecheck.device name"
VENDOR_PREFIXES = ("NVIDIA ", "NVIDIA GeForce ", "Tesla ")


@dataclass(frozen=True)
class Facts:
    """The contents of ``platform.toml``."""

    values: dict[str, Any]
    calls: dict[str, Any]
    absent: frozenset[str]
    present: frozenset[str]
    missing_packages: frozenset[str]
    complete_packages: frozenset[str]
    never_fail: frozenset[str]
    objects: dict[str, tuple[str, ...]]


def load_facts(rules: Rulebook) -> Facts:
    """Read ``sglang/platform.toml``. RulesError where it cannot be read."""
    data = rules.read("sglang/platform.toml")
    return Facts(
        {name: row["is"] for row in data.get("value", []) for name in row["names"]},
        {name: row["is"] for row in data.get("call", []) for name in row["names"]},
        frozenset(data.get("absent", {}).get("names", [])),
        frozenset(data.get("present", {}).get("names", [])),
        frozenset(data.get("packages", {}).get("missing", [])),
        frozenset(data.get("packages", {}).get("complete", [])),
        frozenset(data.get("never_fail", {}).get("names", [])),
        {row["name"]: tuple(row["classes"]) for row in data.get("object", [])},
    )


@dataclass
class Platform:
    """Answers the interpreter's questions about other packages, for all targets at once."""

    space: Space
    devices: Devices
    facts: Facts
    cuda: str
    environment: Callable[[str, Value], Value] = field(default=lambda name, default: OptionValue(f"env:{name}", name))
    memory_mib: int | None = None
    """The memory of the GPU, where it is given."""

    def value(self, dotted: str) -> Value | None:
        if dotted in self.facts.values:
            return self._meaning(self.facts.values[dotted])
        return None

    def call(self, dotted: str, args: tuple[Value, ...], text: str) -> Value | None:
        if dotted not in self.facts.calls:
            return None
        meaning = self.facts.calls[dotted]
        if meaning == "environment":
            return self._environment(args)
        if meaning == "installed":
            return self._installed(args)
        return self._meaning(meaning)

    def exists(self, dotted: str) -> bool | None:
        if dotted in self.facts.absent:
            return False
        return True if dotted in self.facts.present or dotted.split(".")[0] in self.facts.complete_packages else None

    def never_fails(self, name: str) -> bool:
        return name in self.facts.calls or name in self.facts.never_fail

    def contains(self, dotted: str, text: str) -> Condition | None:
        """Whether a text that has several values on an SM contains another: the name of the GPU, which is one of the known products'."""
        if dotted != DEVICE_NAME:
            return None
        names = {target.sm: _reported(target, self.memory_mib) for target in self.devices}
        always = self.devices.bits(sm for sm in names if all(text in name for name in names[sm]))
        ever = self.devices.bits(sm for sm in names if any(text in name for name in names[sm]))
        free = self.space.free(f"9:{DEVICE_NAME}:{text}", f"{text!r} in the name of the GPU")
        return self.space.targets(always) | (self.space.targets(ever) & free)

    def importable(self, module: str) -> bool:
        return module.split(".")[0] not in self.facts.missing_packages

    def _meaning(self, word: Any) -> Value:
        if word == "device name":
            return External(DEVICE_NAME)
        if word == "none":
            return Known(None)
        if word == "cuda version":
            return Known(self.cuda)
        if word == "cuda version parts":
            return Known(tuple(int(part) for part in self.cuda.split(".") if part.isdecimal()))
        if isinstance(word, str) and word.startswith("object "):
            return External(f"gatecheck.{word[len('object ') :]}")
        per_target: dict[Any, Callable[[int, int], Any]] = {
            "capability": lambda major, minor: (major, minor),
            "major": lambda major, minor: major,
            "minor": lambda major, minor: minor,
            "sm": lambda major, minor: major * 10 + minor,
            "sm text": lambda major, minor: f"{major}.{minor}",
        }
        if word == "shared memory":
            return self._shared_memory()
        if isinstance(word, str) and word in per_target:
            return self.per_target(per_target[word])
        return Known(word)

    def _shared_memory(self) -> Value:
        """What a thread block can ask for, in bytes, on each SM."""
        unknown = Opaque("9:shared memory", "the shared memory of a thread block")
        amounts = ((self.devices.bit(target.sm), target.block_shared_memory_kib) for target in self.devices)
        rows: list[tuple[Condition, Payload]] = [
            (self.space.targets(bit), unknown if kib is None else Known(kib * 1024)) for bit, kib in amounts
        ]
        return choice(rows, unknown)

    def per_target(self, function: Callable[[int, int], Any]) -> Value:
        """The value that ``function(major, minor)`` has on each SM."""
        options: list[tuple[Any, Payload]] = []
        for target in self.devices:
            options.append((self.space.targets(self.devices.bit(target.sm)), Known(function(*target.capability))))
        return choice(options, Known(None))

    def _environment(self, args: tuple[Value, ...]) -> Value | None:
        if args and isinstance(args[0], Known) and isinstance(args[0].value, str):
            return self.environment(args[0].value, args[1] if len(args) > 1 else Known(None))
        return None

    def _installed(self, args: tuple[Value, ...]) -> Value | None:
        if args and isinstance(args[0], Known) and isinstance(args[0].value, str):
            return Instance(None, "module specification") if self.importable(args[0].value) else Known(None)
        return None


def _reported(target: Target, memory_mib: int | None) -> list[str]:
    """What the driver may call a GPU, as far as its product's names tell; with that memory, where a product has it."""
    products = [product for product in target.catalogue if memory_mib in (None, product.memory_mib)] or target.catalogue
    return [f"{prefix}{name}" for product in products for name in product.names for prefix in ("", *VENDOR_PREFIXES)]
