"""The text is that of the standard library, byte for byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sm_gatecheck.report.indented import dumps

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
documents = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text(), inner), max_leaves=30
)


@given(documents)
def test_any_document(document: Any) -> None:
    assert dumps(document) == json.dumps(document, indent=2)


@given(documents)
def test_a_part_in_several_places_and_depths(part: Any) -> None:
    document = {"a": [part, part, {"b": part}], "c": part}
    assert dumps(document) == json.dumps(document, indent=2)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("nan")], {"a": [-float("inf")]}])
def test_what_json_lacks_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        dumps(value)
