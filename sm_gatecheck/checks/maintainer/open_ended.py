"""GC301: a comparison without an upper end admits the consumer GPUs of a family whose sibling test leaves them out."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from sm_gatecheck.checks.subject import Remark, Remarks, Subject
from sm_gatecheck.checks.surroundings import ancestors, tests_in
from sm_gatecheck.evaluate.interpreter import source_text
from sm_gatecheck.verdicts.device_tests import DeviceTest

RULE = "GC301"
SOURCE_ROOM = 80
LEAST_MAJOR = 7


def of_tree(subject: Subject) -> Remarks:
    """A remark for each such comparison, with the sibling that stands nearest."""
    late = subject.bits_of_major(12)
    near = subject.bits_of_major(10)
    bounded = [test for tests in subject.tests.by_place for test in tests if _leaves_out(test, near, late)]
    for tests in subject.tests.by_place:
        found = _open(subject, tests, late)
        if found is None:
            continue
        sibling = _sibling(subject, found, bounded)
        if sibling is not None:
            yield _remark(subject, found, sibling, late)


@dataclass(frozen=True)
class _Open:
    """A comparison with the SMs that it lets in."""

    test: DeviceTest
    admitted: int


def _open(subject: Subject, tests: tuple[DeviceTest, ...], late: int) -> _Open | None:
    test = tests[0]
    if len(tests) > 1 or not test.is_plain or not subject.is_served(test.module.path) or not isinstance(test.node, ast.Compare):
        return None
    admitted = _admitted(test)
    if not admitted & late or not admitted & ~late or _is_bounded(subject, test, admitted, late):
        return None
    return _Open(test, admitted)


def _admitted(test: DeviceTest) -> int:
    """The SMs from a lower end upwards that pass; 0 for a comparison of another form."""
    assert isinstance(test.node, ast.Compare)
    if len(test.node.ops) != 1:
        return 0
    op, below = test.node.ops[0], test.reached & ~test.held
    if isinstance(op, (ast.Gt, ast.GtE, ast.Lt, ast.LtE)):
        upper, lower = (test.held, below) if test.held > below else (below, test.held)
        return upper if not lower or lower.bit_length() <= (upper & -upper).bit_length() - 1 else 0
    return 0


def _is_bounded(subject: Subject, test: DeviceTest, admitted: int, late: int) -> bool:
    """Whether something beside the comparison, or behind it, tells the late ones from the others."""
    for around in ancestors(test.module, test.node):
        if isinstance(around, (ast.BoolOp, ast.If, ast.IfExp)):
            for other in tests_in(subject.tests, around):
                if other.node is not test.node and _separates(other, admitted & late, admitted & ~late):
                    return True
    return False


def _separates(test: DeviceTest, one: int, other: int) -> bool:
    """Whether a test answers otherwise on all of the first that it is asked on than on all of the second."""
    one, other = one & test.reached, other & test.reached
    if not one or not other:
        return False
    return (not test.held & one and bool(test.held & other)) or (not one & ~test.held and not test.held & other)


def _leaves_out(test: DeviceTest, near: int, late: int) -> bool:
    """Whether a test lets the GPUs next to the late ones in and none of those, though it is asked on them.

    What holds on one older family alone is made for that family, and is no sibling of a lower end.
    """
    return test.is_plain and bool(test.held & near) and bool(test.reached & late) and not test.held & late and _is_of_device(test.node)


def _is_of_device(node: ast.expr) -> bool:
    """Whether a comparison is one with a capability, and not with something that was made from it."""
    numbers = [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Constant) and isinstance(inner.value, int)]
    return not isinstance(node, ast.Compare) or max(numbers, default=LEAST_MAJOR) >= LEAST_MAJOR


def _sibling(subject: Subject, found: _Open, bounded: list[DeviceTest]) -> DeviceTest | None:
    """The nearest test with the same lower end in the same function or class; among the methods that resolve options, one that is
    about the same option.
    """
    lowest = found.admitted & -found.admitted
    same = [
        test
        for test in bounded
        if test.held & -test.held == lowest and test.module is found.test.module and _scope(test) == _scope(found.test)
    ]
    if _scope(found.test) in subject.option_classes or not _scope(found.test):
        about = subject.options_about(found.test)
        same = [test for test in same if about & subject.options_about(test)]
    return min(same, key=lambda test: abs(test.line - found.test.line), default=None)


def _scope(test: DeviceTest) -> str:
    """The class or the function of the module in which a test stands; nothing at the module's top level."""
    return test.qualname.partition(".")[0]


def _with_its_other_end(test: DeviceTest) -> str:
    """The source of a test, with the comparison beside it where two of them make a range."""
    around = ancestors(test.module, test.node)
    whole = around[-1] if around and isinstance(test.node, ast.Compare) and isinstance(around[-1], ast.BoolOp) else test.node
    text = source_text(test.module, whole)
    return text if len(text) <= SOURCE_ROOM else source_text(test.module, test.node)


def _remark(subject: Subject, found: _Open, sibling: DeviceTest, late: int) -> Remark:
    source, other = source_text(found.test.module, found.test.node), _with_its_other_end(sibling)
    message = (
        f"`{source}` has no upper end and lets {subject.named(found.admitted & late)} in; "
        f"`{other}` at {sibling.module.path}:{sibling.line} begins at the same GPU and leaves them out"
    )
    return Remark(found.test.module.path, found.test.line, message, found.admitted & late, (found.test.qualname, source))
