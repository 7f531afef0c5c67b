from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from sm_gatecheck.checks.cards import load_cards
from sm_gatecheck.model.option import Option
from sm_gatecheck.model.report import PredicateRow, Report, Statistics
from sm_gatecheck.report import rule_cards, schema
from sm_gatecheck.report.json import options_document, plain, predicates_document, render, report_document
from sm_gatecheck.rulebook import Rulebook
from tests.report.golden import assert_golden
from tests.report.samples import hostile_sample, sample

ROWS = (
    PredicateRow("sglang.srt.utils.is_sm90", "srt/utils.py", 4, "function", ((90, True), (120, False))),
    PredicateRow("sglang.srt.utils.CAPABILITY", "srt/utils.py", 9, "constant", ((90, (9, 0)), (120, (12, 0)))),
    PredicateRow("sglang.srt.utils.speed", "srt/utils.py", 12, "property", ((90, None), (120, 1.5)), ((90, "asks for the clock"),)),
)


def valid(document: Any, part: str) -> None:
    """The document is valid as a whole, and as the report it is meant to be."""
    whole = schema.document()
    jsonschema.Draft202012Validator.check_schema(whole)
    jsonschema.Draft202012Validator(whole).validate(document)
    jsonschema.Draft202012Validator({"$ref": f"#/$defs/{part}", "$defs": whole["$defs"]}).validate(document)


@pytest.mark.parametrize("report", [sample(), sample((120,)), hostile_sample()])
def test_the_report_is_valid(report: Report) -> None:
    valid(json.loads(render(report_document(report))), "report")


def test_golden() -> None:
    assert_golden("report.json", render(report_document(sample((120,)))))


def test_the_keys_that_scripts_rely_on() -> None:
    document = json.loads(render(report_document(sample((120,)))))
    assert document["source"] == {
        "target": "sglang==9.9.9",
        "kind": "release",
        "sglang_version": "9.9.9",
        "git": {"commit": "1a2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d7e8f9a0b", "dirty": True, "branch": "main"},
    }
    fused = next(option for option in document["options"] if option["field"] == "enable_fused_reduce")
    (verdict,) = fused["verdicts"]
    assert (verdict["sm"], verdict["value"], verdict["verdict"]) == (120, True, "noop_with_side_effects")
    assert verdict["active_on"] == [90, 100, 103]
    assert [effect["kind"] for effect in verdict["effects"]] == ["sets_option", "allocates", "sets_env"]
    assert verdict["effects"][0]["option"] == "disable_graphs"
    assert verdict["effects"][1]["when"] == "tp_size > 1"
    assert verdict["evidence"][0] == {
        "role": "gate",
        "file": "srt/layers/communicator.py",
        "line": 31,
        "column": 9,
        "source": "_is_sm90 or _is_sm100",
        "true_on": [90, 100, 103],
    }


def test_timings_aside_the_bytes_are_the_same() -> None:
    slow = replace(sample(), statistics=replace(sample().statistics, seconds=99.0, cache="warm"))
    first, second = report_document(sample()), report_document(slow)
    for document in (first, second):
        del document["stats"]["seconds"], document["stats"]["cache"]
    assert render(first) == render(second)


def test_it_is_ascii_and_holds_no_control_character() -> None:
    text = render(report_document(hostile_sample()))
    assert text.isascii()
    assert [character for character in text if not character.isprintable() and character != "\n"] == []


def test_options_and_predicates_and_rules_are_valid() -> None:
    options = [Option("a", ("--a", "--b"), ("--b",), ("--old-a",), "int", 1, choices=(1, 2), file="srt/x.py", line=3), Option("hidden")]
    document = options_document(sample().source, options)
    valid(json.loads(render(document)), "options_report")
    assert document["options"][0]["aliases"] == ["--b"]
    assert document["options"][1]["flags"] == []
    predicates = json.loads(render(predicates_document(sample().source, "12.9", ROWS)))
    valid(predicates, "predicates_report")
    assert [row["values"] for row in predicates["predicates"]] == [
        {"90": True, "120": False},
        {"90": [9, 0], "120": [12, 0]},
        {"90": None, "120": 1.5},
    ]
    valid(rule_cards.document(list(load_cards(Rulebook.open()).values())), "rules_report")


def test_the_schema_refuses_what_is_wrong() -> None:
    document = json.loads(render(report_document(sample((120,)))))
    document["options"][1]["verdicts"][0]["verdict"] = "perhaps"
    with pytest.raises(jsonschema.ValidationError):
        valid(document, "report")


def test_every_key_of_a_report_is_required_by_the_schema() -> None:
    document = report_document(replace(sample(), statistics=Statistics()))
    definition = schema.document()["$defs"]["report"]
    assert set(document) == set(definition["required"]) == set(definition["properties"]) - {"launch", "resolved"}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ((1, (2, None)), [1, [2, None]]),
        ({"b", "a"}, ["a", "b"]),
        (float("inf"), "inf"),
        ({1: 2.5}, {"1": 2.5}),
        (b"x", "b'x'"),
        (True, True),
    ],
)
def test_plain(value: Any, expected: Any) -> None:
    assert plain(value) == expected
    assert type(plain(value)) is type(expected)
