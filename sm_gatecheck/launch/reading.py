"""``read_launch``: a file to the launches that it holds."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from sm_gatecheck.launch.building import Builder
from sm_gatecheck.launch.files import Companions, decoded, read_file
from sm_gatecheck.launch.following import follow
from sm_gatecheck.launch.formats import FORMATS, Reading
from sm_gatecheck.launch.formats.interface import LaunchFormat
from sm_gatecheck.launch.job import ConfigFile, EngineCall, Job, Outcome, Start
from sm_gatecheck.launch.located import SourceText, Word, printable
from sm_gatecheck.launch.model import Launch, LaunchError
from sm_gatecheck.launch.rules import LaunchRules
from sm_gatecheck.rulebook import Rulebook
from sm_gatecheck.target.options import OptionTable

STDIN = "-"
MAX_LAUNCHES = 500


def read_launch(
    path_or_text: Path | str,
    table: OptionTable | None,
    *,
    format: str | None = None,
    environment: Mapping[str, str] | None = None,
    rules: Rulebook | None = None,
    version: str | None = None,
    name: str = "<text>",
    contents: Mapping[Path, bytes] | None = None,
) -> tuple[Launch, ...]:
    """The launches of a file (``Path``), of standard input (``"-"``) or of a text (any other ``str``, reported as ``name``).

    ``table`` are the options of the tree that will run; without one, flags are taken at their word. ``format`` is a name of
    ``format_names()``, found by name and content unless given. ``environment`` are variables that the machine is known to
    have; nothing is taken from the process's own. ``version`` is the tree's release, else what the launch itself names.
    ``contents`` are files as they would be read, by path, instead of as they lie there.
    Empty where the file starts no server. LaunchError, one line, for what cannot be read at all or an unknown format.
    """
    book = LaunchRules.read(rules or Rulebook.open())
    if str(path_or_text) == STDIN:
        source = decoded(sys.stdin.buffer.read(), "<stdin>")
    elif isinstance(path_or_text, Path):
        source = read_file(path_or_text, contents=contents)
    else:
        source = decoded(path_or_text.encode("utf-8", "surrogateescape"), name)
    companions = Companions(contents=contents or {})
    reading = Reading(book, table, companions, dict(environment or {}), version)
    chosen = _format(format, source, reading)
    builder = Builder(book, table, companions, reading.environment, chosen.name, version)
    try:
        return tuple(_launches(chosen.read(source, reading), builder, reading))
    except RecursionError:
        raise LaunchError(f"{printable(source.name)}: nested too deep to be read") from None


def read_arguments(
    arguments: Sequence[str],
    table: OptionTable | None,
    *,
    rules: Rulebook | None = None,
    version: str | None = None,
    name: str = "<arguments>",
) -> Launch:
    """Plain arguments (what follows ``--`` on gatecheck's own command line), with or without the command in front of them.

    Places are columns of the arguments joined by blanks, on line 1 of ``name``.
    """
    book = LaunchRules.read(rules or Rulebook.open())
    companions = Companions()
    reading = Reading(book, table, companions, {}, version)
    source = SourceText(name, " ".join(arguments), Path.cwd() / name)
    from sm_gatecheck.launch.formats.arguments import bare_arguments

    position, words = 0, []
    for argument in arguments:
        located = source.located(position, position + len(argument))
        words.append(Word(located))
        position += len(argument) + 1
    builder = Builder(book, table, companions, {}, "arguments", version)
    return next(iter(_launches(bare_arguments(words, source, reading), builder, reading)))


def format_names() -> tuple[str, ...]:
    """What ``format`` may be."""
    return tuple(FORMATS)


def _launches(starts: Iterator[Start], builder: Builder, reading: Reading) -> Iterator[Launch]:
    count = 0
    for start in starts:
        for launch in _of(start, builder, reading):
            count += 1
            if count > MAX_LAUNCHES:
                return
            yield launch


def _of(start: Start, builder: Builder, reading: Reading) -> Iterator[Launch]:
    if isinstance(start, Job):
        for outcome in follow(start, reading.rules, reading.companions, reading.environment):
            yield builder.of_outcome(outcome)
    elif isinstance(start, EngineCall):
        yield builder.of_engine(start)
    elif isinstance(start, ConfigFile):
        yield builder.of_config(start)
    else:
        yield builder.of_outcome(Outcome(start))


def _format(name: str | None, source: SourceText, reading: Reading) -> LaunchFormat:
    if name is not None:
        if name not in FORMATS:
            near = difflib.get_close_matches(name, FORMATS, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(FORMATS)}"
            raise LaunchError(f"{printable(name)}: no such launch format; {hint}")
        return FORMATS[name]
    return max(FORMATS.values(), key=lambda known: known.recognise(source, reading))
