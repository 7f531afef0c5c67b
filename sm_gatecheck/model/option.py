"""A server option as a tree declares it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

DeclarationAction = Literal["store", "store_true", "store_false", "append", "deprecated", "other", "none"]


@dataclass(frozen=True)
class Option:
    """One option.

    ``field`` is the name it is stored under (``env:NAME`` for an environment variable); ``flags`` are the spellings the
    release's parser accepts and ``deprecated_flags`` those whose action only warns; ``aliases`` are the flags other than
    the field's own. ``type`` is the declared type as source text, ``default`` a JSON value (``None`` too where the
    default is not a literal: then ``default_source`` holds its text). ``choices`` is None where any value goes.
    """

    field: str
    flags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    deprecated_flags: tuple[str, ...] = ()
    type: str | None = None
    default: Any = None
    default_source: str | None = None
    choices: tuple[Any, ...] | None = None
    action: DeclarationAction = "store"
    nargs: str | int | None = None
    help: str | None = None
    file: str = ""
    line: int = 0

    @property
    def is_boolean(self) -> bool:
        return isinstance(self.default, bool) or self.type in ("bool", "Optional[bool]") or self.action in ("store_true", "store_false")

    @property
    def is_required(self) -> bool:
        """Whether it must be given: a text without a default."""
        return self.default is None and self.default_source is None and self.type == "str"

    @property
    def is_environment(self) -> bool:
        return self.field.startswith("env:")
