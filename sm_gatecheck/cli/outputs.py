"""``--output``: several reports in one run, each in its form and its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sm_gatecheck.cli.output import Destination
from sm_gatecheck.cli.refusal import did_you_mean
from sm_gatecheck.model.errors import UsageError

if TYPE_CHECKING:
    OutputType = click.ParamType["Output"]
else:
    OutputType = click.ParamType

STDOUT = Path("-")


@dataclass(frozen=True)
class Output:
    """A place for a report; ``format_name`` is None where ``--format`` decides."""

    format_name: str | None
    path: Path


class OutputWord(OutputType):
    """``FILE``, ``-`` for stdout, or either after ``FORMAT:``."""

    name = "[FORMAT:]FILE"

    def __init__(self, formats: Sequence[str]) -> None:
        self.formats = tuple(formats)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Output:
        if isinstance(value, Output):
            return value
        text = str(value)
        head, colon, path = text.partition(":")
        if not colon or not re.fullmatch(r"[A-Za-z]{2,20}", head):
            return Output(None, Path(text))
        if head.lower() not in self.formats:
            near = did_you_mean(head, self.formats)
            if near:
                return self.fail(f"{head!r} is no format{near} (a file of that name is ./{text})", param, ctx)
            return Output(None, Path(text))
        if not path:
            return self.fail(f"{text!r} names no file, write {head}:FILE, or {head}:- for stdout", param, ctx)
        return Output(head.lower(), Path(path))


def wanted_outputs(outputs: Sequence[Output], format_name: str, format_given: bool) -> list[tuple[str, Path]]:
    """Format and place of each report. Without ``--output`` it is stdout; a ``--format`` that no output takes goes there too.

    UsageError where two reports would go to one place.
    """
    wanted = [(output.format_name or format_name, output.path) for output in outputs]
    if not outputs or (format_given and all(output.format_name is not None for output in outputs) and STDOUT not in _places(wanted)):
        wanted.append((format_name, STDOUT))
    places = _places(wanted)
    for index, place in enumerate(places):
        if place in places[:index]:
            shown = "stdout" if place == STDOUT else str(place)
            raise UsageError(f"--output: two reports would go to {shown}; name a file for each")
    return wanted


def write_reports(parameters: dict[str, Any], render: Callable[[str, Destination], str]) -> None:
    """Render and write every report that a command with ``reports_options`` was asked for; all are rendered before one is written."""
    source = click.get_current_context().get_parameter_source("format_name")
    given = source is not None and source is not click.core.ParameterSource.DEFAULT
    wanted = wanted_outputs(parameters["outputs"], parameters["format_name"], given)
    destinations = [(format_name, Destination(path, parameters["color"])) for format_name, path in wanted]
    rendered = [(destination, render(format_name, destination)) for format_name, destination in destinations]
    for destination, text in rendered:
        destination.write(text)


def _places(wanted: Sequence[tuple[str, Path]]) -> list[Path]:
    return [path for _, path in wanted]
