from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from sm_gatecheck.model.report import Report
from sm_gatecheck.report import jsonl, schema
from sm_gatecheck.report.json import report_document
from tests.report.samples import hostile_sample, sample


def lines(report: Report) -> list[dict[str, Any]]:
    text = jsonl.render(report)
    assert text.isascii()
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("report", [sample(), hostile_sample()], ids=["all", "hostile"])
def test_each_line_is_an_object_of_the_schema(report: Report) -> None:
    document = {**schema.document()}
    del document["anyOf"]
    validator = jsonschema.Draft202012Validator({**document, "$ref": "#/$defs/jsonl_line"})
    for line in lines(report):
        validator.validate(line)


def test_it_says_what_the_json_report_says() -> None:
    whole, found = report_document(sample()), lines(sample())
    assert found[0] == {"type": "run", **{key: whole[key] for key in ("schema_version", "tool", "source", "assumptions", "sms")}}
    assert [{**line, "type": None} for line in found if line["type"] == "finding"] == [{**f, "type": None} for f in whole["findings"]]
    assert [line["message"] for line in found if line["type"] == "diagnostic"] == [left["message"] for left in whole["diagnostics"]]
    assert found[-1] == {"type": "end", "findings": len(whole["findings"]), "diagnostics": len(whole["diagnostics"])}
