"""Annotated fields, the second way of declaring options, and namespaces of them, the third."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from sm_gatecheck.target.options import OptionTable
from tests.target.options.trees import table

DESCRIBING = """
from typing import Annotated
A = Annotated

class Arg:
    help: str = ""
    choices: list | None = None
    aliases: list | None = None
    cli_name: str | None = None
    type_parser: object = None
    nargs: str | None = None
    action: object = None
    action_kwargs: dict | None = None
    no_cli: bool = False
    fallback: object = None

class NS:
    path: str

class Derived:
    doc: str = ""

def add_cli_args_from_dataclass(parser, cls, fields=None):
    raise NotImplementedError
"""
HEAD = """
import argparse
import dataclasses
from typing import List, Literal, Optional, Union
from sglang.srt.describing import A, Arg, Derived, NS, add_cli_args_from_dataclass
"""


def annotated(fields: str, head: str = "", added: str = "add_cli_args_from_dataclass(parser, ServerArgs)") -> OptionTable:
    source = (
        f"{HEAD}{dedent(head)}\n\nclass ServerArgs:\n{indent(dedent(fields).strip(), '    ')}\n\n"
        f"    @staticmethod\n    def add_cli_args(parser):\n{indent(dedent(added).strip(), '        ')}\n"
    )
    return table(source, describing=DESCRIBING)


def test_a_bare_text_is_the_help() -> None:
    options = annotated('top_speed: A[int, "How fast."] = 3')
    (speed,) = options
    assert options.declaration == "annotations"
    assert (speed.flags, speed.default, speed.type, speed.help, speed.action) == (("--top-speed",), 3, "int", "How fast.", "store")


def test_a_field_that_says_nothing_gets_no_flag() -> None:
    assert annotated("on_exit: Optional[object] = None").by_field["on_exit"].flags == ()


def test_a_field_may_keep_its_flag_to_itself() -> None:
    assert annotated("cache: A[int, Arg(no_cli=True)] = 3").by_field["cache"].flags == ()


def test_flags_and_aliases_are_given_by_the_metadata() -> None:
    options = annotated('speed: A[int, Arg(help="h", cli_name="--pace", aliases=["--tempo"])] = 3')
    (speed,) = options
    assert (speed.field, speed.flags, speed.aliases) == ("speed", ("--pace", "--tempo"), ("--tempo",))


@pytest.mark.parametrize(
    ("annotation", "action", "choices", "nargs", "type_"),
    [
        ('A[bool, "h"]', "store_true", None, None, "bool"),
        ('A[Optional[bool], "h"]', "store_true", None, None, "Optional[bool]"),
        ('A[bool | None, "h"]', "store_true", None, None, "Optional[bool]"),
        ("A[Literal['a', 'b'], 'h']", "store", ("a", "b"), None, "Literal['a', 'b']"),
        ("A[Optional[Literal['a', 'b']], 'h']", "store", ("a", "b"), None, "Optional[Literal['a', 'b']]"),
        ("A[Literal[None, 'b'], 'h']", "store", (None, "b"), None, "Literal[None, 'b']"),
        ("A[Colour, 'h']", "store", ("red", "blue"), None, "Colour"),
        ("A[Optional[Colour], 'h']", "store", ("red", "blue"), None, "Optional[Colour]"),
        ("A[List[int], 'h']", "store", None, "+", "List[int]"),
        ("A[Optional[list[int]], Arg(nargs='*')]", "store", None, "*", "Optional[list[int]]"),
        ("A[List[int], Arg(type_parser=str)]", "store", None, None, "List[int]"),
        ("A[Optional[Union[str, dict]], 'h']", "store", None, None, "Optional[Union[str, dict]]"),
        ("A[str, Arg(choices=NAMES)]", "store", ("a", "b"), None, "str"),
        ("A[str, Arg('h', NAMES)]", "store", ("a", "b"), None, "str"),
        ("A[str, Arg(**COMMON)]", "store", ("a", "b"), None, "str"),
    ],
)
def test_the_type_decides_what_the_metadata_leaves_open(
    annotation: str, action: str, choices: tuple[object, ...] | None, nargs: str | None, type_: str
) -> None:
    head = 'NAMES = ["a", "b"]\nCOMMON = {"choices": NAMES}\nColour = Literal["red", "blue"]'
    options = annotated(f"field: {annotation} = None", head)
    (option,) = options
    assert (option.action, option.choices, option.nargs, option.type) == (action, choices, nargs, type_)
    assert options.gaps == ()


def test_an_action_of_its_own_takes_its_arguments_from_the_metadata() -> None:
    options = annotated('fast: A[bool, Arg(action=argparse.BooleanOptionalAction, action_kwargs={"default": True})] = False')
    (fast,) = options
    assert (fast.flags, fast.default) == (("--fast", "--no-fast"), True)


def test_arguments_added_by_hand_stand_beside_annotated_ones() -> None:
    options = annotated(
        "speed: A[int, 'h'] = 3\nparser_name: Optional[str] = None",
        'NAMES = ["a"]',
        """
        add_cli_args_from_dataclass(parser, ServerArgs)
        parser.add_argument("--parser-name", choices=["auto"] + NAMES, default=ServerArgs.parser_name)
        """,
    )
    assert [(option.field, option.flags, option.choices) for option in options] == [
        ("parser_name", ("--parser-name",), ("auto", "a")),
        ("speed", ("--speed",), None),
    ]


def test_a_registrar_may_be_asked_for_some_fields_only() -> None:
    options = annotated("a: A[int, 'h'] = 1\nb: A[int, 'h'] = 2", added="add_cli_args_from_dataclass(parser, ServerArgs, fields=['b'])")
    assert [(option.field, option.flags) for option in options] == [("a", ()), ("b", ("--b",))]


def test_the_namespace_and_the_fallback_of_a_field_are_kept() -> None:
    options = annotated("speed: A[Optional[int], Arg(fallback=7), NS('exec.motor')] = None")
    assert options.namespaces == {"speed": "exec.motor"}
    assert options.fallbacks == {"speed": 7}


NAMESPACES = f"""{HEAD}
class Model:
    _NS_PATH = "model"
    path: A[str, "h"]
    size: A[int, Arg(help="h", aliases=["--width"])] = 2
    depth = Derived(doc="computed")
    height: A[int, Derived()] = 0

class Motor:
    _NS_PATH = "exec.motor"
    kind: str = "petrol"

class ServerArgs:
    @staticmethod
    def add_cli_args(parser):
        add_cli_args_from_dataclass(parser, ServerArgs)
        parser.add_argument("--kind", choices=["petrol", "steam"], default=_default_of("kind"))

_INPUT_NAMESPACES = [Model, Motor]
ServerArgs.__annotations__ = {{}}
ServerArgs = dataclasses.make_dataclass("ServerArgs", [])

def _default_of(name):
    return next(field.default for field in dataclasses.fields(ServerArgs) if field.name == name)
"""


def test_namespaces_are_read_as_one_class() -> None:
    options = table(NAMESPACES, describing=DESCRIBING)
    assert options.declaration == "namespaces"
    assert [(option.field, option.flags, option.default, option.choices) for option in options] == [
        ("kind", ("--kind",), "petrol", ("petrol", "steam")),
        ("path", ("--path",), None, None),
        ("size", ("--size", "--width"), 2, None),
    ]
    assert options.namespaces == {"path": "model", "size": "model", "kind": "exec.motor"}
