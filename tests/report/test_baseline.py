from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sm_gatecheck.report.baseline import Accepted, BaselineError, applied, read, render
from tests.report.golden import assert_golden
from tests.report.samples import sample


def test_golden() -> None:
    assert_golden("baseline.json", render(sample((100, 120)).findings))


def test_what_was_written_accepts_what_it_was_written_for() -> None:
    result = applied(sample().findings, read(render(sample().findings)), sample().sms)
    assert (result.new, result.stale) == ((), ())
    assert result.accepted == len(sample().findings)


def test_new_findings_and_stale_entries_are_told_apart() -> None:
    result = applied(sample((90, 120)).findings, read(render(sample((120, 121)).findings)), (90, 120, 121))
    assert {finding.sm for finding in result.new} == {90}
    assert result.accepted == len(sample((120,)).findings)
    assert len(result.stale) == len(sample((121,)).findings)
    assert "GC102 enable_fused_reduce=True on SM121" in [entry.wording for entry in result.stale]


def test_what_it_says_of_other_sms_is_not_stale() -> None:
    assert applied(sample((90,)).findings, read(render(sample((120, 121)).findings)), (90, 121)).stale == tuple(
        entry for entry in read(render(sample((121,)).findings))
    )


def test_reasons_are_kept_for_what_is_still_there() -> None:
    first = render(sample((100, 120)).findings)
    explained = first.replace('"reason": ""', '"reason": "seen by the team"')
    again = render(sample((120, 121)).findings, read(explained))
    reasons = {entry.sm: entry.reason for entry in read(again)}
    assert reasons == {120: "seen by the team", 121: ""}


def test_the_order_of_findings_does_not_matter() -> None:
    assert render(reversed(sample().findings)) == render(sample().findings)


def test_nothing_accepted() -> None:
    assert read(render(())) == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[]", "no list of findings"),
        ('{"baseline_version": "1"}', "no list of findings"),
        ('{"baseline_version": "2", "findings": []}', "version is '2'"),
        ('{"baseline_version": "1", "findings": [{"fingerprint": "a"}, {}]}', "entry 2 "),
        ('{"baseline_version": "1", "findings": [3]}', "entry 1 "),
    ],
)
def test_what_is_no_baseline(text: str, said: str) -> None:
    with pytest.raises(BaselineError, match=said):
        read(text)


def test_it_is_one_finding_a_line() -> None:
    text = render(sample().findings)
    assert sum('"fingerprint"' in line for line in text.splitlines()) == len(json.loads(text)["findings"])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["baseline_version", "findings", "fingerprint", "sm", "x"]), inner)
    ),
    max_leaves=12,
)


@given(
    JSON.map(json.dumps) | st.text(max_size=50) | st.lists(JSON).map(lambda rows: json.dumps({"baseline_version": "1", "findings": rows}))
)
def test_any_text_is_read_or_refused(text: str) -> None:
    accepted: tuple[Accepted, ...] = ()
    with suppress(BaselineError):
        accepted = read(text)
    result = applied(sample().findings, accepted, (90, 120))
    assert len(result.new) + result.accepted == len(sample().findings)
    assert all(entry.wording for entry in result.stale if entry.fingerprint)
