"""Variables that are read: ``os.getenv("NAME", default)``, ``"NAME" in os.environ``, helpers that a tree makes for itself.

Files are searched as bytes; of what is found only the call itself is parsed, so that a whole tree costs little.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import translate as fnmatch_translate
from functools import cached_property
from typing import Any

from sm_gatecheck.model.option import Option
from sm_gatecheck.program.modules import Module, Program
from sm_gatecheck.target.options.rules import EnvironmentRules, Reader
from sm_gatecheck.target.options.variables import row_for, shortest, variable

_NAME = rb"[A-Z][A-Z0-9_]+"
_ARGUMENT = re.compile(
    rb"\s*(?P<opening>[(\[])\s*(?:name\s*=\s*)?"
    rb"(?:([\"'])(?P<literal>" + _NAME + rb")\2|(?P<constant>_*[A-Z][A-Z0-9_]*)\s*[,)\]]|(?P<variable>[a-z_]\w*)\s*[,)\]])"
)
_MEMBER = re.compile(rb"([\"'])(?P<literal>" + _NAME + rb")\1\s+(?:not\s+)?in\s+(?:\w+\.)*environ\b")
_CONSTANT = rb"^%s\s*(?::[^=\n]+)?=\s*\(?\s*([\"'])(?P<literal>" + _NAME + rb")\1"
_SELF_NAMED = re.compile(rb"^[ \t]+(?P<literal>" + _NAME + rb")[ \t]*=[ \t]*(?P<maker>\w+)\(\s*([\"'])(?P=literal)\3", re.MULTILINE)
_DEFINITION = re.compile(rb"^(?P<indent>[ \t]*)def[ \t]+(?P<name>\w+)[ \t]*\((?P<parameters>[^)]*)", re.MULTILINE)
_ATTRIBUTE = re.compile(rb"\.\w+")
_QUOTES = re.compile(rb'"""|\'\'\'')
_SELF_READS = (b"environ.get(self.", b"getenv(self.", b"environ[self.")
_MEMBERSHIPS = (b"in os.environ", b"in environ")
_LONGEST_CALL = 4_000
_LONGEST_HELPER = 2_000


def read_variables(program: Program, rules: EnvironmentRules) -> Iterator[Option]:
    """Every read, by file and place; a variable that is read twice comes twice."""
    return _Search(program, rules).reads()


@dataclass(frozen=True)
class _Read:
    """A place where something that reads variables is called or subscripted; ``dotted`` is what, from ``start``."""

    module: Module
    start: int
    dotted: str
    match: re.Match[bytes]

    @property
    def line(self) -> int:
        return self.module.source.count(b"\n", 0, self.start) + 1


@dataclass(frozen=True)
class _Search:
    program: Program
    rules: EnvironmentRules

    def reads(self) -> Iterator[Option]:
        skipped = re.compile("|".join(fnmatch_translate(pattern) for pattern in self.rules.skip) or r"(?!)")
        modules = [module for module in self.program.modules() if not skipped.match(module.path)]
        found, helpers, touching = self._follow(modules)
        for module in touching:
            prose = _Prose(module.source)
            places = [option for read in found.get(module.path, []) if (option := self._option(read, prose, helpers)) is not None]
            places.extend(_membership(module, prose))
            places.extend(self._self_named(module))
            yield from sorted(places, key=lambda option: option.line)

    def _follow(self, modules: list[Module]) -> tuple[dict[str, list[_Read]], set[str], list[Module]]:
        """The calls of readers by file, the functions that are readers because they hand a parameter to one, and the files
        in which either is mentioned.
        """
        helpers: set[str] = set()
        found: dict[str, list[_Read]] = {}
        touching: set[str] = set()
        searches = [(anchor, modules) for anchor in shortest(name.rsplit(".", 1)[0] for row in self.rules.readers for name in row.names)]
        while searches:
            reads: list[_Read] = []
            for anchor, where in searches:
                mark = anchor.encode()
                for module in where:
                    if mark in module.source:
                        touching.add(module.path)
                        reads.extend(_places(module, mark))
            searches = []
            for read in reads:
                if read.match["variable"] is None:
                    found.setdefault(read.module.path, []).append(read)
                    continue
                helper = _helper_around(read)
                if helper is not None and helper not in helpers:
                    helpers.add(helper)
                    # A public name that says what it is may be imported anywhere; "_flag" or "get" may be anything elsewhere.
                    is_public = "env" in helper.lower() and not helper.startswith("_")
                    searches.append((helper, modules if is_public else [read.module]))
        return found, helpers, [module for module in modules if module.path in touching]

    def _self_named(self, module: Module) -> Iterator[Option]:
        """Descriptors that are told the variable's name and stand under that same name: ``NAME = Flag("NAME", False)``."""
        if not any(mark in module.source for mark in _SELF_READS):
            return
        for match in _SELF_NAMED.finditer(module.source):
            row = row_for(self.rules.helpers, match["maker"].decode().lower())
            if row is not None:
                kind, default, text = self._given(row, module.source, match.start("maker"), b"(")
                line = module.source.count(b"\n", 0, match.start("literal")) + 1
                yield variable(match["literal"].decode(), kind, default, text, module.path, line)

    def _option(self, read: _Read, prose: _Prose, helpers: set[str]) -> Option | None:
        source, opening = read.module.source, read.match["opening"]
        row = row_for(self.rules.readers, read.dotted)
        if row is None and opening == b"(" and read.dotted.rsplit(".", 1)[-1] in helpers:
            row = row_for(self.rules.helpers, read.dotted.lower())
        name = _variable(read.match, source)
        if row is None or name is None or prose.holds(read.start) or (opening == b"[" and _is_written(source, read.match.end())):
            return None
        kind, default, text = self._given(row, source, read.start, opening)
        return variable(name, kind, default, text, read.module.path, read.line)

    def _given(self, row: Reader, source: bytes, start: int, opening: bytes) -> tuple[str, Any, str | None]:
        """The type, the default where it is a literal, its source where it is none."""
        cast = re.search(rb"(\w+)\(\s*$", source[max(0, start - 40) : start])
        kind = cast[1].decode() if cast is not None and cast[1].decode() in self.rules.casts else row.type
        call = _call_at(source, start) if opening == b"(" else None
        if call is None:
            return kind, row.default, None
        given = call.args[1] if len(call.args) > 1 else next((keyword.value for keyword in call.keywords if keyword.arg == "default"), None)
        if given is None:
            return kind, row.default, None
        try:
            value = ast.literal_eval(given)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return kind, None, ast.unparse(given)
        return kind, self._converted(kind, value), None

    def _converted(self, kind: str, value: Any) -> Any:
        if isinstance(value, str):
            if kind == "bool":
                return value.lower() in self.rules.true
            try:
                return {"int": int, "float": float}.get(kind, str)(value)
            except ValueError:
                return value
        return list(value) if isinstance(value, (tuple, set)) else value


def _variable(match: re.Match[bytes], source: bytes) -> str | None:
    """The name that is read: written there, or in a constant of the same file."""
    if match["literal"] is not None:
        return match["literal"].decode()
    constant = re.search(_CONSTANT % re.escape(match["constant"]), source, re.MULTILINE)
    return constant["literal"].decode() if constant is not None else None


def _is_written(source: bytes, end: int) -> bool:
    return re.match(rb"\s*\]?\s*(?::[^=\n]+)?=(?!=)", source[end : end + 80]) is not None


class _Prose:
    """The comments of a file and its texts over several lines."""

    def __init__(self, source: bytes) -> None:
        self._source = source

    @cached_property
    def _quotes(self) -> list[int]:
        return [match.start() for match in _QUOTES.finditer(self._source)]

    def holds(self, start: int) -> bool:
        line = self._source[self._source.rfind(b"\n", 0, start) + 1 : start]
        return line.lstrip().startswith(b"#") or bisect_left(self._quotes, start) % 2 == 1


def _membership(module: Module, prose: _Prose) -> Iterator[Option]:
    """``"NAME" in os.environ``."""
    if any(mark in module.source for mark in _MEMBERSHIPS):
        for match in _MEMBER.finditer(module.source):
            if not prose.holds(match.start()):
                line = module.source.count(b"\n", 0, match.start()) + 1
                yield variable(match["literal"].decode(), "str", None, None, module.path, line)


def _places(module: Module, anchor: bytes) -> Iterator[_Read]:
    """Where a name that ends in ``anchor`` (or goes on from it) is called or subscripted with a variable's name."""
    source = module.source
    position = source.find(anchor)
    while position >= 0:
        start = position
        while start > 0 and (source[start - 1 : start].isalnum() or source[start - 1 : start] in b"_."):
            start -= 1
        end = position + len(anchor)
        attribute = _ATTRIBUTE.match(source, end)
        end = attribute.end() if attribute is not None else end
        match = _ARGUMENT.match(source, end)
        if match is not None and source[max(0, start - 4) : start] != b"def ":
            yield _Read(module, start, source[start:end].decode(), match)
        position = source.find(anchor, position + len(anchor))


def _helper_around(read: _Read) -> str | None:
    """The function around a read whose parameter names what is read."""
    source = read.module.source
    parameter = re.compile(rb"\b%s\b" % re.escape(read.match["variable"]))
    around = list(_DEFINITION.finditer(source, max(0, read.start - _LONGEST_HELPER), read.start))
    for definition in reversed(around):
        if parameter.search(definition["parameters"]):
            return None if definition["indent"] else definition["name"].decode()
        if not definition["indent"]:
            break
    return None


def _call_at(source: bytes, start: int) -> ast.Call | None:
    """The call that begins here, parsed alone."""
    end = start
    for _ in range(12):
        end = source.find(b")", end, start + _LONGEST_CALL) + 1
        if end == 0:
            return None
        try:
            parsed = ast.parse(source[start:end].decode("utf-8", "replace"), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        return parsed if isinstance(parsed, ast.Call) else None
    return None
