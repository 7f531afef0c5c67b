"""The rules about devices, read and checked; a mistake in a file is one line that names the file and the key."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sm_gatecheck.model.target import Devices, Product, Target
from sm_gatecheck.rulebook import Rulebook, RulesError, read_toml

DEVICES_FILE = "devices.toml"
_DEVICE_KEYS = ("sm", "architecture", "products", "block_shared_memory_kib")
_PRODUCT_KEYS = ("name", "aliases", "memory_mib")


def open_rules(overlay: Path | None = None) -> Rulebook:
    """The shipped rules, and over them a user's directory (``--rules DIR``). RulesError where it is none."""
    return Rulebook.open() if overlay is None else Rulebook.open(overlay)


def load_devices(rules: Rulebook | Path | None = None) -> Devices:
    """The known SMs, ascending; a ``Path`` is laid over the shipped rules.

    A device of a later directory adds its products to those of the same SM and replaces those of the same name.
    RulesError for a file that does not say what it must.
    """
    book = rules if isinstance(rules, Rulebook) else open_rules(rules)
    found: dict[int, Target] = {}
    for path in book.layers(DEVICES_FILE):
        for target in _read_devices(path):
            earlier = found.get(target.sm)
            found[target.sm] = target if earlier is None else _merge(earlier, target)
    if not found:
        raise RulesError(f"{book.path(DEVICES_FILE)}: device: at least one is needed")
    return Devices(tuple(found[sm] for sm in sorted(found)))


def _merge(earlier: Target, later: Target) -> Target:
    products = {product.name: product for product in earlier.catalogue}
    products.update((product.name, product) for product in later.catalogue)
    shared = earlier.block_shared_memory_kib if later.block_shared_memory_kib is None else later.block_shared_memory_kib
    return Target(later.sm, later.architecture or earlier.architecture, tuple(products.values()), shared)


def _read_devices(path: Path) -> list[Target]:
    document = read_toml(path)
    _only(document, ("device",), str(path))
    entries = document.get("device", [])
    if not isinstance(entries, list):
        raise RulesError(f"{path}: device: write [[device]], a list of tables")
    targets: list[Target] = []
    for number, entry in enumerate(entries, 1):
        where = f"{path}: device {number}"
        target = _read_device(entry, where)
        if any(target.sm == other.sm for other in targets):
            raise RulesError(f"{where}: sm: {target.sm} is there twice")
        targets.append(target)
    return targets


def _read_device(entry: Any, where: str) -> Target:
    table = _table(entry, where)
    _only(table, _DEVICE_KEYS, where)
    sm = table.get("sm")
    if not isinstance(sm, int) or isinstance(sm, bool) or not 10 <= sm <= 9999:
        raise RulesError(f"{where}: sm: a compute capability as major * 10 + minor is needed, e.g. 120; not {sm!r}")
    where = f"{where} (sm {sm})"
    architecture = table.get("architecture", "")
    if not isinstance(architecture, str):
        raise RulesError(f"{where}: architecture: a text is needed, not {architecture!r}")
    products = table.get("products", [])
    if not isinstance(products, list):
        raise RulesError(f"{where}: products: a list is needed, not {products!r}")
    catalogue = tuple(_read_product(product, f"{where}: products {number}") for number, product in enumerate(products, 1))
    return Target(sm, architecture, catalogue, _amount(table, "block_shared_memory_kib", "KiB", where))


def _read_product(entry: Any, where: str) -> Product:
    table = _table(entry, where)
    _only(table, _PRODUCT_KEYS, where)
    name = table.get("name")
    if not isinstance(name, str) or not name.strip():
        raise RulesError(f"{where}: name: a text is needed, not {name!r}")
    aliases = table.get("aliases", [])
    if not isinstance(aliases, list) or not all(isinstance(alias, str) and alias.strip() for alias in aliases):
        raise RulesError(f"{where}: aliases: a list of texts is needed, not {aliases!r}")
    return Product(name, tuple(aliases), _amount(table, "memory_mib", "MiB", where))


def _amount(table: Mapping[str, Any], key: str, unit: str, where: str) -> int | None:
    amount = table.get(key)
    if amount is not None and (not isinstance(amount, int) or isinstance(amount, bool) or amount <= 0):
        raise RulesError(f"{where}: {key}: a number of {unit} is needed, not {amount!r}")
    return amount


def _table(entry: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(entry, dict):
        raise RulesError(f"{where}: a table is needed, not {entry!r}")
    return entry


def _only(table: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    names = list(known)
    for key in table:
        if key not in names:
            near = [name for name in names if name.startswith(key)] or difflib.get_close_matches(key, names, n=1)
            raise RulesError(f"{where}: {key}: no such key; {f'did you mean {near[0]}' if near else 'known are ' + ', '.join(names)}")
