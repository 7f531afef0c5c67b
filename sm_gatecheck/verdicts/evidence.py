"""The proof of a judgement: the gates on the way to each site, the sites, and where callers were followed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sm_gatecheck.evaluate.frames import Frame, Guard
from sm_gatecheck.evaluate.interpreter import BudgetExceeded, source_text
from sm_gatecheck.model.condition import Condition
from sm_gatecheck.model.verdict import EffectKind, Evidence, Role, Verdict
from sm_gatecheck.program.modules import Module
from sm_gatecheck.target.session import Session

if TYPE_CHECKING:
    from sm_gatecheck.verdicts.judging import Trial
    from sm_gatecheck.verdicts.sites import Site

SITE_LIMIT = 6
SOURCE_LIMIT = 240


def proof(session: Session, trial: Trial, bits: int, verdict: Verdict) -> tuple[Evidence, ...]:
    """The lines that show why the verdict holds on this SM: those that decide first."""
    found: list[Evidence] = []
    for refusal in trial.raised:
        if refusal.condition.exists & bits:
            found.extend(_gates(session, refusal.event.guards))
            found.append(_evidence(session, Role.EFFECT, refusal.event.module, refusal.event.node, refusal.condition))
    for site, active in _ordered(trial, bits, verdict)[:SITE_LIMIT]:
        found.extend(_gates(session, site.guards))
        found.extend(_returned_gates(session, site))
        role = Role.SITE if site.kind is EffectKind.BEHAVIOUR else Role.EFFECT
        found.append(_place(session, role, site.module, site.node, active))
    return tuple(dict.fromkeys(found))


def gates_of(session: Session, site: Site) -> tuple[Evidence, ...]:
    """The tests of the target on the way to a site, and those in what it returns."""
    return tuple(dict.fromkeys((*_gates(session, site.guards), *_returned_gates(session, site))))


def _ordered(trial: Trial, bits: int, verdict: Verdict) -> list[tuple[Site, int]]:
    """Sites that decide the verdict first: the refusing ones, the dead ones, then the live ones."""
    gated = [(site, active) for site, active in trial.sites if active]

    def rank(item: tuple[Site, int]) -> tuple[int, str, int]:
        site, active = item
        refuses = site.kind is EffectKind.RAISES and bool(active & bits)
        dead = not active & bits
        first = refuses if verdict is Verdict.REJECTED else dead
        return (0 if first else 1, site.module.path, site.line)

    return sorted(gated, key=rank)


def _gates(session: Session, guards: tuple[Guard, ...]) -> Iterator[Evidence]:
    for guard in guards:
        if guard.condition.depends_on_target():
            yield _evidence(session, Role.GATE, guard.module, guard.node, guard.condition)


def _returned_gates(session: Session, site: Site) -> Iterator[Evidence]:
    """The operands of what a function returns that ask for the target."""
    if not isinstance(site.node, ast.Return) or site.node.value is None:
        return
    frame = Frame(site.module, site.summary.qualname, session.space.true, owner=site.summary.owner)
    for operand in _operands(site.node.value):
        session.interpreter.steps = 0
        try:
            condition = session.interpreter.test(operand, frame)
        except (BudgetExceeded, RecursionError):
            continue
        if condition.depends_on_target():
            yield _evidence(session, Role.GATE, site.module, operand, condition)


def _operands(expression: ast.expr) -> Iterator[ast.expr]:
    if isinstance(expression, ast.BoolOp):
        for value in expression.values:
            if isinstance(value, ast.BoolOp) and isinstance(value.op, type(expression.op)):
                yield from _operands(value)
            else:
                yield value
    else:
        yield expression


def _evidence(session: Session, role: Role, module: Module, node: ast.AST, condition: Condition) -> Evidence:
    return _place(session, role, module, node, condition.exists)


def _place(session: Session, role: Role, module: Module, node: ast.AST, bits: int) -> Evidence:
    text = source_text(module, node)
    return Evidence(
        role,
        module.path,
        getattr(node, "lineno", 1),
        getattr(node, "col_offset", 0) + 1,
        text if len(text) <= SOURCE_LIMIT else text[:SOURCE_LIMIT] + " …",
        session.space.members(bits),
    )
