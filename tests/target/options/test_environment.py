"""Environment variables, where they are declared or read."""

from __future__ import annotations

import pytest

from tests.target.options.trees import variables


@pytest.mark.parametrize(
    ("read", "kind", "default", "source"),
    [
        ('os.getenv("SGLANG_X")', "str", None, None),
        ('os.getenv("SGLANG_X", "fast")', "str", "fast", None),
        ('os.environ.get("SGLANG_X", default="fast")', "str", "fast", None),
        ('os.environ["SGLANG_X"]', "str", None, None),
        ('"SGLANG_X" in os.environ', "str", None, None),
        ('"SGLANG_X" not in os.environ', "str", None, None),
        ('int(os.getenv("SGLANG_X", "4"))', "int", 4, None),
        ('float(os.environ.get("SGLANG_X", 0.5))', "float", 0.5, None),
        ('get_bool_env_var("SGLANG_X")', "bool", False, None),
        ('get_bool_env_var("SGLANG_X", "true")', "bool", True, None),
        ('utils.get_int_env_var("SGLANG_X", 7)', "int", 7, None),
        ('os.getenv("SGLANG_X", os.path.join("a", "b"))', "str", None, "os.path.join('a', 'b')"),
        ('os.getenv(\n    "SGLANG_X",\n    "fast",\n)', "str", "fast", None),
        ("os.getenv(NAME)", "str", None, None),
    ],
)
def test_a_read_gives_name_type_and_default(read: str, kind: str, default: object, source: str | None) -> None:
    found = variables(reading=f'import os\nNAME = "SGLANG_X"\nvalue = {read}\n')
    (option,) = found.values()
    assert (option.field, option.type, option.default, option.default_source) == ("env:SGLANG_X", kind, default, source)
    assert (option.file, option.line, option.flags) == ("srt/reading.py", 3, ())


@pytest.mark.parametrize(
    "text",
    [
        'os.environ["SGLANG_X"] = "1"',
        '# os.getenv("SGLANG_X")',
        '"""Set it by os.environ["SGLANG_X"]."""',
        "os.environ[name]",
        'settings.get("SGLANG_X")',
        'print("SGLANG_X")',
    ],
)
def test_what_reads_no_variable_is_none(text: str) -> None:
    assert variables(reading=f"import os\n{text}\n") == {}


def test_a_function_that_reads_what_it_is_told_is_a_reader() -> None:
    found = variables(
        settings="""
        import os
        def env_flag(name, default=False):
            return os.getenv(name, "0") == "1"
        def lazy_int(key, default):
            def value():
                return int(os.getenv(key, default))
            return value
        WIDTH = lazy_int("SGLANG_WIDTH", 8)
        """,
        elsewhere='from sglang.srt.settings import env_flag\nFAST = env_flag("SGLANG_FAST", True)\n',
    )
    assert {name: (option.type, option.default) for name, option in found.items()} == {
        "SGLANG_FAST": ("bool", True),
        "SGLANG_WIDTH": ("int", 8),
    }


def test_a_descriptor_declares_the_variable_under_its_own_name() -> None:
    found = variables(
        declared="""
        class EnvBool: ...
        class EnvInt: ...
        class Envs:
            SGLANG_FAST = EnvBool(True)
            SGLANG_BYTES = EnvInt(2 * 1024)
            SGLANG_WHERE = EnvStr(find_place())
            SGLANG_NEW = EnvBoolWithAlias(False, deprecated_name="SGLANG_OLD")
        """
    )
    assert {name: (option.type, option.default, option.default_source, option.action) for name, option in found.items()} == {
        "SGLANG_BYTES": ("int", 2048, None, "none"),
        "SGLANG_FAST": ("bool", True, None, "none"),
        "SGLANG_NEW": ("bool", False, None, "none"),
        "SGLANG_OLD": ("bool", None, None, "deprecated"),
        "SGLANG_WHERE": ("str", None, "find_place()", "none"),
    }


def test_a_descriptor_may_be_told_its_name() -> None:
    found = variables(
        declared="""
        import os
        class GatedBool:
            def get(self):
                return os.environ.get(self._name)
        class Flags:
            SGLANG_FAST = GatedBool("SGLANG_FAST", True)
        """
    )
    assert (found["SGLANG_FAST"].type, found["SGLANG_FAST"].default, found["SGLANG_FAST"].line) == ("bool", True, 7)


def test_the_declaration_counts_before_any_read() -> None:
    found = variables(
        a='import os\nos.getenv("SGLANG_FAST", "maybe")\n',
        b="class Envs:\n    SGLANG_FAST = EnvBool(None)\n",
    )
    assert (found["SGLANG_FAST"].file, found["SGLANG_FAST"].default, found["SGLANG_FAST"].type) == ("srt/b.py", None, "bool")


def test_the_first_read_is_the_place_and_the_first_default_counts() -> None:
    found = variables(a='import os\nos.environ["SGLANG_N"]\n', b='import os\nint(os.getenv("SGLANG_N", "4"))\n')
    assert (found["SGLANG_N"].file, found["SGLANG_N"].type, found["SGLANG_N"].default) == ("srt/a.py", "int", 4)


def test_what_tests_read_is_no_variable_of_the_server() -> None:
    assert variables(**{"test/reading": 'import os\nos.getenv("SGLANG_X")\n'}) == {}
