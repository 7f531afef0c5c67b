"""OPTION and OPTION=VALUE on the command line: a field, a flag or a variable of the tree."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sm_gatecheck.cli.refusal import unknown
from sm_gatecheck.cli.settings import typed
from sm_gatecheck.model.errors import UsageError
from sm_gatecheck.model.option import Option

ENVIRONMENT = "env:"


def named_option(text: str, options: Iterable[Option], variables: Iterable[Option]) -> tuple[Option, tuple[Any, ...] | None]:
    """The option that ``text`` names and the value it gives, None without one. UsageError with the nearest name for a typo."""
    name, separator, value = text.partition("=")
    option = _found(name.strip(), list(options), list(variables))
    return option, (_value(option, value),) if separator else None


def _found(name: str, options: list[Option], variables: list[Option]) -> Option:
    by_name: dict[str, Option] = {variable.field: variable for variable in variables}
    for variable in variables:
        by_name.setdefault(variable.field.removeprefix(ENVIRONMENT), variable)
    for option in options:
        for flag in (*option.flags, *option.aliases, *option.deprecated_flags):
            by_name.setdefault(flag, option)
            by_name.setdefault(flag.lstrip("-").replace("-", "_"), option)
    by_name.update({option.field: option for option in options})
    found = by_name.get(name) or by_name.get(name.lstrip("-").replace("-", "_"))
    if found is not None:
        return found
    if name.startswith(ENVIRONMENT):
        raise unknown("variable", name, [variable.field for variable in variables], "the tree reads none of that name")
    flags = name.startswith("-")
    known = [word for word in by_name if word.startswith("-") == flags and not word.startswith(ENVIRONMENT)]
    raise unknown("option", name, known, "'gatecheck options TREE' lists them")


def _value(option: Option, text: str) -> Any:
    """A variable is text, whatever is made of it."""
    if option.is_environment:
        return text
    try:
        return typed(option, text)
    except UsageError as error:
        raise UsageError(str(error).removeprefix("--set ")) from None
