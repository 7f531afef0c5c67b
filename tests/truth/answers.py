"""gatecheck's JSON made by hand: what the scorers' own tests are fed with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tests.truth.inventory import Inventory
from tests.truth.resolution_score import runs_of, target_of

Row = dict[str, Any]


def row(sm: int, value: Any, verdict: str, *effects: Mapping[str, Any], evidence: Iterable[str] = ()) -> Row:
    """A verdict entry; ``evidence`` names files."""
    return {
        "sm": sm,
        "value": value,
        "verdict": verdict,
        "effects": list(effects),
        "evidence": [{"role": "gate", "file": file, "line": 1} for file in evidence],
    }


def raises(place: str, *, phase: str = "resolution", when: str | None = None) -> Row:
    file, _, line = place.rpartition(":")
    return _effect("raises", phase, file=file, line=int(line), when=when)


def sets(option: str, value: Any, *, when: str | None = None) -> Row:
    kind = "sets_env" if option.startswith("env:") else "sets_option"
    return _effect(kind, "resolution", option=option, value=value, when=when)


def _effect(kind: str, phase: str, **rest: Any) -> Row:
    return {"kind": kind, "phase": phase, "what": "", "option": None, "value": None, "when": None, "file": "f.py", "line": 1, **rest}


def option(
    field: str,
    rows: Iterable[Row] = (),
    *,
    default: Any = None,
    choices: list[Any] | None = None,
    defaults: Mapping[int, list[Any]] | None = None,
) -> Row:
    """An option entry; ``defaults`` lists the values that it may become, by SM."""
    entries = [{"sm": sm, "values": [{"value": value, "when": None} for value in values]} for sm, values in (defaults or {}).items()]
    return {"field": field, "default": default, "choices": choices, "verdicts": list(rows), "defaults": entries}


def inventory(*options: Row) -> Inventory:
    return Inventory({"options": list(options)})


def perfect_context(truth: Mapping[str, Any], context: str) -> Inventory:
    """The inventory that answers every run and default of a context as the truth has it."""
    rows: dict[str, list[Row]] = {name: [] for name in truth["defaults"]}
    for run in runs_of(truth, context):
        outcome = run.outcome
        effects = [raises(place) for place in outcome.refused or ()]
        if outcome.refused_later:
            effects.append(raises("later.py:1", phase="startup"))
        if outcome.is_overridden:
            effects.append(sets(run.name, "another"))
        effects.extend(sets(name, "new") for name in sorted(outcome.changed | outcome.changed_by_memory))
        rows[run.name].append(row(run.sm, run.value, "active", *effects))
    resolved: dict[str, dict[int, list[Any]]] = {}
    for sm, baseline in truth["baseline"][context].items():
        for name, value in baseline["fields"].items():
            resolved.setdefault(name, {})[target_of(sm)] = [value]
    names = dict.fromkeys((*rows, *resolved))
    return inventory(
        *(option(name, rows.get(name, ()), default=truth["defaults"].get(name), defaults=resolved.get(name)) for name in names)
    )
