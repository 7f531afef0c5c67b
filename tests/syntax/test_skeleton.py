"""A file parsed without its functions' bodies is, once they are looked at, the file that ``ast.parse`` gives."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from sm_gatecheck.syntax.skeleton import LazyAsyncFunction, LazyFunction, may_contain, parse_skeleton

ROOT = Path(__file__).parents[2]
FILES = sorted([*ROOT.glob("sm_gatecheck/**/*.py"), *ROOT.glob("fixtures/*/sglang/**/*.py")])

LONG = "    a = 1\n    b = 2\n    c = 3\n    d = 4\n    return a\n"
SOURCES = {
    "plain": f"x = 1\ndef f():\n{LONG}\ny = 2\n",
    "signature over lines": f"def f(\n    a,\n    b=(1, 2),\n) -> int:\n{LONG}z = 1\n",
    "signature that ends in its last parameter": f"def f(a,\n      b):\n{LONG}z = 1\n",
    "comment after the colon": f"def f():  # why: because\n{LONG}",
    "one line": "def f(): return 1\n" + f"def g():\n{LONG}",
    "one line with a bracket open": f"def f(a=(1,\n2)): return a\ndef g():\n{LONG}",
    "string at the margin": 'def f():\n    a = 1\n    b = 2\n    text = """\nx = 1\ndef g():\n    pass\n"""\n    c = 3\n    return text\n',
    "docstring at the margin": 'def f():\n    """One\nTwo\n    """\n    a = 1\n    b = 2\n    return a\nx = 1\n',
    "comment at the margin": f"def f():\n    a = 1\n# aside\n{LONG}x = 1\n",
    "methods": f"class C:\n    k = 1\n    @property\n    def f(self):\n{LONG.replace('    ', '        ')}\n    async def g(self):\n"
    f"{LONG.replace('    ', '        ')}    z = 2\n",
    "under tests": f"if a:\n    def f():\n{LONG.replace('    ', '        ')}else:\n    def f():\n{LONG.replace('    ', '        ')}",
    "nested": f"def f():\n    def g():\n{LONG.replace('    ', '        ')}    return g\nx = 1\n",
    "decorated": f"@cache\n@other(1,\n       2)\ndef f():\n{LONG}",
    "continued": f"def f():\n    a = 1\n    b = 2\n    c = 3\n    d = a + \\\n1\n    return d\nx = 1\n{LONG.replace('    ', '')[:6]}",
    "bracket at the margin": "def f():\n    a = 1\n    b = 2\n    c = 3\n    d = [\n1,\n]\n    return d\nx = 1\n",
    "no last line end": f"def f():\n{LONG}".rstrip("\n"),
    "tabs": "def f():\n\ta = 1\n\tb = 2\n\tc = 3\n\td = 4\n\treturn a\n",
    "other letters": f"# é\nx = 'é'\ndef f():\n{LONG}",
}


def dumped(tree: ast.AST) -> str:
    text = ast.dump(tree)
    return text.replace("LazyAsyncFunction(", "AsyncFunctionDef(").replace("LazyFunction(", "FunctionDef(")


def places(tree: ast.AST) -> list[tuple[str, int, int]]:
    return [
        (type(n).__name__[-4:], getattr(n, "lineno", 0), getattr(n, "col_offset", 0)) for n in ast.walk(tree) if isinstance(n, ast.expr)
    ]


def assert_same(source: bytes) -> None:
    whole, skeleton = ast.parse(source), parse_skeleton(source, lambda line, why: pytest.fail(f"{line}: {why}"))
    if skeleton is not None:
        assert dumped(skeleton) == dumped(whole)
        assert places(skeleton) == places(whole)


@pytest.mark.parametrize("name", SOURCES)
def test_forms_of_source(name: str) -> None:
    assert_same(SOURCES[name].encode())


def test_files_of_the_repository() -> None:
    for path in FILES:
        assert_same(path.read_bytes())


def test_most_bodies_are_left_out() -> None:
    left_out = whole = 0
    for path in FILES:
        tree = parse_skeleton(path.read_bytes(), lambda line, why: None)
        if tree is not None:
            left_out += sum(isinstance(node, (LazyFunction, LazyAsyncFunction)) for node in tree.body)
            whole += sum(type(node) in (ast.FunctionDef, ast.AsyncFunctionDef) for node in tree.body)
    assert left_out > whole


def test_a_body_is_parsed_when_looked_at() -> None:
    told: list[int] = []
    tree = parse_skeleton(f"x = 1\ndef f():\n    a = (\n{LONG}".encode(), lambda line, why: told.append(line))
    assert tree is not None
    assert told == []
    function = tree.body[1]
    assert isinstance(function, LazyFunction)
    assert function.body == []
    assert told == [2]
    assert function.body == []
    assert told == [2]


def test_words_are_found_without_parsing() -> None:
    tree = parse_skeleton(f"def f():\n    global thing\n{LONG}".encode(), lambda line, why: None)
    assert tree is not None
    assert may_contain(tree.body[0], b"global ")
    assert not may_contain(tree.body[0], b"nonlocal ")
    assert may_contain(ast.parse("def f(): pass").body[0], b"anything")
