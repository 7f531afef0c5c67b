"""Device predicates: everything in a tree whose value the SM decides, evaluated on every SM.

Found by following names: a definition that mentions a device query of ``rules/sglang/reading.toml`` is evaluated; where its
value differs between SMs it is a predicate, and whatever mentions *its* name is looked at next. Environment variables are
unset and options stand at their declared defaults.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from sm_gatecheck.evaluate import classes
from sm_gatecheck.evaluate.attributes import lookup
from sm_gatecheck.evaluate.frames import Frame
from sm_gatecheck.evaluate.interpreter import STEP_LIMIT, BudgetExceeded, Interpreter, class_bindings
from sm_gatecheck.evaluate.operations import expanded
from sm_gatecheck.evaluate.values import (
    BoundMethod,
    ClassValue,
    FunctionValue,
    Instance,
    Known,
    Mapping,
    Opaque,
    Partial,
    Payload,
    Sequence,
    Truth,
    Value,
    alternatives,
    from_python,
    to_python,
)
from sm_gatecheck.model.condition import Condition, Space
from sm_gatecheck.model.report import PredicateRow
from sm_gatecheck.model.target import Devices
from sm_gatecheck.program.modules import Module, Program, bound_names
from sm_gatecheck.program.occurrences import Occurrences, Unit
from sm_gatecheck.rulebook import Rulebook
from sm_gatecheck.target.environment import Environment
from sm_gatecheck.target.options import read_options
from sm_gatecheck.target.platform import Platform, load_facts
from sm_gatecheck.target.reading import load_reading
from sm_gatecheck.target.rules import load_devices
from sm_gatecheck.target.world import SglangWorld
from sm_gatecheck.trees import Tree
from sm_gatecheck.verdicts.request import Request

Kind = Literal["function", "constant", "property", "method"]
Progress = Callable[[str, int, int], None]
FunctionNode = (ast.FunctionDef, ast.AsyncFunctionDef)

STEPS_PER_PREDICATE = 60_000
LONG_FUNCTION_LINES = 80
COMMON_NAME_LIMIT = 400
INDIRECT_STEPS = 2
REASON_LIMIT = 3


def predicates(tree: Tree, request: Request, progress: Progress | None = None) -> list[PredicateRow]:
    """Every device predicate of a tree with its value on each SM of ``request``, sorted by file and line.

    A value is a bool, a number, a string or a tuple of such; None where the SM alone does not decide it (or where it is
    Python's None), with the reason.
    """
    rules = Rulebook.open() if request.rules_dir is None else Rulebook.open(request.rules_dir)
    devices = load_devices(rules)
    program = Program(tree.files)
    search = _Search(program, _interpreter(program, rules, devices, request), devices, rules, request.sms)
    return search.run(progress)


def _interpreter(program: Program, rules: Rulebook, devices: Devices, request: Request) -> Interpreter:
    space = Space(devices.sms)
    reading = load_reading(rules)
    platform = Platform(space, devices, load_facts(rules), request.cuda)
    environment = Environment(space, reading.true_words, dict(request.settings), unset=True)
    options = {option.field: _default(option.default) for option in read_options(program, rules) if option.default_source is None}
    return Interpreter(program, space, SglangWorld(program, space, reading, platform, environment, options))


def _default(value: Any) -> Value:
    payload = from_python(value)
    return Known(None) if payload is None else payload


@dataclass(frozen=True)
class _Candidate:
    """A definition that may be a predicate, and how to read it."""

    module: Module
    name: str
    qualname: str
    kind: Kind
    line: int
    owner: ClassValue | None = None
    node: ast.FunctionDef | ast.AsyncFunctionDef | None = None


class _Search:
    """The frontier of names, and the rows found so far by (file, qualified name)."""

    def __init__(self, program: Program, interpreter: Interpreter, devices: Devices, rules: Rulebook, sms: tuple[int, ...]) -> None:
        self._program = program
        self._interpreter = interpreter
        self._devices = devices
        self._sms = sms
        self._occurrences = Occurrences(program)
        self._roots = load_reading(rules).device_roots
        self._objects = rules.read("sglang/predicates.toml").get("object", [])
        self._rows: dict[tuple[str, str], PredicateRow] = {}
        self._seen: set[tuple[str, str]] = set()

    def run(self, progress: Progress | None) -> list[PredicateRow]:
        followed = dict.fromkeys((root.encode() for root in self._roots), 0)
        for row in self._rows_of_objects():
            self._rows[row.file, row.name] = row
            followed.setdefault(_last_name(row.name).encode(), 0)
        frontier, looked_at = dict(followed), 0
        while frontier:
            units = list(self._occurrences.units(frozenset(frontier)))
            fresh: dict[bytes, int] = {}
            for unit in units:
                steps = min(frontier[name] for name in unit.identifiers if name in frontier)
                for name, further in self._look_at(unit, steps).items():
                    if name not in followed:
                        fresh[name] = min(further, fresh.get(name, further))
                looked_at += 1
                if progress is not None:
                    progress("Evaluating device predicates", looked_at, len(units))
            followed.update(fresh)
            frontier = {name: steps for name, steps in fresh.items() if self._occurrences.file_count(name) <= COMMON_NAME_LIMIT}
        return sorted(self._rows.values(), key=lambda row: (row.file, row.line, row.name))

    def _look_at(self, unit: Unit, steps: int) -> dict[bytes, int]:
        """Evaluate what a statement binds. Returns the names to follow, with the number of unevaluated steps to them."""
        reached: dict[bytes, int] = {}
        for candidate in self._candidates(unit):
            key = (unit.module.path, candidate.qualname)
            if key in self._seen:
                continue
            self._seen.add(key)
            if candidate.node is not None and not _callable_without_arguments(candidate):
                short = (candidate.node.end_lineno or 0) - candidate.node.lineno <= LONG_FUNCTION_LINES
                if short and candidate.owner is None and steps < INDIRECT_STEPS:
                    reached[candidate.name.encode()] = steps + 1
                continue
            row = self._row(candidate)
            if row is not None:
                self._rows[key] = row
                reached[candidate.name.encode()] = 0
        return reached

    # -- candidates -----------------------------------------------------------------------------------------------------

    def _candidates(self, unit: Unit) -> Iterator[_Candidate]:
        """What a statement binds: names of its module, or members of its class."""
        module, node = unit.module, unit.node
        if isinstance(node, (ast.Import, ast.ImportFrom, ast.ClassDef)):
            return
        owner: ClassValue | None = None
        prefix = ""
        if unit.owner is not None:
            found = self._interpreter.global_value(module, unit.owner.name)
            if not isinstance(found, ClassValue) or found.node is not unit.owner:
                return
            owner, prefix = found, f"{unit.owner.name}."
        if not isinstance(node, FunctionNode):
            for name in dict.fromkeys(bound_names(node)):
                yield _Candidate(module, name, prefix + name, "constant", node.lineno, owner)
            return
        if owner is None:
            yield _Candidate(module, node.name, node.name, "function", node.lineno, None, node)
            return
        if not node.name.startswith("__"):
            kind: Kind = "property" if classes.is_property(node) else "method"
            yield _Candidate(module, node.name, prefix + node.name, kind, node.lineno, owner, node)
        for name, line in _stored_on_self(node):
            yield _Candidate(module, name, prefix + name, "property", line, owner)

    # -- values ---------------------------------------------------------------------------------------------------------

    def _row(self, candidate: _Candidate) -> PredicateRow | None:
        value = self._value(self._evaluate, candidate)
        module = candidate.module
        return (
            None
            if value is None
            else self._as_row(f"{module.name}.{candidate.qualname}", module.path, candidate.line, candidate.kind, value)
        )

    def _value(self, evaluate: Callable[..., Value | None], *args: Any) -> Value | None:
        self._interpreter.steps = STEP_LIMIT - STEPS_PER_PREDICATE
        try:
            return evaluate(*args)
        except (BudgetExceeded, RecursionError):
            return None

    def _evaluate(self, candidate: _Candidate) -> Value | None:
        interpreter, module = self._interpreter, candidate.module
        frame = Frame(module, "", interpreter.space.true)
        if candidate.owner is not None:
            receiver = classes.abstract_instance(interpreter, candidate.owner)
            value = lookup(interpreter, receiver, candidate.name, frame)
        else:
            value = interpreter.global_value(module, candidate.name)
        return None if value is None else self._called(value, frame)

    def _called(self, value: Value, frame: Frame) -> Value:
        """What a predicate that is a function answers; other values as they are."""
        if isinstance(value, (FunctionValue, BoundMethod, Partial)):
            return self._interpreter.call(value, (), {}, frame)
        return value

    def _as_row(self, name: str, path: str, line: int, kind: Kind, value: Value) -> PredicateRow | None:
        space = self._interpreter.space
        guarded = alternatives(expanded(space, value), space.true)
        if not _varies(space, guarded):
            return None
        answers = [(sm, *_on_target(guarded, self._devices.bit(sm))) for sm in self._sms]
        reasons = list(dict.fromkeys(reason for _, _, reasons in answers for reason in reasons))
        shown = "; ".join(reasons[:REASON_LIMIT]) + (f"; and {len(reasons) - REASON_LIMIT} more" if len(reasons) > REASON_LIMIT else "")
        return PredicateRow(name, path, line, kind, tuple((sm, answer) for sm, answer, _ in answers), shown or None)

    # -- objects that the rules name ------------------------------------------------------------------------------------

    def _rows_of_objects(self) -> Iterator[PredicateRow]:
        for described in self._objects:
            spelled = described["name"]
            module_name, _, name = spelled.removesuffix("()").rpartition(".")
            found = self._program.defining_module(module_name, name)
            asked = self._program.module(module_name)
            if found is None and asked is None:
                continue
            module = asked if asked is not None else found[0]  # type: ignore[index]
            frame = Frame(module, "", self._interpreter.space.true)
            receiver = self._value(self._interpreter.global_value, module, name)
            if receiver is not None and spelled.endswith("()"):
                receiver = self._value(self._interpreter.call, receiver, (), {}, frame)
            if isinstance(receiver, Instance):
                yield from self._rows_of_object(spelled, described, receiver, frame)

    def _rows_of_object(self, spelled: str, described: dict[str, Any], receiver: Instance, frame: Frame) -> Iterator[PredicateRow]:
        for name, path, line, node in self._attributes(described, receiver):
            value = self._value(lookup, self._interpreter, receiver, name, frame)
            if value is None:
                continue
            is_method = isinstance(value, (BoundMethod, FunctionValue, Partial))
            if is_method and node is not None and _required_arguments(node, 1):
                continue
            called = self._value(self._called, value, frame)
            row = (
                None
                if called is None
                else self._as_row(f"{spelled}.{name}{'()' if is_method else ''}", path, line, "method" if is_method else "property", called)
            )
            if row is not None:
                yield row

    def _attributes(
        self, described: dict[str, Any], receiver: Instance
    ) -> Iterator[tuple[str, str, int, ast.FunctionDef | ast.AsyncFunctionDef | None]]:
        """What an object has: the members of its class, and the keys of the tables that its ``__getattr__`` reads."""
        seen: set[str] = set()
        for owner in [] if receiver.cls is None else self._interpreter.mro(receiver.cls):
            for name, statements in class_bindings(owner.node).items():
                if name not in seen and not name.startswith("_"):
                    seen.add(name)
                    last = statements[-1]
                    yield name, owner.module.path, last.lineno, last if isinstance(last, FunctionNode) else None
        for dotted in described.get("tables", []):
            module_name, _, name = dotted.rpartition(".")
            module = self._program.module(module_name)
            table = None if module is None else self._value(self._interpreter.global_value, module, name)
            if module is None or not isinstance(table, Mapping):
                continue
            line = module.bindings[name][0].lineno
            for key, _ in table.entries:
                if isinstance(key, Known) and isinstance(key.value, str) and key.value not in seen:
                    seen.add(key.value)
                    yield key.value, module.path, line, None


def _last_name(dotted: str) -> str:
    return dotted.rpartition(".")[2].removesuffix("()")


def _stored_on_self(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[str, int]]:
    """The attributes that a method stores on its receiver, each with its first line."""
    if not node.args.args or node.name not in ("__init__", "__post_init__"):
        return
    receiver, seen = node.args.args[0].arg, set()
    for inner in ast.walk(node):
        if not (isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store) and isinstance(inner.value, ast.Name)):
            continue
        if inner.value.id == receiver and inner.attr not in seen:
            seen.add(inner.attr)
            yield inner.attr, inner.lineno


def _callable_without_arguments(candidate: _Candidate) -> bool:
    assert candidate.node is not None
    bound = 0 if candidate.owner is None or "staticmethod" in classes.decorator_names(candidate.node) else 1
    return not _required_arguments(candidate.node, bound)


def _required_arguments(node: ast.FunctionDef | ast.AsyncFunctionDef, bound: int) -> bool:
    spec = node.args
    positional = len(spec.posonlyargs) + len(spec.args) - len(spec.defaults) - bound
    return positional > 0 or any(default is None for default in spec.kw_defaults)


def _varies(space: Space, guarded: tuple[tuple[Condition, Payload], ...]) -> bool:
    """Whether the SM bears on a value that is plain data somewhere."""
    if not any(isinstance(payload, Truth) or _plain(payload) is not None for _, payload in guarded):
        return False
    if any(isinstance(payload, Truth) and payload.condition.depends_on_target() for _, payload in guarded):
        return True
    return any(condition.depends_on_target() for condition, _ in guarded)


def _on_target(guarded: tuple[tuple[Condition, Payload], ...], bit: int) -> tuple[Any, list[str]]:
    """The value on one SM and no reasons; or None, and what else it depends on."""
    reasons: list[str] = []
    for condition, payload in guarded:
        if not condition.exists & bit:
            continue
        if not condition.forall & bit:
            reasons += _questions(condition, bit)
        elif isinstance(payload, Truth):
            if payload.condition.forall & bit:
                return True, []
            if not payload.condition.exists & bit:
                return False, []
            reasons += _questions(payload.condition, bit)
        else:
            held = _plain(payload)
            return (None, [_described(payload)]) if held is None else (held[0], [])
    return None, list(dict.fromkeys(reasons))


def _questions(condition: Condition, bit: int) -> list[str]:
    return sorted({atom.text for atom in condition.on(bit).atoms()})


def _plain(payload: Payload) -> tuple[Any] | None:
    """The value, in a tuple, of a payload that JSON can hold."""
    if isinstance(payload, (Known, Sequence)):
        try:
            value = to_python(payload)
        except ValueError:
            return None
        if isinstance(value, (list, tuple)):
            return (tuple(value),) if all(isinstance(item, (bool, int, float, str)) for item in value) else None
        return (value,) if value is None or isinstance(value, (bool, int, float, str)) else None
    return None


def _described(payload: Payload) -> str:
    return payload.text if isinstance(payload, Opaque) else type(payload).__name__


__all__ = ["predicates"]
