"""Names: modules, imports, constants that are changed in place, classes and enumerations."""

from __future__ import annotations

from typing import Any

import pytest

from sm_gatecheck.evaluate.literals import Unresolved
from tests.evaluate.literals.evaluation import literal


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("X = [1]\nX += [2]", [1, 2]),
        ("X = [1]\nX.append(2)\nX.extend([3])", [1, 2, 3]),
        ("X = {}\nX['a'] = 1\nX.update(b=2)", {"a": 1, "b": 2}),
        ("X = []\nfor n in range(3):\n    X.append(n * n)", [0, 1, 4]),
        ("X = []\nif 1 > 2:\n    X.append(1)\nelse:\n    X.append(2)", [2]),
        ("try:\n    X = [1]\nexcept ImportError:\n    X = [2]", [1]),
        ("a, (X, *b) = 1, (2, 3, 4)", 2),
        ("X: list = [1]", [1]),
        ("X = Y = 4", 4),
        (
            "def build():\n    found = []\n    for n in (1, 2, 3):\n        if n == 2:\n            continue\n"
            "        found.append(n)\n    return found\nX = build()",
            [1, 3],
        ),
        ("def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\nX = fib(10)", 55),
        ("def count():\n    n = 0\n    while True:\n        n += 1\n        if n == 5:\n            break\n    return n\nX = count()", 5),
        ("def outer(a):\n    def inner(b):\n        return a + b\n    return inner\nX = outer(1)(2)", 3),
        ("LIST = [1]\ndef add(n):\n    LIST.append(n)\nadd(2)\nX = LIST", [1, 2]),
    ],
)
def test_a_constant_is_what_its_module_makes_of_it(head: str, expected: Any) -> None:
    assert literal("X", head) == expected


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        ("X = Y\nY = X", "in terms of itself"),
        ("def X():\n    return X()\nX = X()", ""),
        ("X = [1]\nif device():\n    X.append(2)", "device is not defined"),
        ("X = [1]\nX.extend(more())", "more is not defined"),
        ("def f():\n    raise ValueError\nX = f()", "it raises"),
        ("def f():\n    yield 1\nX = f()", "a generator"),
        ("def f(a):\n    return a\nX = f()", "called without a"),
    ],
)
def test_what_cannot_be_followed_is_refused(head: str, reason: str) -> None:
    found = literal("X", head)
    assert isinstance(found, Unresolved)
    assert reason in found.reason


@pytest.mark.parametrize(
    ("head", "expression"),
    [
        ("from tree.colours import NAMES", "NAMES"),
        ("from .colours import NAMES as N", "N"),
        ("from tree import colours", "colours.NAMES"),
        ("import tree.colours", "tree.colours.NAMES"),
        ("import tree.colours as c", "c.NAMES"),
        ("from tree.hub import NAMES", "NAMES"),
        ("from tree.stars import *", "NAMES"),
        ("def f():\n    from tree.colours import NAMES\n    return NAMES", "f()"),
    ],
)
def test_imports_are_followed(head: str, expression: str) -> None:
    modules = {"colours": 'NAMES = ["red"]', "hub": "from tree.colours import NAMES", "stars": "from tree.colours import *"}
    assert literal(expression, head, None, __init__="", **modules) == ["red"]


def test_an_import_in_a_circle_is_refused() -> None:
    found = literal("X", "from tree.other import X", other="from tree.main import X")
    assert isinstance(found, Unresolved)


ENUMS = """
import enum
from enum import auto
class Plain(enum.Enum):
    RED = "r"
    BLUE = "b"
    def label(self):
        return self.name.lower() + "!"
class Text(str, enum.Enum):
    RED = "r"
class Number(enum.IntEnum):
    ONE = auto()
    TWO = auto()
class Word(enum.StrEnum):
    RED = auto()
"""


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("Plain.RED.value", "r"),
        ("[m.name for m in Plain]", ["RED", "BLUE"]),
        ("[m.label() for m in Plain]", ["red!", "blue!"]),
        ("list(Plain.__members__)", ["RED", "BLUE"]),
        ("Plain('b').name", "BLUE"),
        ("Plain['RED'].value", "r"),
        ("Plain.RED == 'r'", False),
        ("Plain.RED == Plain('r'), Plain.RED is Plain.RED", [True, True]),
        ("Text.RED == 'r', Text.RED.upper(), 'r' in list(Text)", [True, "R", True]),
        ("[int(n) for n in Number], Number.TWO > Number.ONE", [[1, 2], True]),
        ("Word.RED + 's'", "reds"),
        ("Text.RED", "r"),
    ],
)
def test_enumerations(expression: str, expected: Any) -> None:
    assert literal(expression, ENUMS) == expected


CLASSES = """
from dataclasses import dataclass, field
class Base:
    LIMIT = 3
    TWICE = LIMIT * 2
    def __init__(self, width):
        self.width = width
    @property
    def area(self):
        return self.width ** 2
    @staticmethod
    def double(n):
        return 2 * n
    @classmethod
    def label(cls):
        return cls.__name__
class Derived(Base):
    LIMIT = 5
    def __init__(self):
        super().__init__(7)
@dataclass
class Point:
    x: int
    y: int = 2
    tags: list = field(default_factory=lambda: ["t"])
"""


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("Derived.LIMIT, Derived.TWICE", [5, 6]),
        ("Derived().width, Base(4).area", [7, 16]),
        ("Base.double(4), Derived.label()", [8, "Derived"]),
        ("Point(1).y, Point(1, y=5).y, Point.y", [2, 5, 2]),
        ("Point(1).tags", ["t"]),
        ("isinstance(Derived(), Base), isinstance(Derived(), Point)", [True, False]),
        ("getattr(Base, 'LIMIT')", 3),
    ],
)
def test_classes(expression: str, expected: Any) -> None:
    assert literal(expression, CLASSES) == expected


def test_a_class_that_is_rebuilt_from_itself_is_still_read() -> None:
    assert literal("Point.LIMIT", "import lib\nclass Point:\n    LIMIT = 4\nPoint = lib.sealed(Point)\n") == 4


def test_known_names_answer_for_the_outside() -> None:
    head = "import os\nfrom os import environ"
    known = {"os.environ": {"A": "1"}}
    assert literal("os.environ.get('A'), os.getenv('B', 'none'), environ['A']", head, known) == ["1", "none", "1"]
    assert isinstance(literal("os.getenv('A')", head), Unresolved)
