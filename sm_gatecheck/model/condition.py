"""Conditions: formulas whose atoms are sets of SMs, option values and source text that stays free.

A condition is a multi-valued decision diagram. An inner node asks one ``Atom`` (an option's value, a comparison with it,
or residual source text that may be true or false); a leaf holds the set of targets on which the formula is true, so that
one diagram answers for every SM at once. Diagrams are reduced and shared: equal formulas are the same object, a
contradiction over atoms (``x and not x``) is ``false`` by construction, and "does this depend on that option" is an
identity test.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

SIZE_LIMIT = 80
OPTION_LIMIT = 160
WIDENED = "9~"
"""How the keys of atoms begin that stand for what was given up."""


class AnyValue:
    """Stands for "set to something": a value other than every one that the code names."""

    def __repr__(self) -> str:
        return "*"


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

    def __repr__(self) -> str:
        return self.key


class Condition:
    """A node of a diagram; build them through ``Space`` and combine them with ``&``, ``|``, ``~``."""

    __slots__ = ("_digest", "_exists", "_fields", "_forall", "_size", "atom", "bits", "children", "otherwise", "space")

    def __init__(
        self, space: Space, atom: Atom | None, children: tuple[tuple[Hashable, Condition], ...], otherwise: Condition | None, bits: int
    ) -> None:
        self.space = space
        self.atom = atom
        self.children = children
        self.otherwise = otherwise
        self.bits = bits
        self._exists: int | None = None
        self._forall: int | None = None
        self._size: int | None = None
        self._fields: frozenset[str] | None = None
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
        seen: set[int] = set()
        stack = [self]
        while stack:
            node = stack.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            yield node
            if node.atom is not None:
                stack.append(node._else())
                stack.extend(child for _, child in node.children)

    def atoms(self) -> set[Atom]:
        return {node.atom for node in self.nodes() if node.atom is not None}

    def fields(self) -> set[str]:
        """The options that some atom asks for."""
        return {atom.field for atom in self.atoms() if atom.field is not None}

    def fields_and_taints(self) -> frozenset[str]:
        """The options that bear on it: those asked for, and those that free atoms are made from."""
        if self._fields is None:
            found: set[str] = set()
            for atom in self.atoms():
                if atom.field is not None:
                    found.add(atom.field)
                found |= atom.taints
            self._fields = frozenset(found)
        return self._fields

    def depends_on_target(self) -> bool:
        """Whether the SM matters for some choice of the atoms."""
        everything = self.space.all_bits
        return any(node.atom is None and node.bits not in (0, everything) for node in self.nodes())

    def _else(self) -> Condition:
        assert self.otherwise is not None
        return self.otherwise

    def restrict(self, field: str, value: Any) -> Condition:
        """The formula once option ``field`` is known to have ``value``."""
        return self.space.substitute(self, field, value)

    def on(self, bits: int) -> Condition:
        """The formula on a set of targets: leaves become all-or-nothing there (for one SM: the condition that remains)."""
        return self.space.project(self, bits)


class Space:
    """Owns the shared nodes of a set of conditions over ``count`` targets."""

    def __init__(self, sms: tuple[int, ...]) -> None:
        self.sms = sms
        self.all_bits = (1 << len(sms)) - 1
        self.texts: dict[int, str] = {}
        """Conditions that were put into words, by identity: reports ask for the same ones over and over."""
        self._leaves: dict[int, Condition] = {}
        self._nodes: dict[tuple[Any, ...], Condition] = {}
        self._and: dict[tuple[int, int], Condition] = {}
        self._or: dict[tuple[int, int], Condition] = {}
        self._not: dict[int, Condition] = {}
        self._restricted: dict[tuple[int, str, Hashable], Condition] = {}
        self._projected: dict[tuple[int, int], Condition] = {}
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
            kept = () if children[0][1] is otherwise else children
        else:
            kept = tuple(sorted(((v, c) for v, c in children if c is not otherwise), key=_by_value))
        if not kept:
            return otherwise
        key = (atom.key, tuple((value, id(child)) for value, child in kept), id(otherwise))
        found = self._nodes.get(key)
        if found is None:
            found = self._nodes[key] = Condition(self, atom, kept, otherwise, 0)
        return found

    def negate(self, a: Condition) -> Condition:
        found = self._not.get(id(a))
        if found is None:
            if a.atom is None:
                found = self.targets(self.all_bits & ~a.bits)
            else:
                found = self.node(a.atom, tuple((value, self.negate(child)) for value, child in a.children), self.negate(a._else()))
            self._not[id(a)] = found
            self._not[id(found)] = a
        return found

    def both(self, a: Condition, b: Condition) -> Condition:
        """Conjunction."""
        if a is b or b is self.true:
            return a
        if a is self.true:
            return b
        if a is self.false or b is self.false:
            return self.false
        key = (id(a), id(b)) if id(a) < id(b) else (id(b), id(a))
        found = self._and.get(key)
        if found is None:
            if a.atom is None and b.atom is None:
                found = self.targets(a.bits & b.bits)
            else:
                found = self._combine(a, b, self.both)
            self._and[key] = found
        return found

    def either(self, a: Condition, b: Condition) -> Condition:
        """Disjunction."""
        if a is b or b is self.false:
            return a
        if a is self.false:
            return b
        if a is self.true or b is self.true:
            return self.true
        key = (id(a), id(b)) if id(a) < id(b) else (id(b), id(a))
        found = self._or.get(key)
        if found is None:
            if a.atom is None and b.atom is None:
                found = self.targets(a.bits | b.bits)
            else:
                found = self._combine(a, b, self.either)
            self._or[key] = found
        return found

    def _combine(self, a: Condition, b: Condition, operation: Callable[[Condition, Condition], Condition]) -> Condition:
        """Push an operation down to the children of whichever diagram asks the earlier atom."""
        if b.atom is None or (a.atom is not None and a.atom.key < b.atom.key):
            first, second = a, b
        else:
            first, second = b, a
        atom, first_else = first.atom, first.otherwise
        assert atom is not None
        assert first_else is not None
        second_else = second.otherwise
        if second.atom is None or second_else is None or second.atom.key != atom.key:
            return self.node(atom, tuple([(v, operation(c, second)) for v, c in first.children]), operation(first_else, second))
        of_first, of_second = dict(first.children), dict(second.children)
        children = [(v, operation(c, of_second.get(v, second_else))) for v, c in first.children]
        children += [(v, operation(first_else, c)) for v, c in second.children if v not in of_first]
        return self.node(atom, tuple(children), operation(first_else, second_else))

    def choose(self, test: Condition, then: Condition, otherwise: Condition) -> Condition:
        """``then if test else otherwise``."""
        if then is otherwise:
            return then
        return (test & then) | (~test & otherwise)

    def substitute(self, a: Condition, field: str, value: Any) -> Condition:
        if a.atom is None:
            return a
        key = (id(a), field, _typed(value))
        found = self._restricted.get(key)
        if found is None:
            atom = a.atom
            if atom.field == field and value is ANY and atom.test is not None:
                # Some value that is not known: a comparison with it may go either way.
                children = tuple((v, self.substitute(c, field, value)) for v, c in a.children)
                found = self.node(atom, children, self.substitute(a._else(), field, value))
            elif atom.field == field:
                answer = _answer(atom, value)
                chosen = next((child for given, child in a.children if given == answer), a._else())
                found = self.substitute(chosen, field, value)
            else:
                children = tuple((v, self.substitute(c, field, value)) for v, c in a.children)
                found = self.node(atom, children, self.substitute(a._else(), field, value))
            self._restricted[key] = found
        return found

    def project(self, a: Condition, bits: int) -> Condition:
        key = (id(a), bits)
        found = self._projected.get(key)
        if found is None:
            if a.atom is None:
                found = self.true if a.bits & bits else self.false
            else:
                found = self.node(a.atom, tuple((v, self.project(c, bits)) for v, c in a.children), self.project(a._else(), bits))
            self._projected[key] = found
        return found

    def forget(self, a: Condition, keep: Callable[[Atom], bool]) -> Condition:
        """Drop the atoms that ``keep`` refuses: true wherever some answer to them makes it true."""
        done: dict[int, Condition] = {}

        def visit(node: Condition) -> Condition:
            if node.atom is None:
                return node
            found = done.get(id(node))
            if found is None:
                children = tuple((v, visit(c)) for v, c in node.children)
                otherwise = visit(node._else())
                if keep(node.atom):
                    found = self.node(node.atom, children, otherwise)
                else:
                    found = otherwise
                    for _, child in children:
                        found = found | child
                done[id(node)] = found
            return found

        return visit(a)

    def widen(self, a: Condition) -> Condition:
        """A smaller formula for one that grew too large: exact where it is decided, free in between.

        First the residual atoms are given up, so that what the options decide stays; then everything but the targets.
        """
        if a.size <= SIZE_LIMIT:
            return a
        certain, possible = ~self.forget(~a, _asks_option), self.forget(a, _asks_option)
        if certain.size + possible.size > OPTION_LIMIT:
            certain, possible = self.targets(a.forall), self.targets(a.exists)
        return certain | (possible & self.free(f"{WIDENED}{a.digest}", "several conditions", a.fields_and_taints()))


    def certain(self, a: Condition) -> Condition:
        """The part of a formula that does not hang on what was given up when it was widened."""
        if a.atom is None:
            return a
        children = tuple((v, self.certain(c)) for v, c in a.children)
        otherwise = self.certain(a._else())
        return otherwise if a.atom.key.startswith(WIDENED) else self.node(a.atom, children, otherwise)


def _asks_option(atom: Atom) -> bool:
    return atom.field is not None


def _by_value(child: tuple[Hashable, Condition]) -> str:
    return repr(child[0])


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
