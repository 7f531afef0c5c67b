"""Device predicates: everything in a tree whose value the SM decides, evaluated on every SM.

Found by following names: a definition that mentions a device query of ``rules/sglang/reading.toml`` is evaluated; where its
value differs between SMs it is a predicate, and whatever mentions *its* name is looked at next. Environment variables are
unset and options stand at their declared defaults.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from sm_gatecheck.evaluate import classes
from sm_gatecheck.evaluate.attributes import lookup
from sm_gatecheck.evaluate.frames import Frame
from sm_gatecheck.evaluate.interpreter import STEP_LIMIT, BudgetExceeded, Interpreter, class_bindings
from sm_gatecheck.evaluate.operations import expanded
from sm_gatecheck.evaluate.statements import bound_when
from sm_gatecheck.evaluate.values import (
    BoundMethod,
    Choice,
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

_Answer = TypeVar("_Answer")
Kind = Literal["function", "constant", "property", "method"]
Progress = Callable[[str, int, int], None]
FunctionNode = (ast.FunctionDef, ast.AsyncFunctionDef)

STEPS_PER_PREDICATE = 60_000
LONG_FUNCTION_LINES = 40
SHORT_FUNCTION_LINES = 24
COMMON_NAME_LIMIT = 400
INDIRECT_STEPS = 2
REASON_LIMIT = 3
Guarded = tuple[tuple[Condition, Payload], ...]
_NOT_DEFINED = Opaque("9:not defined", "not defined")


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
    interpreter = Interpreter(program, space, _PredicateWorld(program, space, reading, platform, environment, options))
    interpreter.tracks_escapes = True
    return interpreter


class _PredicateWorld(SglangWorld):
    """Follows short functions whatever they mention: one that a predicate calls decides with it."""

    def worth_following(self, function: FunctionValue, args: tuple[Value, ...] = ()) -> bool:
        return (function.node.end_lineno or 0) - function.node.lineno <= SHORT_FUNCTION_LINES or super().worth_following(function, args)


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


@dataclass(frozen=True)
class _Trail:
    """How a name is followed: how many unevaluated functions lie before it, and, for a member, the classes one of which a
    file must mention too (none: any file counts)."""

    steps: int = 0
    owners: frozenset[bytes] = frozenset()

    def covers(self, other: _Trail) -> bool:
        return not self.owners or (bool(other.owners) and other.owners <= self.owners)

    def joined(self, other: _Trail) -> _Trail:
        owners = self.owners | other.owners if self.owners and other.owners else frozenset()
        return _Trail(min(self.steps, other.steps), owners)


class _Search:
    """The frontier of names, and the rows found so far by (file, qualified name)."""

    def __init__(self, program: Program, interpreter: Interpreter, devices: Devices, rules: Rulebook, sms: tuple[int, ...]) -> None:
        self._program = program
        self._interpreter = interpreter
        self._devices = devices
        self._sms = sms
        described = rules.read("sglang/predicates.toml")
        self._occurrences = Occurrences(program, tuple(described["search"]["leave_out"]))
        self._roots = load_reading(rules).device_roots
        self._objects = described.get("object", [])
        self._rows: dict[tuple[str, str], PredicateRow] = {}
        self._seen: set[tuple[str, str]] = set()

    def run(self, progress: Progress | None) -> list[PredicateRow]:
        followed = {root.encode(): _Trail() for root in self._roots}
        for row in self._rows_of_objects():
            self._rows[row.file, row.name] = row
            followed.setdefault(_last_name(row.name).encode(), _Trail())
        frontier, looked_at = dict(followed), 0
        while frontier:
            units = list(self._occurrences.units({name: trail.owners for name, trail in frontier.items()}))
            fresh: dict[bytes, _Trail] = {}
            for unit, mentioned in units:
                for name, trail in self._look_at(unit, min(frontier[name].steps for name in mentioned)).items():
                    known = fresh.get(name) or followed.get(name)
                    if known is None or not known.covers(trail):
                        fresh[name] = trail if known is None else known.joined(trail)
                looked_at += 1
                if progress is not None:
                    progress("Evaluating device predicates", looked_at, len(units))
            followed.update(fresh)
            frontier = {name: trail for name, trail in fresh.items() if self._occurrences.file_count(name) <= COMMON_NAME_LIMIT}
        return sorted(self._rows.values(), key=lambda row: (row.file, row.line, row.name))

    def _look_at(self, unit: Unit, steps: int) -> dict[bytes, _Trail]:
        """Evaluate what a statement binds. Returns the names to follow."""
        reached: dict[bytes, _Trail] = {}
        for candidate in self._candidates(unit):
            key = (unit.module.path, candidate.qualname)
            if key in self._seen:
                continue
            self._seen.add(key)
            owners = frozenset() if candidate.owner is None else frozenset((candidate.owner.node.name.encode(),))
            if candidate.node is not None and not _answers_something(candidate.node):
                continue
            if candidate.node is not None and not _callable_without_arguments(candidate):
                if candidate.owner is None and steps < INDIRECT_STEPS and _is_short(candidate.node):
                    reached[candidate.name.encode()] = _Trail(steps + 1)
                continue
            answers = self._value(self._evaluate, candidate)
            if answers is None:
                continue
            if _varies(answers):
                module = candidate.module
                self._rows[key] = self._as_row(f"{module.name}.{candidate.qualname}", module.path, candidate.line, candidate.kind, answers)
            if _varies(answers) or any(_holds_target(payload) for _, payload in answers):
                reached[candidate.name.encode()] = _Trail(0, owners)
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
            for name in sorted(set(bound_names(node)) - {"_"}):
                yield _Candidate(module, name, prefix + name, "constant", node.lineno, owner)
            return
        if owner is None:
            yield _Candidate(module, node.name, node.name, "function", node.lineno, None, node)
            for name, writers in module.global_writers.items():
                if node in writers:
                    yield _Candidate(module, name, name, "constant", node.lineno)
            return
        if not node.name.startswith("__"):
            kind: Kind = "property" if classes.is_property(node) else "method"
            yield _Candidate(module, node.name, prefix + node.name, kind, node.lineno, owner, node)
        fields = {line.target.id for line in owner.node.body if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name)}
        for name, line in _stored_on_self(node):
            if name in fields:
                continue  # what it holds is what the object is made with
            yield _Candidate(module, name, prefix + name, "property", line, owner)

    # -- values ---------------------------------------------------------------------------------------------------------

    def _value(self, evaluate: Callable[..., _Answer | None], *args: Any) -> _Answer | None:
        self._interpreter.steps = STEP_LIMIT - STEPS_PER_PREDICATE
        try:
            return evaluate(*args)
        except (BudgetExceeded, RecursionError):
            return None

    def _evaluate(self, candidate: _Candidate) -> Guarded | None:
        interpreter, module = self._interpreter, candidate.module
        frame = Frame(module, "", interpreter.space.true)
        if candidate.owner is None:
            value = interpreter.global_value(module, candidate.name)
        else:
            receiver = classes.abstract_instance(interpreter, candidate.owner)
            value = self._member(candidate, receiver) or lookup(interpreter, receiver, candidate.name, frame)
        if value is None:
            return None
        return self._where_bound(candidate, self._answers(value, frame))

    def _member(self, candidate: _Candidate, receiver: Instance) -> Value | None:
        """The function behind a property, so that what it raises is seen."""
        if candidate.kind != "property" or candidate.node is None or candidate.owner is None:
            return None
        function = FunctionValue(candidate.module, candidate.node, candidate.owner, None, candidate.qualname)
        return BoundMethod(function, receiver)

    def _answers(self, value: Value, frame: Frame) -> Guarded:
        """What a predicate that is a function answers or raises; other values as they are."""
        interpreter = self._interpreter
        if not isinstance(value, (FunctionValue, BoundMethod, Partial)):
            return _guarded(interpreter, value)
        answer = interpreter.call(value, (), {}, frame)
        returns, raised = interpreter.space.true, []
        for condition, exception in frame.escapes:
            raised.append((condition & returns, Known(f"raises {exception}")))
            returns = returns & ~condition
        return (*((returns & condition, payload) for condition, payload in _guarded(interpreter, answer)), *raised)

    def _where_bound(self, candidate: _Candidate, answers: Guarded) -> Guarded:
        """Where a module or class under a test is not made, there is nothing to ask."""
        outermost = candidate.name if candidate.owner is None else candidate.owner.node.name
        bound = bound_when(self._interpreter, candidate.module, outermost)
        if bound.is_true or (bound.is_false and outermost in candidate.module.global_writers):
            return answers
        return (*((bound & condition, payload) for condition, payload in answers), (~bound, _NOT_DEFINED))

    def _as_row(self, name: str, path: str, line: int, kind: Kind, guarded: Guarded) -> PredicateRow:
        values, undecided = [], []
        for sm in self._sms:
            answer, reasons = _on_target(guarded, self._devices.bit(sm))
            values.append((sm, answer))
            if answer is None:
                more = f"; and {len(reasons) - REASON_LIMIT} more" if len(reasons) > REASON_LIMIT else ""
                undecided.append((sm, "; ".join(reasons[:REASON_LIMIT]) + more))
        return PredicateRow(name, path, line, kind, tuple(values), tuple(undecided))

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
            answers = self._value(self._answers, value, frame)
            if answers is not None and _varies(answers):
                kind: Kind = "method" if is_method else "property"
                yield self._as_row(f"{spelled}.{name}{'()' if is_method else ''}", path, line, kind, answers)

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


def _answers_something(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function returns a value: one that does not, does things."""
    return any(isinstance(inner, ast.Return) and inner.value is not None for inner in ast.walk(node))


def _is_short(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return (node.end_lineno or 0) - node.lineno <= LONG_FUNCTION_LINES


def _callable_without_arguments(candidate: _Candidate) -> bool:
    assert candidate.node is not None
    bound = 0 if candidate.owner is None or "staticmethod" in classes.decorator_names(candidate.node) else 1
    return not _required_arguments(candidate.node, bound)


def _required_arguments(node: ast.FunctionDef | ast.AsyncFunctionDef, bound: int) -> bool:
    spec = node.args
    positional = len(spec.posonlyargs) + len(spec.args) - len(spec.defaults) - bound
    return positional > 0 or any(default is None for default in spec.kw_defaults)


def _guarded(interpreter: Interpreter, value: Value) -> Guarded:
    space = interpreter.space
    return alternatives(expanded(space, classes.as_sequence(interpreter, value)), space.true)


def _holds_target(payload: Payload) -> bool:
    """Whether the SM bears on what an object or a list carries."""
    if isinstance(payload, Instance):
        held: Iterable[Value] = payload.attributes.values()
    else:
        held = payload.items if isinstance(payload, Sequence) else ()
    return any(
        value.condition.depends_on_target()
        if isinstance(value, Truth)
        else isinstance(value, Choice) and any(condition.depends_on_target() for condition, _ in value.alternatives)
        for value in held
    )


def _varies(guarded: Guarded) -> bool:
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
            if held is None or held[0] is None:
                return None, [_described(payload)]
            return held[0], []
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
    """Why a payload is no value to show."""
    if payload == Known(None):
        return "None"
    if isinstance(payload, Opaque):
        return payload.text
    return payload.cls.node.name if isinstance(payload, Instance) and payload.cls is not None else type(payload).__name__


__all__ = ["predicates"]
