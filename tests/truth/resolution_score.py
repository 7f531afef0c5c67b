"""Resolution as it ran: inventories of one release, one a context, against the release's own resolution under a faked GPU.

A context is a model and a tensor-parallel size. In each, every option was set alone, on seven SMs, and what came of it was
written down: refused and where, replaced, which other options and environment variables then differ from the
context's baseline. One inventory a context answers for all of them (README.md tells how the JSON is read).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from tests.truth.expectation import replaces
from tests.truth.inventory import Inventory, same_value, spelling
from tests.truth.score import Disagreement, Score, tally

HAPPENED_TARGET = 92.0
NOTHING_TARGET = 98.0
DEFAULTS_TARGET = 97.0
MEMORY_TARGET = 85.0
STATEMENT_LINES = 3
"""A traceback names a line inside a multi-line ``assert``; the report names the line where the statement begins."""

MEMORY_FIELDS = (
    "mem_fraction_static",
    "chunked_prefill_size",
    "max_prefill_tokens",
    "cuda_graph_bs*",
    "cuda_graph_max_bs*",
    "cuda_graph_config.*.bs",
    "cuda_graph_config.*.max_bs",
    "piecewise_cuda_graph_max_tokens",
    "piecewise_cuda_graph_tokens",
)
"""Fields computed from memory size: static share, graph batch sizes, chunk sizes. Scored apart."""


@dataclass(frozen=True)
class Outcome:
    """What setting one option does. ``refused`` is None, or the places (``file:line``) where resolution raises, empty
    where only that it raises is known; ``refused_later`` by the check after resolution."""

    refused: frozenset[str] | None = None
    refused_later: bool = False
    is_overridden: bool = False
    changed: frozenset[str] = frozenset()
    changed_by_memory: frozenset[str] = frozenset()

    @property
    def is_nothing(self) -> bool:
        return self.refused is None and not self.refused_later and not self.is_overridden and not self.changed


@dataclass(frozen=True)
class Run:
    """One option set to one value in one context on one SM, and what came of it."""

    context: str
    name: str
    value: str
    sm: int
    outcome: Outcome

    def __str__(self) -> str:
        return f"{self.context} {self.name}={self.value}@SM{self.sm}"


def score(inventories: Mapping[str, Inventory], truth: Mapping[str, Any]) -> tuple[Score, ...]:
    """Six figures over the contexts in ``inventories`` (``"llama|tp4"`` → JSON).

    Runs in which something happened agree in full, or do not; runs in which nothing did; memory-derived fields changed
    by runs; the default resolution over all declared fields, over those alone that differ from their declaration for
    either side (the harder figure), and over the memory-derived.
    """
    happened: list[Disagreement] = []
    nothing: list[Disagreement] = []
    by_memory: list[Disagreement] = []
    counts = {"happened": 0, "nothing": 0, "memory": 0}
    for context, inventory in inventories.items():
        for run in runs_of(truth, context):
            answer = answer_of(inventory, run.name, run.value, run.sm)
            if run.outcome.is_nothing:
                counts["nothing"] += 1
                nothing.extend(_disagreement(run, answer))
            else:
                counts["happened"] += 1
                happened.extend(_disagreement(run, answer))
            if run.outcome.refused is None and run.outcome.changed_by_memory:
                counts["memory"] += 1
                by_memory.extend(_memory_disagreement(run, answer))
    return (
        tally("runs in which something happened", counts["happened"], happened, HAPPENED_TARGET),
        tally("runs in which nothing happened", counts["nothing"], nothing, NOTHING_TARGET),
        tally("runs that change memory-derived fields", counts["memory"], by_memory, MEMORY_TARGET),
        *_default_scores(inventories, truth),
    )


def target_of(sm: str) -> int:
    """``"12.0"`` → 120."""
    major, minor = sm.split(".")
    return int(major) * 10 + int(minor)


def is_memory_derived(name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in MEMORY_FIELDS)


# The truth's side


def runs_of(truth: Mapping[str, Any], context: str) -> Iterator[Run]:
    """Every run of a context that is not left out, on every SM."""
    left_out = {(item["option"], item["value"]) for item in truth.get("left_out", ())}
    sms = tuple(truth["baseline"][context])
    runs = truth["runs"][context]
    untouched: dict[str, Mapping[str, Any]] = {key: {"*": "same"} for key in runs["no_effect_on_any_sm"]}
    for key, effects in {**runs["effects"], **untouched}.items():
        name, _, value = key.partition("=")
        if (name, value) in left_out:
            continue
        for sm in sms:
            recorded = effects.get(sm, effects.get("*", "same"))
            yield Run(context, name, value, target_of(sm), _recorded_outcome(recorded))


def _recorded_outcome(recorded: Any) -> Outcome:
    if recorded == "same":
        return Outcome()
    if "rejected" in recorded:
        return Outcome(refused=frozenset({recorded["at"]}))
    side = recorded.get("side", {})
    return Outcome(
        refused_later="check_server_args" in recorded,
        is_overridden="self_overwritten_to" in recorded,
        changed=frozenset(name for name in side if not is_memory_derived(name)),
        changed_by_memory=frozenset(name for name in side if is_memory_derived(name)),
    )


# The report's side


def answer_of(inventory: Inventory, name: str, value: str, sm: int) -> Outcome | None:
    """What the JSON says of a setting; None where it does not answer for it.

    Only effects without a remaining condition count, and only those of resolution (of start-up too for refusals, since
    the check after resolution may be told as either). A row that the JSON lacks is ``ungated`` and does nothing, but
    only where the option would be judged at that value: one of its choices, or a boolean.
    """
    option = inventory.options.get(name)
    if option is None:
        return None
    row = next((row for row in inventory.rows(name, sm) if same_value(value, row["value"])), None)
    if row is None:
        return Outcome() if _would_be_judged(option, value) else None
    certain = [effect for effect in row["effects"] if effect["when"] is None]
    refusals = frozenset(_place(effect) for effect in certain if effect["kind"] == "raises" and effect["phase"] == "resolution")
    written = [effect for effect in certain if effect["phase"] == "resolution" and effect["kind"] in ("sets_option", "sets_env")]
    names = {_written_name(effect) for effect in written} - {name}
    return Outcome(
        refused=refusals or None,
        refused_later=any(effect["kind"] == "raises" and effect["phase"] == "startup" for effect in certain),
        is_overridden=row["verdict"] == "overridden" or any(replaces(effect, name, value) for effect in written),
        changed=frozenset(item for item in names if not is_memory_derived(item)),
        changed_by_memory=frozenset(item for item in names if is_memory_derived(item)),
    )


def _would_be_judged(option: Mapping[str, Any], value: str) -> bool:
    if option["choices"] is not None:
        return any(same_value(value, choice) for choice in option["choices"]) or same_value(value, option["default"])
    return spelling(value) in ("true", "false")


def _place(effect: Mapping[str, Any]) -> str:
    return f"{effect['file']}:{effect['line']}"


def _written_name(effect: Mapping[str, Any]) -> str:
    name = str(effect["option"] or effect["what"])
    return f"env:{name}" if effect["kind"] == "sets_env" and not name.startswith("env:") else name


# Comparing


def _disagreement(run: Run, answer: Outcome | None) -> Iterator[Disagreement]:
    fault = "not answered" if answer is None else fault_between(run.outcome, answer)
    if fault is not None:
        yield Disagreement(fault, str(run))


def fault_between(truth: Outcome, answer: Outcome) -> str | None:
    """None where they agree in full; else the first of refusal, replacement, changed options in which they differ."""
    if truth.refused is not None:
        if answer.refused is None:
            return "says accepted where refused"
        if not all(_is_same_place(place, said) for place in truth.refused for said in answer.refused):
            return f"refused at another place than {', '.join(sorted(truth.refused))}: {', '.join(sorted(answer.refused))}"
        return None
    if truth.refused_later:
        if answer.refused is None and not answer.refused_later:
            return "says accepted where the later check refuses"
    elif answer.refused is not None:
        return f"says refused where accepted: {', '.join(sorted(answer.refused))}"
    if truth.is_overridden != answer.is_overridden:
        return "says kept where replaced" if truth.is_overridden else "says replaced where kept"
    if truth.changed != answer.changed:
        return _set_fault(truth.changed, answer.changed)
    return None


def _memory_disagreement(run: Run, answer: Outcome | None) -> Iterator[Disagreement]:
    if answer is None:
        yield Disagreement("not answered", str(run))
    elif answer.changed_by_memory != run.outcome.changed_by_memory:
        yield Disagreement(_set_fault(run.outcome.changed_by_memory, answer.changed_by_memory), str(run))


def _set_fault(truth: frozenset[str], answer: frozenset[str]) -> str:
    parts = []
    if truth - answer:
        parts.append(f"misses the change of {', '.join(sorted(truth - answer))}")
    if answer - truth:
        parts.append(f"tells of a change that is none of {', '.join(sorted(answer - truth))}")
    return "; ".join(parts)


def _is_same_place(truth: str, said: str) -> bool:
    file, _, line = truth.rpartition(":")
    said_file, _, said_line = said.rpartition(":")
    return file == said_file and 0 <= int(line) - int(said_line) <= STATEMENT_LINES


# Defaults


def _default_scores(inventories: Mapping[str, Inventory], truth: Mapping[str, Any]) -> tuple[Score, ...]:
    changed: list[Disagreement] = []
    memory: list[Disagreement] = []
    counts = {"all": 0, "changed": 0, "memory": 0}
    for context, inventory in inventories.items():
        for sm_text, baseline in truth["baseline"][context].items():
            sm = target_of(sm_text)
            resolved = {name: value for name, value in baseline["fields"].items() if not name.startswith("env:")}
            resolved.pop("tp_size", None)
            for name in dict.fromkeys((*truth["defaults"], *resolved)):
                if name == "tp_size" or any(known.startswith(f"{name}.") for known in resolved) or name in truth.get("left_out_fields", ()):
                    continue
                where = f"{context} {name}@SM{sm}"
                fault = _default_fault(inventory, name, sm, name in resolved, resolved.get(name))
                is_changed = name in resolved or (fault is not None)
                if is_memory_derived(name):
                    if is_changed:
                        counts["memory"] += 1
                        memory.extend([Disagreement(fault, where)] if fault else [])
                    continue
                counts["all"] += 1
                if is_changed:
                    counts["changed"] += 1
                    changed.extend([Disagreement(fault, where)] if fault else [])
    return (
        tally("defaults, all fields", counts["all"], changed, DEFAULTS_TARGET),
        tally("defaults, fields that resolution changes", counts["changed"], changed, DEFAULTS_TARGET),
        tally("defaults, memory-derived fields", counts["memory"], memory, MEMORY_TARGET),
    )


def _default_fault(inventory: Inventory, name: str, sm: int, is_resolved: bool, value: Any) -> str | None:
    """What is wrong with the default told for a field; ``is_resolved``: resolution makes ``value`` of it."""
    default = inventory.default(name, sm)
    short = name.rsplit(".", 1)[-1]
    if default is None:
        return f"no such option: {name}" if is_resolved else None
    if not is_resolved:
        if default.is_declared or any(is_same_resolved(item, inventory.options[name]["default"]) for item in default.values):
            return None if default.is_decided else f"{short}: undecided where it stays as declared"
        return f"{short}: says changed where it stays as declared"
    if default.is_declared and not is_same_resolved(value, default.values[0]):
        return f"{short}: says as declared where it becomes {value}"
    if not default.is_decided:
        return f"{short}: undecided where it becomes {value}"
    return None if is_same_resolved(value, default.values[0]) else f"{short}: says {default.values[0]} where it becomes {value}"


def is_same_resolved(truth: Any, said: Any) -> bool:
    """Equal, floats to a millionth; a long list stands in the truth as ``[n=52 1..512 #hash]``."""
    if isinstance(truth, str) and truth.startswith("[n=") and isinstance(said, list):
        return truth == abridged(said)
    if isinstance(truth, bool) or isinstance(said, bool):
        return truth is said
    if isinstance(truth, (int, float)) and isinstance(said, (int, float)):
        return math.isclose(truth, said, rel_tol=1e-6)
    return bool(truth == said)


def abridged(values: list[Any]) -> str:
    """How the truth writes a long list."""
    digest = hashlib.md5(str(values).encode(), usedforsecurity=False).hexdigest()[:6]
    return f"[n={len(values)} {values[0]}..{values[-1]} #{digest}]" if values else "[]"
