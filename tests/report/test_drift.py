"""What counts as drift of a committed matrix, and what does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sm_gatecheck.model.report import Assumptions, GitFacts, Report
from sm_gatecheck.model.verdict import Verdict
from sm_gatecheck.report import markdown
from sm_gatecheck.report.drift import drift, read
from tests.report.samples import DEVICES, sample


def written(report: Report | None = None, command: str = "gatecheck matrix") -> str:
    return markdown.render(report or sample(), DEVICES, command)


def without(field: str) -> Report:
    report = sample()
    return replace(report, options=tuple(option for option in report.options if option.option.field != field))


def test_the_same_is_no_drift_and_neither_is_when_and_where_it_was_made() -> None:
    report = sample()
    elsewhere = replace(report, source=replace(report.source, target="/other/tree", git=GitFacts("f" * 40, False)))
    found = drift(written(), written(elsewhere, "gatecheck matrix --sm all /other/tree"))
    assert (found.changes, found.moved) == ((), 0)


def test_a_verdict_that_changed_is_named_with_both() -> None:
    report = sample()
    index = next(i for i, entry in enumerate(report.options) if entry.option.field == "enable_fused_reduce")
    entry = report.options[index]
    judged = tuple(replace(j, verdict=Verdict.ACTIVE) if j.sm == 120 else j for j in entry.judgements)
    changed = (*report.options[:index], replace(entry, judgements=judged), *report.options[index + 1 :])
    found = drift(written(), written(replace(report, options=changed)))
    assert found.changes == ("`--enable-fused-reduce` at `True`, SM120: was 💥, is ✅",)


def test_options_that_came_and_went_are_named_once() -> None:
    found = drift(written(), written(without("enable_fused_reduce")))
    assert found.changes == ("`--enable-fused-reduce` at `True` is gone",)
    assert drift(written(without("enable_fused_reduce")), written()).changes == ("`--enable-fused-reduce` at `True` is new",)


def test_a_default_that_changed_is_named() -> None:
    text = written()
    _, option, _ = next(key for key in read(text).rows if key[0] == "default")
    row = next(line for line in text.split("## Defaults")[1].splitlines() if option in line)
    cells = row.split(" | ")
    cells[2] = "`something else`"
    assert drift(text.replace(row, " | ".join(cells)), text).changes[0].startswith(f"the default of {option}, SM90: was `something else`")


def test_lines_that_moved_are_counted_and_other_reasons_are_drift() -> None:
    text = written()
    assert "communicator.py:31" in text
    moved = drift(text, text.replace("communicator.py:31", "communicator.py:35"))
    assert moved.changes == ()
    assert moved.moved > 0
    reasons = drift(text, text.replace("_is_sm90 or _is_sm100", "_is_sm90 or _is_sm120"))
    assert any("_is_sm90 or _is_sm120" in change and "`--enable-fused-reduce` at `True` on SM120" in change for change in reasons.changes)
    assert reasons.moved == 0


def test_other_assumptions_and_other_columns_are_drift() -> None:
    other = replace(sample(), assumptions=Assumptions("cuda", "13.0", {"tp_size": 8}))
    changes = drift(written(), written(other)).changes
    assert changes[0].startswith("the title was")
    assert changes[1].startswith("it was made assuming NVIDIA CUDA 12.9")
    fewer = drift(written(), written(sample((90, 120)))).changes
    assert "SM100 has no column any more" in fewer
    assert "SM100 is a new column" in drift(written(sample((90, 120))), written()).changes


def test_the_title_says_under_what_it_holds() -> None:
    assert written().splitlines()[0].endswith("on each GPU, with `model_arch=TwoLayerForCausalLM` and `tp_size=4`")
    plain = replace(sample(), assumptions=Assumptions())
    assert written(plain).splitlines()[0].endswith("what each server option does on each GPU")


@pytest.mark.parametrize("text", ["", "# A page\n\n| a | b |\n| :-- | :-- |\n| c | d |\n"])
def test_what_is_no_matrix_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no table of options"):
        read(text)
