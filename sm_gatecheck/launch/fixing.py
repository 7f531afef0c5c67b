"""Mend launch files: take out what does nothing or does harm, put a value that works in the place of one that is refused.

Every edit is tried on the bytes and read again: it stands only where the launches of the file then differ in what was to be
mended and in nothing else. What cannot be edited like that is left as it is, and said to be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from pathlib import Path
from typing import Protocol

from sm_gatecheck.launch.checking import LaunchCheck, LaunchInput
from sm_gatecheck.launch.editing import TRIED, Stretch, replaced, without
from sm_gatecheck.launch.gating import GatedLaunch, setting_of
from sm_gatecheck.launch.meant import Target, is_as_meant
from sm_gatecheck.launch.model import Extent, Launch, LaunchValue
from sm_gatecheck.model.errors import UsageError
from sm_gatecheck.model.launch_report import Mend
from sm_gatecheck.model.report import Report
from sm_gatecheck.model.span import Span
from sm_gatecheck.verdicts.scenario import VARIABLE

ROUNDS = 6
"""What is taken out can change what is said of the rest; a launch is looked at anew until nothing is left to do."""

Contents = dict[Path, bytes]
Wanted = Callable[[Report], Iterable[tuple[int, str]]]
"""Which findings of a report are to be mended, as (launch, option): those that nobody has accepted."""


@dataclass(frozen=True)
class Done:
    """A mend at the place where the option stood."""

    place: Span
    flag: str
    mend: Mend


@dataclass(frozen=True)
class Left:
    """An option that should be mended, and why that cannot be done here."""

    place: Span
    flag: str
    mend: Mend
    why: str


@dataclass
class Fix:
    """What became of the files: ``before`` and ``after`` of those that change; ``report`` and ``launches`` are of the mended ones."""

    before: Contents = field(default_factory=dict)
    after: Contents = field(default_factory=dict)
    done: list[Done] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    launches: tuple[Launch, ...] = ()
    report: Report | None = None


class Reader(Protocol):
    """What edits ask of a check: the launches as they would be with other contents of files."""

    def read(self, wanted: LaunchInput, contents: Mapping[Path, bytes] | None = None) -> tuple[Launch, ...]: ...


def fix_launches(check: LaunchCheck, wanted: LaunchInput, to_mend: Wanted) -> Fix:
    """Mend the files of a command line, in memory. UsageError where one cannot be read."""
    editor = _Editor(check, wanted)
    fix = editor.fix
    for _ in range(ROUNDS):
        launches = editor.launches()
        gated = check.gated(launches)
        fix.launches, fix.report = launches, check.report(gated)
        accepted = set(to_mend(fix.report))
        mends = {(number, mend.field): mend for number, mend in _mends(gated) if (number, mend.field) in accepted}
        before = len(fix.done)
        todo = [target for target in mends if target not in editor.given_up]
        if not editor.mend_together(launches, todo, mends):
            for target in todo:
                editor.mend(target, mends)
        if len(fix.done) == before:
            break
    fix.done.sort(key=lambda done: done.place)
    return editor.finished()


def remove_option(reader: Reader, wanted: LaunchInput, number: int, name: str) -> Fix:
    """Take one option (a variable as ``env:NAME``) out of one launch, in memory, or say why that is not possible."""
    editor = _Editor(reader, wanted)
    editor.launches()
    editor.mend((number, name), {(number, name): Mend(name, "remove", None)})
    return editor.finished()


@dataclass
class _Editor:
    """Edits files in memory, each edit read again before it counts."""

    reader: Reader
    wanted: LaunchInput
    fix: Fix = field(default_factory=Fix)
    original: tuple[Launch, ...] = ()
    """The launches before any edit: where things stood for whoever reads about them."""
    given_up: set[tuple[int, str]] = field(default_factory=set)

    def launches(self) -> tuple[Launch, ...]:
        """The launches as edited so far."""
        found = self._read(self.fix.after)
        self.original = self.original or found
        return found

    def finished(self) -> Fix:
        """What became of the files, those that did not change left out."""
        self.fix.after = {path: data for path, data in self.fix.after.items() if data != self.fix.before[path]}
        return self.fix

    def _read(self, contents: Contents) -> tuple[Launch, ...]:
        return self.reader.read(self.wanted, contents)

    def mend_together(self, launches: Sequence[Launch], todo: Sequence[Target], mends: Mapping[Target, Mend]) -> bool:
        """All mends at once, each in its tidiest way, from the end of the files so that places stay right; False where that fails."""
        settings = {target: setting for target in todo if (setting := setting_of(launches[target[0]], target[1])) is not None}
        saved, done, seen = dict(self.fix.after), [], set()
        for target, setting in sorted(settings.items(), key=lambda entry: entry[1].extent.end, reverse=True):
            if setting.extent in seen:
                continue  # the same words, in another launch
            seen.add(setting.extent)
            contents = next(self._candidates(setting, mends[target]), None)
            if contents is None:
                self.fix.after = saved
                return False
            self.fix.after.update(contents)
            done.append(Done(self._place(*target, setting), setting.flag, mends[target]))
        try:
            then = self._read(self.fix.after)
        except UsageError:  # some file is none any more
            then = ()
        if not is_as_meant(launches, then, mends, settings):
            self.fix.after = saved
            return False
        self.fix.done.extend(done)
        return True

    def mend(self, target: Target, mends: Mapping[Target, Mend]) -> None:
        """Mend one option of one launch, if it is still there."""
        number, name = target
        launches = self.launches()
        setting = setting_of(launches[number], name)
        mend = mends[target]
        if setting is None or (mend.action == "replace" and setting.value == mend.value):
            return  # gone with the same words in another launch
        for contents in self._candidates(setting, mend):
            try:
                then = self._read({**self.fix.after, **contents})
            except UsageError:  # the file is none any more
                continue
            if is_as_meant(launches, then, mends, {target: setting}):
                self.fix.after.update(contents)
                self.fix.done.append(Done(self._place(number, name, setting), setting.flag, mend))
                return
        self.given_up.add((number, name))
        self.fix.left.append(Left(self._place(number, name, setting), setting.flag, mend, _obstacle(setting)))

    def _place(self, number: int, name: str, setting: LaunchValue) -> Span:
        found = setting_of(self.original[number], name) if number < len(self.original) else None
        return setting.span if found is None else found.span

    def _candidates(self, setting: LaunchValue, mend: Mend) -> Iterator[Contents]:
        if mend.action == "replace":
            if len(setting.value_extents) == 1:
                place = setting.value_extents[0]
                data = self._bytes(place.file)
                if data is not None:
                    yield {Path(place.file): replaced(data, (place.start, place.end), str(mend.value))}
            return
        is_variable = mend.field.startswith(VARIABLE)
        for options in _places(setting):
            by_file: dict[str, list[list[Stretch]]] = {}
            for words in options:
                if len({word.file for word in words}) > 1:
                    break
                by_file.setdefault(words[0].file, []).append([(word.start, word.end) for word in words])
            else:
                ways = []
                for name, stretches in by_file.items():
                    data = self._bytes(name)
                    changes = () if data is None else without(data, stretches, whole=is_variable)
                    ways.append([(Path(name), changed) for changed in changes])
                yield from (dict(way) for way in islice(product(*ways), TRIED))

    def _bytes(self, name: str) -> bytes | None:
        """A file as it is at this point; None for what is no file of its own."""
        path = Path(name)
        if path in self.fix.after:
            return self.fix.after[path]
        try:
            data = path.read_bytes()
        except (OSError, ValueError):
            return None
        self.fix.before.setdefault(path, data)
        return data


def _mends(gated: Sequence[GatedLaunch]) -> Iterator[tuple[int, Mend]]:
    for number, launch in enumerate(gated):
        for mend in launch.report.mends:
            yield number, mend
        for name, setting in launch.launch.options.items():
            if not setting.is_stored:
                yield number, Mend(name, "remove", None)


def _places(setting: LaunchValue) -> Iterator[list[list[Extent]]]:
    """The words of an option and of its earlier values: in the command where its flag stands there, else where they were written."""
    settings = (setting, *setting.overridden)
    written = [[one.extent, *one.value_extents] for one in settings]
    taken_in = [[one.extent, *(one.values_used or one.value_extents)] for one in settings]
    yield from (taken_in, written) if setting.used is None else (written, taken_in)
    yield [[one.used or one.extent, *(one.values_used or one.value_extents)] for one in settings]


def _obstacle(setting: LaunchValue) -> str:
    """Why no edit of the text did what was meant."""
    if setting.unresolved:
        return f"it rests on {' and '.join(setting.unresolved)}"
    if setting.used is not None:
        return "its words come from another place, which other things use too"
    return "it cannot be taken out of its place without changing something else"


__all__ = ["Done", "Fix", "Left", "Reader", "fix_launches", "remove_option"]
