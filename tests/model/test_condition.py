"""Conditions against brute force: every formula is also evaluated for each SM and each answer to its atoms."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sm_gatecheck.model import condition as condition_module
from sm_gatecheck.model.condition import ANY, Atom, Condition, Space

SMS = (80, 90, 120)
FREE = ("p", "q")
BACKENDS = (None, "a", "b")
SIZES = (0, 1, 5, None)


@dataclass(frozen=True)
class Answers:
    """One way the world may be."""

    sm: int
    free: dict[str, bool]
    backend: Any
    size: Any


def worlds() -> Iterator[Answers]:
    for sm, p, q, backend, size in itertools.product(SMS, (False, True), (False, True), BACKENDS, SIZES):
        yield Answers(sm, {"p": p, "q": q}, backend, size)


def holds(condition: Condition, answers: Answers) -> bool:
    """Walk the diagram as its definition says."""
    while condition.atom is not None:
        atom = condition.atom
        if atom.field is None:
            branch: Any = answers.free[atom.text]
        else:
            value = getattr(answers, atom.field)
            branch = (type(value).__name__, value) if atom.test is None else _safely(atom, value)
        assert condition.otherwise is not None
        condition = next((child for given_value, child in condition.children if given_value == branch), condition.otherwise)
    return bool(condition.bits >> SMS.index(answers.sm) & 1)


def _safely(atom: Atom, value: Any) -> bool:
    assert atom.test is not None
    try:
        return bool(atom.test(value))
    except TypeError:
        return False


Formula = Any
LEAVES = st.one_of(
    st.builds(lambda sms: ("sm", tuple(sorted(sms))), st.sets(st.sampled_from(SMS))),
    st.sampled_from([("free", name) for name in FREE]),
    st.builds(lambda values: ("is", tuple(values)), st.lists(st.sampled_from(BACKENDS), min_size=1, max_size=2, unique=True)),
    st.sampled_from([("over", 0), ("over", 2)]),
)
FORMULAS: st.SearchStrategy[Formula] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.tuples(st.just("not"), inner), st.tuples(st.sampled_from(["and", "or"]), inner, inner)),
    max_leaves=8,
)


def build(space: Space, formula: Formula) -> Condition:
    kind = formula[0]
    if kind == "sm":
        return space.where(lambda sm: sm in formula[1])
    if kind == "free":
        return space.free(f"9:{formula[1]}", formula[1])
    if kind == "is":
        return space.option_is("backend", formula[1])
    if kind == "over":
        limit = formula[1]
        return space.option_test("size", f"size > {limit}", lambda value: value > limit)
    if kind == "not":
        return ~build(space, formula[1])
    left, right = build(space, formula[1]), build(space, formula[2])
    return left & right if kind == "and" else left | right


def truth(formula: Formula, answers: Answers) -> bool:
    kind = formula[0]
    if kind == "sm":
        return answers.sm in formula[1]
    if kind == "free":
        return answers.free[formula[1]]
    if kind == "is":
        return answers.backend in formula[1]
    if kind == "over":
        return answers.size is not None and answers.size > formula[1]
    if kind == "not":
        return not truth(formula[1], answers)
    left, right = truth(formula[1], answers), truth(formula[2], answers)
    return (left and right) if kind == "and" else (left or right)


@given(FORMULAS)
def test_a_diagram_answers_like_its_formula(formula: Formula) -> None:
    condition = build(Space(SMS), formula)
    assert all(holds(condition, answers) == truth(formula, answers) for answers in worlds())


@given(FORMULAS, FORMULAS)
def test_formulas_over_answers_of_one_kind_are_equal_only_as_one_object(first: Formula, second: Formula) -> None:
    space = Space(SMS)
    a, b = build(space, first), build(space, second)
    same = all(truth(first, answers) == truth(second, answers) for answers in worlds())
    if a is b:
        assert same
    elif not ({"backend", "size"} & (a.fields() | b.fields())):
        assert not same


@given(FORMULAS)
def test_negation_is_its_own_inverse_and_excludes(formula: Formula) -> None:
    condition = build(Space(SMS), formula)
    assert ~~condition is condition
    assert (condition & ~condition).is_false
    assert (condition | ~condition).is_true


@given(FORMULAS)
def test_exists_and_forall_bound_what_happens_on_each_sm(formula: Formula) -> None:
    condition = build(Space(SMS), formula)
    for index, sm in enumerate(SMS):
        outcomes = {truth(formula, answers) for answers in worlds() if answers.sm == sm}
        if True in outcomes:
            assert condition.exists >> index & 1
        if condition.forall >> index & 1:
            assert outcomes == {True}
        if not condition.fields():
            assert bool(condition.exists >> index & 1) == (True in outcomes)
            assert bool(condition.forall >> index & 1) == (outcomes == {True})


@given(FORMULAS, st.sampled_from([("backend", value) for value in BACKENDS] + [("size", value) for value in SIZES]))
def test_restrict_settles_an_option(formula: Formula, setting: tuple[str, Any]) -> None:
    field, value = setting
    restricted = build(Space(SMS), formula).restrict(field, value)
    assert field not in restricted.fields()
    assert all(holds(restricted, answers) == truth(formula, answers) for answers in worlds() if getattr(answers, field) == value)


@given(FORMULAS)
def test_any_value_leaves_comparisons_open_and_is_none_of_the_named_ones(formula: Formula) -> None:
    condition = build(Space(SMS), formula).restrict("backend", ANY)
    assert "backend" not in condition.fields()
    assert all(holds(condition, answers) == truth(formula, answers) for answers in _with_backend("another"))
    assert condition.restrict("size", ANY).fields() <= {"size"}


def _with_backend(backend: Any) -> Iterator[Answers]:
    for answers in worlds():
        if answers.backend is None:
            yield Answers(answers.sm, answers.free, backend, answers.size)


@given(FORMULAS, st.sets(st.sampled_from(SMS), min_size=1))
def test_on_tells_what_remains_on_some_targets(formula: Formula, sms: set[int]) -> None:
    space = Space(SMS)
    condition = build(space, formula)
    bits = space.where(lambda sm: sm in sms).bits
    remaining = condition.on(bits)
    assert all(node.bits in (0, space.all_bits) for node in remaining.nodes() if node.atom is None)
    if len(sms) == 1:
        assert all(holds(remaining, answers) == truth(formula, answers) for answers in worlds() if answers.sm in sms)


@given(FORMULAS, st.sets(st.sampled_from(FREE)))
def test_forget_holds_where_some_answer_to_the_forgotten_does(formula: Formula, forgotten: set[str]) -> None:
    condition = build(Space(SMS), formula)
    weaker = _forget(condition, forgotten)
    for answers in worlds():
        variants = (
            Answers(answers.sm, {**answers.free, **dict(zip(sorted(forgotten), choice, strict=True))}, answers.backend, answers.size)
            for choice in itertools.product((False, True), repeat=len(forgotten))
        )
        assert holds(weaker, answers) == any(truth(formula, variant) for variant in variants)


def _forget(condition: Condition, names: set[str]) -> Condition:
    return condition.space.forget(condition, lambda atom: atom.text not in names)


@given(FORMULAS)
def test_widening_never_loses_a_possibility_nor_invents_a_certainty(formula: Formula) -> None:
    space = Space(SMS)
    condition = build(space, formula)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(condition_module, "SIZE_LIMIT", 2)
        wide = space.widen(condition)
    assert wide.size <= max(2, condition.size) + 2
    for answers in worlds():
        possible = _possible(wide, answers)
        assert truth(formula, answers) in possible, "an outcome that happens is excluded"
    assert condition.fields_and_taints() <= wide.fields_and_taints() or wide.size <= 2


def _possible(condition: Condition, answers: Answers) -> set[bool]:
    """The outcomes over both answers to atoms that widening made."""
    unknown = [atom.text for atom in condition.atoms() if atom.field is None and atom.text not in answers.free]
    return {
        holds(condition, Answers(answers.sm, {**answers.free, **dict(zip(unknown, choice, strict=True))}, answers.backend, answers.size))
        for choice in itertools.product((False, True), repeat=len(unknown))
    }


def test_one_formula_is_widened_to_one_formula() -> None:
    space = Space(SMS)
    condition = build(space, ("and", ("free", "p"), ("or", ("free", "q"), ("sm", (90,)))))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(condition_module, "SIZE_LIMIT", 1)
        assert space.widen(condition) is space.widen(condition)


def test_digests_do_not_depend_on_what_was_built_before() -> None:
    formula = ("or", ("and", ("free", "p"), ("sm", (90,))), ("is", ("a",)))
    first, second = Space(SMS), Space(SMS)
    build(second, ("and", ("free", "q"), ("is", ("b",))))
    assert build(first, formula).digest == build(second, formula).digest
    assert build(first, formula).digest != build(first, ("is", ("a",))).digest


@pytest.mark.parametrize(("value", "expected"), [(True, False), (1, True), (1.0, False), ("1", False)])
def test_an_option_is_told_from_an_equal_one_of_another_type(value: Any, expected: bool) -> None:
    space = Space(SMS)
    assert space.option_is("size", (1,)).restrict("size", value).is_true is expected


def test_a_list_may_be_the_value_of_an_option() -> None:
    space = Space(SMS)
    condition = space.option_test("size", "len(size) > 1", lambda value: len(value) > 1)
    assert condition.restrict("size", ["a", "b"]).is_true
    assert condition.restrict("size", []).is_false
    assert space.option_is("size", (None,)).restrict("size", ["a"]).is_false


def test_a_test_that_fails_on_a_value_does_not_hold() -> None:
    space = Space(SMS)
    condition = space.option_test("size", "size[0] == 1", lambda value: value[0] == 1)
    for value in (None, 5, ""):
        assert condition.restrict("size", value).is_false


def test_options_and_taints_bear_on_a_condition() -> None:
    space = Space(SMS)
    condition = space.option_is("backend", ("a",)) & space.free("9:x", "x", frozenset({"size"}))
    assert condition.fields() == {"backend"}
    assert condition.fields_and_taints() == {"backend", "size"}
    assert not condition.depends_on_target()
    assert (condition & space.where(lambda sm: sm == 90)).depends_on_target()


def test_the_values_of_an_option_that_a_formula_names() -> None:
    space = Space(SMS)
    named = space.option_is("backend", ("b",)) | (space.option_is("backend", ("a",)) & space.free("p", "p"))
    tested = space.option_test("backend", "len(backend) > 3", lambda value: len(value) > 3)
    assert (named & tested).values_of("backend") == ("a", "b")
    assert named.values_of("size") == ()
