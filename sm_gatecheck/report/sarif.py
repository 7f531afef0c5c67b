"""SARIF 2.1.0 for code scanning: a result at the line to change, its proof as a code flow, the cards as rule metadata.

Files of the tree stand under the base ``SGLANG_ROOT``, the package's directory; launch files stand as the user named them. A
fingerprint holds no line, so that an alert outlives edits. The same report gives the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from packaging.version import InvalidVersion, Version

from sm_gatecheck import __version__
from sm_gatecheck.checks.cards import Card
from sm_gatecheck.model.report import Diagnostic, Finding, Report, Source
from sm_gatecheck.model.verdict import Judgement, OptionReport
from sm_gatecheck.report import indented
from sm_gatecheck.report.claims import Claims
from sm_gatecheck.report.clean import visible, visible_lines
from sm_gatecheck.report.json import plain
from sm_gatecheck.report.places import Place, Places, uri
from sm_gatecheck.report.wording import effect_sentence, evidence_sentence
from sm_gatecheck.verdicts.findings import deciding_gate

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT = "SGLANG_ROOT"
HERE = "SRCROOT"
FINGERPRINT = "gatecheckFinding/v1"
_PACKAGED = ("release", "wheel", "sdist")
_SEVERITIES = {"error": "error", "warning": "warning", "note": "recommendation"}


def render(report: Report, cards: Mapping[str, Card], repository: str) -> str:
    """The report as one SARIF run. ``repository`` is the address that releases come from."""
    return indented.dumps(document(report, cards, repository)) + "\n"


def document(report: Report, cards: Mapping[str, Card], repository: str) -> dict[str, Any]:
    """The same as a value."""
    places = Places((entry.option for entry in report.options), report.source, report.about_code)
    rules = {name: index for index, name in enumerate(cards)}
    results = _Results(report, places, rules)
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "gatecheck",
                "version": __version__,
                "semanticVersion": __version__,
                "shortDescription": {"text": "What each SGLang server option does on a GPU"},
                "rules": [_rule(card) for card in cards.values()],
            }
        },
        "automationDetails": {"id": f"gatecheck/{'-'.join(f'SM{sm}' for sm in report.sms)}/"},
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": [_notification(left) for left in report.diagnostics]}],
        "originalUriBaseIds": _bases(report.source),
        "versionControlProvenance": _provenance(report.source, repository),
        "columnKind": "unicodeCodePoints",
        "results": [results.of(finding) for finding in report.findings],
        "properties": {
            "sglangVersion": None if report.source.sglang_version is None else visible(report.source.sglang_version),
            "target": visible(report.source.target),
            "sms": list(report.sms),
            "cudaVersion": visible(report.assumptions.cuda_version),
            "settings": {visible(name): _clean(value) for name, value in sorted(report.assumptions.settings.items())},
        },
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


class _Results:
    def __init__(self, report: Report, places: Places, rules: Mapping[str, int]) -> None:
        self._places = places
        self._rules = rules
        self._claims = Claims(report)

    def of(self, finding: Finding) -> dict[str, Any]:
        place = self._places.of(finding)
        option = self._claims.option(finding)
        judgement = self._claims.judgement(finding)
        result: dict[str, Any] = {"ruleId": finding.rule}
        if finding.rule in self._rules:
            result["ruleIndex"] = self._rules[finding.rule]
        result |= {
            "level": finding.severity.value,
            "message": _message(finding.message),
            "locations": [{**_location(place), "logicalLocations": [{"name": visible(finding.option), "kind": "member"}]}],
            "relatedLocations": _related(finding, place, option, judgement),
        }
        if judgement is not None and judgement.evidence:
            result["codeFlows"] = [_code_flow(judgement)]
        result["partialFingerprints"] = {FINGERPRINT: finding.fingerprint}
        result["properties"] = {
            "option": visible(finding.option),
            "value": _clean(finding.value),
            "sm": finding.sm,
            "verdict": None if judgement is None else judgement.verdict.value,
            "activeOn": [] if judgement is None else list(judgement.active_on),
        }
        return result


def _related(finding: Finding, place: Place, option: OptionReport | None, judgement: Judgement | None) -> list[dict[str, Any]]:
    """The lines beside the one to change: the declaration, the gate that decides, every effect; each once, numbered from 1."""
    shown: dict[tuple[str, int, str], Place] = {}

    def show(file: str, line: int, column: int | None, text: str) -> None:
        if file and line > 0:
            shown.setdefault((file, line, text), Place(file, line, column))

    if option is not None and (place.file, place.line) != (option.option.file, option.option.line):
        show(option.option.file, option.option.line, None, "the option is declared here")
    gate = None if judgement is None else deciding_gate(judgement)
    if gate is not None:
        show(gate.file, gate.line, gate.column, evidence_sentence(gate))
    elif (place.file, place.line) != (finding.file, finding.line):
        show(finding.file, finding.line, None, "this line decides")
    for effect in () if judgement is None else judgement.effects:
        show(effect.file, effect.line, None, effect_sentence(effect))
    return [
        {"id": number, **_location(where), "message": _message(text)} for number, ((_, _, text), where) in enumerate(shown.items(), start=1)
    ]


def _code_flow(judgement: Judgement) -> dict[str, Any]:
    """The proof in its order: each condition and call on the way, then what still happens."""
    deciding = deciding_gate(judgement)
    steps = [
        _step(Place(evidence.file, evidence.line, evidence.column), evidence_sentence(evidence), evidence == deciding)
        for evidence in judgement.evidence
    ]
    steps += [_step(Place(effect.file, effect.line), effect_sentence(effect), False) for effect in judgement.effects]
    return {
        "message": {"text": f"The proof for SM{judgement.sm}"},
        "threadFlows": [{"locations": [{**step, "executionOrder": order} for order, step in enumerate(steps, start=1)]}],
    }


def _step(place: Place, text: str, decides: bool) -> dict[str, Any]:
    return {"location": {**_location(place), "message": _message(text)}, "importance": "essential" if decides else "important"}


def _location(place: Place) -> dict[str, Any]:
    artifact: dict[str, Any] = {"uri": uri(place.file)}
    if place.in_tree:
        artifact["uriBaseId"] = ROOT
    if not place.file:
        return {}
    physical: dict[str, Any] = {"artifactLocation": artifact}
    if place.line > 0:
        physical["region"] = {"startLine": place.line, **({"startColumn": place.column} if place.column else {})}
    return {"physicalLocation": physical}


def _rule(card: Card) -> dict[str, Any]:
    example = "\n".join([f"```{visible(card.language)}", *visible_lines(card.example), "```"])
    return {
        "id": card.id,
        "name": "".join(word.capitalize() for word in re.findall(r"[A-Za-z0-9]+", card.title)),
        "shortDescription": {"text": card.title},
        "fullDescription": {"text": card.why},
        "help": {
            "text": f"{card.why}\n\nWhat to do: {card.what_to_do}",
            "markdown": f"**Why it matters.** {card.why}\n\n**What to do.** {card.what_to_do}\n\n{example}",
        },
        "defaultConfiguration": {"level": card.severity.value},
        "properties": {"precision": "very-high", "problem.severity": _SEVERITIES[card.severity.value], "tags": ["sglang", "gpu"]},
    }


def _notification(left: Diagnostic) -> dict[str, Any]:
    return {"level": "warning", "message": _message(left.message), "locations": [_location(Place(left.file, left.line))]}


def _bases(source: Source) -> dict[str, Any]:
    """Where the package's directory lies: as it was named where that is a directory, else for the reader to resolve."""
    root: dict[str, Any] = {"description": {"text": f"the package directory of {visible(source.kind)} {_literal(visible(source.target))}"}}
    package = (source.package or "").replace("\\", "/").rstrip("/")
    steps = [step for step in package.split("/") if step != "."]
    if package.startswith("/"):
        return {ROOT: {"uri": uri(package + "/"), **root}}
    if not package or ".." in steps:
        return {ROOT: root}
    here = {"description": {"text": "the directory in which gatecheck was run"}}
    return {ROOT: {"uri": uri("/".join([*steps, ""])), "uriBaseId": HERE, **root}, HERE: here}


def _provenance(source: Source, repository: str) -> list[dict[str, Any]]:
    if source.git is not None:
        facts: dict[str, Any] = {"repositoryUri": source.git.origin or repository, "revisionId": visible(source.git.commit)}
        if source.git.branch is not None:
            facts["branch"] = visible(source.git.branch)
        return [{**facts, "properties": {"dirty": source.git.dirty}}]
    if source.kind in _PACKAGED and source.sglang_version is not None and _is_release(source.sglang_version):
        return [{"repositoryUri": repository, "revisionTag": f"v{source.sglang_version}"}]
    return []


def _is_release(version: str) -> bool:
    try:
        parsed = Version(version)
    except InvalidVersion:
        return False
    return parsed.local is None and not parsed.is_devrelease


def _message(text: str) -> dict[str, str]:
    return {"text": _literal(visible(text)) or "-"}


def _literal(text: str) -> str:
    """Text in which nothing is a link or a placeholder of SARIF's."""
    text = re.sub(r"\](?=\()", "] ", text)
    return re.sub(r"\{(?=\d+\})", "{ ", text)


def _clean(value: Any) -> Any:
    """A value as JSON, its strings made harmless for whatever shows them."""
    value = plain(value)
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, Mapping):
        return {visible(str(key)): _clean(item) for key, item in value.items()}
    return value
