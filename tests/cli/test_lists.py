from __future__ import annotations

import json

import jsonschema

from sm_gatecheck.report import schema
from tests.cli.conftest import FUSION_STORY, Run


def test_options_of_a_tree(run: Run) -> None:
    ended = run("options", FUSION_STORY, "--format", "json")
    document = json.loads(ended.stdout)
    jsonschema.Draft202012Validator(schema.document()).validate(document)
    rows = {row["field"]: row for row in document["options"]}
    assert rows["tp_size"]["flags"] == ["--tensor-parallel-size", "--tp-size"]
    assert rows["queue_order"]["choices"] == ["arrival", "longest-prefix"]
    assert (ended.status, ended.stderr) == (0, "")
    text = run("options", FUSION_STORY).stdout
    assert "--tp-size  also --tensor-parallel-size" in text
    assert "`queue_order`" in run("options", FUSION_STORY, "--format", "markdown").stdout


def test_rules(run: Run) -> None:
    one = run("rule", "gc102").stdout
    assert one.startswith("GC102  ")
    assert "What to do" in one
    everything = json.loads(run("rule", "--format", "json").stdout)
    jsonschema.Draft202012Validator(schema.document()).validate(everything)
    assert [rule["id"] for rule in everything["rules"]][:5] == ["GC101", "GC102", "GC103", "GC104", "GC105"]
    assert run("rule", "GC105", "GC101").stdout.index("GC105") < run("rule", "GC105", "GC101").stdout.index("GC101")
