"""Documents: what goes in comes out with the same types, and nothing else ever comes out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sm_gatecheck.cache.encoding import CannotEncode, Codec
from sm_gatecheck.model import option, report, verdict
from sm_gatecheck.model.option import Option
from sm_gatecheck.model.report import Assumptions, Diagnostic, Report, Source, Statistics
from sm_gatecheck.model.verdict import Effect, EffectKind, Judgement, OptionReport, Phase, Verdict

CODEC = Codec((option, report, verdict))

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
plain = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple) | st.dictionaries(st.text() | st.integers(), inner, max_size=3)
    ),
    max_leaves=8,
)
effects = st.builds(
    Effect,
    st.sampled_from(EffectKind),
    st.sampled_from(Phase),
    st.text(),
    st.text(),
    st.integers(0, 99),
    value=plain,
    when=st.none() | st.text(),
)
judgements = st.builds(
    Judgement, st.sampled_from((90, 120)), plain, st.sampled_from(Verdict), st.text(), effects=st.lists(effects, max_size=3).map(tuple)
)


@given(st.lists(judgements, max_size=4), plain)
def test_everything_comes_back_with_its_type(judged: list[Judgement], default: Any) -> None:
    whole = Report(
        Source("there", "wheel", "0.5.12"),
        Assumptions(settings={"a": default}),
        (90, 120),
        (OptionReport(Option("a", default=default), tuple(judged)),),
    )
    assert repr(CODEC.decode(CODEC.encode(whole))) == repr(whole)


def test_equal_numbers_of_other_types_stay_apart() -> None:
    whole = Report(Source("t", "git", None), Assumptions(), (), tuple(OptionReport(Option("a", default=value)) for value in (1, True, 1.0)))
    assert [type(each.option.default) for each in CODEC.decode(CODEC.encode(whole)).options] == [int, bool, float]


def test_equal_parts_are_written_once() -> None:
    one = CODEC.encode(Report(Source("t", "git", None), Assumptions(), (), (OptionReport(Option("a" * 1000)),)))
    ten = CODEC.encode(Report(Source("t", "git", None), Assumptions(), (), tuple(OptionReport(Option("a" * 1000)) for _ in range(10))))
    assert len(ten) - len(one) < 1000


@pytest.mark.parametrize("value", [object(), {1, 2}, b"bytes", lambda: None])
def test_what_is_no_data_is_refused(value: Any) -> None:
    with pytest.raises(CannotEncode):
        CODEC.encode(Option("a", default=value))


def test_a_class_of_another_module_is_refused() -> None:
    with pytest.raises(CannotEncode):
        Codec((option,)).encode(Option("a", default=Statistics()))


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"[]",
        b"\xff",
        b'{"classes": [], "rows": []}',
        b'{"classes": ["Popen"], "rows": [[0, "true"]]}',
        b'{"classes": ["os.system"], "rows": [[0, "true"]]}',
        b'{"classes": ["Option"], "rows": [[0]]}',
        b'{"classes": ["Option"], "rows": [[1, "a"]]}',
        b'{"classes": ["Diagnostic"], "rows": [[0, [0, 5], 1, "m"]]}',
        b'{"classes": ["Verdict"], "rows": [[0, "no such verdict"]]}',
        b'{"classes": ["Diagnostic"], "rows": [[0, [9, 1], 1, "m"]]}',
        b"[" * 100_000,
    ],
)
def test_a_document_of_another_make_is_refused(document: bytes) -> None:
    with pytest.raises(ValueError, match="no document of these classes"):
        CODEC.decode(document)


def test_documents_are_json() -> None:
    written = json.loads(CODEC.encode(Diagnostic("f", 1, "m")))
    assert written == {"classes": ["Diagnostic"], "rows": [[0, "f", 1, "m"]]}
