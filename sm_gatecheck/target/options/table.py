"""Fields and arguments put together: one option a destination, in the order of their names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, overload

from sm_gatecheck.evaluate.literals import Unresolved
from sm_gatecheck.model.option import Option
from sm_gatecheck.target.options.arguments import Argument

Declaration = Literal["arguments", "annotations", "namespaces", "none"]


@dataclass(frozen=True)
class Deprecation:
    """A flag that warns, and may store ``value`` (or what it is given) under ``field``; ``replacement`` as the tree words it."""

    flag: str
    field: str
    replacement: str | None = None
    value: Any = None
    message: str | None = None


@dataclass(frozen=True)
class Gap:
    """Something about an option that could not be read."""

    field: str
    what: Literal["default", "choices", "argument"]
    reason: str
    file: str
    line: int


@dataclass(frozen=True)
class OptionTable(Sequence[Option]):
    """The options of a tree, sorted by field; goes through like a sequence of ``Option``.

    ``declaration`` is the way the tree declares them. ``namespaces`` says where a field is read (``exec.moe``) where the tree
    says so, ``fallbacks`` what a field is worth when neither the user nor resolution sets it. ``gaps`` are what could not be read.
    """

    options: tuple[Option, ...]
    declaration: Declaration = "none"
    deprecations: tuple[Deprecation, ...] = ()
    namespaces: Mapping[str, str] = field(default_factory=dict)
    fallbacks: Mapping[str, Any] = field(default_factory=dict)
    gaps: tuple[Gap, ...] = ()

    @overload
    def __getitem__(self, index: int) -> Option: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Option, ...]: ...
    def __getitem__(self, index: int | slice) -> Option | tuple[Option, ...]:
        return self.options[index]

    def __len__(self) -> int:
        return len(self.options)

    def __iter__(self) -> Iterator[Option]:
        return iter(self.options)

    @cached_property
    def by_field(self) -> Mapping[str, Option]:
        return {option.field: option for option in self.options}

    @cached_property
    def by_flag(self) -> Mapping[str, Option]:
        """Every spelling that the parser accepts, deprecated ones included."""
        return {flag: option for option in self.options for flag in (*option.flags, *option.deprecated_flags)}


@dataclass(frozen=True)
class DeclaredField:
    """A field as the table needs it."""

    name: str
    type: str
    default: Any
    default_source: str | None
    choices: tuple[Any, ...] | None
    help: str | None
    file: str
    line: int


def merge(
    fields: Mapping[str, DeclaredField], arguments: Sequence[Argument], parser_defaults: Mapping[str, Any]
) -> tuple[list[Option], list[Gap]]:
    """One option for every field and for every destination that is no field; and what of them could not be read."""
    by_field: dict[str, list[Argument]] = {name: [] for name in fields}
    for argument in arguments:
        by_field.setdefault(argument.destination, []).append(argument)
    options: list[Option] = []
    gaps: list[Gap] = []
    for name in sorted(by_field):
        option = _option(name, fields.get(name), by_field[name], parser_defaults, gaps)
        options.append(option)
    return options, gaps


def deprecations(arguments: Sequence[Argument]) -> tuple[Deprecation, ...]:
    """What the tree says about each deprecated flag, in the order of declaration."""
    return tuple(
        Deprecation(flag, argument.destination, argument.replacement, argument.value, argument.message)
        for argument in arguments
        if argument.is_deprecated
        for flag in argument.flags
    )


def _option(
    name: str, declared: DeclaredField | None, arguments: Sequence[Argument], parser_defaults: Mapping[str, Any], gaps: list[Gap]
) -> Option:
    current = [argument for argument in arguments if not argument.is_deprecated]
    main = next(iter((*current, *arguments)), None)
    setting = next((argument for argument in (*current, *arguments) if not argument.is_suppressed), None)
    default, source = _default(name, declared, setting, parser_defaults)
    file, line = (declared.file, declared.line) if declared is not None else (main.file, main.line) if main is not None else ("", 0)
    choices: Any = current[0].choices if current else declared.choices if declared is not None and main is None else None
    if isinstance(default, Unresolved):
        gaps.append(Gap(name, "default", default.reason, default.file, default.line))
    if isinstance(choices, Unresolved):
        gaps.append(Gap(name, "choices", choices.reason, choices.file, choices.line))
    flags = tuple(dict.fromkeys(flag for argument in current for flag in argument.flags))
    own = "--" + name.replace("_", "-")
    return Option(
        field=name,
        flags=flags,
        aliases=tuple(flag for flag in flags if flag != own) if own in flags else flags[1:],
        deprecated_flags=tuple(dict.fromkeys(flag for argument in arguments if argument.is_deprecated for flag in argument.flags)),
        type=declared.type if declared is not None else main.type if main is not None else None,
        default=None if isinstance(default, Unresolved) else default,
        default_source=source,
        choices=tuple(choices) if isinstance(choices, (list, tuple)) else None,
        action="none" if main is None else "deprecated" if not current else main.action,
        nargs=main.nargs if main is not None else None,
        help=main.help if main is not None else declared.help if declared is not None else None,
        file=file,
        line=line,
    )


def _default(
    name: str, declared: DeclaredField | None, setting: Argument | None, parser_defaults: Mapping[str, Any]
) -> tuple[Any, str | None]:
    """What the parser stores when nothing is given; the field's own default where the parser stores nothing."""
    if name in parser_defaults:
        return parser_defaults[name], None
    if setting is not None:
        return setting.default, setting.default_source
    if declared is not None:
        return declared.default, declared.default_source if isinstance(declared.default, Unresolved) else None
    return None, None
