"""Property: the evaluator gives every value that Python gives."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sm_gatecheck.evaluate.literals import plain
from tests.evaluate.literals.evaluation import literal

LEAVES = st.sampled_from(["0", "1", "-2", "7", "0.5", "True", "None", "'a'", "'bc'", "''", "NAMES", "WIDTHS", "EMPTY", "n"])
BINARY = st.sampled_from(["+", "-", "*", "//", "%", "<<", "&", "|", "and", "or", "==", "!=", "<", ">=", "in", "not in"])
UNARY = st.sampled_from(
    ["-({})", "not ({})", "~({})", "[{}]", "({},)", "len({})", "list({})", "str({})", "sorted({})", "bool({})", "'{{}}!'.format({})"]
)
MIXED = st.sampled_from(
    ["({0}) if ({1}) else ({2})", "[{0}, {1}, {2}]", "[({0}) for n in ({1}) if ({2})]", "({0})[({1}):({2})]", "{{{0}: {1}, 'k': {2}}}"]
)
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, BINARY, inner).map(lambda parts: f"({parts[0]}) {parts[1]} ({parts[2]})"),
        st.tuples(UNARY, inner).map(lambda parts: parts[0].format(parts[1])),
        st.tuples(MIXED, inner, inner, inner).map(lambda parts: parts[0].format(*parts[1:])),
    ),
    max_leaves=8,
)
pytestmark = pytest.mark.filterwarnings("ignore::SyntaxWarning")
HEAD = "NAMES = ['a', 'b', 'a']\nWIDTHS = {'a': 1, 'c': 3}\nEMPTY = ()\nn = 5\n"


@settings(max_examples=400, deadline=None)
@given(EXPRESSIONS)
def test_what_python_computes_is_given(expression: str) -> None:
    names: dict[str, Any] = {}
    exec(HEAD, names)
    try:
        expected = plain(eval(expression, names))
    except Exception:
        return  # what fails in Python never gets as far as being read
    assert repr(literal(expression, HEAD)) == repr(expected)
