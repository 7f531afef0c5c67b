"""Dicts and lists as a program builds them up, each entry with its place and the condition under which it is there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from sm_gatecheck.launch.model import Extent
from sm_gatecheck.launch.programs.literals import Literals, Value
from sm_gatecheck.launch.programs.names import Names, Step
from sm_gatecheck.launch.programs.places import Program

_MAX_DEPTH = 12
_MAX_ENTRIES = 5_000


@dataclass(frozen=True)
class Entry:
    """A key (None for a list's element), where it stands, and its expression. ``node`` is None for what is taken away."""

    key: str | None
    extent: Extent
    node: ast.expr | None
    when: str | None = None


@dataclass
class Built:
    """Entries in order; ``notes`` are the parts that are not known."""

    entries: list[Entry] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, entries: list[Entry]) -> None:
        self.entries.extend(entries[: max(0, _MAX_ENTRIES - len(self.entries))])


@dataclass
class Collections:
    """Follows the dicts and lists of one program."""

    program: Program
    names: Names
    literals: Literals

    # -- dicts -----------------------------------------------------------------------------------------------------------

    def keywords(self, call: ast.Call, when: str | None = None, depth: int = 0) -> Built:
        """The keywords of a call, ``**spread`` ones included."""
        built = Built()
        for keyword in call.keywords:
            if keyword.arg is not None:
                built.add([Entry(keyword.arg, self.program.keyword_extent(keyword), keyword.value, when)])
            else:
                self._merge(built, self.mapping(keyword.value, when, depth + 1))
        return built

    def mapping(self, node: ast.expr, when: str | None = None, depth: int = 0) -> Built:
        """The entries of an expression that gives a dict."""
        built = Built()
        if depth > _MAX_DEPTH:
            built.notes.append(self.program.shown(node))
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if key is None:
                    self._merge(built, self.mapping(value, when, depth + 1))
                else:
                    self._add_key(built, key, value, when)
        elif isinstance(node, ast.Call) and self.names.dotted(node.func) == "dict":
            for argument in node.args:
                self._merge(built, self.mapping(argument, when, depth + 1))
            self._merge(built, self.keywords(node, when, depth + 1))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "copy":
            self._merge(built, self.mapping(node.func.value, when, depth + 1))
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            self._merge(built, self.mapping(node.left, when, depth + 1))
            self._merge(built, self.mapping(node.right, when, depth + 1))
        elif isinstance(node, ast.Name):
            self._named_mapping(built, node, when, depth + 1)
        elif self.names.dotted(node) != "os.environ":
            found = self.literals.value(node)
            if isinstance(found.value, dict) and not found.unresolved:
                constant = [Entry(str(key), self.program.extent(node), ast.Constant(inner), when) for key, inner in found.value.items()]
                built.add([_placed(entry, node) for entry in constant])
            else:
                built.notes.append(f"**{self.program.shown(node)}")
        return built

    def _add_key(self, built: Built, key: ast.expr, value: ast.expr, when: str | None) -> None:
        name = self.literals.value(key)
        if isinstance(name.value, str) and not name.unresolved:
            built.add([Entry(name.value, self.program.extent(key), value, when)])
        else:
            built.notes.append(self.program.shown(key))

    def _named_mapping(self, built: Built, name: ast.Name, when: str | None, depth: int) -> None:
        use = self.names.step_of(name)
        steps = list(self.names.changes(name.id, use, name.lineno)) if use is not None else []
        made = max((index for index, step in enumerate(steps) if _makes(step.statement, name.id)), default=None)
        if use is None or made is None:
            built.notes.append(f"**{name.id}")
            return
        for step in steps[made:]:
            self._step(built, step, name.id, self._condition(step, use, when), depth)

    def _step(self, built: Built, step: Step, name: str, when: str | None, depth: int) -> None:
        statement = step.statement
        if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.BitOr):
            self._merge(built, self.mapping(statement.value, when, depth))
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
            target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
            if isinstance(target, ast.Subscript) and statement.value is not None:
                self._add_key(built, target.slice, statement.value, when)
            elif statement.value is not None:
                self._merge(built, self.mapping(statement.value, when, depth))
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and isinstance(statement.value.func, ast.Attribute):
            self._method(built, statement.value, statement.value.func.attr, when, depth)

    def _method(self, built: Built, call: ast.Call, method: str, when: str | None, depth: int) -> None:
        if method == "update":
            for argument in call.args:
                self._merge(built, self.mapping(argument, when, depth))
            self._merge(built, self.keywords(call, when, depth))
        elif method == "setdefault" and len(call.args) == 2:
            name = self.literals.value(call.args[0]).value
            if not any(entry.key == name for entry in built.entries):
                self._add_key(built, call.args[0], call.args[1], when)
        elif method == "pop" and call.args and when is None:
            name = self.literals.value(call.args[0]).value
            built.entries = [entry for entry in built.entries if entry.key != name]

    # -- lists -----------------------------------------------------------------------------------------------------------

    def elements(self, node: ast.expr, when: str | None = None, depth: int = 0) -> Built:
        """The elements of an expression that gives a list."""
        built = Built()
        if depth > _MAX_DEPTH:
            built.notes.append(self.program.shown(node))
        elif isinstance(node, (ast.List, ast.Tuple)):
            for element in node.elts:
                if isinstance(element, ast.Starred):
                    self._merge(built, self.elements(element.value, when, depth + 1))
                else:
                    built.add([Entry(None, self.program.extent(element), element, when)])
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            self._merge(built, self.elements(node.left, when, depth + 1))
            self._merge(built, self.elements(node.right, when, depth + 1))
        elif isinstance(node, ast.Name):
            self._named_list(built, node, when, depth + 1)
        else:
            built.notes.append(self.program.shown(node))
        return built

    def _named_list(self, built: Built, name: ast.Name, when: str | None, depth: int) -> None:
        use = self.names.step_of(name)
        steps = list(self.names.changes(name.id, use, name.lineno)) if use is not None else []
        made = max((index for index, step in enumerate(steps) if _makes(step.statement, name.id)), default=None)
        if use is None or made is None:
            built.notes.append(name.id)
            return
        for step in steps[made:]:
            condition = self._condition(step, use, when)
            statement = step.statement
            if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and statement.value is not None:
                self._merge(built, self.elements(statement.value, condition, depth))
            elif (
                isinstance(statement, ast.Expr)
                and isinstance(statement.value, ast.Call)
                and isinstance(statement.value.func, ast.Attribute)
            ):
                method, arguments = statement.value.func.attr, statement.value.args
                if method == "append" and arguments:
                    built.add([Entry(None, self.program.extent(arguments[0]), arguments[0], condition)])
                elif method == "extend" and arguments:
                    self._merge(built, self.elements(arguments[0], condition, depth))

    # -- conditions ------------------------------------------------------------------------------------------------------

    def _condition(self, step: Step, use: Step, when: str | None) -> str | None:
        """What a step needs beyond what its use needs anyway."""
        shared = 0
        if step.function is use.function:
            while (
                shared < min(len(step.conditions), len(use.conditions))
                and step.conditions[shared] is use.conditions[shared]
                and step.negated[shared] == use.negated[shared]
            ):
                shared += 1
        return " and ".join([*([when] if when else []), *self.conditions(step, shared)]) or None

    def conditions(self, step: Step, start: int = 0) -> Iterator[str]:
        """The open conditions around a statement, as source."""
        for test, is_negated in zip(step.conditions[start:], step.negated[start:], strict=True):
            value: Value = self.literals.value(test)
            if not value.unresolved and not value.assumed and bool(value.value) != is_negated:
                continue
            yield f"not ({self.program.shown(test)})" if is_negated else self.program.shown(test)

    def alternatives(self, node: ast.expr, when: str | None) -> list[tuple[ast.expr, str | None]]:
        """An expression, or those that a name or an ``x if y else z`` stands for under conditions that the file leaves open."""
        found: list[tuple[ast.expr, str | None]] = []
        if isinstance(node, ast.IfExp):
            value = self.literals.value(node.test)
            if not value.unresolved and not value.assumed:
                return [(node.body if value.value else node.orelse, when)]
            test = self.program.shown(node.test)
            found = [(node.body, _both(when, test)), (node.orelse, _both(when, f"not ({test})"))]
        elif isinstance(node, ast.Name) and self.names.bound(node) is None:
            use = self.names.step_of(node)
            for step, expression in self.names.candidates(node):
                condition = self._condition(step, use, None) if use is not None else None
                if condition is None:
                    found = []
                found.append((expression, _both(when, condition)))
        return found or [(node, when)]

    def _merge(self, built: Built, other: Built) -> None:
        built.add(other.entries)
        built.notes.extend(other.notes)


def _both(first: str | None, second: str | None) -> str | None:
    return " and ".join(part for part in (first, second) if part) or None


def _makes(statement: ast.stmt, name: str) -> bool:
    """Whether a statement binds the name anew (``+=`` does not)."""
    if isinstance(statement, ast.Assign):
        return any(isinstance(target, ast.Name) and target.id == name for target in statement.targets)
    return isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.target.id == name


def _placed(entry: Entry, node: ast.expr) -> Entry:
    if entry.node is not None:
        ast.copy_location(entry.node, node)
    return entry
