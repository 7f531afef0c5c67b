"""The lines of a log without what a supervisor, a container runtime or a terminal puts around them.

A log may be gigabytes of one line: nothing here holds more than a line of limited length, and every pattern is anchored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Any

LINE_LIMIT = 1 << 20
"""Bytes of a line that are looked at; resolved arguments are ten to twenty thousand."""
FILE_LIMIT = 1 << 30
"""Bytes of a file that are looked at."""

_COLOUR = re.compile(r"\x1b\[[0-9;:?]{0,32}[A-Za-z]")
_PREFIXES = tuple(
    re.compile(pattern)
    for pattern in (
        r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d{1,9})? \S{1,255} [^\s:\[]{1,255}(?:\[\d{1,10}\])?: ",  # journald, syslog
        r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S{0,20} \S{1,255} [^\s:\[]{1,255}\[\d{1,10}\]: ",  # journalctl -o short-iso
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S{0,20} ",  # docker logs -t, kubectl logs --timestamps
        r"\[pod/[^\]\s]{1,255}\] ",  # kubectl logs --prefix
        r"[A-Za-z0-9][\w.-]{0,127} {0,64}\| ",  # docker compose
    )
)
_RUNTIME = re.compile(r"\d{4}-\d\d-\d\dT\S{8,24} (?:stdout|stderr) ([PF]) ")  # a container runtime's own file
_MESSAGE_KEYS = ("log", "MESSAGE", "message", "msg")


@dataclass(frozen=True)
class Line:
    """A line of the server's own text; ``number`` counts lines of the file from 1."""

    text: str
    number: int


def lines_of(stream: IO[bytes], notes: list[str]) -> Iterator[Line]:
    """The server's lines in a file. ``notes`` gets a sentence for each limit that was met."""
    waiting: list[str] = []
    first = size = 0
    for number, raw in _physical(stream, notes):
        text, complete = _inner(_COLOUR.sub("", raw))
        if not waiting:
            first, size = number, 0
        size += len(text)
        if size <= LINE_LIMIT:
            waiting.append(text)
        if complete:
            yield Line("".join(waiting), first)
            waiting = []
    if waiting:
        yield Line("".join(waiting), first)


def _physical(stream: IO[bytes], notes: list[str]) -> Iterator[tuple[int, str]]:
    read = number = long = 0
    encoding = "utf-8"
    while read < FILE_LIMIT:
        raw = stream.readline(LINE_LIMIT)
        if not raw:
            break
        read += len(raw)
        number += 1
        if number == 1 and raw.startswith((b"\xff\xfe", b"\xfe\xff")):
            yield from _wide(raw + stream.read(LINE_LIMIT * 16))
            return
        whole = raw
        while not raw.endswith(b"\n") and len(raw) == LINE_LIMIT:  # the rest of a line that is too long
            raw = stream.readline(LINE_LIMIT)
            read += len(raw)
            long = long or number
            if read >= FILE_LIMIT:
                break
        yield number, whole.decode(encoding, "replace").rstrip("\r\n").lstrip("\ufeff")
    if long:
        notes.append(f"line {long} is longer than {LINE_LIMIT:,} bytes: only its beginning was read")
    if read >= FILE_LIMIT:
        notes.append(f"only the first {FILE_LIMIT:,} bytes were read")


def _wide(raw: bytes) -> Iterable[tuple[int, str]]:
    """Text in two bytes a character, as a Windows shell redirects it."""
    return enumerate(raw.decode("utf-16", "replace").splitlines(), 1)


def _inner(text: str) -> tuple[str, bool]:
    """What the server wrote in a line, and whether its line ends here."""
    if text.startswith("{"):
        found = _json_message(text)
        if found is not None:
            return found
    runtime = _RUNTIME.match(text)
    if runtime is not None:
        return text[runtime.end() :], runtime[1] == "F"
    return without_prefix(text), True


def without_prefix(text: str) -> str:
    """The line without timestamps and names that stand before it; those the server itself writes stay."""
    for pattern in _PREFIXES:
        found = pattern.match(text)
        if found is not None:
            text = text[found.end() :]
    return text


def _json_message(text: str) -> tuple[str, bool] | None:
    """The text in a line of JSON (docker's own files, ``journalctl -o json``), and whether the line is whole."""
    try:
        record: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    for key in _MESSAGE_KEYS:
        message = record.get(key)
        if isinstance(message, list) and all(isinstance(byte, int) and 0 <= byte < 256 for byte in message):
            message = bytes(message).decode("utf-8", "replace")
        if isinstance(message, str):
            complete = key != "log" or message.endswith("\n") or "stream" not in record
            return _COLOUR.sub("", message).rstrip("\r\n").replace("\n", " "), complete
    return None
