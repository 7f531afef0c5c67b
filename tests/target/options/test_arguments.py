"""Arguments added by hand, the first way of declaring options."""

from __future__ import annotations

import pytest

from tests.target.options.trees import by_hand, table


def test_a_field_and_its_flag_are_one_option() -> None:
    options = by_hand('parser.add_argument("--speed", type=int, default=ServerArgs.speed, help="How fast.")')
    (speed,) = options
    assert (speed.field, speed.flags, speed.default, speed.type, speed.help) == ("speed", ("--speed",), 3, "int", "How fast.")


def test_the_place_is_that_of_the_field() -> None:
    options = table("""\
        class ServerArgs:
            first: int = 1
            second: int = 2

            def add_cli_args(parser):
                parser.add_argument("--second", type=int)
        """)
    assert [(option.field, option.file, option.line) for option in options] == [
        ("first", "srt/server_args.py", 2),
        ("second", "srt/server_args.py", 3),
    ]


def test_an_argument_without_field_is_an_option_where_it_is_added() -> None:
    options = by_hand('parser.add_argument("--config-file", type=str)', fields="speed: int = 3")
    assert options.by_field["config_file"].line == 9


def test_a_field_without_flag_keeps_its_own_default() -> None:
    options = by_hand("pass", fields="on_exit: 'Callable | None' = None\nretries: int = 4")
    assert [(option.field, option.flags, option.default, option.action, option.type) for option in options] == [
        ("on_exit", (), None, "none", "Optional[Callable]"),
        ("retries", (), 4, "none", "int"),
    ]


@pytest.mark.parametrize(
    ("head", "choices", "expected"),
    [
        ('COLOURS = ["red", "blue"]', "COLOURS", ("red", "blue")),
        ('COLOURS = ["red"]\nMORE = ["blue"]', 'COLOURS + MORE + ["none"]', ("red", "blue", "none")),
        ('COLOURS = {"red": 1, "blue": 2}', "list(COLOURS.keys())", ("red", "blue")),
        ('COLOURS = {"red": 1, "blue": 2}', "COLOURS", ("red", "blue")),
        ('COLOURS = {"red", "blue"}', "COLOURS", ("blue", "red")),
        ('COLOURS = {"red", "blue"}', "sorted(COLOURS, reverse=True)", ("red", "blue")),
        ("COLOURS = range(3)", "COLOURS", (0, 1, 2)),
        ('COLOURS = ["red"]\nCOLOURS.append("blue")', "COLOURS", ("red", "blue")),
        ('COLOURS = ["red"]\nCOLOURS += ["blue"]', "[*COLOURS]", ("red", "blue")),
        ('COLOURS = ["red"]\ndef add(more):\n    COLOURS.extend(more)\nadd(["blue"])', "COLOURS", ("red", "blue")),
        ('COLOURS = ["red"]\nadd = COLOURS.extend\nadd(["blue"])', "COLOURS", ("red", "blue")),
        ('import enum\nclass Colour(enum.Enum):\n    RED = "r"\n    BLUE = "b"', "[c.value for c in Colour]", ("r", "b")),
        ('import enum\nclass Colour(enum.Enum):\n    RED = "r"\n    BLUE = "b"', "[c.name.lower() for c in Colour]", ("red", "blue")),
        ('import enum\nclass Colour(str, enum.Enum):\n    RED = "r"\n    BLUE = "b"', "list(Colour)", ("r", "b")),
        ('class Colour:\n    RED = "r"\n    BLUE = "b"\n    ALL = (RED, BLUE)', "Colour.ALL", ("r", "b")),
        ('def colours():\n    found = ["red"]\n    found.append("blue")\n    return found', "colours()", ("red", "blue")),
        ('from typing import Literal, get_args\nColour = Literal["red", "blue"]', "list(get_args(Colour))", ("red", "blue")),
    ],
)
def test_choices_are_followed(head: str, choices: str, expected: tuple[object, ...]) -> None:
    options = by_hand(f'parser.add_argument("--speed", choices={choices})', head=head)
    assert options.by_field["speed"].choices == expected
    assert options.gaps == ()


def test_choices_are_followed_through_reexports() -> None:
    options = by_hand(
        'parser.add_argument("--speed", choices=["none"] + COLOURS)',
        head="from sglang.srt.palette import COLOURS",
        palette="from .paints import PAINTS as COLOURS",
        paints='PAINTS = ["red"]',
    )
    assert options.by_field["speed"].choices == ("none", "red")


def test_choices_that_cannot_be_read_are_told() -> None:
    options = by_hand('parser.add_argument("--speed", choices=COLOURS)', head="from sglang.srt.absent import COLOURS")
    assert options.by_field["speed"].choices is None
    assert [(gap.field, gap.what, gap.reason) for gap in options.gaps] == [("speed", "choices", "sglang.srt.absent is not in the tree")]


def test_a_default_that_is_no_literal_is_given_as_source() -> None:
    options = by_hand('parser.add_argument("--speed", default=measure())', head="from elsewhere import measure")
    speed = options.by_field["speed"]
    assert (speed.default, speed.default_source) == (None, "measure()")
    assert [gap.what for gap in options.gaps] == ["default"]


def test_a_loop_over_a_table_adds_an_argument_a_row() -> None:
    options = by_hand(
        """
        for name, start in TABLE.items():
            parser.add_argument(f"--{name}-limit", default=start)
        """,
        head='TABLE = {"cpu": 1, "gpu": 2}',
    )
    assert [(option.field, option.default) for option in options] == [("cpu_limit", 1), ("gpu_limit", 2), ("speed", 3)]


def test_helpers_and_other_classes_that_are_given_the_parser_are_followed() -> None:
    options = by_hand(
        "add_more(parser, prefix='extra')\nLogging.add_cli_args(parser)",
        head="""
        from sglang.srt.logs import Logging
        def add_more(target, prefix):
            target.add_argument("--" + prefix + "-speed", type=int)
        """,
        logs="""
        class Logging:
            @classmethod
            def add_cli_args(cls, parser):
                parser.add_argument("--log-file")
        """,
    )
    assert [option.field for option in options] == ["extra_speed", "log_file", "speed"]


def test_groups_are_the_parser() -> None:
    options = by_hand("""
        group = parser.add_argument_group("tuning")
        either = group.add_mutually_exclusive_group()
        either.add_argument("--fast", action="store_true")
        either.add_argument("--slow", action="store_true")
        """)
    assert [(option.field, option.default) for option in options] == [("fast", False), ("slow", False), ("speed", 3)]


def test_a_bound_add_argument_is_followed() -> None:
    options = by_hand('add = parser.add_argument\nadd("--fast", action="store_true")')
    assert options.by_field["fast"].action == "store_true"


def test_an_argument_under_a_condition_that_cannot_be_decided_is_accepted() -> None:
    options = by_hand("""
        if machine_has_fans():
            parser.add_argument("--fans", type=int, default=2)
        else:
            parser.add_argument("--pumps", type=int)
        parser.add_argument("--speed", type=int)
        """)
    assert {"fans", "pumps", "speed"} <= set(options.by_field)


def test_what_only_the_environment_adds_is_not_there() -> None:
    options = by_hand(
        """
        colours = set(COLOURS)
        if os.environ.get("ALL_COLOURS"):
            colours.add("infrared")
        parser.add_argument("--speed", choices=colours)
        """,
        head='import os\nCOLOURS = ["red"]',
    )
    assert options.by_field["speed"].choices == ("red",)


def test_an_environment_descriptor_answers_its_default() -> None:
    options = by_hand(
        """
        colours = ["red"]
        if flags.INFRARED.get():
            colours.append("infrared")
        parser.add_argument("--speed", choices=colours)
        """,
        head="from sglang.srt.flags import flags",
        flags="""
        import os
        class Flag:
            def __init__(self, default):
                self.default = default
            def __set_name__(self, owner, name):
                self.name = name
            def get(self):
                value = os.getenv(self.name)
                return self.default if value is None else value == "1"
        class Quiet(Flag):
            def __init__(self, default):
                super().__init__(default)
        class Flags:
            INFRARED = Quiet(True)
        flags = Flags()
        """,
    )
    assert options.by_field["speed"].choices == ("red", "infrared")


def test_a_stored_name_is_copied_to_the_field() -> None:
    options = table("""
        class ServerArgs:
            width: int = 1

            @staticmethod
            def add_cli_args(parser):
                parser.add_argument("--full-width", "--width", type=int, default=ServerArgs.width)

            @classmethod
            def from_cli_args(cls, args):
                args.width = args.full_width
                return cls(width=args.width)
        """)
    (width,) = options
    assert (width.field, width.flags, width.aliases) == ("width", ("--full-width", "--width"), ("--full-width",))


def test_dest_names_the_field() -> None:
    options = by_hand('parser.add_argument("--pace", dest="speed", type=int, default=5)')
    (speed,) = options
    assert (speed.flags, speed.default) == (("--pace",), 5)


@pytest.mark.parametrize(
    ("keywords", "action", "default"),
    [
        ('action="store_true"', "store_true", False),
        ('action="store_false"', "store_false", True),
        ('action="store_true", default=None', "store_true", None),
        ('action="append"', "append", None),
        ("type=int", "store", None),
    ],
)
def test_actions_have_the_defaults_of_argparse(keywords: str, action: str, default: object) -> None:
    option = by_hand(f'parser.add_argument("--fast", {keywords})').by_field["fast"]
    assert (option.action, option.default) == (action, default)


def test_a_boolean_optional_action_adds_the_negated_flag() -> None:
    option = by_hand('parser.add_argument("--fast", "-f", action=argparse.BooleanOptionalAction)').by_field["fast"]
    assert (option.flags, option.default, option.is_boolean) == (("--fast", "--no-fast", "-f"), None, True)


def test_help_and_version_store_nothing() -> None:
    options = by_hand('parser.add_argument("--usage", action="help")\nparser.add_argument("--version", action="version")')
    assert [option.field for option in options] == ["speed"]


DEPRECATED = """
class DeprecatedRename(argparse.Action):
    def __init__(self, option_strings, dest, new_flag=None, const_value=None, nargs=0, default=False, **kwargs):
        super().__init__(option_strings, dest, nargs=nargs, default=default, **kwargs)
"""


def test_a_deprecated_flag_stands_apart_and_says_what_it_became() -> None:
    options = by_hand(
        """
        parser.add_argument("--speed", type=int, default=3)
        parser.add_argument("--fast", action=DeprecatedRename, dest="speed", new_flag="--speed", const_value=9, default=argparse.SUPPRESS)
        """,
        head=DEPRECATED,
    )
    (speed,) = options
    assert (speed.flags, speed.deprecated_flags, speed.default) == (("--speed",), ("--fast",), 3)
    (deprecation,) = options.deprecations
    assert (deprecation.flag, deprecation.field, deprecation.replacement, deprecation.value) == ("--fast", "speed", "--speed", 9)


def test_the_only_flag_of_a_field_may_be_deprecated() -> None:
    options = by_hand('parser.add_argument("--speed", action=DeprecatedRename)', head=DEPRECATED)
    (speed,) = options
    assert (speed.flags, speed.deprecated_flags, speed.action, speed.default) == ((), ("--speed",), "deprecated", False)


def test_an_action_class_may_come_from_another_module() -> None:
    options = by_hand(
        'parser.add_argument("--speed", action=Rename)',
        head="from sglang.srt.actions import DeprecatedRename as Rename",
        actions="import argparse\n" + DEPRECATED,
    )
    assert options.by_field["speed"].deprecated_flags == ("--speed",)


def test_names_and_keywords_may_be_spread() -> None:
    options = by_hand("parser.add_argument(*NAMES, **COMMON)", head='NAMES = ["--fast", "--quick"]\nCOMMON = dict(nargs="+", default=[1])')
    fast = options.by_field["fast"]
    assert (fast.flags, fast.nargs, fast.default) == (("--fast", "--quick"), "+", [1])


def test_defaults_set_on_the_parser_count() -> None:
    options = by_hand('parser.add_argument("--speed", type=int)\nparser.set_defaults(speed=8)')
    assert options.by_field["speed"].default == 8


def test_fields_of_bases_are_fields() -> None:
    options = table("""
        class Base:
            speed: int = 3

        class ServerArgs(Base):
            pace: float = 0.5

            def add_cli_args(parser):
                parser.add_argument("--speed", type=int, default=ServerArgs.speed)
        """)
    assert [(option.field, option.default) for option in options] == [("pace", 0.5), ("speed", 3)]


def test_a_default_factory_is_called() -> None:
    options = by_hand("pass", head="import dataclasses", fields='names: list[str] = dataclasses.field(default_factory=lambda: ["a", "b"])')
    assert options.by_field["names"].default == ["a", "b"]


def test_class_variables_are_no_options() -> None:
    assert len(by_hand("pass", head="from typing import ClassVar", fields="LIMIT: ClassVar[int] = 3")) == 0


def test_every_spelling_leads_to_its_option() -> None:
    options = by_hand('parser.add_argument("--speed", "-s", type=int)')
    assert options.by_flag["-s"] is options.by_flag["--speed"]
