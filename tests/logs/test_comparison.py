"""Two starts, and one start against a tree: the story that founded this project."""

from __future__ import annotations

from typing import Any

import pytest

from sm_gatecheck.logs import Start
from sm_gatecheck.logs.comparison import Comparison, Origin, compare
from sm_gatecheck.logs.model import Unread
from sm_gatecheck.logs.prediction import Agreement, Predictor, open_predictor
from sm_gatecheck.logs.values import is_same
from sm_gatecheck.model.verdict import Effect, EffectKind, Phase, Verdict
from sm_gatecheck.trees import open_tree
from sm_gatecheck.verdicts.request import Request
from tests.logs.logs import FIXTURES, fixture, rules, start_of

FUSION = "enable_flashinfer_allreduce_fusion"
GRAPHS = "disable_piecewise_cuda_graph"


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    tree = open_tree(str(FIXTURES / "fusion-story"))
    return open_predictor(tree, Request(sms=(120,), use_cache=False), rules().is_drawn)


@pytest.fixture
def before() -> Start:
    return fixture("with-fusion.log").starts[0]


@pytest.fixture
def after() -> Start:
    return fixture("without-fusion.log").starts[0]


def by_field(comparison: Comparison) -> dict[str, Any]:
    return {change.field: change for change in comparison.options}


def memory_of_fusion(field: str, value: Any) -> tuple[Verdict | None, tuple[Effect, ...]]:
    if (field, value) == (FUSION, True):
        return Verdict.NOOP_WITH_SIDE_EFFECTS, (Effect(EffectKind.ALLOCATES, Phase.STARTUP, "workspace()", "a.py", 3),)
    return None, ()


def test_what_changed(before: Start, after: Start) -> None:
    comparison = compare(before, after, rules().is_drawn)
    assert [(change.field, change.before, change.after, change.origin) for change in comparison.options] == [
        (FUSION, True, False, Origin.CHANGED),
        (GRAPHS, True, False, Origin.CHANGED),
    ]
    changed = {change.figure.name: (change.before, change.after) for change in comparison.figures if change.is_changed}
    assert changed == {"max_running_requests": (26, 48), "max_total_num_tokens": (141056, 259840), "free_at_last": (6.1, 7.9)}
    assert not comparison.is_explained
    assert all(not change.behind for change in comparison.figures)  # two options changed: nobody can tell without the tree


def test_the_tree_says_which_follows_from_which(before: Start, after: Start, predictor: Predictor) -> None:
    comparison = compare(before, after, rules().is_drawn, predictor)
    options = by_field(comparison)
    assert options[FUSION].origin is Origin.SET
    assert (options[GRAPHS].origin, options[GRAPHS].causes) == (Origin.FOLLOWS, (FUSION,))
    assert options[GRAPHS].place is not None
    assert options[GRAPHS].place[0] == "srt/server_args.py"
    behind = {change.figure.name: [(item.field, item.how) for item in change.behind] for change in comparison.figures if change.is_changed}
    assert behind["max_running_requests"] == [(FUSION, "only")]


def test_and_which_takes_the_memory(before: Start, after: Start, predictor: Predictor) -> None:
    comparison = compare(before, after, rules().is_drawn, predictor, memory_of_fusion)
    for change in comparison.figures:
        expected = [(FUSION, "allocates", Verdict.NOOP_WITH_SIDE_EFFECTS)] if change.is_changed else []
        assert [(item.field, item.how, item.verdict) for item in change.behind] == expected


def test_memory_is_no_reason_for_a_change_the_other_way(before: Start, after: Start, predictor: Predictor) -> None:
    less = start_of("\n".join(["[x] server_args=" + repr(dict(after.arguments or {})), "[x] " + READY.format(20)]) + "\n")
    comparison = compare(before, less, rules().is_drawn, predictor, memory_of_fusion)
    (requests,) = (change for change in comparison.figures if change.figure.name == "max_running_requests")
    assert [item.how for item in requests.behind] == ["only"]


READY = "max_total_num_tokens=9, chunked_prefill_size=1, max_prefill_tokens=1, max_running_requests={}, context_len=4"


def test_other_memory_is_told_and_nobody_is_blamed(before: Start) -> None:
    text = (
        f"[x] server_args={dict(before.arguments or {}) | {FUSION: False, GRAPHS: False}!r}\n"
        "[x] Load weight begin. avail mem=80.00 GB\n[x] " + READY.format(20) + "\n"
    )
    comparison = compare(before, start_of(text), rules().is_drawn)
    (other,) = comparison.other_memory
    assert (other.before, other.after) == (93.1, 80.0)
    assert all(item.how != "only" for change in comparison.figures for item in change.behind)


def test_the_option_that_a_figure_is_computed_from_is_behind_it() -> None:
    first = start_of("[x] server_args=ServerArgs(max_running_requests=8, a=1)\n[x] " + READY.format(8))
    second = start_of("[x] server_args=ServerArgs(max_running_requests=16, a=1)\n[x] " + READY.format(16))
    comparison = compare(first, second, rules().is_drawn)
    (change,) = (change for change in comparison.figures if change.is_changed)
    assert [(item.field, item.how) for item in change.behind] == [("max_running_requests", "computed")]


def test_what_is_drawn_is_no_change(before: Start) -> None:
    first = start_of("server_args=ServerArgs(random_seed=1, a=[1, 2], b=0.1)")
    second = start_of("server_args=ServerArgs(random_seed=2, a=(1, 2), b=0.10000000001)")
    comparison = compare(first, second, rules().is_drawn)
    assert [change.origin for change in comparison.options] == [Origin.DRAWN]
    assert comparison.is_same
    assert compare(before, before, rules().is_drawn).is_same


def test_options_of_another_release() -> None:
    comparison = compare(start_of("server_args=ServerArgs(a=1, old=2)"), start_of("server_args=ServerArgs(a=1, new=3)"), rules().is_drawn)
    assert {change.field: change.origin for change in comparison.options} == {"old": Origin.ONLY_BEFORE, "new": Origin.ONLY_AFTER}
    cut = compare(start_of("server_args=ServerArgs(a=1, old=2)"), start_of("server_args=ServerArgs(a=1, o"), rules().is_drawn)
    assert cut.options == ()


# -- against a tree


def rows(predictor: Predictor, text: str, given: dict[str, Any] | None = None) -> dict[str, Any]:
    return {row.field: row for row in predictor.compare(start_of(text), given).rows}


def test_the_launch_is_found_from_the_log(before: Start, predictor: Predictor) -> None:
    prediction = predictor.compare(before)
    assert prediction.given == {"model_path": "/srv/models/chat", "tp_size": 4, FUSION: True, "enable_wide_loads": True}
    assert {row.field: row.agreement for row in prediction.rows} == {
        "model_path": Agreement.GIVEN,
        "tp_size": Agreement.GIVEN,
        "queue_order": Agreement.DECLARED,
        FUSION: Agreement.GIVEN,
        GRAPHS: Agreement.RESOLVED,
        "enable_wide_loads": Agreement.GIVEN,
    }
    assert prediction.differences == ()
    graphs = next(row for row in prediction.rows if row.field == GRAPHS)
    assert graphs.why.startswith("resolution writes it at srt/server_args.py:")


def test_what_differs_is_explained(predictor: Predictor) -> None:
    text = f"server_args=ServerArgs(model_path='m', {FUSION}=True, {GRAPHS}=False, tp_size=2, novel=1)"
    found = rows(predictor, text)
    assert found[GRAPHS].agreement is Agreement.DIFFERS
    assert "this tree makes it True at srt/server_args.py:" in found[GRAPHS].why
    assert found["novel"].agreement is Agreement.NOT_IN_TREE
    assert found["enable_wide_loads"].agreement is Agreement.NOT_LOGGED
    known = rows(predictor, text, {"model_path": "m", FUSION: True})
    assert known["tp_size"].agreement is Agreement.DIFFERS
    assert "the launch must have given it" in known["tp_size"].why
    kept = rows(predictor, text, {"model_path": "m", FUSION: True, "tp_size": 2, GRAPHS: False})
    assert kept[GRAPHS].why.startswith("given as False; this tree makes True at srt/server_args.py:")


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        ((1, 2), [1, 2], True),
        ([1], [1, 2], False),
        ({"a": 1.0000000001}, {"a": 1}, True),
        ({"a": 1}, {"b": 1}, False),
        ({1, 2}, [2, 1], True),
        (frozenset(), [], True),
        ({}, [], True),
        (Unread("torch.float16"), "torch.float16", True),
        (Unread("x"), Unread("y"), False),
        (None, "None", False),
        ("1", 1, False),
        (float("nan"), float("nan"), True),
    ],
)
def test_same_values(a: Any, b: Any, same: bool) -> None:
    assert is_same(a, b) is same
    assert is_same(b, a) is same
