from __future__ import annotations

import re

import pytest
from markdown_it import MarkdownIt

from sm_gatecheck.model.report import Report
from sm_gatecheck.report import markdown, option_list, predicate_list
from tests.report.golden import assert_golden
from tests.report.samples import DEVICES, hostile_sample, sample
from tests.report.test_json import ROWS

COMMAND = "gatecheck matrix --sm 90,100,120,121 sglang==9.9.9"


def test_golden() -> None:
    assert_golden("matrix.md", markdown.render(sample(), DEVICES, COMMAND))


def test_every_footnote_is_referred_to_and_defined_once() -> None:
    text = markdown.render(sample(), DEVICES, COMMAND)
    defined = re.findall(r"^\[\^(\d+)\]:", text, flags=re.MULTILINE)
    referred = re.findall(r"\[\^(\d+)\](?!:)", text)
    assert sorted(map(int, defined)) == list(range(1, len(defined) + 1))
    assert set(defined) == set(referred)


def test_the_rows_of_an_option_stay_together_under_its_worst_verdict() -> None:
    text = markdown.render(sample(), DEVICES, COMMAND)
    section = text.split("## Refused on some GPU")[1].split("## ")[0]
    assert section.count("`--attention-backend`") == 4
    assert "| `--attention-backend` | `triton` | ✅ | ✅ | ✅ | ✅ |" in section.replace(" ◂", "").replace(" ◃", "")


@pytest.mark.parametrize("report", [sample(), hostile_sample()])
def test_a_renderer_sees_the_tables_and_no_markup_of_the_tree(report: Report) -> None:
    html = MarkdownIt("commonmark").enable("table").render(markdown.render(report, DEVICES, COMMAND))
    rows = re.findall(r"<tr>(.*?)</tr>", html, flags=re.DOTALL)
    matrix = [len(re.findall(r"<td", row)) for row in rows if "<code>--" in row]
    assert set(matrix) == {2 + len(report.sms)}
    assert "<img" not in html
    assert 'href="javascript' not in html


def test_nothing_hostile_gets_through() -> None:
    text = markdown.render(hostile_sample(), DEVICES, COMMAND)
    assert [character for character in text if not character.isprintable() and character != "\n"] == []


def test_the_bytes_are_the_same_every_time() -> None:
    assert markdown.render(sample(), DEVICES, COMMAND) == markdown.render(sample(), DEVICES, COMMAND)


def test_lists_for_people() -> None:
    options = [option.option for option in sample().options]
    source = sample().source
    assert_golden("options-80.txt", option_list.text(source, options, 80, False))
    assert_golden("options.md", option_list.markdown(source, options, "gatecheck options sglang==9.9.9"))
    assert_golden("predicates.md", predicate_list.markdown(source, "12.9", ROWS, "gatecheck predicates sglang==9.9.9"))
