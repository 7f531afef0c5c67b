"""Under which condition a function is called at all, followed back through its callers by name.

Possibility, not certainty: a caller that was not found, or a name that is passed around, makes the answer ``true``.
"""

from __future__ import annotations

import ast

from sm_gatecheck.model.condition import Condition, SpaceExhausted
from sm_gatecheck.model.gaps import Reason
from sm_gatecheck.program.mentions import Mentions
from sm_gatecheck.program.modules import Program, imported_name
from sm_gatecheck.target.instances import Instances, takes_no_object
from sm_gatecheck.target.scan import Scan, Summary

DEPTH = 3
CALLER_LIMIT = 10
NAMESAKES = 4
NODE_LIMIT = 8_000
_ALWAYS = frozenset({"main", "forward", "apply", "run"})
"""Names that a framework calls."""


class Reach:
    """Remembers the condition of each function."""

    def __init__(self, program: Program, mentions: Mentions, scan: Scan, transparent: frozenset[str] = frozenset()) -> None:
        self._transparent = transparent
        self._program = program
        self._mentions = mentions
        self._scan = scan
        self._instances = Instances(program, mentions, scan, self.of)
        self._known: dict[tuple[str, int], Condition] = {}
        self.left: dict[tuple[str, int], tuple[Summary, Reason]] = {}
        """Functions that may be called from anywhere because their callers were not all followed, and why."""

    def of(self, summary: Summary, depth: int = DEPTH) -> Condition:
        """When ``summary``'s function may run. A module's top level always does."""
        space = self._scan.space
        if summary.node is None or summary.entry is not None or depth == 0:
            return space.true
        key = (summary.module.path, summary.node.lineno)
        if key not in self._known:
            self._known[key] = space.true  # while callers are followed: a cycle is no proof
            space.make_room(NODE_LIMIT)
            try:
                self._known[key] = space.widen(self._called(summary, depth) & self._has_object(summary, depth))
            except SpaceExhausted:
                self.left[key] = (summary, Reason.CALLERS_CONDITIONS)  # too many ways lead there: it may be reached
            finally:
                space.make_room(None)
        return self._known[key]

    def _has_object(self, summary: Summary, depth: int) -> Condition:
        """When there is an object to call a method on."""
        if summary.owner is None or summary.node is None or takes_no_object(summary.node):
            return self._scan.space.true
        return self._instances.of(summary.owner, depth)

    def _anywhere(self, summary: Summary, reason: Reason) -> Condition:
        """What is said of a function whose callers are not all known."""
        self.left[summary.key] = (summary, reason)
        return self._scan.space.true

    def _is_exposed(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        """A decorator may hand a function to anyone, unless the rules know better."""
        return any(_decorator(decorator) not in self._transparent for decorator in node.decorator_list)

    def _called(self, summary: Summary, depth: int) -> Condition:
        space = self._scan.space
        name = summary.name
        if summary.node is None or name in _ALWAYS or name.startswith("__"):
            return space.true
        if self._mentions.defined(name) > NAMESAKES or self._mentions.count(name) > CALLER_LIMIT:
            return self._anywhere(summary, Reason.CALLERS_MANY)
        if self._is_exposed(summary.node) or self._mentions.may_be_computed(name, summary.module.path):
            return self._anywhere(summary, Reason.CALLERS_HIDDEN)
        result = space.false
        seen: set[tuple[str, int]] = {(summary.module.path, summary.node.lineno)}
        callers = 0
        for path, line in self._mentions.mentioning([name]):
            caller = self._scan.at(self._program.by_path[path], line)
            if caller is None:
                return space.true
            place = (path, 0 if caller.node is None else caller.node.lineno)
            if place in seen:
                continue
            seen.add(place)
            uses = 0 if self._means_another(caller, summary) else _uses(caller, name)
            if uses == 0:
                continue
            if uses is None:
                if caller.node is None:
                    return self._anywhere(summary, Reason.CALLERS_HIDDEN)
                # Who hands a function on must run before anyone else can call it; who does then was not followed.
                self.left[summary.key] = (summary, Reason.CALLERS_HIDDEN)
                callers += 1
                result = result | self.of(caller, depth - 1)
                continue
            conditions = caller.calls.get(name, [])
            if len(conditions) < uses and not (conditions and caller.unfinished is False and uses == len(conditions)):
                if not conditions and not caller.unfinished:
                    continue  # every call lies in code that is never reached
                if len(conditions) < uses and caller.unfinished:
                    return space.true
            callers += 1
            reached = space.false
            for condition in conditions:
                reached = reached | condition
            result = result | (reached & self.of(caller, depth - 1))
        return space.widen(result) if callers else space.true

    def _means_another(self, caller: Summary, summary: Summary) -> bool:
        """Whether a file imports, under the name of a function, one that another module defines."""
        if summary.owner is not None or caller.module is summary.module or self._mentions.defined(summary.name) < 2:
            return False
        imports = [
            imported.module
            for node in ast.walk(caller.module.syntax)
            if isinstance(node, ast.ImportFrom) and (imported := imported_name(caller.module, node, summary.name)) is not None
        ]
        return bool(imports) and all(module != summary.module.name and self._defines(module, summary.name) for module in imports)

    def _defines(self, module: str, name: str) -> bool:
        found = self._program.module(module)
        bindings = [] if found is None else found.bindings.get(name, [])
        return any(isinstance(binding, (ast.FunctionDef, ast.AsyncFunctionDef)) for binding in bindings)


def _decorator(node: ast.expr) -> str:
    """The last part of a decorator's name, called or not."""
    function = node.func if isinstance(node, ast.Call) else node
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _uses(caller: Summary, name: str) -> int | None:
    """How often a function calls ``name``; None where it uses the name in another way (passes it on, say)."""
    body: ast.AST = caller.module.syntax if caller.node is None else caller.node
    calls = 0
    called: set[int] = set()
    nodes = _top_level(body) if caller.node is None else ast.walk(body)
    for node in nodes:
        if isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Name) and function.id == "hasattr":
                called.update(id(argument) for argument in node.args)  # to ask for a name is not to use it
            if (isinstance(function, ast.Name) and function.id == name) or (isinstance(function, ast.Attribute) and function.attr == name):
                calls += 1
                called.add(id(function))
        elif id(node) not in called and _means(node, name):
            return None
    return calls


def _means(node: ast.AST, name: str) -> bool:
    """Whether a node reads the name, or spells it out as a text."""
    if isinstance(node, ast.Constant):
        return bool(node.value == name)
    if isinstance(node, ast.Name):
        return node.id == name and isinstance(node.ctx, ast.Load)
    return isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Load)


def _top_level(module: ast.AST) -> list[ast.AST]:
    """The nodes of a module outside its functions."""
    found: list[ast.AST] = []
    stack: list[ast.AST] = [module]
    while stack:
        node = stack.pop()
        found.append(node)
        stack.extend(child for child in ast.iter_child_nodes(node) if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)))
    return found
