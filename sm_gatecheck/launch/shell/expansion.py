"""Nodes as the words that they become: quotes taken off, variables put in, what is not known left as written and marked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from tree_sitter import Node

from sm_gatecheck.launch.choices import Budget
from sm_gatecheck.launch.located import MAX_WORDS, Located, Word, join, substitute
from sm_gatecheck.launch.model import Extent
from sm_gatecheck.launch.shell.arithmetic import evaluate
from sm_gatecheck.launch.shell.scope import Scope, Variable
from sm_gatecheck.launch.shell.syntax import Script

MAX_TEXT = 200_000
"""A variable longer than this is not followed: a script can double one as often as it likes."""

MAX_DEPTH = 24
"""``${X:-${Y:-…}}`` within each other."""

_PIECE = 16
_ESCAPED = re.compile(r"\\(\r?\n|.)", re.DOTALL)
_ANSI = re.compile(r"\\(x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|[0-7]{1,3}|.)", re.DOTALL)
_ANSI_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}
_OWN_DIRECTORY = re.compile(r"dirname\b[^;|&]*(?:\$0|BASH_SOURCE)")
_SHOWN = 60


@dataclass
class Fields:
    """Words being put together. ``exists``: the current word is there even if it is empty (it was quoted)."""

    done: list[Located] = field(default_factory=list)
    current: list[Located] = field(default_factory=list)
    exists: bool = False
    length: int = 0

    def add(self, text: Located) -> None:
        """Put in; what makes a word longer than anybody writes is left out."""
        if not self.is_full:
            self.length += text.cost + _PIECE
            self.current.append(text)

    @property
    def is_full(self) -> bool:
        return self.length > MAX_TEXT or len(self.done) > MAX_WORDS

    def end(self) -> None:
        text = join(self.current)
        if self.exists or text.runs:
            self.done.extend(_split(text, self.exists))
        self.current, self.exists = [], False


class Expander:
    """Expands the nodes of one script in one scope. ``directory`` is the script's own, where it has one."""

    def __init__(self, script: Script, scope: Scope, directory: str | None = None, budget: Budget | None = None) -> None:
        self.budget = budget or Budget()
        self.script = script
        self.scope = scope
        self.directory = directory
        self.depth = 0

    # -- words -------------------------------------------------------------------------------------------------------------

    def words(self, node: Node) -> list[Word]:
        """An argument as the words that it becomes: none for an empty variable, several for an array."""
        fields = Fields()
        self._expand(node, fields, is_quoted=False)
        self._note_cut(fields)
        fields.end()
        written = self.script.locate(node).extent
        return [Word(text.quoted(False), written) for text in fields.done[:MAX_WORDS]]

    def value(self, node: Node | None, place: Extent | None) -> Located:
        """The right side of an assignment: one text, never split."""
        if node is None:
            return Located((), place)
        fields = Fields()
        self._expand(node, fields, is_quoted=True)
        self._note_cut(fields)
        parts = [*fields.done, join(fields.current)]
        text = parts[0] if len(parts) == 1 else _joined(parts)
        if text.cost > MAX_TEXT:
            return self._open(node, "$(…)", is_quoted=False)
        return Located(text.quoted(False).runs, text.anchor or place)

    def array(self, node: Node) -> tuple[Word, ...]:
        found: list[Word] = []
        for child in node.named_children:
            if len(found) > MAX_WORDS:
                break
            if child.type != "comment":
                found.extend(Word(word.value) for word in self.words(child))
        return tuple(found[:MAX_WORDS])

    def _note_cut(self, fields: Fields) -> None:
        self.budget.is_cut = self.budget.is_cut or fields.is_full

    def text(self, node: Node) -> Located:
        """A node as one text (a test's operand, a heredoc)."""
        return self.value(node, self.script.locate(node).extent)

    # -- nodes -------------------------------------------------------------------------------------------------------------

    def _expand(self, node: Node, fields: Fields, is_quoted: bool) -> None:
        self.depth += 1
        try:
            if self.depth > MAX_DEPTH:
                fields.add(self._open(node, self.script.source(node)[:_SHOWN], is_quoted))
            else:
                self._expand_kind(node, fields, is_quoted)
        finally:
            self.depth -= 1

    def _expand_kind(self, node: Node, fields: Fields, is_quoted: bool) -> None:
        kind = node.type
        if kind == "concatenation" or kind == "command_name":
            for child in node.children:
                if fields.is_full:
                    return
                self._expand(child, fields, is_quoted)
        elif kind in ("string", "translated_string"):
            self._string(node, fields)
        elif kind == "raw_string":
            fields.exists = True
            text = self.script.locate(node)
            fields.add(text.part(1, len(text) - 1).quoted())
        elif kind == "ansi_c_string":
            fields.exists = True
            fields.add(self._ansi(self.script.locate(node)))
        elif kind == "simple_expansion":
            self._simple(node, fields, is_quoted)
        elif kind == "expansion":
            self._braced(node, fields, is_quoted)
        elif kind in ("command_substitution", "process_substitution"):
            self._substitution(node, fields, is_quoted)
        elif kind == "arithmetic_expansion":
            self._arithmetic(node, fields, is_quoted)
        elif kind == "brace_expression":
            fields.add(self.script.locate(node).quoted())
        else:
            fields.add(unescaped(self.script.locate(node)).quoted())

    def _string(self, node: Node, fields: Fields) -> None:
        """Between double quotes; the grammar gives no node for blanks between two variables, so gaps are read too."""
        children = [child for child in node.children if child.type in _IN_STRING]
        text = self.script.locate(node)
        opening = 2 if text.text.startswith("$") else 1
        position, end = node.start_byte + opening, node.end_byte - (1 if text.text.endswith('"') and len(text) > opening else 0)
        is_array_alone = (
            len(children) == 1 and (children[0].start_byte, children[0].end_byte) == (position, end) and self._is_array(children[0])
        )
        if not is_array_alone:
            fields.exists = True
            fields.add(Located((), text.extent))
        for child in children:
            if fields.is_full:
                return
            if child.start_byte > position:
                fields.add(double_quoted(self.script.part(position, child.start_byte)).quoted())
            self._expand(child, fields, is_quoted=True)
            position = max(position, child.end_byte)
        if end > position:
            fields.add(double_quoted(self.script.part(position, end)).quoted())

    def _is_array(self, node: Node) -> bool:
        source = self.script.source(node)
        return "[@]" in source or source in ("$@", "${@}")

    def _ansi(self, text: Located) -> Located:
        inner = text.part(2, len(text) - 1)
        parts: list[Located] = []
        position = 0
        for match in _ANSI.finditer(inner.text):
            parts.append(inner.part(position, match.start()))
            parts.append(substitute(_ansi_character(match[1]), inner, match.start(), match.end()))
            position = match.end()
        parts.append(inner.part(position))
        return join(parts).quoted()

    def _simple(self, node: Node, fields: Fields, is_quoted: bool) -> None:
        name = self.script.source(node).lstrip("$")
        self._variable(name, node, fields, is_quoted)

    def _variable(self, name: str, node: Node, fields: Fields, is_quoted: bool) -> None:
        """A plain reference."""
        if name in ("@", "*"):
            self._positional(name, node, fields, is_quoted)
            return
        value = self.known(name, node)
        if value is None:
            fields.add(self._open(node, f"${name}", is_quoted))
        else:
            fields.add(value.quoted(is_quoted))

    def _positional(self, name: str, node: Node, fields: Fields, is_quoted: bool) -> None:
        if self.scope.positional is None:
            fields.add(self._open(node, f"${name}", is_quoted))
        else:
            self._elements(self.scope.positional, name, fields, is_quoted)

    def _elements(self, words: tuple[Word, ...], index: str, fields: Fields, is_quoted: bool) -> None:
        if index == "*" and is_quoted:
            fields.add(_joined([word.value for word in words]).quoted())
            return
        for number, word in enumerate(words):
            if fields.is_full:
                return
            if number:
                fields.end()
            fields.add(word.value.quoted(is_quoted))
            fields.exists = fields.exists or is_quoted

    def _braced(self, node: Node, fields: Fields, is_quoted: bool) -> None:
        """``${…}`` in its forms."""
        form = self._form(node)
        if form is None:
            fields.add(self._open(node, self.script.source(node), is_quoted))
            return
        if form.prefix == "#":
            self._length(form, node, fields, is_quoted)
            return
        if form.operator is None:
            self._element_or_variable(form, node, fields, is_quoted)
            return
        if form.operator in (":-", "-", ":=", "="):
            self._default(form, node, fields, is_quoted)
        elif form.operator in (":+", "+"):
            if self._has_value(form, node) is True:
                self._rest(form, fields, is_quoted)
            elif self._has_value(form, node) is None:
                fields.add(self._open(node, self.script.source(node), is_quoted))
        elif form.operator in (":?", "?"):
            self._element_or_variable(form, node, fields, is_quoted)
        else:
            value = self.known(form.name, node) if form.index is None else None
            changed = _changed(value, form.operator, self._pattern(form)) if value is not None and not value.unresolved else None
            fields.add(changed.quoted(is_quoted) if changed is not None else self._open(node, self.script.source(node), is_quoted))

    def _element_or_variable(self, form: Form, node: Node, fields: Fields, is_quoted: bool) -> None:
        if form.index is None:
            self._variable(form.name, node, fields, is_quoted)
            return
        words = self._array(form.name)
        if words is None:
            fields.add(self._open(node, f"${form.name}", is_quoted))
        elif form.index in ("@", "*"):
            self._elements(words, form.index, fields, is_quoted)
        elif re.fullmatch(r"-?\d{1,6}", form.index) and -len(words) <= int(form.index) < len(words):
            fields.add(words[int(form.index)].value.quoted(is_quoted))
        elif not re.fullmatch(r"-?\d+", form.index):
            fields.add(self._open(node, self.script.source(node), is_quoted))

    def _default(self, form: Form, node: Node, fields: Fields, is_quoted: bool) -> None:
        """``${X:-word}``: what the script set, else what the machine is known to have, else the word, with a note."""
        is_known = self._has_value(form, node)
        if is_known is True:
            self._element_or_variable(form, node, fields, is_quoted)
            return
        variable = self.scope.get(form.name) if form.index is None else None
        inner = Fields()
        self._rest(form, inner, is_quoted)
        inner.end()
        text = _joined(inner.done) if inner.done else Located((), self.script.locate(node).extent)
        if variable is None and self.known(form.name, node) is None:
            if text.runs:
                text = text.noted(f"${form.name} is not set")
            elif not is_quoted:
                text = substitute("", self.script.locate(node), assumed=f"${form.name}")
        fields.add(text.quoted(is_quoted))
        if form.operator in (":=", "=") and form.index is None and form.name.isidentifier():
            self.scope.set(form.name, Variable(value=text.quoted(False), place=self.script.locate(node).extent))

    def _has_value(self, form: Form, node: Node) -> bool | None:
        """Whether a variable is set (and, with a colon, not empty); None where nothing is known of it."""
        if form.index is not None or form.name in ("@", "*"):
            words = self._array(form.name) if form.index is not None else self.scope.positional
            return None if words is None else bool(words)
        value = self.known(form.name, node)
        if value is None:
            variable = self.scope.get(form.name)
            return None if variable is None or variable.is_set else False
        if value.unresolved:
            return None if not value.text or len(value.runs) == 1 else True
        return bool(value.text) or not (form.operator or "").startswith(":")

    def _rest(self, form: Form, fields: Fields, is_quoted: bool) -> None:
        """The word after the operator."""
        position = form.start
        for child in form.rest:
            if child.start_byte > position:
                fields.add(unescaped(self.script.part(position, child.start_byte)).quoted(is_quoted))
            if child.type in ("word", "number", "regex", "extglob_pattern"):
                fields.add(unescaped(self.script.locate(child)).quoted(is_quoted))
            elif child.type == "concatenation":
                self._rest(Form(form.name, start=child.start_byte, end=child.end_byte, rest=tuple(child.children)), fields, is_quoted)
            else:
                self._expand(child, fields, is_quoted)
            position = max(position, child.end_byte)
        if form.end > position:
            fields.add(unescaped(self.script.part(position, form.end)).quoted(is_quoted))

    def _pattern(self, form: Form) -> str | None:
        text = self.script.part(form.start, form.end).text
        return None if re.search(r"[$`]", text) else text.strip("\"'")

    def _length(self, form: Form, node: Node, fields: Fields, is_quoted: bool) -> None:
        length: int | None = None
        if form.index in ("@", "*"):
            words = self._array(form.name)
            length = None if words is None else len(words)
        else:
            value = self.known(form.name, node)
            length = None if value is None or value.unresolved else len(value)
        if length is None:
            fields.add(self._open(node, self.script.source(node), is_quoted))
        else:
            whole = self.script.locate(node)
            fields.add(substitute(str(length), whole, is_quoted=is_quoted))

    def _form(self, node: Node) -> Form | None:
        """``${…}`` taken apart; None for a form that is not followed."""
        children = [child for child in node.children if child.type not in ("${", "}")]
        if not children:
            return None
        prefix = None
        if children[0].type in ("#", "!") and len(children) > 1:
            prefix, children = children[0].type, children[1:]
        if prefix == "!":
            return None
        head, rest = children[0], children[1:]
        index: str | None = None
        if head.type == "subscript":
            parts = head.named_children
            if len(parts) != 2:
                return None
            name, index = self.script.source(parts[0]), self.script.source(parts[1])
        elif head.type in ("variable_name", "special_variable_name"):
            name = self.script.source(head)
        else:
            return None
        if not rest:
            return Form(name, index, prefix)
        closing = node.children[-1]
        end = closing.start_byte if closing.type == "}" else node.end_byte
        return Form(name, index, prefix, rest[0].type, rest[0].end_byte, end, tuple(rest[1:]))

    def _array(self, name: str) -> tuple[Word, ...] | None:
        variable = self.scope.get(name)
        if variable is None:
            return None
        if variable.array is not None:
            return variable.array
        return (Word(variable.value),) if variable.value is not None else ()

    def known(self, name: str, node: Node) -> Located | None:
        """What a variable is worth; None where that is not known. An unset name is worth nothing at all."""
        if re.fullmatch(r"\d{1,6}", name):
            positional = self.scope.positional
            if name == "0" or positional is None:
                return None
            number = int(name)
            return positional[number - 1].value if number <= len(positional) else Located((), self.script.locate(node).extent)
        if name == "#":
            count = self.scope.positional
            whole = self.script.locate(node)
            return None if count is None else substitute(str(len(count)), whole)
        variable = self.scope.get(name)
        if variable is None:
            inherited = self.scope.inherited.get(name)
            whole = self.script.locate(node)
            return None if inherited is None else substitute(inherited, whole) if inherited else Located((), whole.extent)
        if variable.array is not None:
            return variable.array[0].value if variable.array else Located((), variable.place)
        if variable.value is None:
            return Located((), self.script.locate(node).extent)
        return self._named(variable.value, name, node)

    def _named(self, value: Located, name: str, node: Node) -> Located:
        """A value that is nothing but the output of a command goes by the variable's name."""
        if len(value.runs) == 1 and (value.runs[0].unresolved or "").startswith(("$(", "`", "<(")):
            whole = self.script.locate(node)
            return substitute(whole.text, whole, unresolved=f"${name}")
        return value

    def _substitution(self, node: Node, fields: Fields, is_quoted: bool) -> None:
        source = self.script.source(node)
        whole = self.script.locate(node)
        if not any(child.is_named and child.type != "comment" for child in node.children):
            return  # a comment, which leaves nothing
        if self.directory is not None and _OWN_DIRECTORY.search(source) and ".." not in source:
            fields.add(substitute(self.directory, whole, assumed="the script's own directory", is_quoted=is_quoted))
            return
        fields.add(self._open(node, source if len(source) <= _SHOWN else source[: _SHOWN - 2] + "…)", is_quoted))

    def _arithmetic(self, node: Node, fields: Fields, is_quoted: bool) -> None:
        whole = self.script.locate(node)
        source = whole.text.removeprefix("$((").removesuffix("))").removeprefix("$[").removesuffix("]")
        value = evaluate(source, self._numbers)
        if value is None:
            fields.add(self._open(node, self.script.source(node), is_quoted))
        else:
            fields.add(substitute(str(value), whole, is_quoted=is_quoted))

    def _numbers(self, name: str) -> str | None:
        """A variable's text, for arithmetic."""
        value = self.known(name, self.script.root)
        return None if value is None or value.unresolved else value.text

    def _open(self, node: Node, reference: str, is_quoted: bool) -> Located:
        """What is not known: the text as written, marked."""
        whole = self.script.locate(node)
        return substitute(whole.text, whole, unresolved=reference, is_quoted=is_quoted)


@dataclass(frozen=True)
class Form:
    """``${prefix name[index] operator rest}``; the rest lies between two bytes."""

    name: str
    index: str | None = None
    prefix: str | None = None
    operator: str | None = None
    start: int = 0
    end: int = 0
    rest: tuple[Node, ...] = ()


_IN_STRING = frozenset({"simple_expansion", "expansion", "command_substitution", "arithmetic_expansion"})


def unescaped(text: Located) -> Located:
    """A bare word without its backslashes; a continued line is joined."""
    return _without_backslashes(text, None)


def double_quoted(text: Located) -> Located:
    """A text between double quotes, or of a heredoc, without the backslashes that count there."""
    return _without_backslashes(text, '$`"\\')


def _without_backslashes(text: Located, special: str | None) -> Located:
    if "\\" not in text.text:
        return text
    parts: list[Located] = []
    position = 0
    for match in _ESCAPED.finditer(text.text):
        character = match[1]
        is_line = character.endswith("\n")
        if not is_line and special is not None and character not in special:
            continue
        parts.append(text.part(position, match.start()))
        if not is_line:
            parts.append(text.part(match.start() + 1, match.end()))
        position = match.end()
    parts.append(text.part(position))
    return join(parts)


def _ansi_character(code: str) -> str:
    if code[0] in "xu" and len(code) > 1:
        return chr(int(code[1:], 16))
    if code[0] in "01234567":
        return chr(int(code, 8) % 256)
    return _ANSI_LETTERS.get(code, code)


def _split(text: Located, exists: bool) -> Iterator[Located]:
    """At the blanks of what was put in without quotes."""
    start: int | None = None
    position = 0
    found = False
    for run in text.runs:
        if run.is_quoted or run.unresolved is not None:
            if start is None:
                start = position
        else:
            for match in re.finditer(r"\s+|\S+", run.text):
                if match[0].isspace():
                    if start is not None:
                        yield text.part(start, position + match.start())
                        found, start = True, None
                elif start is None:
                    start = position + match.start()
        position += len(run.text)
    if start is not None:
        yield text.part(start)
    elif not found and exists:
        yield Located((), text.anchor or text.extent)
    elif not found and any(not run.text for run in text.runs):
        yield text  # an empty default, which stands for what might be there


def _joined(parts: list[Located]) -> Located:
    """Texts with a blank between them, as ``"$*"`` joins."""
    found: list[Located] = []
    for number, part in enumerate(parts):
        if number:
            found.append(substitute(" ", part if part.runs else parts[0], 0, 1))
        found.append(part)
    return join(found)


def _changed(value: Located, operator: str, pattern: str | None) -> Located | None:
    """``${X%pattern}`` and its like, for patterns without variables; None where that is not followed."""
    text = value.text
    if operator in ("^^", ",,") and not pattern:
        runs = (replace(run, text=run.text.upper() if operator == "^^" else run.text.lower()) for run in value.runs)
        return Located(tuple(runs), value.anchor)
    if operator not in ("%", "%%", "#", "##") or pattern is None or len(text) > 1_000:
        return None
    lengths = range(len(text) + 1)
    if operator in ("%", "%%"):
        cuts = [cut for cut in lengths if fnmatchcase(text[cut:], pattern)]
        return value.part(0, (max if operator == "%" else min)(cuts)) if cuts else value
    cuts = [cut for cut in lengths if fnmatchcase(text[:cut], pattern)]
    return value.part((min if operator == "#" else max)(cuts)) if cuts else value
