"""What an analysis did not follow: functions that were left, callers that were not looked for, tests that were not understood."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sm_gatecheck.evaluate.interpreter import source_text
from sm_gatecheck.model.gaps import NotFollowed, Reason, in_order
from sm_gatecheck.model.report import Diagnostic
from sm_gatecheck.program.modules import Module
from sm_gatecheck.target.resolution import Outcome
from sm_gatecheck.target.scan import Summary
from sm_gatecheck.target.session import Session

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
SOURCE_LIMIT = 120


@dataclass(frozen=True)
class Guards:
    """The tests on the way to anything that an option bears on: those that the target decides, and those that only name it."""

    resolved: int
    opaque: tuple[NotFollowed, ...]


def guards_met(session: Session, summaries: Iterable[Summary]) -> Guards:
    """Every test once, however many places it guards."""
    resolved: set[int] = set()
    asked: dict[int, tuple[Module, ast.AST]] = {}
    for summary in summaries:
        for event in summary.events:
            for guard in event.guards:
                key = id(guard.node)
                if key in resolved:
                    continue
                if guard.condition.depends_on_target():
                    resolved.add(key)
                    asked.pop(key, None)
                elif key not in asked and guard.condition.atom is not None:
                    asked[key] = (guard.module, guard.node)
    return Guards(len(resolved), tuple(_opaque(session, asked.values())))


def _opaque(session: Session, tests: Iterable[tuple[Module, ast.AST]]) -> Iterator[NotFollowed]:
    names = session.device_names
    for module, node in tests:
        source = source_text(module, node)
        if not names.isdisjoint(_IDENTIFIER.findall(source)):
            yield NotFollowed(Reason.GUARD_OPAQUE, source[:SOURCE_LIMIT], module.path, getattr(node, "lineno", 1))


def functions_left(summaries: Iterable[Summary]) -> Iterator[NotFollowed]:
    """Functions that were not followed to their end."""
    for summary in summaries:
        if summary.left is not None:
            yield NotFollowed(summary.left, summary.qualname or "the top level", summary.module.path, summary.line)


def callers_left(session: Session) -> Iterator[NotFollowed]:
    """Functions that bear on an option and whose callers were not all followed."""
    for summary, reason in session.reach.left.values():
        yield NotFollowed(reason, summary.qualname, summary.module.path, summary.line)


def resolution_left(session: Session, outcome: Outcome) -> Iterator[NotFollowed]:
    """Resolution, where it was not followed to its end."""
    if outcome.left is not None:
        place = next(iter(session.options), None)
        yield NotFollowed(outcome.left, outcome.unfinished or "", "" if place is None else place.file, 1)


def files_left(diagnostics: Iterable[Diagnostic]) -> Iterator[NotFollowed]:
    """Files that were left out."""
    for diagnostic in diagnostics:
        yield NotFollowed(Reason.FILE_LEFT_OUT, diagnostic.message, diagnostic.file, diagnostic.line)


def all_left(session: Session, outcome: Outcome, diagnostics: Iterable[Diagnostic]) -> tuple[int, tuple[NotFollowed, ...]]:
    """How many tests were resolved, and everything that an analysis did not follow."""
    summaries = session.scan.summaries()
    guards = guards_met(session, summaries)
    gaps = (
        *resolution_left(session, outcome),
        *functions_left(summaries),
        *callers_left(session),
        *guards.opaque,
        *files_left(diagnostics),
    )
    return guards.resolved, in_order(gaps)
