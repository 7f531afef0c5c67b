from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from sm_gatecheck.report.clean import markdown_cell, markdown_code, markdown_text, shortened, visible, visible_lines

ANYTHING = st.text(st.characters())


@given(ANYTHING)
def test_visible_is_one_printable_line(text: str) -> None:
    shown = visible(text)
    assert "\n" not in shown
    assert not [character for character in shown if ord(character) < 32 or 0x7F <= ord(character) < 0xA0]
    shown.encode("utf-8")


@given(ANYTHING)
def test_visible_twice_is_visible_once(text: str) -> None:
    assert visible(visible(text)) == visible(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\n  b\tc", "a b c"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("user\u202egpj.exe", r"user\u202egpj.exe"),
        ("a\U000e0041", r"a\U000e0041"),
        ("naïve 日本 …", "naïve 日本 …"),
        ("\udcff", r"\udcff"),
    ],
)
def test_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_lines_keep_their_indentation() -> None:
    assert visible_lines("if x:\r\n\ty  \n    \x07z") == ["if x:", "    y", "    \\x07z"]


@given(ANYTHING.filter(lambda text: bool(visible(text))))
def test_markdown_shows_text_and_code_literally(text: str) -> None:
    render = MarkdownIt("commonmark").enable("table").render
    line = f"| x | y |\n| - | - |\n| {markdown_cell(markdown_code(text))} | {markdown_cell('t' + markdown_text(text))} |\n"
    html = render(line)
    assert html.count("<td>") == 2
    assert html.count("<code>") == 1
    assert "<a" not in html.replace("<td>", "")
    assert "<em>" not in html


@pytest.mark.parametrize(("text", "length", "cut"), [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("ab cd", 4, "ab…")])
def test_shortened(text: str, length: int, cut: str) -> None:
    assert shortened(text, length) == cut
