"""What a tree's resolution makes of a launch on one SM, held against what a server logged.

A log tells the resolved arguments and not which of them somebody gave. Where the launch is not known, the given ones are
found: those that resolution would not have come to by itself, less those that follow from the others.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from sm_gatecheck.logs.model import Start, Unread
from sm_gatecheck.logs.values import is_same
from sm_gatecheck.model.errors import without_options
from sm_gatecheck.target.resolution import Resolver
from sm_gatecheck.target.rules import open_rules
from sm_gatecheck.target.session import Session
from sm_gatecheck.trees.tree import Tree
from sm_gatecheck.verdicts.analysis import open_session
from sm_gatecheck.verdicts.request import Request
from sm_gatecheck.verdicts.resolved import Alternative, last_write, values_on

CANDIDATES_LIMIT = 60
"""Given options that are tried for following from the others; each costs a run of resolution."""
ROUNDS = 3
REFUSALS = ("raise", "assert", "key_error")
SHOWN_ALTERNATIVES = 4


class Agreement(str, Enum):
    """How a logged value stands to the prediction."""

    DECLARED = "as declared"
    RESOLVED = "as resolved"
    GIVEN = "given"
    POSSIBLE = "possible"
    UNDECIDED = "not predicted"
    DRAWN = "drawn at each start"
    DIFFERS = "differs"
    NOT_IN_TREE = "not in the tree"
    NOT_LOGGED = "not in the log"


@dataclass(frozen=True)
class Predicted:
    """A value that resolution may leave; ``place`` is ``file, line`` of the write that leaves it, None where nothing writes."""

    value: Any
    when: str | None
    is_known: bool
    place: tuple[str, int] | None


@dataclass(frozen=True)
class Row:
    """One field: as logged and as predicted. ``given`` is what the launch gave, where it did; ``why`` says it in words."""

    field: str
    agreement: Agreement
    logged: Any
    predicted: tuple[Predicted, ...] = ()
    given: Any = None
    is_given: bool = False
    declared: Any = None
    why: str = ""

    @property
    def is_unchanged(self) -> bool:
        """Nobody gave it and it is what the tree declares, whoever wrote that."""
        return not self.is_given and is_same(self.logged, self.declared)

    @property
    def is_compared(self) -> bool:
        return self.agreement not in (Agreement.UNDECIDED, Agreement.DRAWN, Agreement.NOT_LOGGED)


@dataclass(frozen=True)
class Prediction:
    """A start held against a tree on one SM. ``is_launch_known`` is False where the given options were found from the log.

    ``refusal`` is what, file and line of an error that the tree stops this launch with.
    """

    sm: int
    rows: tuple[Row, ...]
    given: Mapping[str, Any]
    is_launch_known: bool
    unfinished: str | None = None
    refusal: tuple[str, str, int] | None = None

    def count(self, *kinds: Agreement) -> int:
        return sum(1 for row in self.rows if row.agreement in kinds)

    @property
    def differences(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.agreement in (Agreement.DIFFERS, Agreement.NOT_IN_TREE))


@dataclass
class Resolved:
    """Resolution with some options given, on one SM."""

    predictor: Predictor
    given: Mapping[str, Any]
    _known: dict[str, dict[Hashable, Alternative]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.outcome = self.predictor.resolver.run(self.given)

    def alternatives(self, name: str) -> dict[Hashable, Alternative]:
        """The values that a field may have, by a key; empty where resolution knows no such field."""
        if name not in self._known:
            value = self.outcome.fields.get(name)
            found = {} if value is None else values_on(self.predictor.space, value, self.predictor.bits)
            self._known[name] = self._fallen_back(name, found)
        return self._known[name]

    def _fallen_back(self, name: str, found: dict[Hashable, Alternative]) -> dict[Hashable, Alternative]:
        """A field that nobody set and resolution left alone is worth what its declaration falls back to."""
        fallbacks = self.predictor.session.options.fallbacks
        if name not in fallbacks:
            return found
        worth = fallbacks[name]
        return {key: replace(item, value=worth) if item.known and item.value is None else item for key, item in found.items()}

    def predicted(self, name: str) -> tuple[Predicted, ...]:
        found = []
        for key, alternative in self.alternatives(name).items():
            write = last_write(self.outcome, name, key, self.predictor.space, self.predictor.bits)
            place = None if write is None else (write.module.path, int(getattr(write.node, "lineno", 1)))
            found.append(Predicted(alternative.value, alternative.when, alternative.known, place))
        return tuple(found)

    @property
    def refusal(self) -> tuple[str, str, int] | None:
        """What, file and line of an error that resolution ends with for certain; None where it may pass."""
        for event in self.outcome.events:
            if event.kind in REFUSALS and event.condition.on(self.predictor.bits).is_true:
                return event.name, event.module.path, int(getattr(event.node, "lineno", 1))
        return None

    def is_open(self, name: str) -> bool:
        """Whether the prediction holds a value that is not known."""
        return not self.alternatives(name) or any(not alternative.known for alternative in self.alternatives(name).values())

    def allows(self, name: str, value: Any) -> bool:
        return any(alternative.known and is_same(alternative.value, value) for alternative in self.alternatives(name).values())

    def value(self, name: str) -> Any:
        """The one value of a field; ``Unread`` where there are several or it is not known."""
        values = list(self.alternatives(name).values())
        return values[0].value if len(values) == 1 and values[0].known else Unread("?")


def open_predictor(tree: Tree, request: Request, is_drawn: Callable[[str], bool]) -> Predictor:
    """For the only SM of a request. TreeError where the tree declares no options."""
    (sm,) = request.sms
    session = open_session(tree, request, open_rules(request.rules_dir))
    if not session.options:
        raise without_options(tree.source.target)
    return Predictor(session, sm, is_drawn)


class Predictor:
    """Resolution of one tree on one SM. ``drawn`` says which fields differ from start to start."""

    def __init__(self, session: Session, sm: int, drawn: Callable[[str], bool] = lambda name: False) -> None:
        self.session = session
        self.sm = sm
        self.space = session.space
        self.bits = session.devices.bit(sm)
        self.resolver: Resolver = session.resolver
        self._drawn = drawn

    @property
    def declared(self) -> Mapping[str, Any]:
        return {option.field: option.default for option in self.session.options}

    def resolve(self, given: Mapping[str, Any]) -> Resolved:
        """Resolution with these options given; values as Python data."""
        return Resolved(self, {name: value for name, value in given.items() if not _unusable(value)})

    def given_in(self, start: Start) -> dict[str, Any]:
        """The options that somebody must have given for a server to log this, the fewest that were found."""
        logged, declared = dict(start.arguments or {}), self.declared
        given = {name: logged[name] for name in self.session.required if name in logged}
        for _ in range(ROUNDS):  # what is given may rule out what was possible before
            found = self.resolve(given)
            further = {
                name: value
                for name, value in logged.items()
                if name in declared and name not in given and self._must_be_given(name, value, declared[name], found)
            }
            if not further:
                break
            given.update(self._accepted(given, further))
        return self._fewest(given, logged)

    def _accepted(self, given: Mapping[str, Any], further: Mapping[str, Any]) -> dict[str, Any]:
        """Those of ``further`` that can be given: the server started, so resolution did not refuse what it was started with."""
        if self.resolve({**given, **further}).refusal is None:
            return dict(further)
        return {name: value for name, value in further.items() if self.resolve({**given, name: value}).refusal is None}

    def _must_be_given(self, name: str, value: Any, declared: Any, found: Resolved) -> bool:
        """Whether resolution is sure not to come to a value by itself, and it is one that can be given."""
        if self._drawn(name) or _unusable(value) or (value is None and declared is None):
            return False
        return not found.allows(name, value) and not found.is_open(name)

    def _fewest(self, given: dict[str, Any], logged: Mapping[str, Any]) -> dict[str, Any]:
        """Without those that follow from the others: what is left must still lead to every one of them."""
        wanted = [name for name in given if name not in self.session.required]
        for name in wanted[:CANDIDATES_LIMIT]:
            others = {other: value for other, value in given.items() if other != name}
            found = self.resolve(others)
            if all(found.allows(other, logged[other]) for other in wanted):
                given = others
        return given

    def compare(self, start: Start, given: Mapping[str, Any] | None = None) -> Prediction:
        """Every field that the log or the tree has. ``given`` are the launch's own options, None: found from the log."""
        logged = dict(start.arguments or {})
        options = dict(self.given_in(start) if given is None else given)
        found = self.resolve(options)
        rows = [self._row(name, logged[name], options, found, given is not None) for name in logged]
        for name, default in self.declared.items():
            if name not in logged:
                row = Row(name, Agreement.NOT_LOGGED, None, found.predicted(name), options.get(name), name in options, default)
                rows.append(row)
        return Prediction(self.sm, tuple(rows), options, given is not None, found.outcome.unfinished, found.refusal)

    def _row(self, name: str, logged: Any, given: Mapping[str, Any], found: Resolved, is_launch_known: bool) -> Row:
        declared = self.declared
        if name not in declared:
            return Row(name, Agreement.NOT_IN_TREE, logged, why="this tree declares no such option: the log is of another release")
        predicted = found.predicted(name)
        row = Row(name, Agreement.UNDECIDED, logged, predicted, given.get(name), name in given, declared[name])
        if self._drawn(name):
            return _as(row, Agreement.DRAWN, "drawn anew at each start")
        if found.allows(name, logged):
            if len(predicted) > 1:
                return _as(row, Agreement.POSSIBLE, _when(predicted, logged))
            if row.is_given and is_same(row.given, logged):
                return _as(row, Agreement.GIVEN, "the launch gives it" if is_launch_known else "the launch must have given it")
            if is_same(logged, declared[name]) and predicted[0].place is None:
                return _as(row, Agreement.DECLARED, "the declared default")
            return _as(row, Agreement.RESOLVED, f"resolution writes it{_at(predicted[0])}")
        if found.is_open(name) or isinstance(logged, Unread):
            reasons = [item for item in predicted if not item.is_known]
            return _as(row, Agreement.UNDECIDED, f"it is computed: {reasons[0].value}{_at(reasons[0])}" if reasons else "not followed")
        return _as(row, Agreement.DIFFERS, _difference(row, is_launch_known))


def _as(row: Row, agreement: Agreement, why: str) -> Row:
    return Row(row.field, agreement, row.logged, row.predicted, row.given, row.is_given, row.declared, why)


def _at(predicted: Predicted) -> str:
    return "" if predicted.place is None else f" at {predicted.place[0]}:{predicted.place[1]}"


def _when(predicted: tuple[Predicted, ...], logged: Any) -> str:
    found = next(item for item in predicted if item.is_known and is_same(item.value, logged))
    return f"resolution comes to it{_at(found)}" + (f" when {found.when}" if found.when else "")


def _difference(row: Row, is_launch_known: bool) -> str:
    """What the tree would have made of it, and what that leaves as an explanation."""
    several = len(row.predicted) > 1
    told = [
        f"{item.value!r}{_at(item)}{f' when {item.when}' if item.when and several else ''}" for item in row.predicted[:SHOWN_ALTERNATIVES]
    ]
    makes = "; or ".join(told)
    if row.is_given and is_launch_known:
        return f"given as {row.given!r}; this tree makes {makes} of it"
    if row.is_given:
        return f"even if the launch gave it, this tree makes it {makes}: the log is of another release, or model or memory differ"
    if is_launch_known and all(item.place is None for item in row.predicted):
        return f"nothing here changes it from {row.declared!r}: the launch must have given it, or the log is of another release"
    return f"this tree makes it {makes}: the log is of another release, or model or memory differ from what is assumed"


def _unusable(value: Any) -> bool:
    """What cannot be handed to resolution as a value."""
    if isinstance(value, Unread):
        return True
    if isinstance(value, (list, tuple)):
        return any(map(_unusable, value))
    return isinstance(value, Mapping) and any(map(_unusable, value.values()))
