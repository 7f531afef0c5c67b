from typing import Any

import pytest

from tests.truth import files
from tests.truth.answers import inventory, option, perfect_context, raises, row, sets
from tests.truth.inventory import Inventory
from tests.truth.resolution_score import Outcome, abridged, answer_of, fault_between, is_same_resolved, runs_of, score
from tests.truth.score import Score

CONTEXT = "m|tp1"


def truth_of(recorded: Any, **more: Any) -> dict[str, Any]:
    """A release in which ``x=True`` came out as ``recorded`` on SM90."""
    return {
        "defaults": {"x": False, "page": 1, "mem_fraction_static": None},
        "baseline": {CONTEXT: {"9.0": {"fields": {"page": 64, "tp_size": 1}}}},
        "runs": {CONTEXT: {"effects": {"x=True": {"9.0": recorded}}, "no_effect_on_any_sm": []}},
        **more,
    }


def answered(recorded: Any, *effects: Any, verdict: str = "active") -> tuple[Score, ...]:
    found = inventory(
        option("x", [row(90, True, verdict, *effects)], default=False),
        option("page", default=1, defaults={90: [64]}),
        option("mem_fraction_static"),
    )
    return score({CONTEXT: found}, truth_of(recorded))


def agrees(recorded: Any, *effects: Any, verdict: str = "active") -> bool:
    happened, nothing, *_ = answered(recorded, *effects, verdict=verdict)
    assert happened.total + nothing.total == 1
    return happened.agree + nothing.agree == 1


@pytest.mark.parametrize("release", files.resolution_releases())
def test_answers_taken_from_the_oracle_agree_with_it(release: str) -> None:
    truth = files.resolution(release)
    contexts = list(truth["runs"])[2:4]
    for figure in score({context: perfect_context(truth, context) for context in contexts}, truth):
        assert figure.total > 0, figure.name
        assert figure.percent == 100.0, figure.disagreements[:3]


def test_an_inventory_without_rows_or_defaults_is_behind_everywhere_but_where_nothing_happens() -> None:
    truth = files.resolution("0.5.12")
    context = "deepseek_v32|tp4"
    values: dict[str, list[str]] = {}
    for run in runs_of(truth, context):
        values.setdefault(run.name, []).append(run.value)
    empty = inventory(*(option(name, default=value, choices=values.get(name)) for name, value in truth["defaults"].items()))
    happened, nothing, memory, _, changed, memory_defaults = score({context: empty}, truth)
    assert happened.agree == memory.agree == changed.agree == memory_defaults.agree == 0
    assert nothing.percent == 100.0


def test_every_run_is_counted_on_every_sm() -> None:
    truth = files.resolution("0.5.12")
    runs = list(runs_of(truth, "llama|tp1"))
    table = truth["runs"]["llama|tp1"]
    assert len(runs) == 7 * (len(table["effects"]) + len(table["no_effect_on_any_sm"]) - len(truth["left_out"]))
    assert len({str(run) for run in runs}) == len(runs)


def test_left_out_runs_are_not_compared() -> None:
    truth = truth_of("same", left_out=[{"option": "x", "value": "True"}])
    assert list(runs_of(truth, CONTEXT)) == []
    assert any(item["option"].startswith("remote") for item in files.resolution("0.5.9")["left_out"])
    assert not any(item["option"].startswith("remote") for item in files.resolution("0.5.12")["left_out"])


def test_nothing_happened() -> None:
    assert agrees("same")
    assert agrees({"warn": 1})
    assert not agrees("same", sets("page", 1))
    assert not agrees("same", raises("a.py:3"))
    assert agrees("same", sets("page", 1, when="nnodes > 1"))
    assert agrees("same", raises("a.py:3", phase="startup"))
    assert agrees("same", sets("x", True))


def test_refused_and_where() -> None:
    refused = {"rejected": "ValueError", "at": "a.py:30"}
    assert agrees(refused, raises("a.py:30"))
    assert agrees(refused, raises("a.py:27"))
    assert not agrees(refused, raises("a.py:26"))
    assert not agrees(refused, raises("a.py:31"))
    assert not agrees(refused, raises("b.py:30"))
    assert not agrees(refused, raises("a.py:30", when="nnodes > 1"))
    assert not agrees(refused, raises("a.py:30", phase="startup"))
    assert not agrees(refused, raises("a.py:30"), raises("a.py:90"))
    assert agrees(refused, raises("a.py:30"), sets("page", 1))
    assert not agrees(refused)


def test_refused_by_the_later_check() -> None:
    later = {"check_server_args": "ValueError", "side": {"page": [64, 1]}}
    assert agrees(later, raises("a.py:1", phase="startup"), sets("page", 1))
    assert agrees(later, raises("a.py:1"), sets("page", 1))
    assert not agrees(later, raises("a.py:1", phase="startup"))
    assert not agrees(later, sets("page", 1))


def test_replaced() -> None:
    replaced = {"self_overwritten_to": False}
    assert agrees(replaced, sets("x", False))
    assert agrees(replaced, verdict="overridden")
    assert not agrees(replaced)
    assert not agrees(replaced, sets("x", True))
    assert not agrees("same", sets("x", False))


def test_the_set_of_changed_options_and_variables() -> None:
    side = {"side": {"page": [64, 1], "env:V": [None, "1"]}}
    assert agrees(side, sets("page", 1), sets("env:V", "1"))
    assert agrees(side, sets("page", 1), {**sets("env:V", "1"), "option": None, "what": "V"})
    assert not agrees(side, sets("page", 1))
    assert not agrees(side, sets("page", 1), sets("env:V", "1"), sets("other", 1))
    happened, *_ = answered(side, sets("page", 1), sets("other", 1))
    assert happened.disagreements[0].fault == "misses the change of env:V; tells of a change that is none of other"
    assert happened.disagreements[0].where == "m|tp1 x=True@SM90"


def test_memory_derived_fields_are_scored_apart() -> None:
    side = {"side": {"mem_fraction_static": [0.8, 0.7]}}
    for effects, agree in (((sets("mem_fraction_static", 0.7),), 1), ((), 0)):
        happened, nothing, memory, *_ = answered(side, *effects)
        assert happened.total == 0
        assert (nothing.agree, nothing.total) == (1, 1)
        assert (memory.agree, memory.total) == (agree, 1)


def test_a_value_that_is_not_judged_is_no_agreement() -> None:
    def answer(**about: Any) -> Outcome | None:
        return answer_of(inventory(option("x", **about)), "x", "a", 90)

    assert answer(choices=["a", "b"]) == Outcome()
    assert answer(choices=["b"]) is None
    assert answer() is None
    assert answer_of(inventory(option("x")), "x", "True", 90) == Outcome()
    assert answer_of(inventory(), "x", "True", 90) is None
    found = inventory(option("x", [row(90, "*", "active", sets("page", 1))]))
    assert answer_of(found, "x", "a", 90) is None
    happened, nothing, *_ = score({CONTEXT: inventory(option("page"))}, truth_of({"side": {"page": [64, 1]}}))
    assert [item.fault for item in happened.disagreements] == ["not answered"]
    assert nothing.total == 0


def default_faults(found: Inventory) -> list[str]:
    _, _, _, everything, changed, memory = score({CONTEXT: found}, truth_of("same"))
    assert everything.disagreements == changed.disagreements
    return [item.fault for item in (*changed.disagreements, *memory.disagreements)]


@pytest.mark.parametrize(
    ("page", "fault"),
    [
        ({"defaults": {90: [64]}}, None),
        ({"default": 1}, "page: says as declared where it becomes 64"),
        ({"defaults": {90: [32]}}, "page: says 32 where it becomes 64"),
        ({"defaults": {90: [64, 1]}}, "page: undecided where it becomes 64"),
    ],
)
def test_defaults_that_resolution_changes(page: dict[str, Any], fault: str | None) -> None:
    assert default_faults(inventory(option("x", default=False), option("page", **page))) == ([fault] if fault else [])


def test_defaults_that_stay_as_declared() -> None:
    page = option("page", defaults={90: [64]})
    assert default_faults(inventory(option("x", default=False, defaults={90: [True]}), page)) == [
        "x: says changed where it stays as declared"
    ]
    assert default_faults(inventory(option("x", default=False, defaults={90: [True, False]}), page)) == [
        "x: undecided where it stays as declared"
    ]
    assert default_faults(inventory(option("x", default=False, defaults={90: [False]}), page)) == []
    assert default_faults(inventory(page)) == []
    assert default_faults(inventory(page, option("mem_fraction_static", defaults={90: [0.5]}))) == [
        "mem_fraction_static: says changed where it stays as declared"
    ]


def test_resolved_values() -> None:
    assert is_same_resolved("[n=512 1..512 #cf8c2e]", list(range(1, 513)))
    assert not is_same_resolved("[n=512 1..512 #cf8c2e]", [*range(1, 512), 513])
    assert abridged([]) == "[]"
    assert is_same_resolved(0.6961499999999999, 0.69615)
    assert not is_same_resolved(0.835, 0.836)
    assert not is_same_resolved(1, True)
    assert is_same_resolved([1, 2], [1, 2])


def test_the_first_difference_names_the_fault() -> None:
    assert fault_between(Outcome(), Outcome()) is None
    assert fault_between(Outcome(is_overridden=True), Outcome(changed=frozenset({"y"}))) == "says kept where replaced"
    assert fault_between(Outcome(), Outcome(refused=frozenset({"a:1"}))) == "says refused where accepted: a:1"
