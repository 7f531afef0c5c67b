"""``expected.toml`` of a launch fixture, and how a launch compares with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sm_gatecheck.launch import Launch, LaunchValue
from sm_gatecheck.rulebook import read_toml

FIXTURES = Path(__file__).parents[2] / "fixtures" / "launch"
_KEYS = {
    "file", "line", "entry", "name", "version", "when", "config", "options", "environment", "conditional", "unresolved", "problems",
    "suggestions", "ignored", "assumed", "at", "notes",
}  # fmt: skip


@dataclass(frozen=True)
class Expected:
    """One fixture: the file to read and what each launch must be, in order."""

    directory: Path
    idea: str
    file: Path
    format: str | None
    launches: tuple[Mapping[str, Any], ...] = field(default=())


def names() -> list[str]:
    return sorted(path.parent.name for path in FIXTURES.glob("*/expected.toml"))


def read(name: str) -> Expected:
    """AssertionError where the file says something that nothing compares."""
    directory = FIXTURES / name
    document = read_toml(directory / "expected.toml")
    assert set(document) <= {"idea", "file", "format", "launch"}, f"{name}: {sorted(document)}"
    launches = tuple(document.get("launch", ()))
    for launch in launches:
        assert set(launch) <= _KEYS, f"{name}: {sorted(set(launch) - _KEYS)}"
    return Expected(directory, document["idea"], directory / document["file"], document.get("format"), launches)


def differences(expected: Mapping[str, Any], launch: Launch, directory: Path) -> Iterator[str]:
    """What is not as expected, one line each. A key that is not there is not compared, but options always are."""
    shown = {
        "file": str(Path(launch.file).relative_to(directory)),
        "line": launch.line,
        "entry": launch.entry,
        "name": launch.name,
        "version": launch.sglang_version.version if launch.sglang_version is not None else None,
        "when": launch.when,
        "config": str(Path(launch.config).name) if launch.config == launch.file else launch.config,
        "environment": {name: setting.value for name, setting in launch.environment.items()},
        "conditional": {name: [setting.value for setting in settings] for name, settings in launch.conditional.items()},
        "unresolved": sorted(launch.unresolved),
        "problems": sorted(problem.kind for problem in launch.problems),
        "suggestions": sorted(problem.suggestion for problem in launch.problems if problem.suggestion and problem.kind != "config"),
        "ignored": sorted(launch.ignored),
        "options": launch.values,
    }
    for key, value in {"options": {}, "problems": [], **expected}.items():
        if key in ("at", "assumed", "notes"):
            continue
        wanted = sorted(value) if key in ("unresolved", "problems", "suggestions", "ignored") else value
        if shown[key] != wanted:
            yield f"{key}: {shown[key]!r}, not {wanted!r}"
    for name, place in expected.get("at", {}).items():
        found = _place(launch.options[name], Path(launch.file), directory) if name in launch.options else "nowhere"
        if found != place:
            yield f"{name} stands at {found}, not {place}"
    for name, notes in expected.get("assumed", {}).items():
        if list(launch.options[name].assumed) != notes:
            yield f"{name} rests on {launch.options[name].assumed}, not {notes}"


def _place(setting: LaunchValue, own: Path, directory: Path) -> str:
    """``line:column``, with the file before it where that is another one than the launch's."""
    file = Path(setting.extent.file)
    before = "" if file == own else f"{file.relative_to(directory)}:"
    return f"{before}{setting.extent.line}:{setting.extent.column}"
