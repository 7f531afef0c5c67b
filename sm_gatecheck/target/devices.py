"""From what people write, and what this machine has, to SMs."""

from __future__ import annotations

import difflib
import re
import subprocess
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from sm_gatecheck.model.errors import UsageError
from sm_gatecheck.model.target import Devices, Product, Target

_SPELLING = re.compile(r"(?:(?:sm|compute|cc)[ _-]?)?(?:(?P<sm>\d{2,4})|(?P<major>\d{1,3})\.(?P<minor>\d))[af]?", re.IGNORECASE)
_VENDOR = ("nvidia", "geforce", "tesla")
_SMI_SECONDS = 30
_BOX_TOLERANCE = 0.012


def parse_sms(text: str | Iterable[str], devices: Devices) -> tuple[int, ...]:
    """The SMs that a list names, ascending and each once: ``90,120``, ``12.0``, ``sm_120a``, ``SM103``, ``compute_90a``, ``all``.

    UsageError, with the nearest known one, for anything else.
    """
    words = [word for part in ([text] if isinstance(text, str) else text) for word in re.split(r"[,;\s]+", _joined(part)) if word]
    if not words:
        raise UsageError(f"no SM is named: write one of {_known(devices)}, or all")
    found: set[int] = set()
    for word in words:
        found.update(devices.sms if word.lower() == "all" else (_sm(word, devices),))
    return tuple(sorted(found))


def _joined(part: str) -> str:
    """``sm 120`` is one word, ``90 120`` are two."""
    return re.sub(r"\b(sm|compute|cc)\s+(?=\d)", r"\1_", part, flags=re.IGNORECASE)


def _sm(word: str, devices: Devices) -> int:
    match = _SPELLING.fullmatch(word)
    sm = None if match is None else int(match["sm"]) if match["sm"] else int(match["major"]) * 10 + int(match["minor"])
    if sm in devices.sms:
        return sm
    raise UsageError(f"unknown SM {word!r}{_sm_meant(word, sm, devices)}; known are {_known(devices)}")


def _sm_meant(word: str, sm: int | None, devices: Devices) -> str:
    """The known SMs of that major version (``12``), else the nearest; a product's, where the word names one."""
    if sm is None and re.search(r"[a-z]", word, re.IGNORECASE):
        named = {target.sm for target, _ in _matches(word, devices)}
        return f": did you mean --gpu {word}, which is {named.pop()}?" if len(named) == 1 else ""
    if word.startswith(("-", "+")):
        return ": a compute capability has no sign"
    digits = re.sub(r"\D", "", word)
    if not digits or len(digits) > 4:
        return ""
    asked = int(digits)
    near = [known for known in devices.sms if known // 10 == asked] or sorted(devices.sms, key=lambda known: abs(known - asked))[:2]
    return f": did you mean {' or '.join(map(str, sorted(near)))}?"


def _known(devices: Devices) -> str:
    return " ".join(map(str, devices.sms))


@dataclass(frozen=True)
class NamedGpu:
    """What a name stands for; ``memory_mib`` is None where the products of that name differ in it."""

    sm: int
    products: tuple[str, ...]
    memory_mib: int | None


def sm_of_gpu(name: str, devices: Devices) -> int:
    """The SM of the product that a name, or part of one, stands for. UsageError where it is none or several SMs."""
    return find_gpu(name, devices).sm


def find_gpu(name: str, devices: Devices) -> NamedGpu:
    """The product of a name: ``5090``, ``rtx pro 6000``, ``NVIDIA H100 80GB HBM3``.

    Whole words count more than parts of words (``A10`` is not the A100), and a longer name that holds a product's counts
    as that product (what drivers report). UsageError, listing what it could be, where that is none or several SMs.
    """
    if not _words(name):
        raise UsageError("no GPU is named: write a product, e.g. --gpu 'RTX PRO 6000'")
    found = _matches(name, devices)
    if not found:
        labels = {label.lower(): label for target in devices for product in target.catalogue for label in product.names}
        near = difflib.get_close_matches(" ".join(_words(name)), labels, n=1, cutoff=0.7)
        meant = f": did you mean {labels[near[0]]!r}?" if near else ""
        raise UsageError(f"unknown GPU {name!r}{meant}; name its SM with --sm, or add it to devices.toml in a directory given with --rules")
    sms = {target.sm for target, _ in found}
    if len(sms) > 1:
        candidates = ", ".join(_shown(found))
        raise UsageError(f"GPU {name!r} could be {candidates}: write more of its name")
    asked = _words(name)
    plain = [product for _, product in found if any(_words(label)[-len(asked) :] == asked for label in product.names)]
    products = plain or [product for _, product in found]
    memories = {product.memory_mib for product in products}
    return NamedGpu(sms.pop(), tuple(product.name for product in products), memories.pop() if len(memories) == 1 else None)


def _matches(name: str, devices: Devices) -> list[tuple[Target, Product]]:
    """The products that the name fits best: exactly, as whole words of theirs, as the holder of theirs, as a part."""
    asked = _words(name)
    labels = [
        # An architecture is a name as well: several SMs share "Blackwell", which some product names hold.
        (target, product, [_words(label) for label in (*product.names, target.architecture) if label])
        for target in devices
        for product in target.catalogue
    ]
    for fits in (_equal, _within):
        found = [(target, product) for target, product, names in labels if any(fits(asked, label) for label in names)]
        if found:
            return found
    held = [
        (len(label), target, product) for target, product, names in labels for label in names[: len(product.names)] if _within(label, asked)
    ]
    if held:
        longest = max(length for length, _, _ in held)
        return [(target, product) for length, target, product in held if length == longest]
    part = "".join(asked)
    return [(target, product) for target, product, names in labels if part and any(part in "".join(label) for label in names)]


def _shown(found: list[tuple[Target, Product]]) -> Iterator[str]:
    """Two products of each SM are enough to tell them apart."""
    for target in dict.fromkeys(target for target, _ in found):
        names = [product.name for other, product in found if other == target]
        yield f"{', '.join(names[:2])}{' …' if len(names) > 2 else ''} (SM{target.sm})"


def _words(name: str) -> list[str]:
    words = [word for word in re.split(r"[^a-z0-9]+", name.lower()) if word]
    return [word for word in words if word not in _VENDOR]


def _equal(asked: list[str], label: list[str]) -> bool:
    return asked == label or "".join(asked) == "".join(label)


def stated_memory(mib: int, sm: int, devices: Devices) -> int:
    """An amount of memory as a driver states it, in MiB: a card of 20 GiB has 20470, and code compares with 20480.

    Only whole GiB are taken for the size on the box, and only where a product of the SM has nearly as much and none exactly.
    """
    if mib % 1024:
        return mib
    stated = [product.memory_mib for target in devices if target.sm == sm for product in target.catalogue if product.memory_mib]
    near = [memory for memory in stated if mib * (1 - _BOX_TOLERANCE) < memory < mib]
    return mib if mib in stated or not near else max(near)


def _within(part: list[str], whole: list[str]) -> bool:
    return bool(part) and any(whole[start : start + len(part)] == part for start in range(len(whole) - len(part) + 1))


class LocalGpu(NamedTuple):
    """A GPU of this machine; ``memory_mib`` is None where the driver states none (it shares the host's)."""

    name: str
    capability: tuple[int, int]
    memory_mib: int | None

    @property
    def sm(self) -> int:
        return self.capability[0] * 10 + self.capability[1]


def local_gpus(devices: Devices | None = None) -> list[LocalGpu]:
    """The GPUs of this machine in the driver's order, through NVML where its binding is installed, else nvidia-smi.

    ``devices`` tell the capability of a product where the driver is too old to. UsageError where there are no GPUs, or no driver
    to ask.
    """
    found = list(_nvml_gpus()) or list(_smi_gpus()) or ([] if devices is None else list(_named_gpus(devices)))
    if not found:
        raise UsageError("no NVIDIA GPU was found on this machine: name one with --sm 120 or --gpu 'RTX PRO 6000'")
    return found


def _nvml_gpus() -> Iterator[LocalGpu]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an old package of that name says that it is old
            import pynvml  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        return
    nvml: Any = pynvml
    try:
        nvml.nvmlInit()
    except nvml.NVMLError:
        return
    try:
        for index in range(nvml.nvmlDeviceGetCount()):
            gpu = _nvml_gpu(nvml, index)
            if gpu is not None:
                yield gpu
    except nvml.NVMLError:
        return
    finally:
        nvml.nvmlShutdown()


def _nvml_gpu(nvml: Any, index: int) -> LocalGpu | None:
    """None for a GPU that does not answer: one that fell off the bus says nothing about the others."""
    try:
        handle = nvml.nvmlDeviceGetHandleByIndex(index)
        name = nvml.nvmlDeviceGetName(handle)
        major, minor = nvml.nvmlDeviceGetCudaComputeCapability(handle)
    except nvml.NVMLError:
        return None
    try:
        memory = int(nvml.nvmlDeviceGetMemoryInfo(handle).total) >> 20 or None
    except nvml.NVMLError:
        memory = None
    return LocalGpu(name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name), (int(major), int(minor)), memory)


def _smi_gpus() -> Iterator[LocalGpu]:
    for line in _smi_lines("name,compute_cap,memory.total"):
        fields = [field.strip() for field in line.rsplit(",", 2)]
        capability = re.fullmatch(r"(\d{1,3})\.(\d{1,2})", fields[1]) if len(fields) == 3 else None
        if capability is not None:
            yield LocalGpu(fields[0], (int(capability[1]), int(capability[2])), _mib(fields[2]))


def _named_gpus(devices: Devices) -> Iterator[LocalGpu]:
    """For a driver that does not state the capability: by the product's name, where that is known."""
    for line in _smi_lines("name,memory.total"):
        name, _, memory = line.rpartition(",")
        try:
            sm = sm_of_gpu(name.strip(), devices)
        except UsageError:
            continue
        yield LocalGpu(name.strip(), divmod(sm, 10), _mib(memory))


def _smi_lines(query: str) -> list[str]:
    command = ("nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader,nounits")
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=_SMI_SECONDS, check=False)
    except (OSError, subprocess.SubprocessError):
        return []
    return done.stdout.splitlines() if done.returncode == 0 else []


def _mib(text: str) -> int | None:
    digits = re.match(r"\s*(\d{1,12})", text)
    return int(digits[1]) if digits else None
