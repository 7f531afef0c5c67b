from __future__ import annotations

from dataclasses import replace

import pytest

from sm_gatecheck.checks.cards import load_cards
from sm_gatecheck.model.report import Report
from sm_gatecheck.report.grouping import Group, distinct, grouped, merged, message_template
from sm_gatecheck.rulebook import Rulebook
from tests.report.samples import sample


def group_of(report: Report, field: str) -> Group:
    return next(group for group in grouped(report) if group.field == field)


def test_one_message_for_many_sms_is_one_entry() -> None:
    group = group_of(sample(), "enable_wide_loads")
    assert [(entry.sms, entry.message) for entry in group.entries] == [((100, 120, 121), "SM100, SM120 and SM121 always loads narrow.")]


def test_values_with_different_proofs_are_different_entries() -> None:
    group = group_of(sample(), "attention_backend")
    assert [entry.values for entry in group.entries] == [("paged_mha",), ("ragged_mha",), ("paged_mla",)]
    assert all(entry.sms == (90, 120, 121) for entry in group.entries)


def test_values_with_the_same_proof_are_one_entry_that_names_them_all() -> None:
    report = sample((120,))
    option = report.options[0]
    same = option.judgements[1].evidence
    judgements = tuple(replace(judgement, evidence=same) for judgement in option.judgements)
    merged = replace(report, options=(replace(option, judgements=judgements), *report.options[1:]))
    first, *others = group_of(merged, "attention_backend").entries
    assert first.values == ("paged_mha", "ragged_mha")
    assert first.message == "paged_mha or ragged_mha is refused on SM120: it asks for SM100."
    assert [entry.values for entry in others] == [("paged_mla",)], "its refusal comes later and under a condition"


def test_entries_of_which_the_same_is_shown_are_merged_and_others_are_not() -> None:
    entries = group_of(sample((120,)), "attention_backend").entries
    together = merged(entries, lambda entry: entry.always)
    assert [entry.values for entry in together] == [("paged_mha", "ragged_mha"), ("paged_mla",)]
    assert together[0].message == "paged_mha or ragged_mha is refused on SM120: it asks for SM100."
    assert merged(entries, lambda entry: entry.values) == entries


def test_a_group_parts_into_what_every_launch_meets_and_the_rest() -> None:
    group = group_of(sample((120,)), "attention_backend")
    always, sometimes = group.only(always=True), group.only(always=False)
    assert always is not None
    assert always.values == ("paged_mha", "ragged_mha")
    assert sometimes is not None
    assert sometimes.values == ("paged_mla",)
    assert group_of(sample((120,)), "enable_wide_loads").only(always=False) is None


def test_the_mend_names_the_values_that_work_on_every_sm_of_the_group() -> None:
    cards = load_cards(Rulebook.open())
    assert group_of(sample((120,)), "attention_backend").mend(cards) == "On SM120 use triton instead."
    assert group_of(sample(), "attention_backend").alternatives() == ("triton",)


def test_without_a_working_value_the_mend_is_to_leave_it_out() -> None:
    report = sample((120,))
    option = replace(report.options[0], judgements=report.options[0].judgements[1:])
    cards = load_cards(Rulebook.open())
    group = group_of(replace(report, options=(option, *report.options[1:])), "attention_backend")
    assert group.mend(cards) == "Leave --attention-backend out on SM120."
    assert group.mend({}) == ""


def test_an_unconditional_refusal_comes_before_a_conditional_one() -> None:
    report = sample((120,))
    conditional = replace(report.options[0], judgements=report.options[0].judgements[3:])
    other = replace(report.options[0], option=replace(report.options[0].option, field="zzz"), judgements=report.options[0].judgements[1:2])
    findings = tuple(
        replace(report.findings[0], option=field, value=value)
        for field, value in (("attention_backend", "paged_mla"), ("zzz", "paged_mha"))
    )
    assert [group.field for group in grouped(replace(report, options=(conditional, other), findings=findings))] == [
        "zzz",
        "attention_backend",
    ]


@pytest.mark.parametrize(
    ("message", "value", "template"),
    [
        ("fa3 is refused on SM120", "fa3", "{values} is refused on {sms}"),
        ("fa3_x and x-fa3 stay, SM1200 too", "fa3", "fa3_x and x-fa3 stay, SM1200 too"),
        ("{fa3} {0}", "fa3", "{{{values}}} {{0}}"),
        ("True stays", True, "True stays"),
    ],
)
def test_message_template(message: str, value: object, template: str) -> None:
    assert message_template(message, value, 120) == template


def test_one_and_true_are_different_settings() -> None:
    assert distinct([1, True, 1, "1"]) == (1, True, "1")
