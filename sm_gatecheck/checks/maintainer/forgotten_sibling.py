"""GC302: an exact or a family test that knows a GPU and forgets its sibling (SM120 without SM121, SM100 without SM103)."""

from __future__ import annotations

import ast
import re

from sm_gatecheck.checks.subject import Remark, Remarks, Subject
from sm_gatecheck.checks.surroundings import ancestors
from sm_gatecheck.evaluate.interpreter import source_text
from sm_gatecheck.verdicts.device_tests import DeviceTest

RULE = "GC302"
COMMENT_LINES = 3
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SIBLINGS = (((120,), 121), ((100,), 103), ((100, 120), 110))
"""Whoever admits the first is likely to mean the second too."""


def of_tree(subject: Subject) -> Remarks:
    """A remark for each test and SM that it forgets."""
    for tests in subject.tests.by_place:
        test = tests[0]
        if len(tests) > 1 or not test.is_plain or not subject.is_served(test.module.path) or not _is_exact(test.node):
            continue
        for known, forgotten in SIBLINGS:
            if _forgets(subject, test, subject.bits(*known), subject.bits(forgotten)):
                source = source_text(test.module, test.node)
                named = subject.named(subject.bits(*known))
                message = f"`{source}` holds on {named} and not on SM{forgotten}, and nothing beside it asks for SM{forgotten}"
                yield Remark(test.module.path, test.line, message, subject.bits(forgotten), (test.qualname, source, str(forgotten)))


def _is_exact(node: ast.expr) -> bool:
    return isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.Eq, ast.NotEq, ast.In, ast.NotIn))


def _forgets(subject: Subject, test: DeviceTest, known: int, forgotten: int) -> bool:
    """Whether a test tells an SM from those beside it, and no other test of its function has it in mind."""
    meant = test.held
    if isinstance(test.node, ast.Compare) and isinstance(test.node.ops[0], (ast.NotEq, ast.NotIn)):
        meant = test.reached & ~test.held
    if known & ~meant or forgotten & meant or not forgotten & test.reached:
        return False
    if len({sm // 10 for sm in subject.space.members(test.reached)}) == 1:
        return False  # only this family is asked: its members are told apart on purpose
    if _is_meant_alone(subject, test, known, forgotten):
        return False
    others = subject.tests.by_function.get((test.module.path, test.qualname), ())
    return not any(_has_in_mind(other, known, forgotten) for other in others if other.node is not test.node)


def _is_meant_alone(subject: Subject, test: DeviceTest, known: int, forgotten: int) -> bool:
    """Whether the function's docstring, or a comment just above, names a product of the one SM and none of the other."""
    function = next((node for node in reversed(ancestors(test.module, test.node)) if isinstance(node, _FUNCTIONS)), None)
    above = [line for line in test.module.lines[max(test.line - 1 - COMMENT_LINES, 0) : test.line] if "#" in line]
    text = "\n".join([(ast.get_docstring(function) or "") if function is not None else "", *above])
    return _names_product(subject, known, text) and not _names_product(subject, forgotten, text)


def _names_product(subject: Subject, bits: int, text: str) -> bool:
    names = [name for target in subject.session.devices for name in target.products if subject.session.devices.bit(target.sm) & bits]
    return any(re.search(rf"\b{re.escape(name)}\b", text) for name in names)


def _has_in_mind(other: DeviceTest, known: int, forgotten: int) -> bool:
    """Whether a test singles an SM out of a few, or tells it from its siblings."""
    asked = other.held if bin(other.held).count("1") <= bin(other.reached & ~other.held).count("1") else other.reached & ~other.held
    return bool(asked & forgotten) and not asked & known
