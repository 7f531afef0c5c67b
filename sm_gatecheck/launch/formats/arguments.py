"""Plain arguments: ``--tp 4 --attention-backend triton``, with or without the command in front."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sm_gatecheck.launch.following import follow
from sm_gatecheck.launch.formats.interface import LIKELY, NO, Reading
from sm_gatecheck.launch.job import Invocation, Job, Start
from sm_gatecheck.launch.located import SourceText, Word
from sm_gatecheck.launch.words import split_words


@dataclass(frozen=True)
class Arguments:
    name: str = "arguments"
    title: str = "plain arguments"

    def recognise(self, source: SourceText, reading: Reading) -> int:
        text = source.text.lstrip()
        return LIKELY if text.startswith("--") and not text.startswith("---") else NO

    def read(self, source: SourceText, reading: Reading) -> Iterator[Start]:
        yield from bare_arguments(split_words(source.located()), source, reading)


def bare_arguments(words: Sequence[Word], source: SourceText, reading: Reading) -> Iterator[Start]:
    """The command's own launch where there is a command, else the words for the usual entry point."""
    job = Job(words=tuple(words), directory=source.directory)
    if words and not words[0].text.startswith("-"):
        outcomes = list(follow(job, reading.rules, reading.companions, reading.environment))
        if outcomes:
            yield outcomes[0].invocation
            return
    entry = reading.rules.entries[0]
    place = source.extent(0, 0)
    yield Invocation(key=(place,), entry=entry, extent=place, words=tuple(words), directory=source.directory)


FORMAT = Arguments()
