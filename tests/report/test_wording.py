from __future__ import annotations

import pytest

from sm_gatecheck.report.wording import brief, brief_text, without_costs
from sm_gatecheck.verdicts.mending import said


@pytest.mark.parametrize(
    ("condition", "room", "shown"),
    [
        ("use_mla", 20, "use_mla"),
        ("(a and bb and cc) or (dd and ee) or other conditions", 14, "dd and ee or …"),
        ("(a or b) and (c or d) and (e or f)", 27, "(a or b) and (c or d) and …"),
        ("name == ' or ' and other == 'x' and third", 24, "name == ' or ' and …"),
        ("one_name and not another_name", 25, "one_name and …"),
        ("one_name(with, arguments) in names", 20, "one_name(with, …"),
        ("x" * 50, 20, "x" * 18 + " …"),
    ],
)
def test_a_condition_is_cut_to_a_line(condition: str, room: int, shown: str) -> None:
    assert brief(condition, room) == shown
    assert len(shown) <= room


def test_of_alternatives_alike_the_one_of_the_platform_is_shown() -> None:
    condition = "(device == 'musa' and tp) or (device == 'cuda' and tp) or (device == 'npu' and tp)"
    assert brief(condition, 30, "cuda") == "device == 'cuda' and tp or …"
    assert brief(condition, 30) == "device == 'npu' and tp or …"


def test_text_that_fits_is_whole() -> None:
    assert brief_text("a b c", 5) == "a b c"
    assert brief_text("a b cd", 5) == "a b …"


def test_costs_are_left_to_their_own_rows() -> None:
    message = "--fuse does nothing on SM120, but still sets a (x.py:1); allocates b (x.py:2)."
    assert without_costs(message) == "--fuse does nothing on SM120."


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ('ValueError("needs SM100 " "or later")', "needs SM100 or later"),
        ('assert backend == "a" or backend == "b", "only a or b work here"', "only a or b work here"),
        ("assert count > 1", "assert count > 1"),
        (r'ValueError("one\n - two")', "one - two"),
    ],
)
def test_the_words_of_a_refusal_are_its_sentence(source: str, words: str) -> None:
    assert said(source) == words
