"""``NAME=value`` in all its forms, and what declares, exports and unsets names."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from tree_sitter import Node

from sm_gatecheck.launch.located import Located, Word, join, substitute
from sm_gatecheck.launch.shell.expansion import MAX_TEXT, Expander
from sm_gatecheck.launch.shell.scope import Scope, Variable
from sm_gatecheck.launch.shell.syntax import Script


@dataclass
class Assigner:
    """Assigns in the scope of an expander; ``notes`` collects what is not known."""

    expander: Expander
    notes: list[str]

    @property
    def script(self) -> Script:
        return self.expander.script

    @property
    def scope(self) -> Scope:
        return self.expander.scope

    def assign(self, node: Node, is_exported: bool) -> None:
        name_node, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name_node is None:
            return
        appends = any(child.type == "+=" for child in node.children)
        if name_node.type == "subscript":
            self._element(name_node, value)
            return
        name = self.script.source(name_node)
        place = self.script.locate(name_node).extent
        earlier = self.scope.get(name)
        if value is not None and value.type == "array":
            words = self.expander.array(value)
            if appends and earlier is not None:
                words = (*(earlier.array or ((Word(earlier.value),) if earlier.value is not None and earlier.value.runs else ())), *words)
            elif appends:
                words = (*self._unknown_before(name, name_node), *words)
            self.scope.set(name, Variable(array=words, place=place, is_exported=is_exported))
            return
        text = self.expander.value(value, place)
        self.expander.budget.spend(characters=text.cost)
        if appends:
            if earlier is not None and earlier.array is not None:
                self.scope.set(name, Variable(array=(*earlier.array, Word(text)), place=place, is_exported=is_exported))
                return
            before = earlier.value if earlier is not None else join(word.value for word in self._unknown_before(name, name_node))
            text = (before or Located()) + text
            if text.cost > MAX_TEXT:
                text = substitute("$(…)", self.script.locate(name_node), unresolved=f"${name}")
        self.scope.set(name, Variable(value=text, place=place, is_exported=is_exported))

    def _unknown_before(self, name: str, node: Node) -> tuple[Word, ...]:
        """What an appended variable held that the script never set: nothing, or what the machine has."""
        inherited = self.scope.inherited.get(name)
        return () if not inherited else (Word(substitute(inherited, self.script.locate(node))),)

    def _element(self, subscript: Node, value: Node | None) -> None:
        name = self.script.source(subscript.named_children[0]) if subscript.named_children else ""
        earlier = self.scope.get(name)
        if earlier is None or earlier.array is None or value is None:
            return
        text = self.expander.value(value, self.script.locate(subscript).extent)
        index = self.script.source(subscript.named_children[-1])
        words = list(earlier.array)
        if re.fullmatch(r"\d{1,6}", index) and int(index) < len(words):
            words[int(index)] = Word(text)
        else:
            words.append(Word(text))
        self.scope.set(name, replace(earlier, array=tuple(words)))

    def declare(self, node: Node) -> None:
        words = [self.script.source(child) for child in node.children]
        is_exported = words[0] == "export" or any(word.startswith("-") and "x" in word for word in words[1:])
        if any(word.startswith("-") and "n" in word for word in words[1:]) and words[0] == "export":
            return
        for child in node.children[1:]:
            if child.type == "variable_assignment":
                self.assign(child, is_exported)
            elif child.type == "variable_name" and is_exported:
                self.scope.export(self.script.source(child))
            elif child.type in ("word", "concatenation", "string") and is_exported:
                for word in self.expander.words(child):
                    self._export_word(word)

    def _export_word(self, word: Word) -> None:
        """``export "NAME=value"``; what a command prints may be any variables."""
        name, separator, _ = word.text.partition("=")
        if separator and name.isidentifier():
            place = word.value.part(0, len(name)).extent
            self.scope.set(name, Variable(value=word.value.part(len(name) + 1), place=place, is_exported=True))
        elif word.unresolved:
            self.notes.append(f"export {word.text} (not available)")

    def unset(self, node: Node) -> None:
        for child in node.named_children:
            if child.type in ("variable_name", "word") and not self.script.source(child).startswith("-"):
                self.scope.unset(self.script.source(child))
