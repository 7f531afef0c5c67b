"""Which definitions to run, and for whom.

An option is judged by the places where the target decides about it, and by one place where it works whatever the target is.
So the definitions that ask for the target come first, with those that they call on some targets only and those that hand them
options; the rest is run for one option at a time, the shortest first, and only until such a place is found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from functools import cached_property

from sm_gatecheck.evaluate.values import Choice, ClassValue, Truth, Value, fields_in, fields_of, payloads
from sm_gatecheck.program.mentions import Mentions
from sm_gatecheck.program.modules import Program
from sm_gatecheck.target.scan import Key, Scan, Summary

ROUNDS = 7
COMMON_ATTRIBUTE_LIMIT = 40
CALLED_DEPTH = 3
CALLED_NAMESAKES = 4
CALLER_LIMIT = 40
SILENT_CALLER_LIMIT = 10
WRAPPER_LINES = 40
FEW_MENTIONS = 2
SHORT_NAME = 3


class Search:
    """The order in which the definitions of a tree are run."""

    def __init__(
        self, scan: Scan, program: Program, mentions: Mentions, device_roots: Iterable[str], option_names: Set[str], option_files: Set[str]
    ) -> None:
        self._scan = scan
        self._program = program
        self._mentions = mentions
        self._device_roots = device_roots
        self._option_names = option_names
        self._option_files = option_files
        self._run: dict[Key, Summary] = {}
        self._depth: dict[Key, int] = {}
        self._decides: set[Key] = set()
        self._asked: set[str] = set()
        self._handed: set[str] = set()
        self._carrying: set[str] = set()

    def decided_by_target(self) -> list[Summary]:
        """The summaries, in source order, of all that the target may decide about."""
        self._ask(self._device_roots)
        frontier = list(self._run.values())
        for _ in range(ROUNDS):
            before = set(self._run)
            for summary in frontier:
                self._follow(summary)
            self._run_all(self._mentions.mentioning_both(self._handed, self._option_names | self._carriers(frontier)))
            again = self._learn()
            frontier = [summary for key, summary in self._run.items() if key not in before] + again
            if not frontier:
                break
        return sorted((s for s in self._run.values() if s.events), key=lambda summary: summary.key)

    def asking_target(self) -> list[Summary]:
        """The summaries, in source order, of all functions run for the target's sake in which it decides about something."""
        return sorted((s for s in self._run.values() if s.asks_target), key=lambda summary: summary.key)

    def _carriers(self, summaries: Iterable[Summary]) -> set[str]:
        """All names in which functions run so far leave an option."""
        for summary in summaries:
            self._carrying |= {n for n in _carriers(summary) if self._mentions.count(n) <= COMMON_ATTRIBUTE_LIMIT}
        return self._carrying

    def _follow(self, summary: Summary) -> None:
        """Run what a summary shows to be decided by the target too, and who may hand options to its function."""
        self._ask(self._telling(summary))
        if summary.key not in self._decides or not (summary.asks_target or summary.unfinished or self._depth.get(summary.key)):
            return
        depth = self._depth.get(summary.key, 0)
        if depth < CALLED_DEPTH:
            for name, conditions in summary.calls.items():
                if depth or any(condition.depends_on_target() for condition in conditions):
                    self._run_called(name, depth + 1)
        self._hand(summary.owner.node.name if summary.owner is not None and summary.name == "__init__" else summary.name)
        for writers in summary.module.global_writers.values():
            for writer in writers:
                self._hand(writer.name)

    def _ask(self, names: Iterable[str]) -> None:
        """Run all that mentions a name which tells something of the target, or a constant that is made with one."""
        fresh = set(names) - self._asked
        while fresh:
            self._asked |= fresh
            self._decides.update(self._run_all(self._mentions.mentioning(fresh)))
            made = [(path, name) for path, name in self._mentions.constants_mentioning(fresh) if self._scan.may_ask_target(path, name)]
            fresh = {name for _, name in made if name not in self._asked and self._mentions.is_followed(name)}
            # A name that many modules give to a constant of their own is followed within each.
            own = {(path, name) for path, name in made if name not in self._asked and name not in fresh and len(name) > SHORT_NAME}
            for path, name in sorted(own):
                self._decides.update(self._run_all(place for place in self._mentions.mentioning([name]) if place[0] == path))

    def _telling(self, summary: Summary) -> Iterator[str]:
        """The names by which others learn from a function what the target is."""
        for name in summary.made_of_target:
            if self._mentions.is_followed(name) or 0 < self._mentions.count(name) <= COMMON_ATTRIBUTE_LIMIT:
                yield name
        if summary.key in self._decides and _may_tell(summary) and self._mentions.is_followed(summary.name):
            yield summary.name

    def _run_called(self, name: str, depth: int) -> None:
        if self._mentions.defined(name) > CALLED_NAMESAKES or self._mentions.count(name) > SILENT_CALLER_LIMIT:
            return
        for key in self._run_all(self._mentions.defining(name)):
            self._depth.setdefault(key, depth)
            self._decides.add(key)

    def _hand(self, name: str) -> None:
        """Have an eye on those who call a function, and may hand it an option."""
        if name and 1 < self._mentions.count(name) <= CALLER_LIMIT and self._mentions.defined(name) <= CALLED_NAMESAKES:
            self._handed.add(name)

    def _run_all(self, places: Iterable[tuple[str, int]]) -> list[Key]:
        keys: list[Key] = []
        for path, line in places:
            module = self._program.by_path[path]
            key = self._scan.key(module, line)
            if key not in self._run:
                summary = self._scan.at(module, line)
                if summary is None:
                    continue
                self._run[key] = summary
            keys.append(key)
        return keys

    def _learn(self) -> list[Summary]:
        for summary in self._run.values():
            self._scan.note_arguments(summary, self._may_pass_on)
        again = self._scan.relearnt()
        for summary in again:
            self._run[summary.key] = summary
        return again

    def may_be_spared(self, summary: Summary) -> bool:
        """Whether the function may be called on some targets only, or not at all: its callers are worth asking."""
        return (
            self._depth.get(summary.key, 0) > 0
            or summary.name in self._chosen
            or (summary.owner is not None and summary.owner.node.name in self._chosen)
            or self._mentions.count(summary.name) <= FEW_MENTIONS
        )

    @cached_property
    def _chosen(self) -> frozenset[str]:
        """Names of what some function calls, or answers with, only where an option says so."""
        called = (
            name
            for summary in self._run.values()
            for name, conditions in summary.calls.items()
            if any(fields_in(condition) for condition in conditions)
        )
        handed = (
            payload.node.name
            for summary in self._run.values()
            for condition, payload in (summary.returned.alternatives if isinstance(summary.returned, Choice) else ())
            if isinstance(payload, ClassValue) and fields_in(condition)
        )
        return frozenset((*called, *handed))

    def _may_pass_on(self, key: Key, lines: int) -> bool:
        """Whether what a function is given can matter to what the target decides: it does, or it is a setter or a wrapper."""
        return key in self._run or lines <= WRAPPER_LINES

    def reading(self, field: str) -> Iterator[Summary]:
        """The functions that may read an option or what carries it, round by round, the shortest first."""
        name = field.rpartition(":")[2]
        asked = {name}
        places = self._places(field)
        done: set[Key] = set()
        for _ in range(ROUNDS):
            carried: set[str] = set()
            for summary in self._shortest_first(places, done):
                carried |= _carriers(summary, field)
                yield summary
            names = {name for name in carried - asked if 0 < self._mentions.count(name) <= COMMON_ATTRIBUTE_LIMIT}
            if not names:
                return
            asked |= names
            places = self._mentions.mentioning(sorted(names))

    def comparing(self, field: str) -> Iterator[Summary]:
        """The functions that seem to compare an option with something, by their text."""
        name = field.rpartition(":")[2]
        compared = re.compile(rb"\b%b\b[^\n=!<>]{0,20}(?:[=!]=|\bin\b)|(?:[=!]=|\bin\b)[^\n=]{0,30}\b%b\b" % (name.encode(), name.encode()))
        done: set[Key] = set()
        places = []
        for path, line in self._places(field):
            source, span = self._program.by_path[path].source, self._mentions.span_of(path, line)
            if compared.search(source, *span):
                places.append((path, line))
        yield from self._shortest_first(places, done)

    def _places(self, field: str) -> list[tuple[str, int]]:
        """The definitions that mention an option, and something that holds options (or are its own)."""
        name = field.rpartition(":")[2]
        if field != name:
            return self._mentions.mentioning([name])
        own = [place for place in self._mentions.mentioning([name]) if place[0] in self._option_files]
        return sorted({*own, *self._mentions.mentioning_both([name], self._option_names)})

    def _shortest_first(self, places: Iterable[tuple[str, int]], done: set[Key]) -> Iterator[Summary]:
        keys: dict[Key, int] = {}
        for path, line in places:
            key = self._scan.key(self._program.by_path[path], line)
            if key not in done:
                done.add(key)
                keys[key] = self._scan.lines(key)
        for key in sorted(keys, key=lambda key: (keys[key], key)):
            summary = self._scan.at(self._program.by_path[key[0]], key[1])
            if summary is not None:
                yield summary


def _may_tell(summary: Summary) -> bool:
    """Whether a function compares the target with what it is given, for all that can be seen: its callers learn from the answer."""
    if summary.node is None or summary.returned is None:
        return False
    spec = summary.node.args
    takes = len(spec.posonlyargs) + len(spec.args) + len(spec.kwonlyargs) > (summary.owner is not None)
    return takes and any(isinstance(payload, Truth) for payload in payloads(summary.returned))


def _carriers(summary: Summary, field: str | None = None) -> set[str]:
    """The names under which a function leaves an option (None: any) for others: attributes, globals, and its own answer."""

    def carries(value: Value) -> bool:
        return bool(fields_of(value)) if field is None else field in fields_of(value)

    found: set[str] = set()
    if summary.node is not None and summary.returned is not None and carries(summary.returned):
        found.add(summary.name)
    for event in summary.events:
        if event.kind == "store" and event.values and carries(event.values[0]) and "[" not in event.name:
            found.add(event.name.rsplit(".", 1)[-1])
    return found
