"""Arguments added to a parser by hand: ``parser.add_argument(…)``, read with the meaning that ``argparse`` gives it.

``ParserCalls`` stands for the parser while the registering method is run by the static evaluator, so that loops, helper
functions, groups and arguments spread from tables need no care of their own.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sm_gatecheck.evaluate.literals import (
    ClassValue,
    Evaluator,
    External,
    FunctionValue,
    Native,
    NotLiteral,
    Scope,
    Unresolved,
    plain,
)
from sm_gatecheck.model.option import DeclarationAction
from sm_gatecheck.target.options.rules import OptionRules

GROUPS = frozenset({"add_argument_group", "add_mutually_exclusive_group"})
SUPPRESS = "argparse.SUPPRESS"
BOOLEAN = "argparse.BooleanOptionalAction"
_SILENT_ACTIONS = frozenset({"help", "version"})
_ACTIONS: dict[str, tuple[DeclarationAction, Any]] = {
    "store": ("store", None),
    "store_true": ("store_true", False),
    "store_false": ("store_false", True),
    "append": ("append", None),
    "extend": ("append", None),
    "append_const": ("append", None),
    "argparse._StoreAction": ("store", None),
    "argparse._StoreTrueAction": ("store_true", False),
    "argparse._StoreFalseAction": ("store_false", True),
    "argparse._AppendAction": ("append", None),
}


@dataclass(frozen=True)
class Argument:
    """One argument of the parser. ``default`` and ``choices`` may be ``Unresolved``; ``is_suppressed``: it sets no default.

    ``replacement``, ``value`` and ``message`` say what became of a deprecated flag, as far as the tree tells.
    """

    flags: tuple[str, ...]
    destination: str
    action: DeclarationAction = "store"
    is_deprecated: bool = False
    is_suppressed: bool = False
    default: Any = None
    default_source: str | None = None
    choices: Any = None
    nargs: str | int | None = None
    type: str | None = None
    help: str | None = None
    replacement: str | None = None
    value: Any = None
    message: str | None = None
    file: str = ""
    line: int = 0


class Keywords:
    """The keyword arguments of a call, evaluated only when asked for."""

    def __init__(self, evaluator: Evaluator, scope: Scope, written: Mapping[str, ast.expr], given: Mapping[str, Any] | None = None) -> None:
        self._evaluator = evaluator
        self._scope = scope
        self._written = dict(written)
        self._given = dict(given or {})

    def __contains__(self, name: str) -> bool:
        return name in self._written or name in self._given

    def value(self, name: str) -> Any:
        """Evaluated; ``Unresolved`` where that fails, None where it is not given."""
        if name in self._written:
            return self._evaluator.tolerant(self._written[name], self._scope)
        return self._given.get(name)

    def literal(self, name: str) -> Any:
        """As ``value``, made a JSON-like literal."""
        value = self.value(name)
        try:
            return plain(value, self._scope.module.path, getattr(self._written.get(name), "lineno", 0))
        except NotLiteral as error:
            return error.unresolved

    def elements(self, name: str) -> Any:
        """The literals of what the value goes through: a container's elements, a dict's keys, an enumeration's members."""
        value = self.value(name)
        if value is None or isinstance(value, Unresolved):
            return value
        line = getattr(self._written.get(name), "lineno", 0)
        node = self._written.get(name, ast.Constant(None))
        try:
            return [plain(element, self._scope.module.path, line) for element in self._evaluator.iterate(value, node, self._scope)]
        except NotLiteral as error:
            return error.unresolved

    def source(self, name: str) -> str | None:
        return ast.unparse(self._written[name]) if name in self._written else None

    def text(self, name: str) -> str | None:
        """A text, or its source where it is put together from what is not known."""
        value = self.value(name)
        if isinstance(value, str):
            return value
        return self.source(name)

    def first(self, names: tuple[str, ...]) -> str | None:
        return next((name for name in names if name in self), None)

    def over(self, given: Mapping[str, Any]) -> Keywords:
        """These keywords with evaluated ones laid over them."""
        written = {name: expression for name, expression in self._written.items() if name not in given}
        return Keywords(self._evaluator, self._scope, written, {**self._given, **given})


@dataclass(eq=False)
class ParserCalls(Native):
    """Stands for the parser (and its groups) while a registering method is run; collects what is added."""

    rules: OptionRules
    arguments: list[Argument] = field(default_factory=list)
    defaults: dict[str, Any] = field(default_factory=dict)

    def call_method(self, method: str, call: ast.Call, scope: Scope, evaluator: Evaluator) -> Any:
        if method in GROUPS:
            return self
        if method == "add_argument":
            argument = read_call(call, scope, evaluator, self.rules)
            if argument is not None:
                self.arguments.append(argument)
        elif method == "set_defaults":
            keywords = call_keywords(call, scope, evaluator)
            self.defaults.update({keyword.arg: keywords.literal(keyword.arg) for keyword in call.keywords if keyword.arg})
        return External(f"argparse.ArgumentParser.{method}()")


def read_call(call: ast.Call, scope: Scope, evaluator: Evaluator, rules: OptionRules) -> Argument | None:
    """The argument that an ``add_argument`` call adds, None for one that stores nothing. NotLiteral where its names are not known."""
    names: list[str] = []
    for expression in call.args:
        starred = isinstance(expression, ast.Starred)
        value = evaluator.value(expression.value if isinstance(expression, ast.Starred) else expression, scope)
        names.extend(evaluator.iterate(value, expression, scope) if starred else [value])
    if not names or not all(isinstance(name, str) for name in names):
        raise NotLiteral(Unresolved("an argument without a name that can be read", scope.module.path, call.lineno))
    argument = read_argument(tuple(names), call_keywords(call, scope, evaluator), evaluator, rules)
    return None if argument is None else replace(argument, file=scope.module.path, line=call.lineno)


def call_keywords(call: ast.Call, scope: Scope, evaluator: Evaluator) -> Keywords:
    written: dict[str, ast.expr] = {}
    given: dict[str, Any] = {}
    for keyword in call.keywords:
        if keyword.arg is not None:
            written[keyword.arg] = keyword.value
        else:
            spread = evaluator.tolerant(keyword.value, scope)
            if isinstance(spread, dict):
                given.update(spread)
    return Keywords(evaluator, scope, written, given)


def read_argument(names: tuple[str, ...], keywords: Keywords, evaluator: Evaluator, rules: OptionRules) -> Argument | None:
    """An argument from its names and keywords, None where its action stores nothing."""
    action = read_action(keywords, evaluator, rules)
    if action.name in _SILENT_ACTIONS:
        return None
    flags = tuple(name for name in names if name.startswith("-"))
    if action.adds_negation:
        flags = tuple(spelling for flag in flags for spelling in ((flag, f"--no-{flag[2:]}") if flag.startswith("--") else (flag,)))
    default, source, is_suppressed = _default(keywords, action)
    value = _first_literal(keywords, rules.deprecated_value)
    return Argument(
        flags=flags,
        destination=_destination(names, keywords),
        action=action.kind,
        is_deprecated=action.is_deprecated or keywords.value("deprecated") is True,
        is_suppressed=is_suppressed,
        default=default,
        default_source=source,
        choices=keywords.elements("choices"),
        nargs=_nargs(keywords, action),
        type=keywords.source("type") or ("bool" if action.kind in ("store_true", "store_false") or action.adds_negation else None),
        help=keywords.text("help"),
        replacement=_first_text(keywords, rules.replacement),
        value=value,
        message=_first_text(keywords, rules.message),
    )


@dataclass(frozen=True)
class Action:
    """What an argument does: ``defaults`` are those of the action class's own parameters, ``default`` that of the action."""

    name: str
    kind: DeclarationAction
    default: Any = None
    is_deprecated: bool = False
    adds_negation: bool = False
    defaults: Mapping[str, Any] = field(default_factory=dict)


def read_action(keywords: Keywords, evaluator: Evaluator, rules: OptionRules) -> Action:
    """The action of an argument: a word, a class of ``argparse``, or a class of the tree."""
    value = keywords.value("action") if "action" in keywords else "store"
    if isinstance(value, (str, External)):
        name = value if isinstance(value, str) else value.name
        kind, default = _ACTIONS.get(name, ("other", None))
        return Action(name, kind, default, rules.is_deprecated([name.rsplit(".", 1)[-1]]), name == BOOLEAN)
    if isinstance(value, ClassValue):
        lineage = evaluator.lineage(value)
        names = [base.name.rsplit(".", 1)[-1] for base in lineage]
        externals = [base.name for base in lineage if isinstance(base, External)]
        defaults = _parameter_defaults(value, evaluator)
        kind, default = next((_ACTIONS[name] for name in externals if name in _ACTIONS), ("other", None))
        return Action(value.name, kind, defaults.get("default", default), rules.is_deprecated(names), BOOLEAN in externals, defaults)
    source = keywords.source("action") or ""
    return Action(source, "other", None, rules.is_deprecated([source.rsplit(".", 1)[-1]]))


def _parameter_defaults(cls: ClassValue, evaluator: Evaluator) -> dict[str, Any]:
    found = evaluator.find_attribute(cls, "__init__", None, evaluator.lineage(cls))
    if found is None or not isinstance(found[0], FunctionValue):
        return {}
    parameters = found[0].node.args
    ordinary = [*parameters.posonlyargs, *parameters.args]
    pairs = [*zip(reversed(ordinary), reversed(parameters.defaults), strict=False)]
    pairs += [(name, default) for name, default in zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True) if default is not None]
    return {parameter.arg: evaluator.literal(default, found[0].scope) for parameter, default in pairs}


def _destination(names: tuple[str, ...], keywords: Keywords) -> str:
    given = keywords.value("dest")
    if isinstance(given, str):
        return given
    long = next((name for name in names if name.startswith("--")), names[0])
    return long.lstrip("-").replace("-", "_")


def _default(keywords: Keywords, action: Action) -> tuple[Any, str | None, bool]:
    if "default" not in keywords:
        return action.default, None, False
    value = keywords.value("default")
    if value == External(SUPPRESS) or value == "==SUPPRESS==":
        return None, None, True
    literal = keywords.literal("default")
    return literal, keywords.source("default") if isinstance(literal, Unresolved) else None, False


def _nargs(keywords: Keywords, action: Action) -> str | int | None:
    value = keywords.value("nargs") if "nargs" in keywords else action.defaults.get("nargs")
    return value if isinstance(value, (str, int)) else None


def _first_text(keywords: Keywords, names: tuple[str, ...]) -> str | None:
    name = keywords.first(names)
    return keywords.text(name) if name is not None else None


def _first_literal(keywords: Keywords, names: tuple[str, ...]) -> Any:
    """The literal of the first of these keywords that is given; None where none is, or it is no literal."""
    name = keywords.first(names)
    value = keywords.literal(name) if name is not None else None
    return None if isinstance(value, Unresolved) else value
