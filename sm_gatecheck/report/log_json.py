"""``gatecheck log --format json``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sm_gatecheck import __version__
from sm_gatecheck.logs.comparison import Behind, Comparison, FigureChange, OptionChange
from sm_gatecheck.logs.model import Figure
from sm_gatecheck.logs.prediction import Agreement, Predicted, Prediction, Row
from sm_gatecheck.model.report import Source
from sm_gatecheck.report.json import SCHEMA_VERSION, plain, source_document
from sm_gatecheck.report.log_text import Shown
from sm_gatecheck.report.log_text import plain as unread


def log_document(
    shown: Sequence[Shown], source: Source | None, prediction: Prediction | None, comparison: Comparison | None
) -> dict[str, Any]:
    """What was read, and what came of holding it against a tree or another start."""
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "gatecheck", "version": __version__},
        "source": None if source is None else source_document(source),
        "logs": [_log(item) for item in shown],
        "prediction": None if prediction is None else _prediction(prediction),
        "comparison": None if comparison is None else _comparison(comparison),
        "diagnostics": [{"file": item.log.name, "line": 0, "message": note} for item in shown for note in item.log.notes],
    }


def _log(shown: Shown) -> dict[str, Any]:
    start = shown.start
    arguments = start.arguments
    return {
        "file": shown.log.name,
        "starts": [other.line for other in shown.log.starts],
        "line": start.line,
        "form": start.form,
        "is_cut": start.is_cut,
        "architecture": start.architecture,
        "gpu_memory": start.gpu_memory,
        "arguments": None if arguments is None else {name: _value(value) for name, value in arguments.items()},
        "figures": [_figure(figure) for figure in start.figures],
    }


def _figure(figure: Figure) -> dict[str, Any]:
    return {
        "name": figure.name,
        "title": figure.title,
        "unit": figure.unit,
        "value": figure.value,
        "line": figure.line,
        "readings": [reading.value for reading in figure.readings],
    }


def _prediction(prediction: Prediction) -> dict[str, Any]:
    return {
        "sm": prediction.sm,
        "is_launch_known": prediction.is_launch_known,
        "given": {name: _value(value) for name, value in prediction.given.items()},
        "unfinished": prediction.unfinished,
        "refusal": None if prediction.refusal is None else dict(zip(("what", "file", "line"), prediction.refusal, strict=True)),
        "counts": {kind.value: prediction.count(kind) for kind in Agreement},
        "arguments": [_row(row) for row in prediction.rows],
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "field": row.field,
        "agreement": row.agreement.value,
        "logged": _value(row.logged),
        "declared": _value(row.declared),
        "given": _value(row.given) if row.is_given else None,
        "is_given": row.is_given,
        "predicted": [_predicted(item) for item in row.predicted],
        "why": row.why,
    }


def _predicted(predicted: Predicted) -> dict[str, Any]:
    file, line = predicted.place or ("", 0)
    return {"value": _value(predicted.value), "when": predicted.when, "is_known": predicted.is_known, "file": file, "line": line}


def _comparison(comparison: Comparison) -> dict[str, Any]:
    return {
        "is_explained": comparison.is_explained,
        "options": [_option(change) for change in comparison.options],
        "figures": [_figure_change(change) for change in comparison.figures],
    }


def _option(change: OptionChange) -> dict[str, Any]:
    file, line = change.place or ("", 0)
    return {
        "field": change.field,
        "before": _value(change.before),
        "after": _value(change.after),
        "origin": change.origin.value,
        "causes": list(change.causes),
        "when": change.when,
        "file": file,
        "line": line,
    }


def _figure_change(change: FigureChange) -> dict[str, Any]:
    return {
        "name": change.figure.name,
        "title": change.figure.title,
        "unit": change.figure.unit,
        "before": change.before,
        "after": change.after,
        "behind": [_behind(behind) for behind in change.behind],
    }


def _behind(behind: Behind) -> dict[str, Any]:
    effect = behind.effect
    return {
        "field": behind.field,
        "how": behind.how,
        "what": None if effect is None else effect.what,
        "verdict": None if behind.verdict is None else behind.verdict.value,
        "file": "" if effect is None else effect.file,
        "line": 0 if effect is None else effect.line,
    }


def _value(value: Any) -> Any:
    return plain(unread(value))
