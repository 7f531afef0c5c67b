"""One option explained: the proof as a walk, place by place, and every write of it by resolution."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from sm_gatecheck.model.gaps import NotFollowed
from sm_gatecheck.model.option import Option
from sm_gatecheck.model.report import Assumptions, Diagnostic, Source
from sm_gatecheck.model.verdict import DefaultAlternative, EffectKind, Judgement, Phase


@dataclass(frozen=True)
class Place:
    """A line of the tree and the function around it (``""`` at a module's top level). ``source`` is what stands there."""

    file: str
    line: int
    column: int
    source: str
    function: str = ""


@dataclass(frozen=True)
class Test:
    """A test on the way to a place. ``true_on`` are the SMs on which it can let pass, None where it does not ask for the GPU.

    ``passes_if`` is the answer that leads on; None where that could not be told from the source.
    """

    place: Place
    true_on: tuple[int, ...] | None
    passes_if: bool | None = None


@dataclass(frozen=True)
class Call:
    """A call on the way from an entry point; ``true_on`` are the SMs on which it can be reached, None where that was not seen."""

    place: Place
    callee: str
    true_on: tuple[int, ...] | None


@dataclass(frozen=True)
class Happening:
    """What is done at a read: in the words of an effect, with the condition that remains on each SM where it is done."""

    kind: EffectKind
    phase: Phase
    what: str
    place: Place
    live_on: tuple[int, ...]
    when: tuple[tuple[int, str | None], ...]


@dataclass(frozen=True)
class Read:
    """A place outside resolution where the option makes a difference, at one value.

    ``live_on`` are the SMs on which it does; ``happenings`` what is done there, the deciding ones first, of which
    ``more`` are left out. ``calls`` lead there, the nearest first; ``end`` says why they end.
    """

    place: Place
    live_on: tuple[int, ...]
    gated: bool
    tests: tuple[Test, ...]
    happenings: tuple[Happening, ...]
    more: int
    calls: tuple[Call, ...]
    end: str | None


@dataclass(frozen=True)
class Answer:
    """The option at one value: a judgement for each requested SM, and the reads behind them, the deciding ones first."""

    value: Any
    judgements: tuple[Judgement, ...]
    reads: tuple[Read, ...]


@dataclass(frozen=True)
class Explanation:
    """The answer of ``gatecheck explain``. ``lines`` holds the source of each ``file:line`` that is referred to.

    ``known_sms`` are all that gatecheck knows, of which ``sms`` were asked for.
    """

    source: Source
    assumptions: Assumptions
    sms: tuple[int, ...]
    option: Option
    defaults: tuple[tuple[int, tuple[DefaultAlternative, ...]], ...]
    answers: tuple[Answer, ...]
    not_followed: tuple[NotFollowed, ...] = ()
    known_sms: tuple[int, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    lines: dict[str, str] = field(default_factory=dict)


class Met(str, Enum):
    """Whether a write happens under the given context.

    ``LATER``: by code that runs after the arguments are resolved, if at all; ``NOT_FOLLOWED``: resolution may get there in a way
    that was not followed.
    """

    ALWAYS = "always"
    NEVER = "never"
    DEPENDS = "depends"
    LATER = "later"
    NOT_FOLLOWED = "not_followed"


@dataclass(frozen=True)
class Standing:
    """Whether a write happens on one SM; ``when`` is the condition that remains where it depends."""

    sm: int
    met: Met
    when: str | None = None


@dataclass(frozen=True)
class OptionWrite:
    """One place that writes the option.

    ``values`` are the values it may write as far as they are known, ``written`` is what stands there. ``when`` is the condition
    in terms of all options (None: always), ``possible_on`` the SMs on which it can hold; ``tests`` are the tests on the way, and
    ``through`` the lines that name the value where the write is made by a function that answers with it.
    """

    place: Place
    values: tuple[Any, ...]
    written: str
    when: str | None
    possible_on: tuple[int, ...]
    tests: tuple[Test, ...]
    through: tuple[Place, ...]
    standings: tuple[Standing, ...]


@dataclass(frozen=True)
class Writes:
    """The answer of ``gatecheck explain --what-sets``: the writes in source order, and what the option ends as on each SM.

    ``known_sms`` are all that gatecheck knows, of which ``sms`` were asked for.
    """

    source: Source
    assumptions: Assumptions
    sms: tuple[int, ...]
    option: Option
    writes: tuple[OptionWrite, ...]
    final: tuple[tuple[int, tuple[DefaultAlternative, ...]], ...]
    known_sms: tuple[int, ...] = ()
    unfinished: str | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    lines: dict[str, str] = field(default_factory=dict)
