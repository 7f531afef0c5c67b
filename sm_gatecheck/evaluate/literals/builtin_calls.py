"""The builtins, standard-library helpers and container methods that may be called: all of them free of side effects but
for the in-place methods of lists, dicts and sets.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sm_gatecheck.evaluate.literals import limits
from sm_gatecheck.evaluate.literals.scope import Scope
from sm_gatecheck.evaluate.literals.values import (
    BoundMethod,
    ClassValue,
    EnumMember,
    External,
    FunctionValue,
    Instance,
    NotLiteral,
    TypeForm,
    Unresolved,
    describe,
)

if TYPE_CHECKING:
    from sm_gatecheck.evaluate.literals.evaluator import Evaluator

METHODS: dict[type, str] = {
    str: """capitalize casefold count endswith find format index isalnum isalpha isdigit isidentifier islower isupper join lower
        lstrip partition removeprefix removesuffix replace rfind rpartition rsplit rstrip split splitlines startswith strip swapcase
        title upper""",
    list: "append clear copy count extend index insert pop remove reverse sort",
    tuple: "count index",
    dict: "clear copy fromkeys get items keys pop setdefault update values",
    set: """add copy difference difference_update discard intersection isdisjoint issubset issuperset remove
        symmetric_difference union update""",
    frozenset: "copy difference intersection isdisjoint issubset issuperset symmetric_difference union",
}
_METHODS = {kind: frozenset(names.split()) for kind, names in METHODS.items()}
_VIEWS = frozenset({"items", "keys", "values"})
_HOLDS_ANYTHING = frozenset({"append", "setdefault", "insert", "get"})
_CONTAINERS: dict[str, Any] = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}
_SCALARS: dict[str, Any] = {"str": str, "int": int, "float": float, "bool": bool, "repr": repr, "abs": abs, "round": round}
_TYPES: dict[str, type] = {**_CONTAINERS, "dict": dict, "str": str, "int": int, "float": float, "bool": bool}
_PLAIN = (type(None), bool, int, float, str, bytes, list, tuple, dict, set, frozenset)


@dataclass(frozen=True)
class Request:
    """One call: what evaluates it, where it stands, its evaluated arguments."""

    evaluator: Evaluator
    node: ast.AST
    scope: Scope
    positional: list[Any]
    named: dict[str, Any]

    def elements(self, value: Any) -> list[Any]:
        return list(self.evaluator.iterate(value, self.node, self.scope))

    def checked(self, compute: Callable[[], Any]) -> Any:
        return limits.checked(self.evaluator, compute, self.node, self.scope)

    def apply(self, function: Any, *arguments: Any) -> Any:
        return self.evaluator.forced(self.evaluator.call(function, list(arguments), {}, self.node, self.scope))

    def refusal(self, reason: str) -> NotLiteral:
        return self.evaluator.refusal(reason, self.node, self.scope)

    def refuse_unresolved(self) -> None:
        for value in (*self.positional, *self.named.values()):
            if isinstance(value, Unresolved):
                raise NotLiteral(value)


def has_method(value: Any, name: str) -> bool:
    """Whether a plain value has a method that may be called."""
    return any(name in names and isinstance(value, kind) for kind, names in _METHODS.items())


def call_method(method: BoundMethod, request: Request) -> Any:
    """Call a method of a plain container or string."""
    receiver, name, positional = method.receiver, method.name, request.positional
    if name not in _HOLDS_ANYTHING:
        request.refuse_unresolved()
    if isinstance(receiver, str):
        if name == "format":
            limits.check_layout(request.evaluator, receiver, request.node, request.scope)
        if name == "join":
            positional = [request.elements(argument) for argument in positional]
    elif name in ("extend", "update", "union", "difference", "intersection") and not isinstance(receiver, dict):
        positional = [request.elements(argument) for argument in positional]
    elif name == "sort":
        receiver[:] = _sorted(Request(request.evaluator, request.node, request.scope, [receiver], request.named))
        return None
    result = request.checked(lambda: getattr(receiver, name)(*positional, **request.named))
    limits.checked_size(request.evaluator, receiver, request.node, request.scope)
    return list(result) if name in _VIEWS and isinstance(receiver, dict) else result


def call_external(name: str, request: Request) -> Any:
    """Call something that the tree does not define. NotLiteral unless it is one of the helpers below."""
    helper = _HELPERS.get(name.removeprefix("builtins."))
    if helper is None:
        raise request.refusal(f"{name.removeprefix('builtins.')} is called")
    request.refuse_unresolved()
    if not request.positional and name.removeprefix("builtins.") not in _WITHOUT_ARGUMENTS:
        raise request.refusal(f"{name.removeprefix('builtins.')} is called without arguments")
    return request.checked(lambda: helper(request))


def _container(kind: Any) -> Callable[[Request], Any]:
    def make(request: Request) -> Any:
        elements = request.elements(request.positional[0]) if request.positional else []
        return request.checked(lambda: kind(elements))

    return make


def _dict(request: Request) -> Any:
    source = request.positional[0] if request.positional else {}
    if isinstance(source, dict):
        return {**source, **request.named}
    pairs = [tuple(request.elements(pair)) for pair in request.elements(source)]
    return request.checked(lambda: {**dict(pairs), **request.named})


def _scalar(kind: Callable[..., Any]) -> Callable[[Request], Any]:
    def make(request: Request) -> Any:
        values = [_transparent(value) for value in request.positional]
        for value in values:
            if not isinstance(value, _PLAIN):
                raise request.refusal(f"{describe(value)} is converted")
        return request.checked(lambda: kind(*values, **request.named))

    return make


def _over_elements(function: Callable[..., Any]) -> Callable[[Request], Any]:
    def make(request: Request) -> Any:
        lists = [
            request.elements(value) if index == 0 or not isinstance(value, int) else value for index, value in enumerate(request.positional)
        ]
        return request.checked(lambda: function(*lists, **request.named))

    return make


def _extreme(function: Callable[..., Any]) -> Callable[[Request], Any]:
    def make(request: Request) -> Any:
        elements = request.elements(request.positional[0]) if len(request.positional) == 1 else request.positional
        return request.checked(lambda: function(elements))

    return make


def _sorted(request: Request) -> list[Any]:
    elements = request.elements(request.positional[0])
    key = request.named.get("key")
    keys = elements if key is None else [request.apply(key, element) for element in elements]

    def compute() -> list[Any]:
        order = sorted(range(len(elements)), key=lambda index: keys[index], reverse=bool(request.named.get("reverse", False)))
        return [elements[index] for index in order]

    ordered: list[Any] = request.checked(compute)
    return ordered


def _length(request: Request) -> int:
    value = request.positional[0]
    return len(value) if isinstance(value, (str, bytes)) else len(request.elements(value))


def _map(request: Request) -> list[Any]:
    rows = zip(*(request.elements(value) for value in request.positional[1:]), strict=False)
    return [request.apply(request.positional[0], *row) for row in rows]


def _filter(request: Request) -> list[Any]:
    function = request.positional[0]
    kept = []
    for element in request.elements(request.positional[1]):
        test = element if function is None else request.apply(function, element)
        if request.evaluator.truth(test, request.node, request.scope):
            kept.append(element)
    return kept


def _next(request: Request) -> Any:
    for element in request.elements(request.positional[0]):
        return request.evaluator.forced(element)
    if len(request.positional) > 1:
        return request.positional[1]
    raise request.refusal("next() of nothing")


def _getattr(request: Request) -> Any:
    receiver, name = request.positional[:2]
    return request.evaluator.forced(request.evaluator.attribute(receiver, name, request.node, request.scope))


def _isinstance(request: Request) -> bool:
    value, kinds = request.positional
    candidates = kinds if isinstance(kinds, tuple) else (kinds,)
    return any(_is_a(request, _transparent(value), kind) for kind in candidates)


def _is_a(request: Request, value: Any, kind: Any) -> bool:
    if isinstance(kind, External) and kind.name.removeprefix("builtins.") in _TYPES:
        return isinstance(value, _TYPES[kind.name.removeprefix("builtins.")])
    if isinstance(kind, ClassValue):
        cls = value.cls if isinstance(value, (Instance, EnumMember)) else None
        return cls is not None and any(isinstance(base, ClassValue) and base.node is kind.node for base in request.evaluator.lineage(cls))
    raise request.refusal(f"isinstance with {describe(kind)}")


def _callable(request: Request) -> bool:
    value = request.positional[0]
    if isinstance(value, (ClassValue, FunctionValue, BoundMethod)):
        return True
    if isinstance(value, (*_PLAIN, EnumMember)):
        return False
    raise request.refusal(f"whether {describe(value)} can be called is not known")


def _get_args(request: Request) -> tuple[Any, ...]:
    form = request.positional[0]
    if not isinstance(form, TypeForm):
        raise request.refusal(f"the arguments of {describe(form)} are asked for")
    return tuple(request.evaluator.tolerant(argument, form.scope) for argument in form.arguments)


def _getenv(request: Request) -> Any:
    environment = request.evaluator.known.get("os.environ")
    if environment is None:
        raise request.refusal("the environment is read")
    return environment.get(request.positional[0], request.positional[1] if len(request.positional) > 1 else request.named.get("default"))


def _chain(request: Request) -> list[Any]:
    return [element for value in request.positional for element in request.elements(value)]


def _chain_from(request: Request) -> list[Any]:
    return [element for value in request.elements(request.positional[0]) for element in request.elements(value)]


def _copied(request: Request) -> Any:
    value = request.positional[0]
    return copy.copy(value) if isinstance(value, (list, dict, set)) else value


def _transparent(value: Any) -> Any:
    return value.value if isinstance(value, EnumMember) and value.transparent else value


_WITHOUT_ARGUMENTS = frozenset({*_CONTAINERS, *_SCALARS, "dict", "collections.OrderedDict", "object.__init__", "itertools.chain", "zip"})
_HELPERS: dict[str, Callable[[Request], Any]] = {
    **{name: _container(kind) for name, kind in _CONTAINERS.items()},
    **{name: _scalar(kind) for name, kind in _SCALARS.items()},
    "dict": _dict,
    "collections.OrderedDict": _dict,
    "sum": _over_elements(sum),
    "any": _over_elements(any),
    "all": _over_elements(all),
    "zip": _over_elements(lambda *lists: list(zip(*lists, strict=False))),
    "enumerate": _over_elements(lambda elements, start=0: list(enumerate(elements, start))),
    "reversed": _over_elements(lambda elements: elements[::-1]),
    "min": _extreme(min),
    "max": _extreme(max),
    "sorted": _sorted,
    "range": lambda request: request.checked(lambda: range(*request.positional)),
    "len": _length,
    "map": _map,
    "filter": _filter,
    "next": _next,
    "iter": lambda request: request.positional[0],
    "getattr": _getattr,
    "isinstance": _isinstance,
    "callable": _callable,
    "object.__init__": lambda request: None,
    "typing.get_args": _get_args,
    "typing_extensions.get_args": _get_args,
    "typing.cast": lambda request: request.positional[-1],
    "types.MappingProxyType": lambda request: request.positional[0],
    "os.getenv": _getenv,
    "itertools.chain": _chain,
    "itertools.chain.from_iterable": _chain_from,
    "copy.copy": _copied,
    "copy.deepcopy": _copied,
}
