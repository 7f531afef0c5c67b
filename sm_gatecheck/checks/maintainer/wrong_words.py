"""GC305: a message that names other GPUs than the guard it stands under, a docstring or a help text other ones than the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from sm_gatecheck.checks.subject import Remark, Remarks, Subject
from sm_gatecheck.checks.surroundings import Outcomes, ancestors, outcomes
from sm_gatecheck.checks.targets_in_text import Named, named_in
from sm_gatecheck.model.option import Option
from sm_gatecheck.model.verdict import EffectKind, Judgement, Verdict
from sm_gatecheck.program.modules import Module
from sm_gatecheck.verdicts.device_tests import DeviceTest
from sm_gatecheck.verdicts.judging import Trial

RULE = "GC305"
_CLAIMS = re.compile(r"\bonly\b|\brequires?\b|\brequired\b|\bneeds?\b|\bmust be\b|\bsupported (?:on|by|for)\b", re.IGNORECASE)
_DENIES = re.compile(r"\bnot\b|n't\b|\bexcept\b|\bunsupported\b|\bunless\b|\bexclud", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.;!])\s+")
_QUOTED = re.compile(r"[\"'`]|--\w")
_DEAD = (Verdict.REJECTED, Verdict.NOOP, Verdict.NOOP_WITH_SIDE_EFFECTS)
TEXT_ROOM = 160


def of_tree(subject: Subject) -> Remarks:
    """A remark for each message and docstring."""
    yield from _messages(subject)
    yield from _docstrings(subject)


def of_option(subject: Subject, option: Option, trials: Sequence[Trial]) -> Remarks:
    """One for a switch whose help says where it works, and that is refused or does nothing there."""
    if not option.is_boolean or not option.help:
        return
    for sentence in _SENTENCE.split(option.help):
        named = named_in(sentence, subject.session.devices)
        if not named.least or not _CLAIMS.search(sentence) or _DENIES.search(sentence) or _QUOTED.search(sentence):
            continue
        dead = [judgement for judgement in subject.judge.judge(list(trials), subject.space.sms) if judgement.verdict in _DEAD]
        bits = named.least & subject.session.devices.bits(judgement.sm for judgement in dead)
        if bits and (named.least & ~bits or all(map(_is_certain, dead))):
            how = "refused" if any(judgement.verdict is Verdict.REJECTED for judgement in dead) else "without effect"
            message = f"the help of {option.field} says {_quoted(sentence)}, but the option is {how} on {subject.named(bits)}"
            yield Remark(option.file, option.line, message, bits, (option.field, sentence), option.field)
        return


def _messages(subject: Subject) -> Iterator[Remark]:
    seen: set[int] = set()
    for tests in subject.tests.by_place:
        test = tests[0]
        if not subject.is_served(test.module.path):
            continue
        for around in ancestors(test.module, test.node):
            if isinstance(around, (ast.If, ast.Assert)) and id(around) not in seen and _stands_in(around.test, test.node):
                seen.add(id(around))
                yield from _of_statement(subject, test, around, _reached(tests))


def _reached(tests: tuple[DeviceTest, ...]) -> int:
    reached = 0
    for test in tests:
        reached |= test.reached
    return reached


def _stands_in(node: ast.AST, wanted: ast.AST) -> bool:
    return any(inner is wanted for inner in ast.walk(node))


def _of_statement(subject: Subject, test: DeviceTest, statement: ast.If | ast.Assert, reached: int) -> Iterator[Remark]:
    met = outcomes(subject.tests, statement.test, subject.space.all_bits)
    here = Outcomes(met.holds & reached, met.fails & reached)
    elsewhere = Outcomes(here.fails, here.holds)
    if isinstance(statement, ast.Assert):
        if statement.msg is not None:
            yield from _compared(subject, test, statement, _text(statement.msg), elsewhere, reached)
        return
    for body, way in ((statement.body, here), (statement.orelse, elsewhere)):
        for inner in body:
            text = _said(subject, inner)
            if text:
                yield from _compared(subject, test, inner, text, way, reached)


def _said(subject: Subject, statement: ast.stmt) -> str:
    """The text of a raise or of a logged warning."""
    if isinstance(statement, ast.Raise) and statement.exc is not None:
        return _text(statement.exc)
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and subject.session.effects.kind_of(ast.unparse(call.func)) is EffectKind.WARNS:
        return _text(call)
    return ""


def _text(node: ast.AST) -> str:
    """What is written, with a gap for what is filled in."""
    parts = [inner for inner in ast.walk(node) if isinstance(inner, (ast.Constant, ast.FormattedValue))]
    parts.sort(key=lambda inner: (inner.lineno, inner.col_offset))
    return "".join(part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else "" for part in parts)


def _compared(subject: Subject, test: DeviceTest, node: ast.stmt, text: str, way: Outcomes, reached: int) -> Iterator[Remark]:
    """A sentence that says what is needed, held against the SMs that lead to the message (``way.holds``) and those that do not.

    What else decides may be a part of what is needed or of when it is asked, so both readings count: an SM is spared where the
    message cannot come, or where it need not.
    """
    never, sometimes = reached & ~way.holds, way.fails
    readings = [spared for spared in (never, sometimes) if spared and reached & ~spared]
    for sentence in _SENTENCE.split(text):
        named = named_in(sentence, subject.session.devices)
        if not readings or not named.least or not _CLAIMS.search(sentence):
            continue
        if any(named.fits(spared, reached) or named.fits(reached & ~spared, reached) for spared in readings):
            continue
        spared = readings[0]
        message = f"says {_quoted(sentence)}, but the guard lets {subject.named(spared)} pass"
        yield Remark(test.module.path, node.lineno, message, _difference(named, spared, reached), (test.qualname, sentence))
        return


def _difference(named: Named, answers: int, reached: int) -> int:
    """The SMs on which a text and the code do not agree."""
    return ((named.least & ~answers) | (answers & ~named.most)) & reached


def _docstrings(subject: Subject) -> Iterator[Remark]:
    """Functions that answer for a GPU and say in their docstring for which."""
    seen: set[str] = set()
    for tests in subject.tests.by_place:
        test = tests[0]
        name = _called(test.node)
        if name is None or name in seen:
            continue
        seen.add(name)
        places = subject.session.mentions.defining(name)
        if len(places) != 1 or not subject.is_served(places[0][0]):
            continue
        module = subject.session.program.by_path[places[0][0]]
        summary = subject.session.scan.at(module, places[0][1])
        if summary is None or summary.node is None or summary.name != name or summary.node.args.args:
            continue
        yield from _of_docstring(subject, module, summary.node, name, test)


def _called(node: ast.expr) -> str | None:
    """The name of a function that is called without arguments."""
    if not isinstance(node, ast.Call) or node.args or node.keywords:
        return None
    return node.func.id if isinstance(node.func, ast.Name) else node.func.attr if isinstance(node.func, ast.Attribute) else None


def _of_docstring(
    subject: Subject, module: Module, node: ast.FunctionDef | ast.AsyncFunctionDef, name: str, test: DeviceTest
) -> Iterator[Remark]:
    for sentence in _SENTENCE.split(ast.get_docstring(node) or ""):
        named = named_in(sentence, subject.session.devices)
        if named.least and _CLAIMS.search(sentence) and not _DENIES.search(sentence) and not named.fits(test.held, test.reached):
            message = f"the docstring of {name} says {_quoted(sentence)}, but it holds on {subject.named(test.held)}"
            yield Remark(module.path, node.lineno, message, _difference(named, test.held, test.reached), (name, sentence))
            return


def _is_certain(judgement: Judgement) -> bool:
    """Whether a dead option is dead in every launch: a refusal under a condition may be about something else."""
    return judgement.verdict is not Verdict.REJECTED or any(
        effect.kind is EffectKind.RAISES and effect.when is None for effect in judgement.effects
    )


def _quoted(sentence: str) -> str:
    text = " ".join(sentence.split()).rstrip(".;!")
    return f"“{text if len(text) <= TEXT_ROOM else text[:TEXT_ROOM] + ' …'}”"
