"""Expressions have the value that Python gives them, or none."""

from __future__ import annotations

from typing import Any

import pytest

from sm_gatecheck.evaluate.literals import Unresolved, plain
from tests.evaluate.literals.evaluation import literal

HEAD = """
NAMES = ["red", "blue"]
WIDTHS = {"small": 1, "large": 4}
LIMIT = 3
"""


@pytest.mark.parametrize(
    "expression",
    [
        "1 + 2 * 3 - 4 // 2",
        "2 ** 10 % 7",
        "-LIMIT, ~LIMIT, not LIMIT, +LIMIT",
        "1 << 4 | 3 & 2 ^ 1",
        "7 / 2",
        "'a' + 'b' * 2",
        "'%s-%d' % ('x', 3)",
        "f'{LIMIT:03d} {NAMES[0]!r} {LIMIT + 1}'",
        "'{}-{}'.format('a', LIMIT)",
        "', '.join(NAMES)",
        "'a b'.split()",
        "'abc'[1:], 'abc'[::-1], NAMES[-1]",
        "NAMES + ['none']",
        "[*NAMES, 'none']",
        "(1, *range(3))",
        "{**WIDTHS, 'huge': 9}",
        "list(WIDTHS), list(WIDTHS.values()), list(WIDTHS.items())",
        "WIDTHS.get('none', 7), WIDTHS['small']",
        "sorted({'b', 'a'}), sorted(NAMES, key=len, reverse=True)",
        "sorted(NAMES, key=lambda name: name[1])",
        "[name.upper() for name in NAMES if name != 'red']",
        "[(a, b) for a in range(3) for b in range(a)]",
        "{name: len(name) for name in NAMES}",
        "sum(x * x for x in range(5))",
        "max(WIDTHS.values()), min(3, 1, 2), len(NAMES)",
        "list(zip(NAMES, range(2))), list(enumerate(NAMES, 1))",
        "list(map(str, range(3))), list(filter(None, [0, 1]))",
        "any(n == 'red' for n in NAMES), all(NAMES)",
        "1 < LIMIT <= 3, 'red' in NAMES, 'green' not in NAMES, None is None",
        "'yes' if LIMIT > 2 else 'no'",
        "LIMIT and 'set' or 'unset'",
        "0 or None or 'last'",
        "int('4'), float('0.5'), str(3), bool([]), round(2.6)",
        "isinstance('a', str), isinstance(1, (str, int)), callable(1)",
        "next(name for name in NAMES if name.startswith('b'))",
        "dict([('a', 1)], b=2)",
        "list(reversed(NAMES))",
        "(lambda a, b=2, *c, d, **e: [a, b, c, d, e])(1, d=4, f=5)",
        "frozenset(['a']) | {'b'}",
        "(n := 3) + n",
    ],
)
def test_the_value_is_the_one_of_python(expression: str) -> None:
    names: dict[str, Any] = {}
    exec(HEAD, names)
    assert literal(expression, HEAD) == plain(eval(expression, names))


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("open('x')", "open is called"),
        ("__import__('os')", "__import__ is called"),
        ("().__class__", "tuple has no attribute"),
        ("''.__class__", "str has no attribute"),
        ("[].__init_subclass__()", "list has no attribute"),
        ("getattr('', '__class__')", "str has no attribute"),
        ("absent", "absent is not defined in tree.main"),
        ("NAMES[7]", "IndexError"),
        ("WIDTHS['none']", "KeyError"),
        ("1 / 0", "ZeroDivisionError"),
        ("'a' + 1", "TypeError"),
        ("sorted([1, 'a'])", "TypeError"),
        ("len(1, 2, 3)", "cannot go through int"),
        ("int", "builtins.int is not a literal"),
        ("[absent]", "absent is not defined"),
        ("9 ** 9 ** 9", "the result would be unreasonably large"),
        ("'a' * 10 ** 9", "the result would be unreasonably large"),
        ("'%999999999d' % 1", "a format of unreasonable width"),
        ("{[]: 1}", "list is used as a key"),
        ("{[]}", "TypeError"),
        ("[i for i in range(10 ** 9)]", "elements"),
        ("[i for a in range(10 ** 5) for i in range(10 ** 5)]", "steps"),
    ],
)
def test_what_has_no_value_says_why(expression: str, reason: str) -> None:
    found = literal(expression, HEAD)
    assert isinstance(found, Unresolved)
    assert reason in found.reason


def test_a_refusal_says_where() -> None:
    found = literal("TABLE", "TABLE = [\n    1,\n    measure(),\n]\n")
    assert (found.file, found.line) == ("main.py", 3)
