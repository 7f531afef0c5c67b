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
from sm_gatecheck.target.scan import Key, Summary
from sm_gatecheck.target.session import Session
from sm_gatecheck.verdicts.sites import NoSites, SiteIndex

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
SOURCE_LIMIT = 120


Place = tuple[str, int, int]


@dataclass
class Followed:
    """What one process followed, and what it did not; of what several followed, ``together`` makes one."""

    resolved: set[Place]
    """Tests that the target decides, on the way to something that an option bears on."""
    opaque: dict[Place, NotFollowed]
    """Tests there that name the target in a way that was not understood."""
    left: set[NotFollowed]
    parsed: set[str]
    """Paths of files."""
    sites: dict[Key, int]
    """How many sites each function has."""

    def gaps(self) -> Iterator[NotFollowed]:
        yield from self.left
        for place, gap in self.opaque.items():
            if place not in self.resolved:
                yield gap


def followed(session: Session, sites: SiteIndex | NoSites) -> Followed:
    """What was followed in this process so far."""
    summaries = session.scan.summaries()
    resolved, asked = _tests_met(summaries)
    return Followed(
        resolved,
        dict(_opaque(session, asked)),
        {*functions_left(summaries), *callers_left(session)},
        {module.path for module in session.program.modules() if "syntax" in module.__dict__},
        sites.counted(),
    )


def together(parts: Iterable[Followed]) -> Followed:
    """Several processes' work as one: a test that one of them resolved is resolved."""
    whole = Followed(set(), {}, set(), set(), {})
    for part in parts:
        whole.resolved |= part.resolved
        whole.opaque.update(part.opaque)
        whole.left |= part.left
        whole.parsed |= part.parsed
        whole.sites.update(part.sites)
    return whole


def _tests_met(summaries: Iterable[Summary]) -> tuple[set[Place], dict[Place, tuple[Module, ast.AST]]]:
    """Every test on the way to something that an option bears on, once: those that the target decides, and the others."""
    resolved: set[Place] = set()
    asked: dict[Place, tuple[Module, ast.AST]] = {}
    for summary in summaries:
        for event in summary.events:
            for guard in event.guards:
                place = guard.module.path, getattr(guard.node, "lineno", 1), getattr(guard.node, "col_offset", 0)
                if place in resolved:
                    continue
                if guard.condition.depends_on_target():
                    resolved.add(place)
                    asked.pop(place, None)
                elif place not in asked and guard.condition.atom is not None:
                    asked[place] = (guard.module, guard.node)
    return resolved, asked


def _opaque(session: Session, tests: dict[Place, tuple[Module, ast.AST]]) -> Iterator[tuple[Place, NotFollowed]]:
    names = session.device_names
    for place, (module, node) in tests.items():
        source = source_text(module, node)
        if not names.isdisjoint(_IDENTIFIER.findall(source)):
            yield place, NotFollowed(Reason.GUARD_OPAQUE, source[:SOURCE_LIMIT], module.path, place[1])


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


def all_left(session: Session, work: Followed, outcome: Outcome, diagnostics: Iterable[Diagnostic]) -> tuple[NotFollowed, ...]:
    """Everything that an analysis did not follow, in order."""
    return in_order((*resolution_left(session, outcome), *work.gaps(), *files_left(diagnostics)))
