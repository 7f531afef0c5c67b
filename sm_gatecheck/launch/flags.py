"""What each flag of a server's parser does with the words after it, as ``argparse`` would, told from a table of options."""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sm_gatecheck.model.option import Option
from sm_gatecheck.target.options import Deprecation, OptionTable

Count = int | Literal["?", "*", "+"] | None
"""How many values: None is exactly one (and no list), a number is that many as a list."""


class BadValue(ValueError):
    """A text that the option's type does not take; the message says what it takes."""


@dataclass(frozen=True)
class Flag:
    """One spelling of an option. ``constant`` is what it stores where ``count`` is 0, or where its value is not read (``is_constant``)."""

    spelling: str
    option: Option
    count: Count
    constant: Any = True
    is_constant: bool = False
    is_deprecated: bool = False
    is_stored: bool = True
    appends: bool = False
    field: str = ""

    @property
    def least(self) -> int:
        """The fewest values that it takes."""
        return self.count if isinstance(self.count, int) else 0 if self.count in ("?", "*") else 1

    @property
    def most(self) -> int | None:
        """The most values that it takes, None for as many as there are."""
        return self.count if isinstance(self.count, int) else None if self.count in ("*", "+") else 1

    @property
    def needs(self) -> str:
        """What it takes, in words."""
        return f"{self.count} values" if isinstance(self.count, int) else "at least one value" if self.count == "+" else "a value"


def flags_of(table: OptionTable) -> dict[str, Flag]:
    """Every spelling that the parser accepts."""
    deprecations = {deprecation.flag: deprecation for deprecation in table.deprecations}
    found: dict[str, Flag] = {}
    for option in table:
        if option.is_environment:
            continue
        for spelling in option.flags:
            found[spelling] = _current(spelling, option)
        for spelling in option.deprecated_flags:
            found[spelling] = _deprecated(spelling, option, deprecations.get(spelling), table.by_field)
    return found


def _current(spelling: str, option: Option) -> Flag:
    if option.action in ("store_true", "store_false"):
        return Flag(spelling, option, 0, option.action == "store_true", field=option.field)
    if is_switch_pair(option):
        return Flag(spelling, option, 0, not spelling.startswith("--no-"), field=option.field)
    return Flag(spelling, option, _count(option), appends=option.action == "append", field=option.field)


def _deprecated(spelling: str, option: Option, deprecation: Deprecation | None, fields: Mapping[str, Option]) -> Flag:
    """A flag that warns: it stores the value that it stands for, what it is given, or nothing."""
    target = fields.get(deprecation.field, option) if deprecation is not None else option
    if deprecation is not None and deprecation.value is not None:
        # Such a flag may have had a value once, and may still be given it.
        return Flag(spelling, target, "?", deprecation.value, is_constant=True, is_deprecated=True, field=target.field)
    is_plain = target.action == "deprecated" and target.type is None and target.nargs == 0
    if target.is_boolean or is_plain or target.nargs == 0:
        return Flag(spelling, target, 0, True, is_deprecated=True, is_stored=not is_plain, field=target.field)
    return Flag(spelling, target, _count(target), is_deprecated=True, appends=target.action == "append", field=target.field)


def is_switch_pair(option: Option) -> bool:
    """Whether the option has a flag ``--no-x`` beside its ``--x``."""
    return any(flag.startswith("--no-") and f"--{flag[5:]}" in option.flags for flag in option.flags)


def _count(option: Option) -> Count:
    if isinstance(option.nargs, int):
        return option.nargs
    return option.nargs if option.nargs in ("?", "*", "+") else None  # type: ignore[return-value]


def convert(option: Option, text: str) -> Any:
    """One word as the value that the parser makes of it. BadValue where its type refuses the word."""
    kinds = type_names(option.type)
    is_list = option.nargs in ("*", "+") or isinstance(option.nargs, int) or option.action == "append"
    if is_list:
        kinds = [inner for kind in kinds for inner in _elements(kind)]
    if option.choices is not None:
        return _choice(option.choices, text)
    simple = [kind for kind in kinds if kind not in ("None",)]
    if simple == ["int"]:
        return _number(int, text, "a whole number")
    if simple == ["float"] or sorted(simple) == ["float", "int"]:
        return _number(float, text, "a number")
    if simple == ["bool"]:
        return {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}.get(
            text.strip().lower(), text
        )
    if simple and all(_is_structure(kind) for kind in simple):
        return _structure(text)
    return text


def type_names(declared: str | None) -> list[str]:
    """The alternatives of a declared type: ``Optional[Union[int, str]]`` gives ``int``, ``str`` and ``None``."""
    if not declared:
        return []
    try:
        return _alternatives(ast.parse(declared, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [declared]


def _alternatives(node: ast.expr) -> list[str]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _alternatives(node.left) + _alternatives(node.right)
    if isinstance(node, ast.Subscript):
        head = ast.unparse(node.value).rsplit(".", 1)[-1]
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if head == "Optional":
            return [*(name for part in inner for name in _alternatives(part)), "None"]
        if head == "Union":
            return [name for part in inner for name in _alternatives(part)]
    return [ast.unparse(node)]


def _elements(kind: str) -> list[str]:
    head, _, rest = kind.partition("[")
    if head.rsplit(".", 1)[-1].lower() in ("list", "set", "tuple", "sequence") and rest.endswith("]"):
        return [name for name in type_names(rest[:-1].removesuffix(", ...")) if name != "None"]
    return [] if head.lower() in ("list", "set", "tuple") else [kind]


def _is_structure(kind: str) -> bool:
    head = kind.partition("[")[0].rsplit(".", 1)[-1]
    return head.lower() in ("dict", "list", "mapping", "any") or kind == "json.loads"


def _structure(text: str) -> Any:
    """JSON where it is JSON; else the text, since a release may have a way of its own to read it."""
    try:
        return json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        return text


def _number(make: type[int] | type[float], text: str, wanted: str) -> int | float:
    try:
        value = make(text)
    except (ValueError, OverflowError):
        raise BadValue(wanted) from None
    if isinstance(value, float) and not math.isfinite(value):
        raise BadValue(wanted)
    return value


def _choice(choices: Sequence[Any], text: str) -> Any:
    """The choice that a word means: by its type first, then by its text."""
    for choice in choices:
        if isinstance(choice, str) and choice == text:
            return choice
    for choice in choices:
        if isinstance(choice, (int, float)) and not isinstance(choice, bool):
            try:
                if type(choice)(text) == choice:
                    return choice
            except ValueError:
                continue
    return text
