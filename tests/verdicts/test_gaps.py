"""What was not followed is said, each reason where it occurs and only there."""

from __future__ import annotations

from pathlib import Path

import pytest

from sm_gatecheck.evaluate import interpreter
from sm_gatecheck.model.condition import Condition, SpaceExhausted
from sm_gatecheck.model.gaps import MEANING, NotFollowed, Reason, counted_by_reason, in_order
from sm_gatecheck.model.report import Report, Source
from sm_gatecheck.target import scan
from sm_gatecheck.target.reach import Reach
from sm_gatecheck.target.rules import open_rules
from sm_gatecheck.target.scan import Summary
from sm_gatecheck.target.session import Session
from sm_gatecheck.trees.tree import Tree
from sm_gatecheck.verdicts.analysis import analyse
from sm_gatecheck.verdicts.gaps import resolution_left
from sm_gatecheck.verdicts.request import Request

FIXTURES = Path(__file__).parents[2] / "fixtures"
EXTRA = "srt/layers/extra.py"
HEAD = """import torch
from sglang.srt.server_args import get_global_server_args
from sglang.srt.utils import get_device_sm, is_sm90_supported

"""


def report_on(extra: str = "") -> Report:
    """The report on the fusion story with one more module."""
    package = FIXTURES / "fusion-story" / "sglang"
    files = {path.relative_to(package).as_posix(): path.read_bytes() for path in sorted(package.rglob("*.py"))}
    if extra:
        files[EXTRA] = (HEAD + extra).encode()
    tree = Tree(Source("story", "package", None), dict(sorted(files.items())))
    return analyse(tree, Request(sms=(90, 120), use_cache=False, processes=1))


def of(report: Report, reason: Reason) -> set[str]:
    return {gap.what for gap in report.not_followed if gap.reason is reason and gap.file == EXTRA}


PLAIN = """
def mixed(x):
    if is_sm90_supported() and get_global_server_args().enable_wide_loads:
        return torch.ops.tiny.mix(x)
    return x


class Layer:
    def mix(self, x):
        if get_global_server_args().queue_order == "arrival":
            return mixed(x)
        return x
"""


def test_nothing_is_left_of_a_plain_function() -> None:
    report = report_on(PLAIN)
    assert {gap.reason for gap in report.not_followed if gap.file == EXTRA} == set()
    assert report.statistics.coverage.gates_resolved > report_on().statistics.coverage.gates_resolved > 0
    assert report.statistics.coverage.gates_unresolved == 0


def test_a_function_of_too_many_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    long = PLAIN.replace("    return x\n\n\nclass", "    " + "x = x + 1\n    " * 400 + "return x\n\n\nclass")
    monkeypatch.setattr(interpreter, "STEP_LIMIT", 1000)
    report = report_on(long)
    assert of(report, Reason.FUNCTION_STEPS) == {"mixed"}


def test_a_function_whose_conditions_grow_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "NODE_LIMIT", 4)
    tests = "".join(f"    if x.a{n} or x.b{n}:\n        x.c{n} = get_global_server_args().enable_wide_loads\n" for n in range(8))
    report = report_on(PLAIN.replace("def mixed(x):\n", "def mixed(x):\n" + tests))
    assert "mixed" in of(report, Reason.FUNCTION_CONDITIONS)


def test_a_function_that_nests_too_deep() -> None:
    deep = "x" + " + 1" * 900
    report = report_on(PLAIN.replace("    return x\n\n\nclass", f"    return {deep}\n\n\nclass"))
    assert "mixed" in of(report, Reason.FUNCTION_DEPTH)


def test_a_name_that_stands_everywhere() -> None:
    others = "".join(f"\n\nclass Other{n}:\n    def mixed(self, x):\n        return x + {n}\n" for n in range(6))
    assert of(report_on(PLAIN + others), Reason.CALLERS_MANY) == {"mixed"}


@pytest.mark.parametrize(
    "extra",
    [
        PLAIN.replace("def mixed", "@torch.tiny.wrap\ndef mixed"),
        PLAIN.replace("return mixed(x)", "x.map(mixed)\n            return mixed(x)"),
        PLAIN + '\n\ndef choose(module, kind, x):\n    return getattr(module, "mix" + kind)(x)\n',
    ],
    ids=["decorated", "handed on", "computed name"],
)
def test_a_function_that_is_called_out_of_sight(extra: str) -> None:
    assert "mixed" in of(report_on(extra), Reason.CALLERS_HIDDEN)


def test_too_many_ways_that_lead_to_a_function(monkeypatch: pytest.MonkeyPatch) -> None:
    followed = Reach._called

    def called(self: Reach, summary: Summary, depth: int) -> Condition:
        if summary.name == "mixed":
            raise SpaceExhausted
        return followed(self, summary, depth)

    monkeypatch.setattr(Reach, "_called", called)
    report = report_on(PLAIN)
    assert of(report, Reason.CALLERS_CONDITIONS) == {"mixed"}


def test_a_test_that_names_the_gpu_and_is_not_understood() -> None:
    odd = PLAIN.replace("if is_sm90_supported() and", "if get_device_sm() + x.shape[0] > 95 and")
    report = report_on(odd)
    (gap,) = [gap for gap in report.not_followed if gap.reason is Reason.GUARD_OPAQUE]
    assert gap.file == EXTRA
    assert "get_device_sm() + x.shape[0] > 95" in gap.what
    assert report.statistics.coverage.gates_unresolved == 1


def test_a_file_that_is_left_out() -> None:
    report = report_on("def broken(:\n")
    assert [(gap.file, gap.reason) for gap in report.not_followed if gap.file == EXTRA] == [(EXTRA, Reason.FILE_LEFT_OUT)]


def session(files: dict[str, bytes]) -> Session:
    return Session(files, open_rules(None), cuda="12.9", settings={}, version=None)


def test_resolution_that_is_not_found() -> None:
    bare = session({"srt/other.py": b"x = 1\n"})
    assert [gap.reason for gap in resolution_left(bare, bare.resolver.run({}))] == [Reason.NO_RESOLUTION]


def test_resolution_of_too_many_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    package = FIXTURES / "many-writers" / "sglang"
    whole = session({path.relative_to(package).as_posix(): path.read_bytes() for path in sorted(package.rglob("*.py"))})
    assert list(resolution_left(whole, whole.resolver.run({}))) == []
    monkeypatch.setattr(interpreter, "STEP_LIMIT", 10)
    (gap,) = resolution_left(whole, whole.resolver.run({"tp_size": 2}))
    assert gap.reason is Reason.RESOLUTION_STEPS
    assert gap.file == "srt/server_args.py"


def test_every_reason_is_put_into_words_once() -> None:
    assert set(MEANING) == set(Reason)
    assert len(set(MEANING.values())) == len(Reason)


def test_gaps_are_counted_and_ordered_by_reason() -> None:
    gaps = [
        NotFollowed(Reason.GUARD_OPAQUE, "b", "b.py", 1),
        NotFollowed(Reason.FUNCTION_STEPS, "a", "z.py", 9),
        NotFollowed(Reason.GUARD_OPAQUE, "a", "a.py", 5),
        NotFollowed(Reason.GUARD_OPAQUE, "b", "b.py", 1),
    ]
    assert [gap.file for gap in in_order(gaps)] == ["z.py", "a.py", "b.py"]
    assert counted_by_reason(in_order(gaps)) == {Reason.FUNCTION_STEPS: 1, Reason.GUARD_OPAQUE: 2}
