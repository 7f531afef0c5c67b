"""Which GPUs a sentence names: SM numbers, compute capabilities and architectures, with the room that such words leave."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sm_gatecheck.model.target import Devices

_NUMBER = re.compile(r"(?<![A-Za-z0-9_])sm[_ -]?(\d{2,3})(x|[af])?(?![A-Za-z0-9])", re.IGNORECASE)
_FAMILY = re.compile(r"(?<![A-Za-z0-9_])sm[_ -]?(\d{1,2})x(?![A-Za-z0-9])", re.IGNORECASE)
_CAPABILITY = re.compile(r"(?:compute capability|capability)\D{0,12}(\d{1,2})\.(\d)(?!\d)", re.IGNORECASE)
_UP_AFTER = re.compile(r"\W{0,2}\+|\W{0,2}(?:\w+\W+){0,2}(?:or|and|and/or) (?:above|higher|later|newer|greater|up)\b", re.IGNORECASE)
_UP_BEFORE = re.compile(r"(?:>=|\bat least|\bminimum)\W*(?:of )?$", re.IGNORECASE)
_LIST = re.compile(r"(?<![A-Za-z0-9_])(sm[_ -]?\d{1,3}x?)/(\d{1,3}x?)(?![A-Za-z0-9])", re.IGNORECASE)
FIRST_PARTED = 100
"""Up to here every GPU can do what earlier ones could, so that "needs SM90" may mean that one and all that follow."""
_SELDOM_MEANT = frozenset({110})
"""Embedded GPUs that a word for a whole architecture hardly ever means to promise."""


@dataclass(frozen=True)
class Named:
    """Sets of SMs: what a text names for certain, and all that its words may cover."""

    least: int
    most: int

    def fits(self, answers: int, asked: int) -> bool:
        """Whether the code that answers on some of the SMs it is asked on can be what the text says."""
        return not self.least & asked & ~answers and not answers & asked & ~self.most


def named_in(text: str, devices: Devices) -> Named:
    """What a text names; empty sets where it names nothing.

    A number stands for itself and may cover its family (SM100 for SM103), an architecture stands for the first GPU of each of its
    families. Where a number is written, an architecture beside it only explains.
    """
    least = most = 0
    text = _written_out(text)
    for numbers, span in _numbers(text, devices):
        least |= devices.bit(numbers[0])
        most |= devices.bits(numbers)
        if _goes_up(text, span):
            least, most = least | _from(numbers[0], devices), most | _from(numbers[0], devices)
    has_numbers = bool(least)
    for target in devices:
        family = target.architecture.split()[0] if target.architecture else ""
        match = re.search(rf"\b{re.escape(family)}\b", text, re.IGNORECASE) if family else None
        if match is None:
            continue
        up = _from(target.sm, devices) if _goes_up(text, match.span()) else 0
        most |= devices.bits(sm for sm in devices.sms if sm // 10 == target.sm // 10) | up
        if not has_numbers and target.sm % 10 == 0 and target.sm not in _SELDOM_MEANT:
            least |= devices.bit(target.sm) | up
    lowest = devices.members(least)[:1]
    if lowest and devices.members(least)[-1] < FIRST_PARTED:
        most |= _from(lowest[0], devices)
    return Named(least, most)


def _written_out(text: str) -> str:
    """``SM9x/10x`` and ``SM100/103`` with every number named."""
    written = _LIST.sub(r"\1/SM\2", text)
    return written if written == text else _written_out(written)


def _numbers(text: str, devices: Devices) -> Iterator[tuple[list[int], tuple[int, int]]]:
    """The SMs that a number may cover, itself first, and where it stands."""
    for match in _FAMILY.finditer(text):
        members = [sm for sm in devices.sms if sm // 10 == int(match.group(1))]
        if members:
            yield members, match.span()
    written = [(int(match.group(1)), match.span()) for match in _NUMBER.finditer(text) if match.group(2) not in ("x", "X")]
    written += [(int(match.group(1)) * 10 + int(match.group(2)), match.span()) for match in _CAPABILITY.finditer(text)]
    for number, span in written:
        if number in devices.sms:
            family = [sm for sm in devices.sms if sm // 10 == number // 10 and number % 10 == 0 and sm != number]
            yield [number, *family], span


def _goes_up(text: str, span: tuple[int, int]) -> bool:
    inside = text[span[0] : span[1]]
    return bool(_UP_AFTER.match(text, span[1]) or _UP_BEFORE.search(text[: span[0]]) or ">=" in inside or "at least" in inside)


def _from(sm: int, devices: Devices) -> int:
    return devices.bits(other for other in devices.sms if other >= sm)
