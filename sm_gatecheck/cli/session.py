"""From the words of a command line to the values the analysis takes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sm_gatecheck.cli.outcome import say
from sm_gatecheck.cli.refusal import did_you_mean
from sm_gatecheck.model.errors import UsageError, without_options
from sm_gatecheck.rulebook import Rulebook

if TYPE_CHECKING:
    from sm_gatecheck.model.option import Option
    from sm_gatecheck.model.target import Devices
    from sm_gatecheck.target.options import OptionTable
    from sm_gatecheck.trees.tree import Tree


@dataclass(frozen=True)
class Rules:
    """The rules of this run and the devices they list."""

    directory: Path | None
    book: Rulebook
    devices: Devices

    @classmethod
    def open(cls, directory: Path | None) -> Rules:
        """The shipped rules, under those of ``directory``. UsageError where they cannot be read."""
        from sm_gatecheck.target.rules import load_devices

        book = Rulebook.open() if directory is None else Rulebook.open(directory)
        return cls(directory, book, load_devices(book))


@dataclass(frozen=True)
class GpuKind:
    """GPUs of this machine that share an SM: their names as a person counts them, and the least memory of one."""

    sm: int
    title: str
    memory_mib: int | None


@dataclass(frozen=True)
class Gpus:
    """The SMs to answer for, ascending, and the memory of one GPU in MiB where a single product was named or found.

    ``kinds`` are the GPUs of this machine by SM, where nobody named any; each then has a report of its own.
    """

    sms: tuple[int, ...]
    memory_mib: int | None
    kinds: tuple[GpuKind, ...] = ()

    def memory_under(self, given: int | None, devices: Devices) -> int | None:
        """The memory of one GPU in MiB under what ``--gpu-memory`` gives; of one SM, a box's 20 GiB are what the driver states."""
        if given is None:
            return self.memory_mib
        from sm_gatecheck.target.devices import stated_memory

        return stated_memory(given, self.sms[0], devices) if len(self.sms) == 1 else given


def wanted_gpus(sms: Sequence[str], names: Sequence[str], devices: Devices, quiet: bool = False) -> Gpus:
    """What ``--sm`` and ``--gpu`` name together; the GPUs of this machine when neither is given. UsageError."""
    from sm_gatecheck.target.devices import find_gpu, parse_sms

    if not sms and not names:
        return _gpus_of_this_machine(devices, quiet)

    chosen = set(parse_sms(sms, devices)) if sms else set()
    memories: set[int | None] = set() if not sms else {None}
    for name in names:
        gpu = find_gpu(name, devices)
        chosen.add(gpu.sm)
        memories.add(gpu.memory_mib)
    return Gpus(tuple(sorted(chosen)), memories.pop() if len(memories) == 1 else None)


def _gpus_of_this_machine(devices: Devices, quiet: bool) -> Gpus:
    """Every kind of GPU that is in it. UsageError where there is none, or one whose SM is not known."""
    from sm_gatecheck.target.devices import local_gpus

    found = local_gpus(devices)
    kinds = []
    for sm in sorted({gpu.sm for gpu in found}):
        alike = [gpu for gpu in found if gpu.sm == sm]
        title = ", ".join(_counted([gpu.name for gpu in alike]))
        if sm not in devices.sms:
            known = " ".join(map(str, devices.sms))
            raise UsageError(
                f"this machine has {title}, and SM{sm} is not known here: name one of {known} with --sm, or add it with --rules"
            )
        memories = [gpu.memory_mib for gpu in alike]
        known_memories = [memory for memory in memories if memory is not None]
        kinds.append(GpuKind(sm, title, min(known_memories) if len(known_memories) == len(memories) else None))
        say(f"{'GPU' if len(alike) == 1 else 'GPUs'} of this machine: {title}, SM{sm}", quiet)
    return Gpus(tuple(kind.sm for kind in kinds), kinds[0].memory_mib if len(kinds) == 1 else None, tuple(kinds))


def _counted(names: list[str]) -> list[str]:
    """``2 x NVIDIA L4``, in the order of the driver."""
    return [name if names.count(name) == 1 else f"{names.count(name)} x {name}" for name in dict.fromkeys(names)]


def read_model_config(path: Path | None) -> dict[str, Any] | None:
    """The model's ``config.json``, or that in the model's directory. UsageError, one line, where it is none."""
    if path is None:
        return None
    file = path / "config.json" if path.is_dir() else path
    if not file.exists():
        siblings = sorted(entry.name for entry in file.parent.iterdir()) if file.parent.is_dir() else []
        raise UsageError(f"--model-config {path}: no such file{did_you_mean(file.name, siblings)}")
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"--model-config {path}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"--model-config {path} is no JSON: {error}") from None
    if not isinstance(config, dict):
        raise UsageError(f"--model-config {path} is no model configuration: it has to be a JSON object")
    return config


def tree_options(tree: Tree, book: Rulebook) -> OptionTable:
    """The options that a tree declares. TreeError where there are none: an empty list would say that nothing is wrong."""
    from sm_gatecheck.program.modules import Program
    from sm_gatecheck.target.options import read_options

    table = read_options(Program(tree.files), book)
    if not table:
        raise without_options(tree.source.target)
    return table


def read_variables(tree: Tree, rules: Rules, written: str) -> tuple[Option, ...]:
    """The variables that a tree reads; looked for only where ``written`` cannot mean an option."""
    if not written.partition("=")[0].removeprefix("env:").isupper():
        return ()
    from sm_gatecheck.program.modules import Program
    from sm_gatecheck.target.options import read_environment

    return tuple(read_environment(Program(tree.files), rules.book))


def assumed_settings(written: Sequence[str], tree: Tree, book: Rulebook) -> dict[str, Any]:
    """What ``--set`` assumes, typed as the tree declares it; the tree's options are read only when something is."""
    if not written:
        return {}
    from sm_gatecheck.cli.settings import read_settings

    return read_settings(written, tree_options(tree, book))
