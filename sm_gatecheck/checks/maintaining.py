"""Runs every check for maintainers over one tree; a module of ``checks.maintainer`` is one."""

from __future__ import annotations

import hashlib
import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sm_gatecheck.checks import maintainer
from sm_gatecheck.checks.cards import Card
from sm_gatecheck.checks.subject import Remark, Remarks, Subject
from sm_gatecheck.model.option import Option
from sm_gatecheck.model.report import Finding
from sm_gatecheck.target.session import Session
from sm_gatecheck.verdicts.device_tests import DeviceTests
from sm_gatecheck.verdicts.judging import Judge, Trial


@dataclass(frozen=True)
class Check:
    """One check: the id of its card, and what looks at the tree, and at one option with the trials of its values."""

    rule: str
    of_tree: Callable[[Subject], Remarks]
    of_option: Callable[[Subject, Option, Sequence[Trial]], Remarks]


@cache
def maintainer_checks() -> tuple[Check, ...]:
    """Every check of the package, in the order of their ids."""
    modules = (importlib.import_module(f"{maintainer.__name__}.{found.name}") for found in pkgutil.iter_modules(maintainer.__path__))
    checks = (Check(module.RULE, getattr(module, "of_tree", _nothing), getattr(module, "of_option", _nothing)) for module in modules)
    return tuple(sorted(checks, key=lambda check: check.rule))


def _nothing(*_: Any) -> Remarks:
    return ()


class Maintenance:
    """Looks over the shoulder of an analysis, and has findings on the code instead of on the options.

    ``cards`` give the severities; ``sms`` are those asked about: what concerns none of them is left out.
    """

    name = "maintainer"

    def __init__(self, cards: Mapping[str, Card], sms: tuple[int, ...]) -> None:
        self._cards = cards
        self._sms = sms
        self._tests: DeviceTests | None = None
        self._subject: Subject | None = None

    def begin(self, session: Session) -> None:
        """Listen while the tree is followed."""
        self._tests = DeviceTests(session.interpreter)

    def ready(self, judge: Judge) -> None:
        """Listen no longer: what is run for one option is run in any order, in any process."""
        assert self._tests is not None
        self._tests.stop()
        self._subject = Subject(judge.session, judge, self._tests)

    def judged(self, option: Option, trials: Sequence[Trial]) -> tuple[tuple[str, Remark], ...]:
        """The remarks about an option, each with its rule."""
        assert self._subject is not None
        return tuple((check.rule, remark) for check in maintainer_checks() for remark in check.of_option(self._subject, option, trials))

    def findings(self, remarked: Sequence[tuple[str, Remark]]) -> tuple[Finding, ...]:
        """By rule, then by place."""
        assert self._subject is not None
        subject = self._subject
        found = {*remarked, *((check.rule, remark) for check in maintainer_checks() for remark in check.of_tree(subject))}
        ordered = sorted(found, key=lambda pair: (pair[0], pair[1].file, pair[1].line, pair[1].message))
        return tuple(finding for rule, remark in ordered if (finding := self._finding(rule, remark, subject)) is not None)

    def _finding(self, rule: str, remark: Remark, subject: Subject) -> Finding | None:
        concerned = [sm for sm in subject.space.members(remark.bits) if sm in self._sms]
        if not concerned:
            return None
        identity = "|".join((rule, *remark.key))
        fingerprint = hashlib.sha256(identity.encode("utf-8", "backslashreplace")).hexdigest()[:32]
        severity = self._cards[rule].severity
        return Finding(rule, severity, remark.option, remark.value, concerned[0], remark.message, remark.file, remark.line, fingerprint)
