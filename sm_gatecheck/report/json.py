"""The JSON reports: stable keys in a stable order, plain ASCII, the same bytes for the same report.

The form is fixed by ``schema.json`` beside this file; ``gatecheck schema`` prints it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from sm_gatecheck import __version__
from sm_gatecheck.model.gaps import NotFollowed, counted_by_reason
from sm_gatecheck.model.option import Option
from sm_gatecheck.model.report import Assumptions, Coverage, Diagnostic, Finding, PredicateRow, Report, Source
from sm_gatecheck.model.span import Span
from sm_gatecheck.model.verdict import DefaultAlternative, Effect, EffectKind, Evidence, Judgement, OptionReport, Verdict
from sm_gatecheck.report import indented
from sm_gatecheck.report.launches import launch_keys

SCHEMA_VERSION = "1"


def render(document: Mapping[str, Any]) -> str:
    """A document as text. ASCII only: it survives every locale, and no control character of a tree gets through."""
    return indented.dumps(document) + "\n"


def report_document(report: Report) -> dict[str, Any]:
    """The report of ``check`` and ``matrix``; equal effects, and equal lines of proof, are one object in it."""
    statistics, parts = report.statistics, _Parts()
    return {
        **report_head(report),
        "options": [_option_report(option, parts) for option in report.options],
        "findings": [written_finding(finding) for finding in report.findings],
        "diagnostics": _diagnostics(report.diagnostics),
        "not_followed": not_followed(report.not_followed),
        "stats": {
            "files_seen": statistics.files_seen,
            "files_parsed": statistics.files_parsed,
            "seconds": round(statistics.seconds, 3),
            "cache": statistics.cache,
            "coverage": _coverage(statistics.coverage),
            "not_followed": {reason.value: count for reason, count in counted_by_reason(report.not_followed).items()},
        },
        **launch_keys(report, plain),
    }


def report_head(report: Report) -> dict[str, Any]:
    """What a report is about: the tool, the tree, the assumptions and the SMs."""
    return {
        **_head(report.source),
        "assumptions": assumptions(report.assumptions),
        "sms": list(report.sms),
    }


def _says_something(judgement: Judgement) -> bool:
    """An ungated row is left out, unless setting the value does more than what the option is for."""
    return judgement.verdict is not Verdict.UNGATED or any(effect.kind is not EffectKind.BEHAVIOUR for effect in judgement.effects)


def options_document(source: Source, options: Iterable[Option], diagnostics: Iterable[Diagnostic] = ()) -> dict[str, Any]:
    """The report of ``gatecheck options``."""
    return {
        **_head(source),
        "options": [
            {
                "field": option.field,
                "flags": list(option.flags),
                "aliases": list(option.aliases),
                "deprecated_flags": list(option.deprecated_flags),
                "type": option.type,
                "default": plain(option.default),
                "default_source": option.default_source,
                "choices": _choices(option),
                "file": option.file,
                "line": option.line,
            }
            for option in options
        ],
        "diagnostics": _diagnostics(diagnostics),
    }


def predicates_document(
    source: Source, cuda_version: str, rows: Iterable[PredicateRow], diagnostics: Iterable[Diagnostic] = ()
) -> dict[str, Any]:
    """The report of ``gatecheck predicates``."""
    return {
        **_head(source),
        "assumptions": {"platform": "cuda", "cuda_version": cuda_version, "settings": {}},
        "predicates": [
            {
                "name": row.name,
                "file": row.file,
                "line": row.line,
                "kind": row.kind,
                "values": {str(sm): plain(value) for sm, value in row.values},
                "reason": row.reason,
            }
            for row in rows
        ],
        "diagnostics": _diagnostics(diagnostics),
    }


def plain(value: Any) -> Any:
    """A value of a tree as JSON has it: tuples and sets become lists; what JSON lacks becomes its source text."""
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return [plain(item) for item in sorted(value, key=repr)]
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    return repr(value)


def source_document(source: Source) -> dict[str, Any]:
    """Where a tree came from."""
    return {
        "target": source.target,
        "kind": source.kind,
        "sglang_version": source.sglang_version,
        "git": None if source.git is None else {"commit": source.git.commit, "dirty": source.git.dirty, "branch": source.git.branch},
    }


def _head(source: Source) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "gatecheck", "version": __version__},
        "source": source_document(source),
    }


def _option_report(report: OptionReport, parts: _Parts) -> dict[str, Any]:
    return {
        **option_facts(report.option),
        "verdicts": [_judgement(judgement, parts) for judgement in report.judgements if _says_something(judgement)],
        "defaults": [{"sm": sm, "values": [_alternative(value) for value in values]} for sm, values in report.defaults],
    }


class _Parts:
    """The effects and lines of proof met so far: most stand in the rows of several SMs."""

    def __init__(self) -> None:
        self._effects: dict[tuple[Effect, type], dict[str, Any]] = {}
        self._evidence: dict[Evidence, dict[str, Any]] = {}

    def effect(self, effect: Effect) -> dict[str, Any]:
        try:
            key = (effect, type(effect.value))
            found = self._effects.get(key)
        except TypeError:  # a value that is a list
            return _effect(effect)
        if found is None:
            found = self._effects[key] = _effect(effect)
        return found

    def evidence(self, evidence: Evidence) -> dict[str, Any]:
        found = self._evidence.get(evidence)
        if found is None:
            found = self._evidence[evidence] = _evidence(evidence)
        return found


def _judgement(judgement: Judgement, parts: _Parts) -> dict[str, Any]:
    return {
        "sm": judgement.sm,
        "value": plain(judgement.value),
        "verdict": judgement.verdict.value,
        "active_on": list(judgement.active_on),
        "summary": judgement.summary,
        "effects": [parts.effect(effect) for effect in judgement.effects],
        "evidence": [parts.evidence(evidence) for evidence in judgement.evidence],
        "unknown": list(judgement.unknown),
    }


def _effect(effect: Effect) -> dict[str, Any]:
    return {
        "kind": effect.kind.value,
        "phase": effect.phase.value,
        "what": effect.what,
        "option": effect.option,
        "value": plain(effect.value),
        "when": effect.when,
        "file": effect.file,
        "line": effect.line,
    }


def _evidence(evidence: Evidence) -> dict[str, Any]:
    return {
        "role": evidence.role.value,
        "file": evidence.file,
        "line": evidence.line,
        "column": evidence.column,
        "source": evidence.source,
        "true_on": list(evidence.true_on),
    }


def _alternative(alternative: DefaultAlternative) -> dict[str, Any]:
    return {"value": plain(alternative.value), "when": alternative.when, "file": alternative.file, "line": alternative.line}


def written_finding(finding: Finding) -> dict[str, Any]:
    """A finding as every JSON report has it."""
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "option": finding.option,
        "value": plain(finding.value),
        "sm": finding.sm,
        "message": finding.message,
        **_place(finding),
        "fingerprint": finding.fingerprint,
        "launch": None if finding.launch is None else _span(finding.launch),
    }


def _place(finding: Finding) -> dict[str, Any]:
    """Where the finding stands: the line to change in a launch file, with the line of the tree that decides beside it; else that line."""
    if finding.launch is None:
        return {"file": finding.file, "line": finding.line}
    guard = {"file": finding.file, "line": finding.line} if finding.file else None
    return {
        "file": finding.launch.file,
        "line": finding.launch.line,
        "column": finding.launch.column,
        "guard": guard,
        "launch_number": finding.launch_number,
    }


def _span(span: Span) -> dict[str, Any]:
    return {"file": span.file, "line": span.line, "column": span.column}


def _choices(option: Option) -> list[Any] | None:
    return None if option.choices is None else [plain(choice) for choice in option.choices]


def _diagnostics(diagnostics: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    return [written_diagnostic(entry) for entry in diagnostics]


def written_diagnostic(entry: Diagnostic) -> dict[str, Any]:
    """What was left out, as every JSON report has it."""
    return {"file": entry.file, "line": entry.line, "message": entry.message}


def _coverage(coverage: Coverage) -> dict[str, int]:
    return {
        "options": coverage.options,
        "gated_options": coverage.gated_options,
        "unknown_options": coverage.unknown_options,
        "sites": coverage.sites,
        "gates_resolved": coverage.gates_resolved,
        "gates_unresolved": coverage.gates_unresolved,
    }


# -- parts of other documents -------------------------------------------------------------------------------------------


def tool() -> dict[str, str]:
    """Who wrote a document."""
    return {"name": "gatecheck", "version": __version__}


def head(source: Source) -> dict[str, Any]:
    """What every document about a tree begins with."""
    return _head(source)


def assumptions(assumed: Assumptions) -> dict[str, Any]:
    """What the claims rest on."""
    settings = {field: plain(value) for field, value in sorted(assumed.settings.items())}
    found: dict[str, Any] = {"platform": assumed.platform, "cuda_version": assumed.cuda_version, "settings": settings}
    if assumed.model is not None:
        found["model"] = plain(assumed.model)
    if assumed.gpu_memory is not None:
        found["gpu_memory"] = assumed.gpu_memory
    return found


def option_facts(option: Option) -> dict[str, Any]:
    """What the tree declares of an option."""
    return {
        "field": option.field,
        "flags": list(option.flags),
        "type": option.type,
        "default": plain(option.default),
        "choices": _choices(option),
        "file": option.file,
        "line": option.line,
    }


def judgement(judged: Judgement) -> dict[str, Any]:
    """One verdict with its effects and its proof."""
    return _judgement(judged, _Parts())


def defaults(by_sm: Iterable[tuple[int, tuple[DefaultAlternative, ...]]]) -> list[dict[str, Any]]:
    """The values that an option takes when nobody sets it, by SM."""
    return [{"sm": sm, "values": [_alternative(value) for value in values]} for sm, values in by_sm]


def diagnostics(entries: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    """What was left out."""
    return _diagnostics(entries)


def not_followed(gaps: Iterable[NotFollowed]) -> list[dict[str, Any]]:
    """What was not followed, and why."""
    return [{"reason": gap.reason.value, "what": gap.what, "file": gap.file, "line": gap.line} for gap in gaps]
