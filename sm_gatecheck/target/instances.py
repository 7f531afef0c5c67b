"""Under which condition an object of a class is made at all, from all that name the class.

Possibility, not certainty: a use of the name that was not understood makes the answer ``true``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sm_gatecheck.evaluate import classes
from sm_gatecheck.evaluate.values import ClassValue, alternatives
from sm_gatecheck.model.condition import Condition
from sm_gatecheck.program.mentions import Mentions
from sm_gatecheck.program.modules import Module, Program
from sm_gatecheck.target.scan import Scan, Summary

NAMING_LIMIT = 25
"""How many definitions may name a class whose objects are followed."""


@dataclass(frozen=True)
class _Use:
    """A place that may make an object: in which function (None: nobody knows), by calling the class or by handing it back."""

    function: ast.FunctionDef | ast.AsyncFunctionDef | None
    by_call: bool = True


class Instances:
    """Remembers the condition of each class."""

    def __init__(self, program: Program, mentions: Mentions, scan: Scan, called: Callable[[Summary, int], Condition]) -> None:
        self._program = program
        self._mentions = mentions
        self._scan = scan
        self._called = called
        self._known: dict[int, Condition] = {}

    def of(self, cls: ClassValue, depth: int) -> Condition:
        """When an object of the class, or of one that is derived from it, may be made. SpaceExhausted where there is no room to say."""
        if id(cls.node) not in self._known:
            self._known[id(cls.node)] = self._scan.space.true  # while those who make it are followed: a cycle is no proof
            self._known[id(cls.node)] = self._made(cls, depth)
        return self._known[id(cls.node)]

    def _made(self, cls: ClassValue, depth: int) -> Condition:
        space, name = self._scan.space, cls.node.name
        if depth == 0 or cls.node.decorator_list or self._mentions.defined(name) > 1 or self._mentions.count(name) > NAMING_LIMIT:
            return space.true
        result, found = space.false, False
        for path in dict.fromkeys(path for path, _ in self._mentions.mentioning([name])):
            module = self._program.by_path[path]
            for derived in _derived(module.syntax, name):
                found = True
                result = result | self.of(self._scan.class_at(module, derived), depth - 1)
            uses = list(dict.fromkeys(self._uses(module.syntax, cls)))
            for use in uses:
                if use.function is None:
                    return space.true
                found = True
                result = result | self._used(module, use, cls, depth)
        return result if found else space.true

    def _used(self, module: Module, use: _Use, cls: ClassValue, depth: int) -> Condition:
        space = self._scan.space
        assert use.function is not None
        summary = self._scan.at(module, use.function.lineno)
        if summary is None or summary.unfinished or summary.node is not use.function:
            return space.true
        result = space.false
        if use.by_call:
            for condition in summary.calls.get(cls.node.name, ()):
                result = result | condition
        elif summary.returned is not None:
            for condition, payload in alternatives(summary.returned, space.true):
                if isinstance(payload, ClassValue) and payload.node is cls.node:
                    result = result | condition
        # What was not heard (a call within a comprehension, say) may happen wherever the function runs.
        return (space.true if result.is_false else result) & self._called(summary, depth - 1)

    def _uses(self, tree: ast.AST, cls: ClassValue) -> Iterator[_Use]:
        name = cls.node.name
        for node, parents in _loads(tree, name):
            use = self._use(node, parents, cls)
            if use is not None:
                yield use

    def _use(self, node: ast.AST, parents: list[ast.AST], cls: ClassValue) -> _Use | None:
        """What a place that names the class may do with it; None where that is not to make an object."""
        around = parents[-1]
        if isinstance(node, ast.alias):
            return None if node.asname in (None, node.name) else _Use(None)
        if isinstance(node, ast.Constant):
            return None if isinstance(around, (ast.Compare, ast.Subscript)) or _is_export(parents) else _Use(None)
        if isinstance(around, ast.Attribute):
            return _Use(None) if around.attr.startswith("__") or self._makes_itself(cls, around.attr) else None
        if isinstance(around, ast.ClassDef) or _is_annotation(node, parents) or _only_asks(node, parents):
            return None
        functions = [parent for parent in parents if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))]
        if len(functions) != 1 or isinstance(functions[0], ast.Lambda):
            return _Use(None)
        if any(parent is cls.node for parent in parents) and not takes_no_object(functions[0]):
            return None  # whoever runs that has such an object already
        if isinstance(around, ast.Call) and around.func is node:
            return _Use(functions[0])
        return _Use(functions[0], by_call=False) if isinstance(around, ast.Return) else _Use(None)

    def _makes_itself(self, cls: ClassValue, attribute: str) -> bool:
        """Whether what the class has under a name may be a way to make an object of it."""
        found = self._scan.member(cls, attribute)
        if found is None:
            return False
        if not isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return not isinstance(found, (ast.Assign, ast.AnnAssign))
        own = [parameter.arg for parameter in found.args.args[:1]] if takes_no_object(found) else []
        return any(isinstance(node, ast.Name) and node.id in own and isinstance(node.ctx, ast.Load) for node in ast.walk(found))


def takes_no_object(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a method is called on its class."""
    return bool({"staticmethod", "classmethod"}.intersection(classes.decorator_names(function)))


def _derived(tree: ast.AST, name: str) -> list[ast.ClassDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and any(_is_named(base, name) for base in node.bases)]


def _is_named(node: ast.AST, name: str) -> bool:
    return (isinstance(node, ast.Name) and node.id == name) or (isinstance(node, ast.Attribute) and node.attr == name)


def _loads(tree: ast.AST, name: str) -> Iterator[tuple[ast.AST, list[ast.AST]]]:
    """Every node that names the class, with the nodes around it, the outermost first."""
    stack: list[tuple[ast.AST, list[ast.AST]]] = [(tree, [])]
    while stack:
        node, parents = stack.pop()
        if parents and (_is_named(node, name) or (isinstance(node, ast.alias) and node.name == name) or _spells(node, name)):
            yield node, parents
        inside = [*parents, node]
        stack.extend((child, inside) for child in ast.iter_child_nodes(node))


def _spells(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == name


def _is_export(parents: list[ast.AST]) -> bool:
    return any(isinstance(parent, ast.Assign) and any(_is_named(target, "__all__") for target in parent.targets) for parent in parents)


def _is_annotation(node: ast.AST, parents: list[ast.AST]) -> bool:
    for around, inside in zip(reversed(parents), [node, *reversed(parents)]):
        if isinstance(around, (ast.arg, ast.AnnAssign)) and around.annotation is inside:
            return True
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return around.returns is inside
        if isinstance(around, ast.stmt) and not isinstance(around, ast.AnnAssign):
            return False
    return False


def _only_asks(node: ast.AST, parents: list[ast.AST]) -> bool:
    """Whether the class is only compared with: ``isinstance(…, Class)``, ``super(Class, self)``."""
    call = next((parent for parent in reversed(parents) if not isinstance(parent, ast.Tuple)), None)
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id in ("isinstance", "issubclass", "super")
        and call.func is not node
    )
