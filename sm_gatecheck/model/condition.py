"""Conditions: formulas whose atoms are sets of SMs, option values and source text that stays free.

A condition is a multi-valued decision diagram. An inner node asks one ``Atom`` (an option's value, a comparison with it,
or residual source text that may be true or false); a leaf holds the set of targets on which the formula is true, so that
one diagram answers for every SM at once. Diagrams are reduced and shared: equal formulas are the same object, a
contradiction over atoms (``x and not x``) is ``false`` by construction, and "does this depend on that option" is an
identity test.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

SIZE_LIMIT = 80
OPTION_LIMIT = 160
WIDENED = "9~"
"""How the keys of atoms begin that stand for what was given up."""


class SpaceExhausted(Exception):
    """The formulas of one piece of code grew past the room it was given."""


class AnyValue:
    """Stands for "set to something": a value other than every one that the code names."""

    def __repr__(self) -> str:
        return "*"

    def __reduce__(self) -> str:
        return "ANY"


ANY = AnyValue()


@dataclass(frozen=True)
class Atom:
    """One question. ``key`` orders and identifies it; ``text`` is what a person reads.

    ``field`` names the option that answers it, if one does: without ``test`` the answer is the option's value itself,
    with ``test`` the truth of ``test(value)``. An atom without a field is free: it may be true or false; ``taints`` are
    the options that its text is made from.
    """

    key: str
    text: str
    field: str | None = None
    test: Callable[[Any], bool] | None = None
    taints: frozenset[str] = frozenset()

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return self.key


_LAST = "\U0010ffff"
"""The key of leaves: it sorts behind that of every atom."""
_NOTHING: frozenset[str] = frozenset()


class Condition:
    """A node of a diagram; build them through ``Space`` and combine them with ``&``, ``|``, ``~``."""

    __slots__ = (
        "_digest",
        "_exists",
        "_fields",
        "_forall",
        "_size",
        "_taints",
        "_targets",
        "atom",
        "bits",
        "children",
        "key",
        "otherwise",
        "serial",
        "space",
    )

    def __init__(
        self, space: Space, atom: Atom | None, children: tuple[tuple[Hashable, Condition], ...], otherwise: Condition | None, bits: int
    ) -> None:
        self.space = space
        self.atom = atom
        self.key = _LAST if atom is None else atom.key
        self.children = children
        self.otherwise = otherwise
        self.bits = bits
        self.serial = space.count = space.count + 1
        self._exists: int | None = None
        self._forall: int | None = None
        self._size: int | None = None
        self._fields: frozenset[str] | None = None
        self._taints: frozenset[str] | None = None
        self._targets: bool | None = None
        self._digest: str | None = None

    def __and__(self, other: Condition) -> Condition:
        return self.space.both(self, other)

    def __or__(self, other: Condition) -> Condition:
        return self.space.either(self, other)

    def __invert__(self) -> Condition:
        return self.space.negate(self)

    def __repr__(self) -> str:
        return self._shown(4)

    def _shown(self, depth: int) -> str:
        """Readable down to a few levels: a shared diagram written out in full may be exponentially long."""
        if self.atom is None:
            return "{" + ",".join(map(str, self.space.members(self.bits))) + "}"
        if depth == 0:
            return "[…]"
        branches = [f"{value!r}: {child._shown(depth - 1)}" for value, child in self.children]
        return f"[{self.atom.text}? {', '.join(branches)} else {self._else()._shown(depth - 1)}]"

    @property
    def is_true(self) -> bool:
        return self is self.space.true

    @property
    def is_false(self) -> bool:
        return self is self.space.false

    @property
    def exists(self) -> int:
        """The SMs on which some choice of the atoms makes it true."""
        if self._exists is None:
            if self.atom is None:
                self._exists = self.bits
            else:
                result = self._else().exists
                for _, child in self.children:
                    result |= child.exists
                self._exists = result
        return self._exists

    @property
    def forall(self) -> int:
        """The SMs on which every choice of the atoms makes it true."""
        if self._forall is None:
            if self.atom is None:
                self._forall = self.bits
            else:
                result = self._else().forall
                for _, child in self.children:
                    result &= child.forall
                self._forall = result
        return self._forall

    @property
    def size(self) -> int:
        """The number of distinct nodes."""
        if self._size is None:
            self._size = sum(1 for _ in self.nodes())
        return self._size

    @property
    def digest(self) -> str:
        """A short name of the formula, the same in every process."""
        if self._digest is None:
            parts = [str(self.bits) if self.atom is None else f"{self.atom.key}?{self._else().digest}"]
            parts += [f"{value!r}:{child.digest}" for value, child in self.children]
            self._digest = blake2b("|".join(parts).encode(), digest_size=8).hexdigest()
        return self._digest

    def nodes(self) -> Iterator[Condition]:
        seen: set[Condition] = set()
        stack = [self]
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            yield node
            if node.otherwise is not None:
                stack.append(node.otherwise)
                for _, child in node.children:
                    stack.append(child)

    def atoms(self) -> set[Atom]:
        return {node.atom for node in self.nodes() if node.atom is not None}

    def fields(self) -> set[str]:
        """The options that some atom asks for."""
        return {atom.field for atom in self.atoms() if atom.field is not None}

    def fields_and_taints(self) -> frozenset[str]:
        """The options that bear on it: those asked for, and those that free atoms are made from."""
        found = self._fields
        if found is None:
            if self.atom is None:
                found = _NOTHING
            else:
                found = self._else().fields_and_taints()
                for _, child in self.children:
                    below = child.fields_and_taints()
                    if below is not found:
                        found = found | below if found else below
                own = self.atom.taints if self.atom.field is None else self.atom.taints | {self.atom.field}
                if not own <= found:
                    found = found | own
            self._fields = found
        return found

    def taints(self) -> frozenset[str]:
        """The options that its free atoms are made from."""
        found = self._taints
        if found is None:
            found = _NOTHING if self.atom is None else self._else().taints() | self.atom.taints
            for _, child in self.children:
                below = child.taints()
                if not below <= found:
                    found = found | below
            self._taints = found
        return found

    def depends_on_target(self) -> bool:
        """Whether the SM matters for some choice of the atoms."""
        found = self._targets
        if found is None:
            if self.atom is None:
                found = self.bits not in (0, self.space.all_bits)
            else:
                found = self._else().depends_on_target() or any(child.depends_on_target() for _, child in self.children)
            self._targets = found
        return found

    def excludes(self, other: Condition) -> bool:
        """Whether the two never hold together: ``(self & other).is_false`` without making the conjunction."""
        return self.space.exclusive(self, other)

    def differs(self, other: Condition) -> int:
        """The SMs on which some choice of the atoms makes one true and the other false."""
        return self.space.difference(self, other)

    def _else(self) -> Condition:
        assert self.otherwise is not None
        return self.otherwise

    def restrict(self, field: str, value: Any) -> Condition:
        """The formula once option ``field`` is known to have ``value``."""
        return self.space.substitute(self, field, value)

    def values_of(self, field: str) -> tuple[Any, ...]:
        """The values of an option that the formula names, in the order of their text."""
        asked = (node.children for node in self.nodes() if node.atom is not None and node.atom.field == field and node.atom.test is None)
        named = {key for children in asked for key, _ in children if isinstance(key, tuple)}
        return tuple(value for _, value in sorted(named, key=repr))

    def on(self, bits: int) -> Condition:
        """The formula on a set of targets: leaves become all-or-nothing there (for one SM: the condition that remains)."""
        return self.space.project(self, bits)


class Space:
    """Owns the shared nodes of a set of conditions over ``count`` targets."""

    def __init__(self, sms: tuple[int, ...]) -> None:
        self.sms = sms
        self.all_bits = (1 << len(sms)) - 1
        self.room = sys.maxsize
        """How many nodes there may be: one piece of code must not take what the whole tree needs."""
        self.texts: dict[int, str] = {}
        """Conditions that were put into words, by identity: reports ask for the same ones over and over."""
        self.count = 0
        self._leaves: dict[int, Condition] = {}
        self._nodes: dict[tuple[Any, ...], Condition] = {}
        self._and: dict[tuple[Condition, Condition], Condition] = {}
        self._or: dict[tuple[Condition, Condition], Condition] = {}
        self._not: dict[Condition, Condition] = {}
        self._difference: dict[tuple[Condition, Condition], int] = {}
        self._restricted: dict[tuple[str, Hashable], dict[Condition, Condition]] = {}
        self._projected: dict[int, dict[Condition, Condition]] = {}
        self._order: dict[Hashable, str] = {}
        self.true = self.targets(self.all_bits)
        self.false = self.targets(0)

    def members(self, bits: int) -> tuple[int, ...]:
        return tuple(sm for index, sm in enumerate(self.sms) if bits >> index & 1)

    def targets(self, bits: int) -> Condition:
        """True on exactly these SMs."""
        found = self._leaves.get(bits)
        if found is None:
            found = self._leaves[bits] = Condition(self, None, (), None, bits)
        return found

    def where(self, holds: Callable[[int], bool]) -> Condition:
        """True on the SMs for which ``holds(sm)``."""
        bits = 0
        for index, sm in enumerate(self.sms):
            if holds(sm):
                bits |= 1 << index
        return self.targets(bits)

    def free(self, key: str, text: str, taints: frozenset[str] = frozenset()) -> Condition:
        """A residual: may be true or false."""
        return self.node(Atom(key, text, None, None, taints), ((True, self.true),), self.false)

    def option_is(self, field: str, values: tuple[Hashable, ...]) -> Condition:
        """True where the option has one of ``values``."""
        unique = dict.fromkeys((type(value).__name__, value) for value in values)
        return self.node(Atom(f"0:{field}", field, field), tuple((value, self.true) for value in unique), self.false)

    def option_test(self, field: str, text: str, test: Callable[[Any], bool]) -> Condition:
        """True where ``test(value of the option)``; ``text`` is the comparison as source."""
        return self.node(Atom(f"1:{field}:{text}", text, field, test), ((True, self.true),), self.false)

    def node(self, atom: Atom, children: tuple[tuple[Hashable, Condition], ...], otherwise: Condition) -> Condition:
        if len(children) == 1:
            if children[0][1] is otherwise:
                return otherwise
        else:
            children = tuple(sorted([child for child in children if child[1] is not otherwise], key=self._by_value))
            if not children:
                return otherwise
        key = (atom.key, children, otherwise)
        found = self._nodes.get(key)
        if found is None:
            if len(self._nodes) >= self.room:
                raise SpaceExhausted(f"conditions grew past {self.room:,} nodes")
            found = self._nodes[key] = Condition(self, atom, children, otherwise, 0)
        return found

    def make_room(self, nodes: int | None) -> None:
        """Allow so many new nodes from here on; None for no limit."""
        self.room = sys.maxsize if nodes is None else len(self._nodes) + nodes

    def _by_value(self, child: tuple[Hashable, Condition]) -> str:
        found = self._order.get(child[0])
        if found is None:
            found = self._order[child[0]] = repr(child[0])
        return found

    def negate(self, a: Condition) -> Condition:
        found = self._not.get(a)
        if found is None:
            if a.atom is None:
                found = self.targets(self.all_bits & ~a.bits)
            else:
                negate = self.negate
                found = self.node(a.atom, tuple([(value, negate(child)) for value, child in a.children]), negate(a._else()))
            self._not[a] = found
            self._not[found] = a
        return found

    def both(self, a: Condition, b: Condition) -> Condition:
        """Conjunction."""
        if a is b:
            return a
        if a.atom is None:
            if b.atom is None:
                return self.targets(a.bits & b.bits)
            if not a.bits:
                return a
            if a.bits == self.all_bits:
                return b
        elif b.atom is None:
            if not b.bits:
                return b
            if b.bits == self.all_bits:
                return a
        key = (a, b) if a.serial < b.serial else (b, a)
        found = self._and.get(key)
        if found is None:
            found = self._and[key] = self._combine(a, b, self.both)
        return found

    def either(self, a: Condition, b: Condition) -> Condition:
        """Disjunction."""
        if a is b:
            return a
        if a.atom is None:
            if b.atom is None:
                return self.targets(a.bits | b.bits)
            if not a.bits:
                return b
            if a.bits == self.all_bits:
                return a
        elif b.atom is None:
            if not b.bits:
                return a
            if b.bits == self.all_bits:
                return b
        key = (a, b) if a.serial < b.serial else (b, a)
        found = self._or.get(key)
        if found is None:
            found = self._or[key] = self._combine(a, b, self.either)
        return found

    def _combine(self, a: Condition, b: Condition, operation: Callable[[Condition, Condition], Condition]) -> Condition:
        """Push an operation down to the children of whichever diagram asks the earlier atom."""
        if a.key != b.key:
            first, second = (a, b) if a.key < b.key else (b, a)
            atom = first.atom
            assert atom is not None
            children = first.children
            if len(children) == 1:
                return self.node(atom, ((children[0][0], operation(children[0][1], second)),), operation(first._else(), second))
            return self.node(atom, tuple([(v, operation(c, second)) for v, c in children]), operation(first._else(), second))
        atom, a_else, b_else = a.atom, a._else(), b._else()
        assert atom is not None
        return self.node(atom, tuple([(v, operation(c, d)) for v, c, d in _aligned(a, b)]), operation(a_else, b_else))

    def exclusive(self, a: Condition, b: Condition) -> bool:
        """Whether the conjunction is false. A way to make both true ends the search; pairs without one are remembered."""
        if a.atom is None:
            if not a.bits or a.bits == self.all_bits:
                return not a.bits or b is self.false
            if b.atom is None:
                return not a.bits & b.bits
        elif a is b:
            return False
        if b.atom is None and (not b.bits or b.bits == self.all_bits):
            return not b.bits or a is self.false
        key = (a, b) if a.serial < b.serial else (b, a)
        found = self._and.get(key)
        if found is not None:
            return found is self.false
        if a.key != b.key:
            first, second = (a, b) if a.key < b.key else (b, a)
            pairs = [(child, second) for _, child in first.children]
            pairs.append((first._else(), second))
        else:
            pairs = [(c, d) for _, c, d in _aligned(a, b)]
            pairs.append((a._else(), b._else()))
        for c, d in pairs:
            if not self.exclusive(c, d):
                return False
        self._and[key] = self.false
        return True

    def difference(self, a: Condition, b: Condition) -> int:
        """``(a & ~b | b & ~a).exists`` without making the formula."""
        if a is b:
            return 0
        if a.atom is None and b.atom is None:
            return a.bits ^ b.bits
        key = (a, b) if a.serial < b.serial else (b, a)
        found = self._difference.get(key)
        if found is None:
            difference = self.difference
            if a.key != b.key:
                first, second = (a, b) if a.key < b.key else (b, a)
                found = difference(first._else(), second)
                for _, child in first.children:
                    found |= difference(child, second)
            else:
                found = difference(a._else(), b._else())
                for _, c, d in _aligned(a, b):
                    found |= difference(c, d)
            self._difference[key] = found
        return found

    def choose(self, test: Condition, then: Condition, otherwise: Condition) -> Condition:
        """``then if test else otherwise``."""
        if then is otherwise:
            return then
        return (test & then) | (~test & otherwise)

    def substitute(self, a: Condition, field: str, value: Any) -> Condition:
        """``a`` once an option has a value; parts that do not ask for the option are left alone."""
        if field not in a.fields_and_taints():
            return a
        done = self._restricted.setdefault((field, _typed(value)), {})
        answers: dict[str, Hashable] = {}

        def visit(node: Condition) -> Condition:
            atom = node.atom
            if atom is None or field not in node.fields_and_taints():
                return node
            found = done.get(node)
            if found is None:
                if atom.field == field and (value is not ANY or atom.test is None):
                    if atom.key not in answers:
                        answers[atom.key] = _answer(atom, value)
                    answer = answers[atom.key]
                    found = visit(next((child for given, child in node.children if given == answer), node._else()))
                else:
                    # Another question, or a comparison with some value that is not known: it may go either way.
                    found = self.node(atom, tuple([(v, visit(c)) for v, c in node.children]), visit(node._else()))
                done[node] = found
            return found

        return visit(a)

    def project(self, a: Condition, bits: int) -> Condition:
        """``a`` on a set of targets that is not empty: leaves become all-or-nothing there."""
        if a.atom is None:
            return self.true if a.bits & bits else self.false
        if bits and not a.depends_on_target():
            return a
        done = self._projected.setdefault(bits, {})

        def visit(node: Condition) -> Condition:
            if node.atom is None:
                return self.true if node.bits & bits else self.false
            if bits and not node.depends_on_target():
                return node
            found = done.get(node)
            if found is None:
                found = done[node] = self.node(node.atom, tuple([(v, visit(c)) for v, c in node.children]), visit(node._else()))
            return found

        return visit(a)

    def forget(self, a: Condition, keep: Callable[[Atom], bool]) -> Condition:
        """Drop the atoms that ``keep`` refuses: true wherever some answer to them makes it true."""
        done: dict[Condition, Condition] = {}

        def visit(node: Condition) -> Condition:
            if node.atom is None:
                return node
            found = done.get(node)
            if found is None:
                children = tuple((v, visit(c)) for v, c in node.children)
                otherwise = visit(node._else())
                if keep(node.atom):
                    found = self.node(node.atom, children, otherwise)
                else:
                    found = otherwise
                    for _, child in children:
                        found = found | child
                done[node] = found
            return found

        return visit(a)

    def widen(self, a: Condition) -> Condition:
        """A smaller formula for one that grew too large: exact where it is decided, free in between.

        First the residual atoms are given up, so that what the options decide stays; then everything but the targets.
        """
        if a.size <= SIZE_LIMIT:
            return a
        certain, possible = self.assured(a), self.forget(a, _asks_option)
        if certain.size + possible.size > OPTION_LIMIT:
            certain, possible = self.targets(a.forall), self.targets(a.exists)
        return certain | (possible & self.free(f"{WIDENED}{a.digest}", "several conditions", a.fields_and_taints()))

    def assured(self, a: Condition) -> Condition:
        """The part of a formula that options and targets decide by themselves, whatever everything else is."""
        return ~self.forget(~a, _asks_option)

    def certain(self, a: Condition) -> Condition:
        """The part of a formula that does not hang on what was given up when it was widened."""
        if a.atom is None:
            return a
        children = tuple((v, self.certain(c)) for v, c in a.children)
        otherwise = self.certain(a._else())
        return otherwise if a.atom.key.startswith(WIDENED) else self.node(a.atom, children, otherwise)


def _asks_option(atom: Atom) -> bool:
    return atom.field is not None


def _aligned(a: Condition, b: Condition) -> list[tuple[Hashable, Condition, Condition]]:
    """The children of two diagrams that ask the same atom, by value: where one lists no child for it, its ``otherwise`` counts."""
    if len(a.children) == 1 and len(b.children) == 1 and a.children[0][0] == b.children[0][0]:
        return [(a.children[0][0], a.children[0][1], b.children[0][1])]
    a_else, b_else = a._else(), b._else()
    of_a, of_b = dict(a.children), dict(b.children)
    found = [(value, child, of_b.get(value, b_else)) for value, child in a.children]
    found += [(value, a_else, child) for value, child in b.children if value not in of_a]
    return found


def _answer(atom: Atom, value: Any) -> Hashable:
    """Which branch of ``atom`` a value of its option takes; a test that fails on the value does not hold."""
    if atom.test is None:
        return _typed(value)
    try:
        return bool(atom.test(value))
    except Exception:  # the analysed comparison would have raised whatever this is
        return False


def _typed(value: Any) -> Hashable:
    """A value with its type, so that 1 and True are two; a list or dict by its text, since only equality is asked of it."""
    try:
        hash(value)
    except TypeError:
        return (type(value).__name__, repr(value))
    return (type(value).__name__, value)
