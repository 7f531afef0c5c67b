from __future__ import annotations

import pytest

from sm_gatecheck.launch.editing import replaced, without


def first(text: str, *words: str, whole: bool = False) -> str | None:
    """The tidiest way of taking out an option that is made of these words, None where there is none."""
    data, position, stretches = text.encode(), 0, []
    for word in words:
        start = data.index(word.encode(), position)
        position = start + len(word.encode())
        stretches.append((start, position))
    found = next(iter(without(data, [stretches], whole=whole)), None)
    return None if found is None else found.decode()


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("a --x b\n", ("--x",), "a b\n"),
        ("a --x\n", ("--x",), "a\n"),
        ("a --x 1 b\n", ("--x", "1"), "a b\n"),
        ("a --x=1 b\n", ("--x", "1"), "a b\n"),
        ("a \"--x\" '1' b\n", ("--x", "1"), "a b\n"),
        ("a \\\n  --x \\\n  b\n", ("--x",), "a \\\n  b\n"),
        ("a \\\n  b \\\n  --x\nc\n", ("--x",), "a \\\n  b\nc\n"),
        ("a \\\n  --x \\\n  1 \\\n  b\n", ("--x", "1"), "a \\\n  b\n"),
        ("a \\\r\n  b \\\r\n  --x\r\n", ("--x",), "a \\\r\n  b\r\n"),
        ("- a\n- --x\n- '1'\n- b\n", ("--x", "1"), "- a\n- b\n"),
        ('["a", "--x", "1", "b"]', ("--x", "1"), '["a", "b"]'),
        ('["a", "--x"]', ("--x",), '["a"]'),
        ('["--x"]', ("--x",), "[]"),
        ('E="--x b"\n', ("--x",), 'E="b"\n'),
        ('E="a --x"\n', ("--x",), 'E="a"\n'),
        ("x: [1, 2]\ny: 3\n", ("x", "1", "2"), "y: 3\n"),
        ("x:\n  - 1\n  - 2\ny: 3\n", ("x", "1", "2"), "y: 3\n"),
        ("f(a=1, x=True)", ("x", "True"), "f(a=1)"),
        ("f(x=True, a=1)", ("x", "True"), "f(a=1)"),
        ("a \\\n  b --x)\n", ("--x",), "a \\\n  b)\n"),
        ("é --x ü\n", ("--x",), "é ü\n"),
        ("a \\\n  --x)\n", ("--x",), "a \\\n  )\n"),
    ],
)
def test_the_tidiest_way(text: str, words: tuple[str, ...], expected: str) -> None:
    assert first(text, *words) == expected


def test_a_flag_does_not_go_without_its_value() -> None:
    assert first("T=4\na --x $T\n", "4") == "T=\na --x $T\n"
    data = b"T=4\na --x $T\n"
    assert list(without(data, [[(data.index(b"--x"), data.index(b"--x") + 3), (2, 3)]])) == []


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("export A=1\nb\n", ("A", "1"), "b\n"),
        ("Environment=A=1\nB=2\n", ("A", "1"), "B=2\n"),
        ("docker run -e A=1 -e B=2 c\n", ("A", "1"), "docker run -e B=2 c\n"),
        ("export A=1 B=2\n", ("A", "1"), None),
        ("env: [{name: A, value: 1}]\n", ("A", "1"), None),
    ],
)
def test_variables_go_with_what_carries_them_or_not_at_all(text: str, words: tuple[str, ...], expected: str | None) -> None:
    assert first(text, *words, whole=True) == expected


def test_several_options_go_together() -> None:
    data = b"a --x 1 b --y c\n"
    options = [[(2, 5), (6, 7)], [(10, 13)]]
    assert next(iter(without(data, options))) == b"a b c\n"


@pytest.mark.parametrize(
    ("text", "old", "expected"), [("--x old b", "old", "--x new b"), ('x="old"', '"old"', 'x="new"'), ("x='old'", "old", "x='new'")]
)
def test_a_value_keeps_its_quotes(text: str, old: str, expected: str) -> None:
    start = text.index(old)
    assert replaced(text.encode(), (start, start + len(old)), "new").decode() == expected
