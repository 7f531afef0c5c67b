"""Which known name somebody most likely meant who wrote one that does not exist."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from itertools import takewhile

CUTOFF = 0.75
_REST_CUTOFF = 0.78
_SHORT, _SHORT_CUTOFF = 5, 0.7
"""One wrong letter weighs more in a short word."""
_TRIED = 5


def nearest_name(word: str, known: Iterable[str], cutoff: float = CUTOFF) -> str | None:
    """The known name that is most like ``word``, None where none is like it *in the part that differs*.

    Long names that share words (``enable-this-cache``, ``enable-that-cache``) are alike as texts, and one is no typo of the
    other: without the words that they share at either end, they have to be alike still. A word more or less is a slip.
    """
    names = list(known)
    folded = {name.lower(): name for name in reversed(names)}
    near = difflib.get_close_matches(word.lower(), folded, n=_TRIED, cutoff=cutoff)
    return next((folded[name] for name in near if _is_slip(word.lower(), name)), None)


def _is_slip(word: str, name: str) -> bool:
    one, other = _words(word), _words(name)
    if "".join(one) == "".join(other):
        return True
    front = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))))
    one, other = one[front:], other[front:]
    back = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(reversed(one), reversed(other), strict=False))))
    one, other = one[: len(one) - back], other[: len(other) - back]
    if not one or not other:
        return len(one) + len(other) == 1
    return sorted(one) == sorted(other) or _alike("".join(one), "".join(other))


def _alike(one: str, other: str) -> bool:
    if one.isdigit() or other.isdigit():
        return False  # 2 for 3 is another thing, no typo
    if sorted(one) == sorted(other):
        return True  # letters changed places
    return difflib.SequenceMatcher(None, one, other).ratio() >= (_SHORT_CUTOFF if len(one) <= _SHORT else _REST_CUTOFF)


def _words(name: str) -> list[str]:
    return [word for word in re.split(r"[-_.\s]+", name) if word]
