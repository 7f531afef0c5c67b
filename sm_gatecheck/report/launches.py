"""The part of the JSON report that is about launches: what each sets, and what resolution makes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from sm_gatecheck.model.launch_report import GivenValue, LaunchReport, ResolvedOption
from sm_gatecheck.model.report import Report

VARIABLE = "env:"
Plain = Callable[[Any], Any]


def launch_keys(report: Report, plain: Plain) -> dict[str, Any]:
    """``launch`` and ``resolved`` (that of the first launch: each has its own too); nothing for an inventory."""
    if not report.launches:
        return {}
    return {
        "launch": [_launch(launch, plain) for launch in report.launches],
        "resolved": _resolved(report.launches[0], plain),
    }


def _launch(launch: LaunchReport, plain: Plain) -> dict[str, Any]:
    options = [given for given in launch.given if not given.field.startswith(VARIABLE)]
    variables = [given for given in launch.given if given.field.startswith(VARIABLE)]
    return {
        "file": launch.span.file,
        "line": launch.span.line,
        "column": launch.span.column,
        "entry": launch.entry,
        "format": launch.format,
        "name": launch.name,
        "when": launch.when,
        "sglang_version": launch.version,
        "model_config": launch.model_config,
        "options": {given.field: plain(given.value) for given in options},
        "environment": {given.field.removeprefix(VARIABLE): plain(given.value) for given in variables},
        "conditional": [_conditional(given, plain) for given in launch.conditional],
        "unresolved": list(launch.unresolved),
        "assumed": list(dict.fromkeys(note for given in launch.given for note in given.assumed)),
        "places": {given.field: _place(given) for given in launch.given},
        "mends": [
            {
                "field": mend.field,
                "action": mend.action,
                "value": plain(mend.value),
                "because": None if mend.file is None else f"{mend.file}:{mend.line}",
            }
            for mend in launch.mends
        ],
        "resolved": _resolved(launch, plain),
    }


def _conditional(given: GivenValue, plain: Plain) -> dict[str, Any]:
    return {
        "field": given.field,
        "value": plain(given.value),
        "when": given.when,
        "verdicts": [{"sm": found.sm, "verdict": found.verdict.value, "summary": found.summary} for found in given.verdicts],
    }


def _place(given: GivenValue) -> dict[str, Any]:
    return {"flag": given.flag, "file": given.span.file, "line": given.span.line, "column": given.span.column}


def _resolved(launch: LaunchReport, plain: Plain) -> dict[str, Any]:
    return {str(sm): _options(options, plain) for sm, options in launch.resolved}


def _options(options: Iterable[ResolvedOption], plain: Plain) -> dict[str, Any]:
    return {option.field: _option(option, plain) for option in options}


def _option(option: ResolvedOption, plain: Plain) -> dict[str, Any]:
    return {
        "value": plain(option.value),
        "from": plain(option.before),
        "because": f"{option.file}:{option.line}",
        "when": option.when,
        "expression": option.text,
        "alternatives": [
            {"value": plain(found.value), "when": found.when, "because": f"{found.file}:{found.line}"} for found in option.alternatives
        ],
    }
