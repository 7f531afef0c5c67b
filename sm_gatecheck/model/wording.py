"""A condition in words: the shortest few alternatives of what must hold, as source text."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from sm_gatecheck.model.condition import Atom, Condition

CUBE_LIMIT = 3
PATH_LIMIT = 24

Literal = tuple[Atom, tuple[Hashable, ...], bool]


def words(condition: Condition) -> str | None:
    """What remains to hold, e.g. ``page_size == 64 and use_mla``; None for always, ``never`` for a contradiction.

    Targets must have been fixed before (``Condition.on``). Too long a formula is cut, and says so.
    """
    if condition.is_true:
        return None
    if condition.is_false:
        return "never"
    texts = condition.space.texts
    if id(condition) not in texts:
        texts[id(condition)] = _worded(condition)
    return texts[id(condition)]


def _worded(condition: Condition) -> str:
    shown: list[str] = []
    covered = condition.space.false
    for cube in _cubes(condition):
        reduced = _without_needless(cube, condition)
        formula = _conjunction(reduced, condition)
        if formula.excludes(~covered):
            continue
        covered = covered | formula
        shown.append(" and ".join(_literal(literal) for literal in reduced))
        if len(shown) == CUBE_LIMIT:
            break
    more = "" if condition.excludes(~covered) else " or other conditions"
    return " or ".join(f"({text})" if len(shown) > 1 and " and " in text else text for text in shown) + more


def _cubes(condition: Condition) -> Iterator[list[Literal]]:
    """The paths to true, shortest first, up to a limit."""
    found: list[list[Literal]] = []
    stack: list[tuple[Condition, list[Literal]]] = [(condition, [])]
    while stack and len(found) < PATH_LIMIT:
        node, path = stack.pop()
        if node.atom is None:
            if node.bits:
                found.append(path)
            continue
        assert node.otherwise is not None
        keys = tuple(value for value, _ in node.children)
        stack.append((node.otherwise, [*path, (node.atom, keys, False)]))
        for value, child in node.children:
            stack.append((child, [*path, (node.atom, (value,), True)]))
    return iter(sorted(found, key=len))


def _without_needless(cube: list[Literal], condition: Condition) -> list[Literal]:
    """Drop literals without which the rest still implies the condition, negative ones first."""
    kept = list(cube)
    for literal in sorted(cube, key=lambda item: item[2]):
        rest = [other for other in kept if other is not literal]
        if _conjunction(rest, condition).excludes(~condition):
            kept = rest
    return kept


def _conjunction(cube: list[Literal], condition: Condition) -> Condition:
    space = condition.space
    result = space.true
    for atom, values, positive in cube:
        held = space.node(atom, tuple((value, space.true) for value in values), space.false)
        result = result & (held if positive else ~held)
    return result


def _literal(literal: Literal) -> str:
    atom, values, positive = literal
    if atom.field is None or atom.test is not None:
        return atom.text if positive else f"not ({atom.text})" if " " in atom.text else f"not {atom.text}"
    plain = [value[1] if isinstance(value, tuple) else value for value in values]
    if len(plain) == 1:
        return f"{atom.text} {'==' if positive else '!='} {plain[0]!r}"
    return f"{atom.text} {'in' if positive else 'not in'} ({', '.join(map(repr, plain))})"
