"""``--set FIELD=VALUE``: the field found among the tree's options, the value typed as the option declares it."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from sm_gatecheck.cli.refusal import did_you_mean, unknown
from sm_gatecheck.model.errors import UsageError
from sm_gatecheck.model.option import Option

FACTS = ("model_arch",)
"""What may be assumed beside options: facts about the model that no option states."""

_TOO_LARGE = 2**63
_TRUE = {"true", "1", "yes", "on"}
_FALSE = {"false", "0", "no", "off"}
_NOTHING = {"none", "null"}


def read_settings(written: Sequence[str], options: Iterable[Option]) -> dict[str, Any]:
    """The assumptions of ``--set`` by field. UsageError, one line, for an unknown field or a value that does not fit."""
    by_name = _by_name(options)
    settings: dict[str, Any] = {}
    for text in written:
        name, separator, value = text.partition("=")
        name = name.strip()
        if not separator or not name:
            raise UsageError(f"--set {text!r}: write FIELD=VALUE, for example tp_size=4")
        if name in FACTS:
            settings[name] = value
            continue
        option = by_name.get(name) or by_name.get(_field_form(name))
        if option is None and name.startswith("env:"):
            settings[name] = value
            continue
        if option is None:
            raise unknown("option", name, [*_fields(by_name), *FACTS], "'gatecheck options TREE' lists them")
        settings[option.field] = typed(option, value)
    return settings


def typed(option: Option, text: str) -> Any:
    """The value of an option as its declaration reads it from a string. UsageError when it does not fit."""
    if option.choices is not None:
        return _choice(option, text)
    declared = option.type or ""
    if text.strip().lower() in _NOTHING and (option.default is None or "None" in declared or "Optional" in declared):
        return None
    if option.is_boolean:
        return _boolean(option, text)
    kind = _kind(option, declared)
    try:
        if kind == "int":
            return _within_reason(option, text, int(text))
        if kind == "float":
            return _within_reason(option, text, float(text))
    except ValueError:
        raise UsageError(f"--set {option.field}={text}: {option.field} takes {'a whole number' if kind == 'int' else 'a number'}") from None
    if kind == "list":
        return _list(option, declared, text)
    return text


def _within_reason(option: Option, text: str, number: float) -> float:
    """The number, unless no server could be started with it. UsageError.

    Below zero is often a word of its own (-1: no limit), so only what starts above zero and never speaks of less is refused.
    """
    if not abs(number) < _TOO_LARGE:  # what is not a number is refused too
        raise UsageError(f"--set {option.field}={text}: {option.field} cannot be that large: write a number that a server could take")
    starts_above = isinstance(option.default, (int, float)) and option.default > 0
    if number < 0 and starts_above and not re.search(r"(?<![\w.])-\d|negative|less than|below zero", option.help or ""):
        raise UsageError(f"--set {option.field}={text}: {option.field} cannot be below zero; by default it is {option.default}")
    return number


def _by_name(options: Iterable[Option]) -> dict[str, Option]:
    named: dict[str, Option] = {}
    for option in options:
        named[option.field] = option
        for flag in (*option.flags, *option.aliases):
            named.setdefault(_field_form(flag), option)
    return named


def _fields(by_name: dict[str, Option]) -> list[str]:
    return list(by_name)


def _field_form(name: str) -> str:
    return name.lstrip("-").replace("-", "_")


def _choice(option: Option, text: str) -> Any:
    assert option.choices is not None
    for choice in option.choices:
        if str(choice) == text:
            return choice
    if text.lower() in _NOTHING and option.default is None:
        return None
    if option.nargs in ("+", "*") or option.action == "append":
        return [_choice_of_many(option, part) for part in re.split(r"[,\s]+", text) if part]
    return _choice_of_many(option, text)


def _choice_of_many(option: Option, text: str) -> Any:
    assert option.choices is not None
    for choice in option.choices:
        if str(choice) == text:
            return choice
    names = [str(choice) for choice in option.choices]
    raise UsageError(f"--set {option.field}={text}: {text!r} is no choice of it{did_you_mean(text, names) or ': ' + ', '.join(names)}")


def _boolean(option: Option, text: str) -> bool:
    word = text.strip().lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise UsageError(f"--set {option.field}={text}: {option.field} is true or false")


def _kind(option: Option, declared: str) -> str:
    """``int``, ``float``, ``list`` or ``str``, from the declared type, else from the default."""
    if option.nargs in ("+", "*") or option.action == "append" or re.search(r"\b[Ll]ist\[|\b[Tt]uple\[|\b[Ll]ist$", declared):
        return "list"
    names = re.findall(r"\b(?:int|float|str)\b", declared)
    if "str" in names:
        return "str"
    for name in ("float", "int"):
        if name in names:
            return name
    if isinstance(option.default, (int, float)):
        return type(option.default).__name__
    return "str"


def _list(option: Option, declared: str, text: str) -> list[Any]:
    if text.lstrip().startswith("["):
        for read in (json.loads, ast.literal_eval):
            try:
                value = read(text)
            except (ValueError, SyntaxError, RecursionError):
                continue
            if isinstance(value, list):
                return value
        raise UsageError(f"--set {option.field}={text}: that is no list, write [1, 2] or 1,2")
    parts = [part for part in re.split(r"[,\s]+", text) if part]
    number: Any = int if re.search(r"\bint\b", declared) else float if re.search(r"\bfloat\b", declared) else str
    try:
        return [number(part) for part in parts]
    except ValueError:
        raise UsageError(f"--set {option.field}={text}: {option.field} takes numbers, write 1,2") from None
