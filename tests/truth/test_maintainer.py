"""``check --maintainer`` on real releases: what a reader of the source agreed with, and how much else is said."""

from __future__ import annotations

import os
from collections import Counter
from functools import cache

import pytest

from sm_gatecheck.checks.cards import load_cards
from sm_gatecheck.checks.maintaining import Maintenance
from sm_gatecheck.model.report import Finding
from sm_gatecheck.rulebook import Rulebook
from sm_gatecheck.target.rules import load_devices
from sm_gatecheck.trees import TreeError, open_tree
from sm_gatecheck.verdicts.analysis import analyse
from sm_gatecheck.verdicts.request import Request
from tests.truth.command import tree_argument

pytestmark = pytest.mark.release

BOOK = Rulebook.open()
SMS = load_devices(BOOK).sms

SEEN: dict[str, list[tuple[str, str, str]]] = {
    "0.5.6.post2": [("GC304", "srt/server_args.py", "attention_backend is given the value 'trtllm_mha'")],
    "0.5.10": [
        ("GC301", "srt/layers/attention/nsa_backend.py", "self.device_sm_major >= 10"),
        ("GC302", "srt/models/deepseek_v2.py", "SM103"),
        ("GC306", "srt/environ.py", "SGLANG_USE_DEEPGEMM_BMM"),
        ("GC306", "srt/server_args.py", "num_continuous_decode_steps"),
    ],
    "0.5.12": [
        ("GC303", "srt/model_executor/model_runner.py", "pre_initialize_workspaces"),
        ("GC305", "srt/layers/quantization/kvfp4_tensor.py", "the guard lets SM90 pass"),
        ("GC306", "srt/server_args.py", "triton_attention_reduce_in_fp32"),
    ],
    "0.5.16": [("GC302", "srt/layers/deep_gemm_wrapper/configurer.py", "SM121"), ("GC306", "srt/server_args.py", "spec_trace_dir")],
}
"""By release: the rule, the file and a part of the message of defects that the source shows."""

AT_MOST = {"GC301": 6, "GC302": 3, "GC303": 2, "GC304": 1, "GC305": 6, "GC306": 25}
"""How many findings of a rule were looked at in any of these releases: more would have to be looked at again."""


@cache
def findings(release: str) -> tuple[Finding, ...]:
    try:
        tree = open_tree(tree_argument(release))
    except TreeError as error:
        if os.environ.get("CI") == "true":
            pytest.fail(f"sglang {release} could not be had: {error}")
        pytest.skip(f"sglang {release} could not be had: {error}")
    return analyse(tree, Request(sms=SMS), None, Maintenance(load_cards(BOOK), SMS)).findings


@pytest.mark.parametrize("release", SEEN)
def test_defects_that_were_seen_are_found(release: str) -> None:
    for rule, file, part in SEEN[release]:
        assert [finding for finding in findings(release) if (finding.rule, finding.file) == (rule, file) and part in finding.message], part


@pytest.mark.parametrize("release", SEEN)
def test_nobody_cries_wolf(release: str) -> None:
    counts = Counter(finding.rule for finding in findings(release))
    assert {rule: count for rule, count in counts.items() if count > AT_MOST[rule]} == {}
