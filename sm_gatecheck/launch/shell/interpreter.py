"""Statements in the order in which a shell would run them; what they start is noted, nothing is started."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tree_sitter import Node

from sm_gatecheck.launch.choices import Budget, Choices
from sm_gatecheck.launch.files import Companions
from sm_gatecheck.launch.job import Invocation, Setting
from sm_gatecheck.launch.located import MAX_WORDS, Located, Word, join
from sm_gatecheck.launch.model import Problem, VersionMention
from sm_gatecheck.launch.rules import LaunchRules
from sm_gatecheck.launch.shell.assignments import Assigner
from sm_gatecheck.launch.shell.conditions import decide, pattern_decides
from sm_gatecheck.launch.shell.expansion import Expander, double_quoted
from sm_gatecheck.launch.shell.own_commands import OWN_COMMANDS, Ended
from sm_gatecheck.launch.shell.scope import Scope, Variable
from sm_gatecheck.launch.shell.syntax import Script, first_error
from sm_gatecheck.launch.unwrap import Nested, Server, Surroundings, unwrap
from sm_gatecheck.launch.versions import required_version

MAX_DEPTH = 60
MAX_SCRIPTS = 8
"""Scripts within scripts."""

MAX_ROUNDS = 32
MAX_INVOCATIONS = 256
_LIST_ENDS = frozenset({"&", ";", "\n"})
_SKIPPED = frozenset({"comment", "heredoc_body", "heredoc_start", "heredoc_end"})


@dataclass
class Following:
    """One run through a file's scripts: what it is given, and what it found."""

    rules: LaunchRules
    companions: Companions
    choices: Choices
    invocations: list[Invocation] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    versions: list[VersionMention] = field(default_factory=list)
    path: list[str] = field(default_factory=list)
    calls: list[Any] = field(default_factory=list)
    budget: Budget = field(default_factory=Budget)
    scripts: list[Path | None] = field(default_factory=list)

    def script(self, text: Located, scope: Scope, around: Surroundings, directory: Path | None, depth: int = 0) -> None:
        """Follow a whole script; then the functions that it defines and never calls. A file within itself is not entered."""
        file = text.source.path if text.source is not None else None
        is_file = text.source is not None and len(text) == len(text.source.text)
        if is_file and file is not None and file in self.scripts:
            return
        if depth > MAX_DEPTH or len(self.scripts) > MAX_SCRIPTS:
            self.budget.is_cut = True
            return
        self.scripts.append(file if is_file else None)
        try:
            self._script(text, scope, around, directory, depth)
        finally:
            self.scripts.pop()

    def _script(self, text: Located, scope: Scope, around: Surroundings, directory: Path | None, depth: int) -> None:
        run = Run(self, Script(text), scope, around, directory, depth)
        self._note_errors(run.script)
        with suppress(Ended):
            run.block(run.script.root.children)
        run.uncalled_functions()

    def _note_errors(self, script: Script) -> None:
        """A part that does not parse, in a script that starts a server, may hide some of it."""
        if script.root.has_error and self.rules.entry_mention.search(script.text.text):
            place = script.locate(first_error(script.root)).extent
            problem = Problem("syntax", "this part of the script could not be understood", place.span) if place is not None else None
            if problem is not None and problem not in self.problems:
                self.problems.append(problem)

    def command(self, words: Sequence[Word], scope: Scope, around: Surroundings, depth: int = 0) -> None:
        """Look into one command."""
        plain = (word for word in words if not any(blank in word.text for blank in " \n\t"))
        self.versions.extend(mention for word in plain if (mention := required_version(word.value, self.rules)) is not None)
        found = unwrap(words, around, self.rules, self.companions)
        if isinstance(found, Server):
            self.started(found)
        elif isinstance(found, Nested):
            inner = Scope(positional=found.positional, inherited={} if found.surroundings.is_container else scope.inherited)
            inner.with_environment(found.surroundings.environment)
            installed = list(self.versions)
            self.script(found.script, inner, found.surroundings, found.directory, depth + 1)
            if found.surroundings.is_container:
                self.versions = installed  # what a container installs, it installs for itself

    def started(self, server: Server) -> None:
        if len(self.invocations) >= MAX_INVOCATIONS:
            self.budget.is_cut = True
            raise Ended
        around = server.surroundings
        place = server.extent
        count = sum(1 for known in self.invocations if known.key[:2] == (place, tuple(self.calls)))
        self.invocations.append(
            Invocation(
                key=(place, tuple(self.calls), count),
                entry=server.entry,
                extent=place,
                words=server.words,
                environment=around.environment,
                image=around.image,
                name=around.name,
                when=tuple(self.path),
                notes=tuple(dict.fromkeys((*around.notes, *self.notes))),
                problems=tuple(self.problems),
                versions=(*around.versions, *self.versions),
                directory=around.directory,
                inside=around.inside,
                is_container=around.is_container,
            )
        )


@dataclass
class Run:
    following: Following
    script: Script
    scope: Scope
    around: Surroundings
    directory: Path | None
    depth: int
    called: set[str] = field(default_factory=set)

    @property
    def expander(self) -> Expander:
        return Expander(self.script, self.scope, str(self.directory) if self.directory is not None else None, self.following.budget)

    # -- statements ------------------------------------------------------------------------------------------------------

    def block(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            self.statement(node)

    def statement(self, node: Node) -> None:
        self.following.budget.spend(statements=1)
        if not node.is_named or node.type in _SKIPPED:
            return
        self.depth += 1
        try:
            if self.depth <= MAX_DEPTH:
                getattr(self, f"_{node.type}", self._other)(node)
            else:
                self.following.budget.is_cut = True
        finally:
            self.depth -= 1

    def _other(self, node: Node) -> None:
        """A statement without a rule of its own (a group, a part that does not parse): what is in it."""
        self.block(node.children)

    def _test_command(self, node: Node) -> None:
        pass

    def _command(self, node: Node) -> None:
        self._simple(node)

    def _redirected_statement(self, node: Node) -> None:
        body = node.child_by_field_name("body")
        if body is None:
            return
        text = self._input(node)
        if text is not None and body.type == "command" and self._takes_script(body):
            self._nested(text, self.around, None)
        elif body.type == "command":
            self._simple(body, self._after_redirects(node))
        else:
            self.statement(body)

    def _after_redirects(self, node: Node) -> list[Node]:
        """Words that stand behind a redirection and belong to the command; the grammar gives them to the redirection."""
        found: list[Node] = []
        for redirect in node.children_by_field_name("redirect"):
            if redirect.type == "file_redirect":
                found.extend(redirect.children_by_field_name("destination")[1:])
        return found

    def _input(self, node: Node) -> Located | None:
        """The text of a heredoc or a here-string, variables put in unless it is quoted."""
        for redirect in node.children_by_field_name("redirect"):
            if redirect.type == "herestring_redirect" and redirect.named_children:
                return self.expander.text(redirect.named_children[-1])
            if redirect.type != "heredoc_redirect":
                continue
            body = next((child for child in redirect.children if child.type == "heredoc_body"), None)
            start = next((child for child in redirect.children if child.type == "heredoc_start"), None)
            if body is None or start is None:
                return None
            if self.script.source(start)[:1] in ("'", '"', "\\"):
                return self.script.locate(body)
            return self._heredoc(body)
        return None

    def _heredoc(self, body: Node) -> Located:
        parts: list[Located] = []
        position = body.start_byte
        for child in body.children:
            if child.type in ("simple_expansion", "expansion", "command_substitution"):
                parts.append(double_quoted(self.script.part(position, child.start_byte)))
                parts.append(self.expander.text(child))
                position = child.end_byte
        parts.append(double_quoted(self.script.part(position, body.end_byte)))
        return join(parts)

    def _takes_script(self, node: Node) -> bool:
        """Whether a command reads a script from its input: a shell, or something that hands it to one."""
        words = self._words(node)
        heads = {word.text.rsplit("/", 1)[-1] for word in words}
        return bool(heads & (self.following.rules.shells | self.following.rules.script_readers))

    def _pipeline(self, node: Node) -> None:
        """Each part in a shell of its own."""
        for child in node.named_children:
            self._apart(child)

    def _subshell(self, node: Node) -> None:
        saved = self.scope
        self.scope = saved.copy()
        try:
            self.block(node.children)
        except Ended:
            pass
        finally:
            self.scope = saved

    def _apart(self, node: Node) -> None:
        saved = self.scope
        self.scope = saved.copy()
        try:
            self.statement(node)
        finally:
            self.scope = saved

    def _list(self, node: Node) -> None:
        """``a && b``, ``a || b``. A test decides like an ``if``; any other first command is taken to succeed."""
        children = node.children
        if len(children) != 3:
            self.block(children)
            return
        left, sign, right = children[0], children[1].type, children[2]
        if not self._is_test(left):
            self.statement(left)
            if sign == "&&":
                self.statement(right)
            else:
                self._branch((node.start_byte, node.end_byte), [(f"{self._shown(left)} fails", [right])], None, [None])
            return
        met = decide(left, self.expander)
        need = self._shown(left) if sign == "&&" else f"not {self._shown(left)}"
        met = met if sign == "&&" or met is None else not met
        self._branch((node.start_byte, node.end_byte), [(need, [right])], None, [met])

    def _is_test(self, node: Node) -> bool:
        if node.type == "test_command":
            return True
        if node.type == "negated_command":
            return bool(node.named_children) and self._is_test(node.named_children[-1])
        if node.type == "list":
            return all(self._is_test(child) for child in node.named_children)
        if node.type == "compound_statement":
            return self.script.source(node).startswith("((")
        if node.type == "pipeline":
            return bool(node.named_children) and self._is_test(node.named_children[-1])
        if node.type in ("command", "redirected_statement"):
            return self.script.source(node).split(" ")[0] in self.following.rules.tests
        return False

    def _shown(self, node: Node) -> str:
        source = self.script.source(node)
        return source if len(source) <= 160 else source[:159] + "…"

    # -- branches --------------------------------------------------------------------------------------------------------

    def _branch(
        self,
        key: tuple[int, int],
        branches: Sequence[tuple[str, Sequence[Node]]],
        default: Sequence[Node] | None,
        met: Sequence[bool | None],
    ) -> None:
        """Run the branch whose condition is met; where that is open, the one that this run is about, else the default."""
        possible: list[int] = []
        for index, decision in enumerate(met):
            if decision is True and not possible:
                self.block(branches[index][1])
                return
            if decision is not False:
                possible.append(index)
            if decision is True:
                default, possible = branches[index][1], possible[:-1]
                break
        if not possible:
            self.block(default or ())
            return
        needs = [branches[index][0] for index in possible]
        place = self.script.part(*key).extent
        choice = self.following.choices.choose((place, "branch"), needs, bool(default))
        path = self.following.path
        length = len(path)
        if choice is not None and choice < len(possible):
            path.append(needs[choice])
            self.block(branches[possible[choice]][1])
        elif default:
            path.append("not (" + " or ".join(needs) + ")")
            self.block(default)
        del path[length:]

    def _if_statement(self, node: Node) -> None:
        branches: list[tuple[str, Sequence[Node]]] = []
        met: list[bool | None] = []
        default: Sequence[Node] | None = None
        for clause in [node, *(child for child in node.children if child.type in ("elif_clause", "else_clause"))]:
            if clause.type == "else_clause":
                default = clause.children[1:]
                continue
            condition, body = _clause(clause)
            tests = [child for child in condition if child.is_named and child.type != "comment"]
            for test in tests[:-1]:
                self.statement(test)
            last = tests[-1] if tests else None
            branches.append((self._shown(last) if last is not None else "", body))
            met.append(decide(last, self.expander) if last is not None else None)
        self._branch((node.start_byte, node.end_byte), branches, default, met)

    def _case_statement(self, node: Node) -> None:
        value_node = node.child_by_field_name("value")
        if value_node is None:
            return
        value = self.expander.text(value_node)
        branches: list[tuple[str, Sequence[Node]]] = []
        met: list[bool | None] = []
        default: Sequence[Node] | None = None
        for item in (child for child in node.children if child.type == "case_item"):
            patterns = item.children_by_field_name("value")
            texts = [self.script.source(pattern) for pattern in patterns]
            starts = [index for index, child in enumerate(item.children) if child.type == ")"]
            body = item.children[starts[0] + 1 :] if starts else []
            if "*" in texts:
                default = body
                continue
            branches.append((f"{self._shown(value_node)} is {' or '.join(texts)}", body))
            met.append(pattern_decides(value, [word for pattern in patterns for word in self.expander.words(pattern)]))
        self._branch((node.start_byte, node.end_byte), branches, default, met)

    # -- loops -----------------------------------------------------------------------------------------------------------

    def _for_statement(self, node: Node) -> None:
        variable, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
        if variable is None or body is None:
            return
        name = self.script.source(variable)
        words = [word for value in node.children_by_field_name("value") for word in self.expander.words(value)]
        if not words or any(word.starts_unresolved for word in words) or len(words) > MAX_ROUNDS:
            self._round(name, None, variable, body)
            return
        for number, word in enumerate(words):
            self.following.calls.append((node.start_byte, number))
            self._round(name, word, variable, body)
            self.following.calls.pop()

    def _round(self, name: str, word: Word | None, variable: Node, body: Node) -> None:
        place = self.script.locate(variable).extent
        if word is None:
            self.scope.variables.pop(name, None)
        else:
            self.scope.set(name, Variable(value=word.value, place=place))
        self.block(body.children)

    def _c_style_for_statement(self, node: Node) -> None:
        for child in node.children:
            if child.type in ("do_group", "compound_statement"):
                self.block(child.children)

    def _while_statement(self, node: Node) -> None:
        """A loop's body once: what restarts a server starts it with the same words. A test that is open makes it conditional."""
        body = node.child_by_field_name("body")
        if body is None:
            return
        condition = [child for child in node.children_by_field_name("condition") if child.is_named]
        if not condition or not self._is_test(condition[-1]):
            self.block(condition)
            self.block(body.children)
            return
        met = decide(condition[-1], self.expander)
        if node.children and node.children[0].type == "until":
            met = None if met is None else not met
        self._branch((node.start_byte, node.end_byte), [(self._shown(condition[-1]), body.children)], None, [met])

    # -- functions -------------------------------------------------------------------------------------------------------

    def _function_definition(self, node: Node) -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is not None and body is not None:
            self.scope.functions[self.script.source(name)] = (self.script, body)

    def _call(self, name: str, words: Sequence[Word]) -> None:
        self.called.add(name)
        script, body = self.scope.functions[name]
        if any(call == ("function", name) for call in self.following.calls) or self.depth + 2 > MAX_DEPTH:
            return
        saved, saved_script = self.scope.positional, self.script
        place = words[0].extent
        self.scope.positional, self.script = tuple(words[1:]), script
        self.following.calls.extend((("function", name), place))
        try:
            self.block(body.children)
        except Ended as ended:
            if not ended.is_return:
                raise
        finally:
            del self.following.calls[-2:]
            self.scope.positional, self.script = saved, saved_script

    def uncalled_functions(self) -> None:
        """What a script defines for others to call, or for a word that is not known to choose."""
        for name in [name for name in self.scope.functions if name not in self.called]:
            if name not in self.scope.functions or name in self.called:
                continue
            script, body = self.scope.functions[name]
            if self.following.rules.entry_mention.search(script.locate(body).text) is None and script is self.script:
                continue
            self.following.path.append(f"{name} is called")
            saved = self.scope
            self.scope = saved.copy()
            self.scope.positional = None
            self.script = script
            try:
                self.called.add(name)
                self.block(body.children)
            except Ended:
                pass
            finally:
                self.scope = saved
                self.following.path.pop()

    # -- assignments -----------------------------------------------------------------------------------------------------

    @property
    def assigner(self) -> Assigner:
        return Assigner(self.expander, self.following.notes)

    def _variable_assignment(self, node: Node) -> None:
        self.assigner.assign(node, is_exported=False)

    def _variable_assignments(self, node: Node) -> None:
        self.block(node.children)

    def _declaration_command(self, node: Node) -> None:
        self.assigner.declare(node)

    def _unset_command(self, node: Node) -> None:
        self.assigner.unset(node)

    # -- commands --------------------------------------------------------------------------------------------------------

    def _words(self, node: Node, behind: Sequence[Node] = ()) -> list[Word]:
        """The words of a command, and those ``behind`` a redirection."""
        found: list[Word] = []
        for child in (*node.children, *behind):
            if child.type in ("variable_assignment", "comment") or child.type.endswith("_redirect"):
                continue
            if len(found) > MAX_WORDS:
                break
            if child.is_named or child.type not in _LIST_ENDS:
                words = self.expander.words(child)
                self.following.budget.spend(characters=sum(word.value.cost for word in words))
                found.extend(words)
        return found

    def _simple(self, node: Node, behind: Sequence[Node] = ()) -> None:
        words = self._words(node, behind)
        assigned = [child for child in node.children if child.type == "variable_assignment"]
        own = self._own_line(node, assigned)
        for child in assigned[:own]:
            self.assigner.assign(child, is_exported=False)
        if own:
            assigned = assigned[own:]
            words = self._words(node, behind)
        if not words:
            for child in assigned:
                self.assigner.assign(child, is_exported=False)
            return
        heredoc = self._input(node)
        if heredoc is not None and self._takes_script(node):
            self._nested(heredoc, self.around, None)
            return
        saved = self.scope
        if assigned:
            self.scope = saved.copy()
            for child in assigned:
                self.assigner.assign(child, is_exported=True)
        try:
            self._execute(words)
        finally:
            self.scope = saved

    def _own_line(self, node: Node, assigned: Sequence[Node]) -> int:
        """How many assignments stand on lines of their own: the grammar takes several for the beginning of the next line's command."""
        count = 0
        for number, child in enumerate(assigned, 1):
            after = child.next_sibling
            if after is None:
                continue
            between = self.script.part(child.end_byte, after.start_byte).text
            if "\n" in between.replace("\\\n", "").replace("\\\r\n", ""):
                count = number
        return count

    def _execute(self, words: list[Word]) -> None:
        """Run a command: the shell's own ones here, others by what they start."""
        while len(words) > 1 and words[0].text in ("builtin", "command") and not words[1].text.startswith("-"):
            words = words[1:]
        head = words[0].text
        if head in self.scope.functions:
            self._call(head, words)
            return
        if head in OWN_COMMANDS:
            OWN_COMMANDS[head](self, words)
            return
        self._start(words)
        if head == "exec" and len(words) > 1 and not words[1].text.startswith((">", "<")):
            raise Ended

    def _start(self, words: Sequence[Word]) -> None:
        around = replace(
            self.around,
            environment=self.scope.environment(),
            shell={
                name: Setting(variable.value, variable.place)
                for name, variable in self.scope.variables.items()
                if variable.value is not None and variable.place is not None
            },
            directory=self.directory,
        )
        self.following.command(words, self.scope, around, self.depth)

    def _nested(self, text: Located, around: Surroundings, positional: tuple[Word, ...] | None) -> None:
        inner = Scope(positional=positional, inherited=self.scope.inherited)
        inner.with_environment(self.scope.environment())
        self.following.script(text, inner, around, self.directory, self.depth + 1)

    def inline(self, text: Located, path: Path | None) -> None:
        """Run a text as a part of this script: ``eval``, or a file that is sourced (not within itself)."""
        following = self.following
        if path is not None and path in following.scripts:
            return
        if len(following.scripts) > MAX_SCRIPTS:
            following.budget.is_cut = True
            return
        saved, self.script = self.script, Script(text)
        following.scripts.append(path)
        try:
            self.block(self.script.root.children)
        except Ended as ended:
            if not ended.is_return:
                raise
        finally:
            self.script = saved
            following.scripts.pop()


def _clause(node: Node) -> tuple[list[Node], list[Node]]:
    """Condition and body of an ``if`` or ``elif``."""
    condition: list[Node] = []
    body: list[Node] = []
    current = condition
    for child in node.children[1:]:
        if child.type == "then":
            current = body
        elif child.type in ("elif_clause", "else_clause", "fi"):
            break
        else:
            current.append(child)
    return condition, body
