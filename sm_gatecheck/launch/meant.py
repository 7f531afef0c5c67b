"""Whether an edit of launch files did what was meant, and nothing else: told by reading the launches again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sm_gatecheck.launch.gating import setting_of
from sm_gatecheck.launch.model import Launch, LaunchValue
from sm_gatecheck.model.launch_report import Mend
from sm_gatecheck.verdicts.scenario import VARIABLE

Target = tuple[int, str]
"""A launch by its number, and an option of it."""


def is_as_meant(
    before: Sequence[Launch],
    after: Sequence[Launch],
    mends: Mapping[Target, Mend],
    settings: Mapping[Target, LaunchValue],
) -> bool:
    """Whether the settings are mended, and the launches differ in nothing that is not to be mended."""
    if len(before) != len(after):
        return False
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        allowed = {name: mend for (launch, name), mend in mends.items() if launch == number}
        if _frame(old) != _frame(new) or not _follows(old, new, allowed, _carriers(old, settings.values())):
            return False
    return all(_is_mended(setting_of(after[number], name), mends[number, name]) for number, name in settings)


def _is_mended(setting: LaunchValue | None, mend: Mend) -> bool:
    return setting is None if mend.action == "remove" else setting is not None and setting.value == mend.value


def _frame(launch: Launch) -> tuple[Any, ...]:
    """What no mend may touch."""
    version = None if launch.sglang_version is None else launch.sglang_version.text
    return launch.entry, launch.format, launch.name, launch.when, launch.config, version


def _carriers(launch: Launch, settings: Iterable[LaunchValue]) -> set[str]:
    """Variables whose text holds the words of an option (``EXTRA_ARGS="--flag"``): it changes with them."""
    words = [extent for setting in settings for one in (setting, *setting.overridden) for extent in (one.extent, *one.value_extents)]
    return {
        VARIABLE + name
        for name, variable in launch.environment.items()
        for text in variable.value_extents
        if any(text.file == word.file and text.start <= word.start and word.end <= text.end for word in words)
    }


def _follows(old: Launch, new: Launch, allowed: Mapping[str, Mend], carriers: set[str]) -> bool:
    was, now = _values(old), _values(new)
    for name in {*was, *now} - carriers:
        if was.get(name) != now.get(name):
            mend = allowed.get(name)
            if mend is None or not _is_mended(setting_of(new, name), mend):
                return False
    gone = [setting for name in allowed if (setting := setting_of(old, name)) is not None]
    lost = set(old.unresolved) - set(new.unresolved)
    notes = {note for setting in gone for note in (*setting.unresolved, *setting.assumed)}
    return (
        _conditional(old) == _conditional(new)
        and set(new.unresolved) <= set(old.unresolved)
        and lost <= notes
        and _problems(new) <= _problems(old)
    )


def _values(launch: Launch) -> dict[str, str]:
    """Everything that a launch sets, as text that compares 1 and True as two."""
    return {
        **{name: repr(setting.value) for name, setting in launch.options.items()},
        **{VARIABLE + name: repr(setting.value) for name, setting in launch.environment.items()},
        **{f"ignored {name}": repr(setting.value) for name, setting in launch.ignored.items()},
    }


def _conditional(launch: Launch) -> list[tuple[str, str, str | None]]:
    return [(name, repr(setting.value), setting.when) for name, settings in launch.conditional.items() for setting in settings]


def _problems(launch: Launch) -> set[tuple[str, str]]:
    return {(problem.kind, problem.message) for problem in launch.problems}
