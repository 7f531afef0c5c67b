"""Two starts side by side: which options changed, which of them somebody set and which follow, and what became of the figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase
from typing import Any

from sm_gatecheck.logs.model import Figure, Start
from sm_gatecheck.logs.prediction import Predictor, Resolved
from sm_gatecheck.logs.values import is_same
from sm_gatecheck.model.verdict import Effect, Verdict

NOTICEABLE = 0.05
"""GB by which free memory may differ from start to start without anybody having done anything."""


ALLOCATIONS = 3
"""Places where an option takes memory that are told."""


class Origin(str, Enum):
    """How an option came to change."""

    SET = "set"
    FOLLOWS = "follows"
    CHANGED = "changed"
    DRAWN = "drawn"
    ONLY_BEFORE = "only before"
    ONLY_AFTER = "only after"


@dataclass(frozen=True)
class OptionChange:
    """An option that the two starts log differently. ``causes`` are the set options that it follows from, ``place`` the write."""

    field: str
    before: Any
    after: Any
    origin: Origin = Origin.CHANGED
    causes: tuple[str, ...] = ()
    place: tuple[str, int] | None = None
    when: str | None = None


@dataclass(frozen=True)
class Behind:
    """Why a figure may have changed: the option, and how it bears on it (``computed``, ``allocates``, ``only``)."""

    field: str
    how: str
    effect: Effect | None = None
    verdict: Verdict | None = None


@dataclass(frozen=True)
class FigureChange:
    """A figure that differs, is missing on one side, or (``is_changed`` False) is as it was."""

    figure: Figure
    before: float | None
    after: float | None
    behind: tuple[Behind, ...] = ()

    @property
    def is_changed(self) -> bool:
        return self.before != self.after

    @property
    def is_noticeable(self) -> bool:
        if self.before is None or self.after is None or self.figure.unit != "GB":
            return self.is_changed
        return abs(self.after - self.before) >= NOTICEABLE


@dataclass(frozen=True)
class Comparison:
    """``is_explained`` says that a tree was asked which changes follow from which."""

    options: tuple[OptionChange, ...]
    figures: tuple[FigureChange, ...]
    is_explained: bool

    @property
    def roots(self) -> tuple[OptionChange, ...]:
        """The changes that do not follow from others."""
        return tuple(change for change in self.options if change.origin in (Origin.SET, Origin.CHANGED))

    @property
    def other_memory(self) -> tuple[FigureChange, ...]:
        """Memory that was missing or more before any option could act."""
        early = (change for change in self.figures if change.figure.before_options and change.is_noticeable)
        return tuple(change for change in early if change.before is not None and change.after is not None)

    @property
    def is_same(self) -> bool:
        """Nothing changed but what is drawn at each start, and no capacity."""
        capacity = any(change.is_changed for change in self.figures if change.figure.kind == "capacity")
        return not capacity and all(change.origin is Origin.DRAWN for change in self.options)


Costs = Callable[[str, Any], tuple[Verdict | None, tuple[Effect, ...]]]
"""What a value of an option does on the SM: its verdict, and where it takes memory."""


def compare(
    before: Start, after: Start, is_drawn: Callable[[str], bool], predictor: Predictor | None = None, costs: Costs | None = None
) -> Comparison:
    """``after`` against ``before``. With a predictor, which changes follow from which; with ``costs``, which of them take memory."""
    changes = _option_changes(before, after, is_drawn)
    explained = predictor is not None and before.arguments is not None and after.arguments is not None
    if predictor is not None and explained:
        changes = _with_origins(changes, before, after, predictor)
    comparison = Comparison(tuple(changes), _figure_changes(before, after), explained)
    figures = tuple(_explained(change, comparison, costs) for change in comparison.figures)
    return Comparison(comparison.options, figures, explained)


def _option_changes(before: Start, after: Start, is_drawn: Callable[[str], bool]) -> list[OptionChange]:
    if before.arguments is None or after.arguments is None:
        return []
    changes = []
    for name in dict.fromkeys((*before.arguments, *after.arguments)):
        if name not in after.arguments:
            if not after.is_cut:
                changes.append(OptionChange(name, before.arguments[name], None, Origin.ONLY_BEFORE))
        elif name not in before.arguments:
            if not before.is_cut:
                changes.append(OptionChange(name, None, after.arguments[name], Origin.ONLY_AFTER))
        elif not is_same(before.arguments[name], after.arguments[name]):
            origin = Origin.DRAWN if is_drawn(name) else Origin.CHANGED
            changes.append(OptionChange(name, before.arguments[name], after.arguments[name], origin))
    return changes


# -- which options follow from which


def _with_origins(changes: list[OptionChange], before: Start, after: Start, predictor: Predictor) -> list[OptionChange]:
    given_before, given_after = predictor.given_in(before), predictor.given_in(after)
    open_changes = [change for change in changes if change.origin is Origin.CHANGED]
    roots = [change for change in open_changes if _is_given(change.field, given_before, given_after)]
    found: dict[str, OptionChange] = {change.field: _as(change, Origin.SET) for change in roots}
    base = predictor.resolve(given_before)
    followers = [change for change in open_changes if change.field not in found]
    for root in roots:
        _follow(followers, (root,), given_before, given_after, base, predictor, found)
    left = [change for change in followers if change.field not in found]
    if left and len(roots) > 1:
        _follow(left, tuple(roots), given_before, given_after, base, predictor, found)
    return [found.get(change.field, change) for change in changes]


def _follow(
    changes: list[OptionChange],
    roots: tuple[OptionChange, ...],
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    base: Resolved,
    predictor: Predictor,
    found: dict[str, OptionChange],
) -> None:
    """Switch these roots to what they are after; a change that comes with them follows from them."""
    names = tuple(root.field for root in roots)
    switched = {name: value for name, value in before.items() if name not in names}
    switched.update({name: after[name] for name in names if name in after})
    resolved = predictor.resolve(switched)
    for change in changes:
        if base.allows(change.field, change.after) or not resolved.allows(change.field, change.after):
            continue
        match = next(item for item in resolved.predicted(change.field) if item.is_known and is_same(item.value, change.after))
        known = found.get(change.field)
        causes = names if known is None else (*known.causes, *names)
        place = match.place or _lost_write(base, change)
        found[change.field] = OptionChange(change.field, change.before, change.after, Origin.FOLLOWS, causes, place, match.when)


def _lost_write(base: Resolved, change: OptionChange) -> tuple[str, int] | None:
    """The write that made the value before, where nothing writes it any more."""
    return next((item.place for item in base.predicted(change.field) if item.is_known and is_same(item.value, change.before)), None)


def _is_given(name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    return (name in before or name in after) and not (name in before and name in after and is_same(before[name], after[name]))


def _as(change: OptionChange, origin: Origin) -> OptionChange:
    return OptionChange(change.field, change.before, change.after, origin, change.causes, change.place, change.when)


# -- figures


def _figure_changes(before: Start, after: Start) -> tuple[FigureChange, ...]:
    changes = []
    for figure in dict.fromkeys(figure.name for figure in (*before.figures, *after.figures)):
        old, new = before.figure(figure), after.figure(figure)
        shown = new or old
        assert shown is not None
        changes.append(FigureChange(shown, None if old is None else old.value, None if new is None else new.value))
    return tuple(changes)


def _explained(change: FigureChange, comparison: Comparison, costs: Costs | None) -> FigureChange:
    if not change.is_noticeable or change.figure.before_options:
        return change
    behind: list[Behind] = []
    changed = [item for item in comparison.options if item.origin is not Origin.DRAWN]
    for option in changed:
        if any(fnmatchcase(option.field, pattern) for pattern in change.figure.bears):
            behind.append(Behind(option.field, "computed"))
    named = {item.field for item in behind}
    if costs is not None and change.figure.kind != "used":
        behind.extend(item for option in comparison.roots if option.field not in named for item in _allocations(option, change, costs))
    if not behind and len(comparison.roots) == 1 and not comparison.other_memory:
        behind.append(Behind(comparison.roots[0].field, "only"))
    return FigureChange(change.figure, change.before, change.after, tuple(behind))


def _allocations(option: OptionChange, change: FigureChange, costs: Costs) -> list[Behind]:
    """What one of an option's values takes and the other does not, where that is the direction of the change."""
    if change.before is None or change.after is None:
        return []
    is_more = change.after > change.before
    value, other = (option.before, option.after) if is_more else (option.after, option.before)
    verdict, effects = costs(option.field, value)
    kept = {(effect.file, effect.line) for effect in costs(option.field, other)[1]}
    return [Behind(option.field, "allocates", effect, verdict) for effect in effects if (effect.file, effect.line) not in kept][
        :ALLOCATIONS
    ]
