"""Python programs: engines made with keywords, lists of arguments, and commands that start a server in a process of its own."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import dataclass

from sm_gatecheck.launch.formats.interface import LIKELY, NO, SURE, Reading, is_named
from sm_gatecheck.launch.job import EngineCall, Invocation, Job, Keyword, Setting, Start
from sm_gatecheck.launch.located import Located, SourceText, Word, substitute
from sm_gatecheck.launch.model import LaunchError
from sm_gatecheck.launch.programs.collections import Built, Collections, Entry
from sm_gatecheck.launch.programs.literals import Literals
from sm_gatecheck.launch.programs.names import Names, Step
from sm_gatecheck.launch.programs.places import Program
from sm_gatecheck.launch.versions import required_version
from sm_gatecheck.launch.words import split_words

_SILENT = frozenset(
    {
        "print",
        "info",
        "debug",
        "warning",
        "error",
        "exception",
        "critical",
        "log",
        "join",
        "format",
        "split",
        "add_argument",
        "ArgumentParser",
    }
)
_COMMAND_KEYWORDS = ("args", "cmd", "command", "shell_command")
_ENVIRONMENT = "os.environ"
_IF_UNSET = "not already set"


@dataclass(frozen=True)
class Python:
    name: str = "python"
    title: str = "Python program"

    def recognise(self, source: SourceText, reading: Reading) -> int:
        if is_named(source, "*.py", "*.pyw"):
            return SURE
        first = source.text.split("\n", 1)[0]
        if first.startswith("#!") and "python" in first:
            return SURE
        mentions = f"import {reading.rules.distribution}" in source.text or f"from {reading.rules.distribution}" in source.text
        return LIKELY if mentions and not is_named(source, "*.sh", "*.y*ml", "*.json", "*.toml") else NO

    def read(self, source: SourceText, reading: Reading) -> Iterator[Start]:
        try:
            program = Program(source)
        except SyntaxError as error:
            raise LaunchError(f"{source.name}:{error.lineno or 1}: no Python: {error.msg}") from None
        except (ValueError, RecursionError, MemoryError):
            raise LaunchError(f"{source.name}: no Python that can be read") from None
        yield from _Reader(program, reading).starts()


class _Reader:
    def __init__(self, program: Program, reading: Reading) -> None:
        self.program = program
        self.reading = reading
        self.names = Names(program.tree)
        self.literals = Literals(program, self.names.bound, self.names.dotted, reading.environment)
        self.collections = Collections(program, self.names, self.literals)
        self.taken: set[int] = set()
        mention = required_version(program.source.located(), reading.rules)
        self.versions = (mention,) if mention is not None else ()

    def starts(self) -> Iterator[Start]:
        found: list[tuple[int, Start]] = []
        engines = [(call, step) for call, step in self.names.calls if self.names.dotted(call.func) in self.reading.rules.engines]
        # An object that only holds options and goes to an engine is part of that engine.
        for call, step in sorted(engines, key=lambda pair: self.names.dotted(pair[0].func) in self.reading.rules.engine_options):
            if id(call) not in self.taken:
                found.append((call.lineno, self._engine(call, step)))
        for call, step in self.names.calls:
            start = self._arguments(call, step) or self._command(call, step)
            if start is not None:
                found.append((call.lineno, start))
        for _, start in sorted(found, key=lambda pair: pair[0]):
            yield start

    # -- engines ---------------------------------------------------------------------------------------------------------

    def _engine(self, call: ast.Call, step: Step) -> EngineCall:
        rules = self.reading.rules
        built = self.collections.keywords(call)
        notes = [f"*{self.program.shown(argument.value)}" for argument in call.args if isinstance(argument, ast.Starred)]
        keywords: list[Keyword] = []
        if call.args and not isinstance(call.args[0], ast.Starred):
            place = self.program.extent(call.args[0])
            keywords.extend(self._keywords(Built([Entry(rules.model, place, call.args[0])])))
        for keyword in self._keywords(built):
            if keyword.name == rules.engine_keyword:
                inner = self._options_object(built)
                if inner is not None:
                    keywords.extend(self._keywords(inner))
                    notes.extend(inner.notes)
                else:
                    notes.append(f"{keyword.name}={keyword.text}")
                continue
            keywords.append(keyword)
        return EngineCall(
            entry=f"{self.names.dotted(call.func)}(…)",
            extent=self.program.extent(call.func),
            keywords=tuple(keywords),
            environment=self._environment(step),
            notes=(*built.notes, *notes),
            versions=self.versions,
            when=" and ".join(self.collections.conditions(step)) or None,
        )

    def _options_object(self, built: Built) -> Built | None:
        """The keywords of the object given as ``server_args=``."""
        node = next((entry.node for entry in built.entries if entry.key == self.reading.rules.engine_keyword), None)
        if isinstance(node, ast.Name):
            node = self.names.bound(node)
        if isinstance(node, ast.Call) and self.names.dotted(node.func) in self.reading.rules.engine_options:
            self.taken.add(id(node))
            return self.collections.keywords(node)
        return None

    def _keywords(self, built: Built) -> Iterator[Keyword]:
        for entry in built.entries:
            if entry.key is None or entry.node is None:
                continue
            for node, when in self.collections.alternatives(entry.node, entry.when):
                value = self.literals.value(node)
                has_place = hasattr(node, "lineno")
                yield Keyword(
                    name=entry.key,
                    value=value.value,
                    extent=entry.extent,
                    value_extent=self.program.extent(node) if has_place else entry.extent,
                    text=self.program.shown(node) if has_place else json.dumps(value.value, default=str),
                    unresolved=value.unresolved,
                    assumed=value.assumed,
                    when=when,
                )

    # -- the environment -------------------------------------------------------------------------------------------------

    def _environment(self, use: Step) -> dict[str, Setting]:
        """What the program sets for itself: in the module, in the function of the launch, and in functions that are called."""
        found: dict[str, Setting] = {}
        for step in self.names.steps:
            if step.function is not None and step.function is not use.function and step.function.name not in self.names.called:
                continue
            if step.function is use.function and step.statement.lineno > use.statement.lineno:
                continue
            self._assignments(step, found)
        return found

    def _assignments(self, step: Step, found: dict[str, Setting]) -> None:
        statement = step.statement
        when = " and ".join(self.collections.conditions(step)) or None
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Subscript) and self.names.dotted(target.value) == _ENVIRONMENT:
                    self._set(target.slice, statement.value, when, found)
        elif isinstance(statement, ast.AugAssign) and self.names.dotted(statement.target) == _ENVIRONMENT:
            self._set_all(self.collections.mapping(statement.value), when, found)
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            call = statement.value
            name = self.names.dotted(call.func)
            if name in (f"{_ENVIRONMENT}.setdefault", "os.putenv") and len(call.args) == 2:
                unset = _IF_UNSET if name != "os.putenv" else None
                self._set(call.args[0], call.args[1], " and ".join(part for part in (when, unset) if part) or None, found)
            elif name == f"{_ENVIRONMENT}.update":
                for argument in call.args:
                    self._set_all(self.collections.mapping(argument), when, found)
                self._set_all(self.collections.keywords(call), when, found)
            elif name in (f"{_ENVIRONMENT}.pop", "os.unsetenv") and call.args and when is None:
                found.pop(str(self.literals.value(call.args[0]).value), None)

    def _set(self, key: ast.expr, value: ast.expr, when: str | None, found: dict[str, Setting]) -> None:
        name = self.literals.value(key)
        if isinstance(name.value, str) and not name.unresolved:
            found[name.value] = Setting(self._located(value), self.program.extent(key), when)

    def _set_all(self, built: Built, when: str | None, found: dict[str, Setting]) -> None:
        for entry in built.entries:
            if entry.key is not None and entry.node is not None:
                found[entry.key] = Setting(self._located(entry.node), entry.extent, entry.when or when)

    def _located(self, node: ast.expr) -> Located:
        """An expression as text, with its place and what it rests on."""
        value = self.literals.value(node)
        if isinstance(node, ast.JoinedStr):
            return self._pieces(node)
        if value.unresolved:
            whole = self.program.located(node) if hasattr(node, "lineno") else Located()
            return substitute(str(value.value), whole, unresolved=value.unresolved[0])
        text = str(value.value)
        located = self.program.string(node, text)
        return located.noted(value.assumed[0]) if value.assumed else located

    def _pieces(self, node: ast.JoinedStr) -> Located:
        pieces: list[tuple[str, str | None]] = []
        for piece in node.values:
            if isinstance(piece, ast.Constant):
                pieces.append((str(piece.value), None))
            elif isinstance(piece, ast.FormattedValue):
                value = self.literals.value(piece.value)
                shown = "{" + ast.unparse(piece.value) + "}" if value.unresolved else str(value.value)
                pieces.append((shown, value.unresolved[0] if value.unresolved else None))
        return self.program.pieces(node, pieces)

    # -- commands --------------------------------------------------------------------------------------------------------

    def _arguments(self, call: ast.Call, step: Step) -> Start | None:
        """A function that is given a list of arguments."""
        if self.names.dotted(call.func) not in self.reading.rules.engine_arguments or not call.args:
            return None
        built = self.collections.elements(call.args[0])
        if not built.entries:
            return None
        words = tuple(word for word, when in self._words(built) if when is None)
        extent = self.program.extent(call.func)
        return Invocation(
            key=(extent,), entry=self.reading.rules.entries[0], extent=extent, words=words, environment=self._environment(step),
            notes=tuple(built.notes), when=tuple(self.collections.conditions(step)), directory=self.program.source.directory,
        )  # fmt: skip

    def _command(self, call: ast.Call, step: Step) -> Job | None:
        """A call whose first argument is a command that starts a server."""
        name = call.func.attr if isinstance(call.func, ast.Attribute) else call.func.id if isinstance(call.func, ast.Name) else ""
        if name in _SILENT:
            return None
        arguments = [*call.args[:2], *(keyword.value for keyword in call.keywords if keyword.arg in _COMMAND_KEYWORDS)]
        for argument in arguments:
            job = self._command_in(argument, step)
            if job is not None:
                return self._with_environment(job, call, step)
        return None

    def _command_in(self, node: ast.expr, step: Step) -> Job | None:
        mention = self.reading.rules.entry_mention
        directory = self.program.source.directory
        if isinstance(node, ast.Name):
            bound = self.names.bound(node)
            if isinstance(bound, (ast.Constant, ast.JoinedStr)) or _split_call(bound) is not None:
                node = bound if bound is not None else node
        inner = _split_call(node)
        if inner is not None:
            text = self._text(inner)
            return Job(words=tuple(split_words(text)), directory=directory) if text is not None and mention.search(text.text) else None
        if isinstance(node, (ast.List, ast.Tuple, ast.Name)) or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)):
            built = self.collections.elements(node)
            words = self._words(built)
            if mention.search(" ".join(word.text for word, _ in words)):
                conditions = list(dict.fromkeys(when for _, when in words if when is not None))
                alternatives = tuple((each, tuple(word for word, when in words if when in (None, each))) for each in conditions)
                base = tuple(word for word, when in words if when is None)
                return Job(words=base, alternatives=alternatives, notes=tuple(built.notes), directory=directory)
        text = self._text(node)
        return Job(script=text, directory=directory) if text is not None and mention.search(text.text) else None

    def _text(self, node: ast.expr) -> Located | None:
        if isinstance(node, ast.JoinedStr):
            return self._pieces(node)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return self.program.string(node, node.value)
        value = self.literals.value(node)
        return self.program.string(node, value.value) if isinstance(value.value, str) and not value.unresolved else None

    def _words(self, built: Built) -> list[tuple[Word, str | None]]:
        return [(Word(self._located(entry.node), entry.extent), entry.when) for entry in built.entries if entry.node is not None]

    def _with_environment(self, job: Job, call: ast.Call, step: Step) -> Job:
        environment = self._environment(step)
        given = next((keyword.value for keyword in call.keywords if keyword.arg == "env"), None)
        if given is not None and not (isinstance(given, ast.Constant) and given.value is None):
            self._set_all(self.collections.mapping(given), None, environment)
        return Job(
            words=job.words,
            script=job.script,
            environment=environment,
            notes=job.notes,
            directory=job.directory,
            alternatives=job.alternatives,
        )


def _split_call(node: ast.expr | None) -> ast.expr | None:
    """What ``shlex.split(x)`` or ``x.split()`` takes apart."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "split":
        return None
    if isinstance(node.func.value, ast.Name) and node.func.value.id == "shlex":
        return node.args[0] if node.args else None
    return node.func.value if not node.args else None


FORMAT = Python()
