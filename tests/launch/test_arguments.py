"""Arguments against ``argparse`` itself: the same words, the same options, the same values or the same refusal."""

from __future__ import annotations

import argparse
import contextlib
import io
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sm_gatecheck.launch.arguments import Parsed, parse_arguments
from sm_gatecheck.launch.located import SourceText, Word
from sm_gatecheck.model.option import Option
from sm_gatecheck.target.options import Deprecation, OptionTable
from tests.launch.tables import made

OPTIONS = (
    Option("tp_size", ("--tensor-parallel-size", "--tp-size"), type="int", default=1),
    Option("table", ("--table",), type="Optional[str]"),
    Option("tablet", ("--tablet", "--no-tablet"), type="bool", default=False, action="other"),
    Option("quick", ("--quick",), type="bool", default=False, action="store_true"),
    Option("slow", ("--slow",), type="bool", default=True, action="store_false"),
    Option("share", ("--share",), type="Optional[float]"),
    Option("sizes", ("--sizes",), type="Optional[List[int]]", nargs="+"),
    Option("names", ("--names",), type="Optional[List[str]]", nargs="*"),
    Option("pair", ("--pair",), type="Optional[List[int]]", nargs=2),
    Option("mode", ("--mode",), type="str", default="a", choices=("a", "b", "left-right")),
    Option("level", ("--level",), type="int", default=1, choices=(1, 2)),
    Option("sum", ("--sum",), type="Optional[str]", nargs="?"),
    Option("more", ("--more",), type="Optional[List[str]]", action="append"),
)
TYPES: dict[str, Any] = {"tp_size": int, "share": float, "sizes": int, "pair": int, "level": int}


def words(*texts: str) -> list[Word]:
    source = SourceText("arguments", " ".join(texts))
    found, position = [], 0
    for text in texts:
        found.append(Word(source.located(position, position + len(text)), source.extent(position, position + len(text))))
        position += len(text) + 1
    return found


def parsed(*texts: str, table: OptionTable | None = None) -> Parsed:
    return parse_arguments(words(*texts), table if table is not None else made(*OPTIONS))


def real_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    for option in OPTIONS:
        keywords: dict[str, Any] = {"dest": option.field}
        if option.field == "tablet":
            parser.add_argument("--tablet", action=argparse.BooleanOptionalAction, **keywords)
            continue
        if option.action != "store":
            keywords["action"] = option.action
        if option.nargs is not None:
            keywords["nargs"] = option.nargs
        if option.action in ("store", "append") and option.field in TYPES:
            keywords["type"] = TYPES[option.field]
        if option.choices is not None:
            keywords["choices"] = option.choices
        parser.add_argument(*option.flags, **keywords)
    return parser


def really(texts: list[str]) -> dict[str, Any] | None:
    """What ``argparse`` stores; None where it refuses."""
    with contextlib.redirect_stderr(io.StringIO()):
        try:
            return vars(real_parser().parse_args(texts))
        except SystemExit:
            return None


FLAGS = [flag for option in OPTIONS for flag in option.flags]
TEXTS = st.one_of(
    st.sampled_from(FLAGS),
    st.sampled_from(
        ["--t", "--ta", "--tp", "--tab", "--q", "--s", "--si", "--n", "--no", "--m", "--mo", "--le", "--none", "-x", "-5", "-", "--"]
    ),
    st.sampled_from(["1", "2", "-3", "0.5", "a", "b", "c", "x y", "-1.5", "1e3", "", "left-right", "-a b", "--x y"]),
    st.builds(
        lambda flag, value: f"{flag}={value}",
        st.sampled_from([*FLAGS, "--ta", "--sh", "--zz"]),
        st.sampled_from(["1", "a", "0.5", "", "a=b", "--quick"]),
    ),
)


@settings(max_examples=1500, deadline=None)
@given(st.lists(TEXTS, max_size=7))
def test_words_mean_what_they_mean_to_argparse(texts: list[str]) -> None:
    real = really(texts)
    found = parsed(*texts)
    if real is None:
        assert found.problems != [], texts
        return
    assert found.problems == [], (texts, found.problems)
    values = {name: setting.value for name, setting in found.options.items()}
    # A flag with an optional value and none given stores a constant that a table does not tell: that it is set is enough.
    assert {name: value if value is not None else True for name, value in real.items()} == values


@pytest.mark.parametrize(
    ("texts", "field", "value"),
    [
        (["--tp", "4"], "tp_size", 4),
        (["--tp-size=4"], "tp_size", 4),
        (["--sizes", "1", "2", "--quick"], "sizes", [1, 2]),
        (["--no-tablet"], "tablet", False),
        (["--slow"], "slow", False),
        (["--more", "a", "--more", "b"], "more", ["a", "b"]),
        (["--share", "-0.5"], "share", -0.5),
        (["--mode=left-right"], "mode", "left-right"),
        (["--level", "2"], "level", 2),
    ],
)
def test_values_are_typed_as_declared(texts: list[str], field: str, value: Any) -> None:
    found = parsed(*texts)
    assert found.options[field].value == value
    assert type(found.options[field].value) is type(value)
    assert found.problems == []


@pytest.mark.parametrize(
    ("texts", "kind", "said"),
    [
        (["--tp_size", "4"], "unknown-flag", "did you mean --tp-size?"),
        (["--quik"], "unknown-flag", "did you mean --quick?"),
        (["--zebra", "4"], "unknown-flag", "no such option"),
        (["--ta", "x"], "ambiguous-flag", "--table, --tablet"),
        (["--table"], "missing-value", "needs a value"),
        (["--sizes", "--quick"], "missing-value", "at least one value"),
        (["--pair", "1"], "missing-value", "2 values"),
        (["--quick=yes"], "unexpected-value", "takes no value"),
        (["here"], "unexpected-argument", "'here'"),
        (["--tp", "two"], "bad-value", "takes a whole number"),
        (["--share", "0,5"], "bad-value", "takes a number"),
        (["--mode", "lef-right"], "bad-choice", "did you mean left-right?"),
        (["--mode", "zzz"], "bad-choice", "it takes a, b, left-right"),
    ],
)
def test_what_the_parser_refuses_is_told_with_the_mend(texts: list[str], kind: str, said: str) -> None:
    (problem,) = parsed(*texts).problems
    assert problem.kind == kind
    assert said in problem.message


def test_all_mistakes_are_told_at_once_each_at_its_place() -> None:
    found = parsed("--tp", "two", "--quik", "--mode", "c", "--quick")
    assert [(problem.kind, problem.span.column) for problem in found.problems] == [
        ("bad-value", 6),
        ("unknown-flag", 10),
        ("bad-choice", 24),
    ]
    assert found.options["quick"].value is True


def test_the_last_of_repeated_flags_counts_and_the_earlier_ones_are_kept() -> None:
    setting = parsed("--tp", "2", "--tensor-parallel-size", "4").options["tp_size"]
    assert (setting.value, setting.flag, setting.span.column) == (4, "--tensor-parallel-size", 8)
    assert [(earlier.value, earlier.flag) for earlier in setting.overridden] == [(2, "--tp")]


def test_deprecated_flags_store_where_the_tree_says() -> None:
    table = made(
        Option("new_size", ("--new-size",), deprecated_flags=("--old-size",), type="Optional[int]"),
        Option("backend", ("--backend",), deprecated_flags=("--use-fast",), type="Optional[str]", choices=("fast", "slow")),
        Option("gone", (), deprecated_flags=("--gone",), action="deprecated", nargs=0),
        Option("output", ("--output",), deprecated_flags=("--stream",), type="bool", action="store_true", default=False),
        deprecations=(
            Deprecation("--old-size", "new_size", "--new-size"),
            Deprecation("--use-fast", "backend", "--backend=fast", value="fast"),
            Deprecation("--gone", "gone"),
            Deprecation("--stream", "output", "--output"),
        ),
    )
    found = parsed("--old-size", "3", "--use-fast", "--gone", "--stream", table=table)
    assert {name: setting.value for name, setting in found.options.items()} == {
        "new_size": 3,
        "backend": "fast",
        "gone": True,
        "output": True,
    }
    assert all(setting.is_deprecated for setting in found.options.values())
    assert [name for name, setting in found.options.items() if not setting.is_stored] == ["gone"]
    assert found.problems == []
    assert parsed("--use-fast", "yes", "--new-size", "2", table=table).problems == []


def test_without_a_table_flags_are_taken_at_their_word() -> None:
    found = parse_arguments(words("--tp", "4", "--quick", "--sizes", "1", "-2", "--mode=a"), None)
    assert {name: setting.value for name, setting in found.options.items()} == {"tp": "4", "quick": True, "sizes": ["1", "-2"], "mode": "a"}


def test_flags_of_the_entry_point_itself_are_passed_over() -> None:
    found = parse_arguments(words("--policy", "cache", "--tp", "4", "--worker-urls", "a", "b"), made(*OPTIONS), has_own_flags=True)
    assert {name: setting.value for name, setting in found.options.items()} == {"tp_size": 4}
    assert found.problems == []
