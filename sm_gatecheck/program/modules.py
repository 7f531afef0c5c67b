"""The modules of a tree and what each binds at its top level, parsed when first asked for."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from sm_gatecheck.model.report import Diagnostic
from sm_gatecheck.syntax.parse import parse_module

_FILLED = re.compile(
    rb"(?<![\w.])([A-Za-z_]\w*)(?:\[[^\n]*\][ \t]*=(?!=)"
    rb"|\.(?:append|appendleft|extend|insert|add|update|setdefault|pop|popitem|popleft|remove|discard|clear)\()"
)
_GLOBAL = re.compile(rb"\bglobal\b")
_STAR_IMPORT = re.compile(rb"\bimport\b[\s\\(]*\*")


@dataclass(frozen=True)
class ImportedName:
    """``from module import name as …`` (``name`` is None for ``import module``)."""

    module: str
    name: str | None


@dataclass
class Module:
    """One source file. ``bindings`` maps each top-level name to the top-level statements that bind it, in order."""

    name: str
    path: str
    source: bytes
    is_package: bool
    diagnostics: list[Diagnostic] = field(default_factory=list)

    @cached_property
    def syntax(self) -> ast.Module:
        tree, diagnostics = parse_module(self.path, self.source, self.diagnostics.append)
        self.diagnostics.extend(diagnostics)
        return tree

    @cached_property
    def lines(self) -> list[str]:
        return self.source.decode("utf-8", "replace").splitlines()

    @cached_property
    def text(self) -> str:
        return self.source.decode("utf-8", "replace")

    @cached_property
    def bindings(self) -> dict[str, list[ast.stmt]]:
        found: dict[str, list[ast.stmt]] = {}
        for statement in self.syntax.body:
            for name in bound_names(statement):
                found.setdefault(name, []).append(statement)
        return found

    @cached_property
    def rebound(self) -> frozenset[str]:
        """The names that more than one top-level statement binds."""
        return frozenset(name for name, statements in self.bindings.items() if len(statements) > 1)

    @cached_property
    def star_imports(self) -> list[str]:
        if not _STAR_IMPORT.search(self.source):
            return []
        return [
            self.absolute(statement.module, statement.level)
            for statement in ast.walk(self.syntax)
            if isinstance(statement, ast.ImportFrom) and any(alias.name == "*" for alias in statement.names)
        ]

    @cached_property
    def filled(self) -> frozenset[str]:
        """The names of containers that some line puts something into or takes something from."""
        return frozenset(match.group(1).decode() for match in _FILLED.finditer(self.source))

    @cached_property
    def global_writers(self) -> dict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]]:
        """For each name that some function declares ``global``, the top-level functions and methods that assign it."""
        found: dict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]] = {}
        declared = [self.source.count(b"\n", 0, match.start()) + 1 for match in _GLOBAL.finditer(self.source)]
        if not declared:
            return found
        for statement in self.syntax.body:
            functions = statement.body if isinstance(statement, ast.ClassDef) else [statement]
            for function in functions:
                if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    if not any(function.lineno <= line <= (function.end_lineno or 0) for line in declared):
                        continue
                    for inner in ast.walk(function):
                        if isinstance(inner, ast.Global):
                            for name in inner.names:
                                found.setdefault(name, []).append(function)
        return found

    def absolute(self, module: str | None, level: int) -> str:
        """The absolute name of a possibly relative import from this module."""
        if level == 0:
            return module or ""
        parts = self.name.split(".")
        keep = len(parts) - level + (1 if self.is_package else 0)
        base = parts[: max(keep, 0)]
        return ".".join([*base, module] if module else base)


def bound_names(statement: ast.stmt) -> list[str]:
    """The names that a statement may bind in its own scope, nested blocks included, function bodies not."""
    names: list[str] = []
    stack: list[ast.stmt] = [statement]
    while stack:
        current = stack.pop()
        if isinstance(current, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.append(current.name)
        elif isinstance(current, ast.Assign):
            for target in current.targets:
                names.extend(_target_names(target))
        elif isinstance(current, (ast.AnnAssign, ast.AugAssign)):
            names.extend(_target_names(current.target))
        elif isinstance(current, ast.Import):
            names.extend(alias.asname or alias.name.split(".")[0] for alias in current.names)
        elif isinstance(current, ast.ImportFrom):
            names.extend(alias.asname or alias.name for alias in current.names)
        elif isinstance(current, (ast.For, ast.AsyncFor)):
            names.extend(_target_names(current.target))
            stack.extend([*current.body, *current.orelse])
        elif isinstance(current, (ast.If, ast.While)):
            stack.extend([*current.body, *current.orelse])
        elif isinstance(current, (ast.With, ast.AsyncWith)):
            for item in current.items:
                if item.optional_vars is not None:
                    names.extend(_target_names(item.optional_vars))
            stack.extend(current.body)
        elif isinstance(current, ast.Try):
            stack.extend([*current.body, *current.orelse, *current.finalbody])
            for handler in current.handlers:
                if handler.name:
                    names.append(handler.name)
                stack.extend(handler.body)
        elif isinstance(current, ast.Match):
            for case in current.cases:
                stack.extend(case.body)
    return names


def _target_names(target: ast.expr) -> list[str]:
    if isinstance(target, ast.Name):
        return [target.id]
    if isinstance(target, (ast.Tuple, ast.List)):
        return [name for element in target.elts for name in _target_names(element)]
    if isinstance(target, ast.Starred):
        return _target_names(target.value)
    return []


class Program:
    """Every module of a tree by dotted name, under the package name ``root``."""

    def __init__(self, files: Mapping[str, bytes], root: str = "sglang") -> None:
        self.root = root
        self._modules: dict[str, Module] = {}
        self.by_path: dict[str, Module] = {}
        for path, source in files.items():
            if path.endswith(".py"):
                module = _module(path, source, root)
                self._modules[module.name] = module
                self.by_path[path] = module

    def module(self, name: str) -> Module | None:
        return self._modules.get(name)

    def modules(self) -> list[Module]:
        return list(self._modules.values())

    def owns(self, dotted: str) -> bool:
        """Whether a dotted module name lies in this tree (a missing file of the tree included)."""
        return dotted == self.root or dotted.startswith(self.root + ".")

    def defining_module(self, module: str, name: str, _seen: frozenset[tuple[str, str]] = frozenset()) -> tuple[Module, str] | None:
        """Follow ``from module import name`` through re-exports to the module that really binds it. None if unknown."""
        if (module, name) in _seen:
            return None
        seen = _seen | {(module, name)}
        found = self.module(module)
        if found is None:
            return None
        statements = found.bindings.get(name)
        if statements:
            imported = imported_name(found, statements[-1], name)
            if imported is None or (len(statements) > 1 and not isinstance(statements[-1], ast.ImportFrom)):
                return found, name
            if imported.name is None:
                return found, name
            return self.defining_module(imported.module, imported.name, seen) or (found, name)
        for star in found.star_imports:
            via_star = self.defining_module(star, name, seen)
            if via_star is not None:
                return via_star
        return None


def imported_name(module: Module, statement: ast.stmt, name: str) -> ImportedName | None:
    """What ``name`` means if ``statement`` is the plain import that binds it, else None."""
    if isinstance(statement, ast.ImportFrom):
        for alias in statement.names:
            if (alias.asname or alias.name) == name:
                return ImportedName(module.absolute(statement.module, statement.level), alias.name)
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            if alias.asname == name:
                return ImportedName(alias.name, None)
            if alias.asname is None and alias.name.split(".")[0] == name:
                return ImportedName(name, None)
    return None


def _module(path: str, source: bytes, root: str) -> Module:
    parts = path[: -len(".py")].split("/")
    is_package = parts[-1] == "__init__"
    if is_package:
        parts.pop()
    return Module(".".join([root, *parts]), path, source, is_package)
