"""What writes an option: every place, under which condition, and whether that is met under the given context.

Resolution is run twice: once with every option free, for the condition of each write in general; once as given, for what
really happens. The places themselves are found by name, so that one that neither run passes is listed too.
"""

from __future__ import annotations

import ast
import gc
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from sm_gatecheck.evaluate.frames import Frame, Guard
from sm_gatecheck.evaluate.interpreter import BudgetExceeded, source_text
from sm_gatecheck.evaluate.values import Known, OptionValue, Value, is_constant, payloads, to_python
from sm_gatecheck.model.condition import Condition
from sm_gatecheck.model.explanation import Met, OptionWrite, Place, Standing, Test, Writes
from sm_gatecheck.model.option import Option
from sm_gatecheck.model.verdict import DefaultAlternative
from sm_gatecheck.model.wording import words
from sm_gatecheck.program.modules import Module
from sm_gatecheck.target.resolution import Outcome
from sm_gatecheck.target.rules import open_rules
from sm_gatecheck.target.session import Session
from sm_gatecheck.target.written import WrittenPlace, places_that_write
from sm_gatecheck.trees.tree import Tree
from sm_gatecheck.verdicts.analysis import open_session
from sm_gatecheck.verdicts.places import Places, shortened
from sm_gatecheck.verdicts.request import Request
from sm_gatecheck.verdicts.resolved import left_by_resolution

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


def what_sets(tree: Tree, request: Request, asked: Option) -> Writes:
    """Every write of an option (or of a variable, ``env:NAME``) under the context of the request."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        return _Writers(open_session(tree, request, open_rules(request.rules_dir)), asked, request).answer(tree)
    finally:
        if collecting:
            gc.enable()


@dataclass
class _Found:
    """One place: what was seen of it in the two runs."""

    module: Module
    node: ast.AST
    guards: tuple[Guard, ...]
    value: Value
    free: Condition
    given: Condition
    values: dict[str, Any] = field(default_factory=dict)


class _Writers:
    def __init__(self, session: Session, asked: Option, request: Request) -> None:
        self._session = session
        self._space = session.space
        self._asked = asked
        self._request = request
        self._places = Places(session.program)

    def answer(self, tree: Tree) -> Writes:
        given = self._session.resolver.run({})
        written = places_that_write(self._session, self._asked.field)
        free = [self._with_free(lambda option: True)]
        if free[0].unfinished:
            # All at once is too much for this tree: again with the options that stand in the functions that write this one.
            near = self._names_around(written)
            free.append(self._with_free(lambda option: option.field in near))
        found: dict[tuple[str, int, int], _Found] = {}
        for outcome, is_free in (*((outcome, True) for outcome in free), (given, False)):
            for module, node, value, condition, guards in self._happened(outcome):
                self._note(found, module, node, value, condition, guards, is_free)
        ordered = sorted(found.values(), key=lambda item: (item.module.path, getattr(item.node, "lineno", 0)))
        writes = [self._write(item, written) for item in ordered]
        writes += [
            self._unreached(place, not given.unfinished and self._is_passed(place, ordered))
            for place in written
            if not _covered(place, ordered) and not self._is_named_by(place, ordered)
        ]
        self._places.note(self._asked.file, self._asked.line)
        return Writes(
            source=tree.source,
            assumptions=self._request.assumptions,
            sms=self._request.sms,
            option=self._asked,
            writes=tuple(sorted(writes, key=lambda write: (write.place.file, write.place.line))),
            final=tuple((sm, tuple(self._final(given, sm))) for sm in self._request.sms),
            known_sms=self._space.sms,
            unfinished=given.unfinished or _not_in_general(free[-1].unfinished),
            diagnostics=(*tree.diagnostics, *(d for module in self._session.program.modules() for d in module.diagnostics)),
            lines=dict(sorted(self._places.lines.items())),
        )

    def _with_free(self, is_free: Callable[[Option], bool]) -> Outcome:
        """Resolution with some options open, those aside that have to be given."""
        session = self._session
        free = (option.field for option in session.options if option.field not in session.required and is_free(option))
        return session.resolver.run({field: OptionValue(field, field) for field in free})

    def _names_around(self, written: Iterable[WrittenPlace]) -> set[str]:
        names = {self._asked.field}
        for place in written:
            first, last = self._places.outline(place.module).function_lines(getattr(place.node, "lineno", 1))
            names.update(_IDENTIFIER.findall("\n".join(place.module.lines[first - 1 : last])))
        return names

    def _happened(self, outcome: Outcome) -> Iterator[tuple[Module, ast.AST, Value, Condition, tuple[Guard, ...]]]:
        for write in outcome.writes:
            if write.field == self._asked.field:
                yield write.module, write.node, write.value, write.condition, write.guards
        for event in outcome.events if self._asked.is_environment else ():
            if event.kind == "environment" and event.values[0] == Known(self._asked.field.removeprefix("env:")):
                yield event.module, event.node, event.values[1], event.condition, event.guards

    def _note(
        self,
        found: dict[tuple[str, int, int], _Found],
        module: Module,
        node: ast.AST,
        value: Value,
        condition: Condition,
        guards: tuple[Guard, ...],
        is_free: bool,
    ) -> None:
        key = (module.path, getattr(node, "lineno", 1), getattr(node, "col_offset", 0))
        item = found.get(key)
        if item is None:
            item = found[key] = _Found(module, node, guards, value, self._space.false, self._space.false)
        if is_free:
            item.free = item.free | condition
        else:
            item.given = item.given | condition
        for payload in payloads(value):
            if is_constant(payload):
                constant = to_python(payload)
                item.values.setdefault(repr(constant), constant)

    def _write(self, item: _Found, written: Iterable[WrittenPlace]) -> OptionWrite:
        line = getattr(item.node, "lineno", 1)
        general = item.given if item.free.is_false else item.free
        return OptionWrite(
            place=self._places.of(item.module, item.node),
            values=tuple(item.values[key] for key in sorted(item.values)),
            written=_written(item.module, item.node),
            when=self._general_words(general),
            possible_on=self._space.members(general.exists),
            tests=self._places.tests(self._space, item.guards, lambda guard: line),
            through=tuple(self._through(item, written)),
            standings=tuple(self._standing(item.given, sm) for sm in self._request.sms),
        )

    def _general_words(self, condition: Condition) -> str | None:
        """The condition on the requested SMs together, each on its own where they differ in it."""
        found = dict.fromkeys(words(condition.on(self._session.devices.bit(sm))) for sm in self._request.sms)
        return next(iter(found)) if len(found) == 1 else words(condition.on(self._bits()))

    def _bits(self) -> int:
        result = 0
        for sm in self._request.sms:
            result |= self._session.devices.bit(sm)
        return result

    def _standing(self, condition: Condition, sm: int) -> Standing:
        here = condition.on(self._session.devices.bit(sm))
        if here.is_false:
            return Standing(sm, Met.NEVER)
        return Standing(sm, Met.ALWAYS) if here.is_true else Standing(sm, Met.DEPENDS, words(here))

    def _through(self, item: _Found, written: Iterable[WrittenPlace]) -> Iterator[Place]:
        """The lines that name the value in the functions that a write is handed."""
        for place in written:
            if self._names(item, place):
                yield self._places.of(place.module, place.value or place.node)

    def _names(self, item: _Found, place: WrittenPlace) -> bool:
        handed = {a.id for a in item.node.args if isinstance(a, ast.Name)} if isinstance(item.node, ast.Call) else set()
        function = self._places.outline(place.module).function_at(getattr(place.node, "lineno", 0))
        return function.rsplit(".", 1)[-1] in handed

    def _is_named_by(self, place: WrittenPlace, found: Iterable[_Found]) -> bool:
        return any(self._names(item, place) for item in found)

    def _is_passed(self, place: WrittenPlace, found: Iterable[_Found]) -> bool:
        """Whether resolution was followed through the function of a place: it writes the option elsewhere in it."""
        outline = self._places.outline(place.module)
        function = outline.function_lines(getattr(place.node, "lineno", 1))
        lines = (getattr(item.node, "lineno", 1) for item in found if item.module is place.module)
        return any(function[0] <= line <= function[1] for line in lines)

    def _unreached(self, place: WrittenPlace, passed: bool) -> OptionWrite:
        """A place that resolution does not get to, as far as it was followed: never, where its own tests say so, or where the
        function around it was ``passed``.
        """
        line = getattr(place.node, "lineno", 1)
        outline = self._places.outline(place.module)
        condition = self._space.true
        tests: list[Test] = []
        for test, answer in outline.tests_around(line):
            held = self._held(place.module, outline.function_at(line), test)
            condition = condition & (held if answer else ~held)
            passing = held if answer else ~held
            on = self._space.members(passing.exists) if held.depends_on_target() else None
            tests.append(Test(self._places.of(place.module, test), on, answer))
        met = Met.NOT_FOLLOWED if place.in_resolution else Met.LATER
        if passed or self._with_variables_unset(condition).is_false:
            met = Met.NEVER
        value = place.value
        constant = value.value if isinstance(value, ast.Constant) else None
        return OptionWrite(
            place=self._places.of(place.module, place.node),
            values=(constant,) if isinstance(value, ast.Constant) else (),
            written=self._named(place),
            when="never" if condition.is_false else words(condition.on(self._bits())),
            possible_on=self._space.members(condition.exists),
            tests=tuple(tests),
            through=(),
            standings=tuple(Standing(sm, met) for sm in self._request.sms),
        )

    def _named(self, place: WrittenPlace) -> str:
        """The statement; where a value is only named for the option, as an argument or in a dict, the name with it."""
        if isinstance(place.node, (ast.stmt, ast.Call)) or place.value is None:
            return _written(place.module, place.node)
        return f"{self._asked.field} = {_written(place.module, place.value)}"

    def _with_variables_unset(self, condition: Condition) -> Condition:
        for name in condition.fields():
            if name.startswith("env:") and name not in self._session.settings:
                condition = condition.restrict(name, None)
        return condition

    def _held(self, module: Module, function: str, test: ast.expr) -> Condition:
        interpreter = self._session.interpreter
        interpreter.steps = 0
        try:
            return interpreter.test(test, Frame(module, function, self._space.true))
        except (BudgetExceeded, RecursionError):
            return self._space.free(f"9:{module.path}:{test.lineno}:{test.col_offset}", source_text(module, test))

    def _final(self, outcome: Outcome, sm: int) -> Iterator[DefaultAlternative]:
        """What the option ends as on an SM, with the line that decides each alternative."""
        for alternative in left_by_resolution(outcome, self._asked, self._space, self._session.devices.bit(sm)):
            self._places.note(alternative.file, alternative.line)
            yield alternative


def _not_in_general(reason: str | None) -> str | None:
    """What is met under the given options was worked out; only the conditions in terms of all options were not."""
    return None if reason is None else f"with all options open, {reason}: some conditions are those of the given options only"


def _written(module: Module, node: ast.AST) -> str:
    return shortened(source_text(module, node), 120)


def _covered(place: WrittenPlace, found: Iterable[_Found]) -> bool:
    line = getattr(place.node, "lineno", 0)
    return any(
        item.module is place.module and getattr(item.node, "lineno", 0) <= line <= (getattr(item.node, "end_lineno", 0) or 0)
        for item in found
    )
