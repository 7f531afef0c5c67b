"""Tests whose outcome the script alone decides. Anything that asks the machine, or rests on a default, is left open."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase

from tree_sitter import Node

from sm_gatecheck.launch.located import Located, Word
from sm_gatecheck.launch.shell.arithmetic import evaluate
from sm_gatecheck.launch.shell.expansion import Expander

_NUMBERS: dict[str, Callable[[int, int], bool]] = {
    "-eq": lambda left, right: left == right,
    "-ne": lambda left, right: left != right,
    "-lt": lambda left, right: left < right,
    "-le": lambda left, right: left <= right,
    "-gt": lambda left, right: left > right,
    "-ge": lambda left, right: left >= right,
}
_MAX_DEPTH = 40


def decide(node: Node, expander: Expander) -> bool | None:
    """Whether a condition holds; None where the file does not tell."""
    return _Test(expander).of(node, 0)


class _Test:
    def __init__(self, expander: Expander) -> None:
        self.expander = expander

    def of(self, node: Node, depth: int) -> bool | None:
        if depth > _MAX_DEPTH:
            return None
        kind = node.type
        if kind == "negated_command":
            found = self.of(node.named_children[-1], depth + 1) if node.named_children else None
            return None if found is None else not found
        if kind in ("test_command", "parenthesized_expression", "compound_statement"):
            return self._bracketed(node, depth)
        if kind == "list":
            return self._list(node, depth)
        if kind == "command":
            return self._command(node)
        if kind == "binary_expression":
            return self._binary(node, depth)
        if kind == "unary_expression":
            return self._unary(node, depth)
        if kind in ("word", "string", "raw_string", "simple_expansion", "expansion", "concatenation", "number"):
            text = self._text(node)
            return None if text is None else bool(text)
        return None

    def _bracketed(self, node: Node, depth: int) -> bool | None:
        source = self.expander.script.source(node)
        if source.startswith("(("):
            number = evaluate(source.removeprefix("((").removesuffix("))"), self._firm_number)
            return None if number is None else number != 0
        inner = node.named_children
        return self.of(inner[0], depth + 1) if len(inner) == 1 else None

    def _list(self, node: Node, depth: int) -> bool | None:
        children = node.children
        if len(children) != 3:
            return None
        return _combined(children[1].type, self.of(children[0], depth + 1), self.of(children[2], depth + 1))

    def _command(self, node: Node) -> bool | None:
        words = [word for child in node.named_children for word in self.expander.words(child)]
        if not words or any(word.unresolved or word.assumed for word in words):
            return None
        texts = [word.text for word in words]
        if texts[0] in ("true", ":"):
            return True
        if texts[0] == "false":
            return False
        if texts[0] in ("test", "["):
            return _plain_test(texts[1:-1] if texts[0] == "[" and texts[-1] == "]" else texts[1:])
        return None

    def _binary(self, node: Node, depth: int) -> bool | None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        if left is None or right is None or operator is None:
            return None
        sign = self.expander.script.source(operator)
        if sign in ("&&", "||", "-a", "-o"):
            return _combined({"-a": "&&", "-o": "||"}.get(sign, sign), self.of(left, depth + 1), self.of(right, depth + 1))
        first, second = self._text(left), self._text(right)
        if first is None or second is None:
            return None
        if sign in ("=", "==", "!="):
            is_pattern = right.type in ("extglob_pattern", "regex", "word")
            same = fnmatchcase(first, second) if is_pattern else first == second
            return same if sign != "!=" else not same
        return _compared(sign, first, second)

    def _unary(self, node: Node, depth: int) -> bool | None:
        operator = node.child_by_field_name("operator")
        operand = node.named_children[-1] if node.named_children else None
        if operator is None or operand is None:
            return None
        sign = self.expander.script.source(operator)
        if sign == "!":
            found = self.of(operand, depth + 1)
            return None if found is None else not found
        if sign in ("-n", "-z"):
            text = self._text(operand)
            return None if text is None else bool(text) == (sign == "-n")
        return None

    def _text(self, node: Node) -> str | None:
        text = self.expander.text(node)
        return text.text if _is_firm(text) else None

    def _firm_number(self, name: str) -> str | None:
        value = self.expander.known(name, self.expander.script.root)
        return value.text if value is not None and _is_firm(value) else None


def _is_firm(text: Located) -> bool:
    return not text.unresolved and not text.assumed


def _combined(operator: str, left: bool | None, right: bool | None) -> bool | None:
    """Three-valued and, or."""
    decisive = operator == "||"
    if left is decisive or right is decisive:
        return decisive
    return None if left is None or right is None else not decisive


def _compared(sign: str, left: str, right: str) -> bool | None:
    if sign not in _NUMBERS:
        return None
    try:
        return _NUMBERS[sign](int(left), int(right))
    except ValueError:
        return None


def _plain_test(words: list[str]) -> bool | None:
    if words and words[0] == "!":
        found = _plain_test(words[1:])
        return None if found is None else not found
    if len(words) == 1:
        return bool(words[0])
    if len(words) == 2 and words[0] in ("-n", "-z"):
        return bool(words[1]) == (words[0] == "-n")
    if len(words) == 3 and words[1] in ("=", "==", "!="):
        return (words[0] == words[2]) == (words[1] != "!=")
    return _compared(words[1], words[0], words[2]) if len(words) == 3 else None


def pattern_decides(value: Located, patterns: list[Word]) -> bool | None:
    """Whether a ``case`` value fits one of the patterns; None where that is not known."""
    if not _is_firm(value) or any(pattern.unresolved or pattern.assumed for pattern in patterns):
        return None
    return any(fnmatchcase(value.text, pattern.text) for pattern in patterns)
