"""``gatecheck explain``: the proof for one option as a walk that a person can follow, and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.text import Text

from sm_gatecheck.model.explanation import Answer, Call, Explanation, Happening, Place, Read, Test
from sm_gatecheck.model.gaps import MEANING
from sm_gatecheck.model.target import Devices
from sm_gatecheck.model.verdict import Effect, EffectKind, Judgement, Phase
from sm_gatecheck.report import json as documents
from sm_gatecheck.report.clean import shortened, visible
from sm_gatecheck.report.proof import place
from sm_gatecheck.report.sheet import Sheet
from sm_gatecheck.report.text import STYLES
from sm_gatecheck.report.wording import (
    EFFECT_VERBS,
    PHASES,
    WORDS,
    counted,
    effect_subject,
    option_name,
    setting,
    sm_list,
    sm_set,
    sm_title,
    source_title,
    value_text,
)

LABEL = 7
WALKED_VALUES = 3
READS_SHOWN = 12
DONE_SHOWN = 4
WHEN_LENGTH = 200
_RESOLVED: dict[EffectKind, str] = {
    EffectKind.BEHAVIOUR: "does",
    EffectKind.SETS_OPTION: "sets",
    EffectKind.SETS_ENV: "exports",
    EffectKind.ALLOCATES: "takes",
    EffectKind.RAISES: "refuses",
    EffectKind.WARNS: "warns",
}


def text(explanation: Explanation, devices: Devices, width: int, color: bool, verbosity: int) -> str:
    """A page: the option, its verdicts, and for each value what resolution does, where it is read and what decides there."""
    sheet = Sheet(width, color)
    if verbosity < 0:
        sheet.verbatim(_quiet_lines(explanation))
        return sheet.text()
    _head(sheet, explanation)
    whole = verbosity > 0
    several = len(explanation.answers) > WALKED_VALUES and not whole
    if len(explanation.answers) > 1:
        _table(sheet, explanation)
    if several:
        sheet.blank()
        example = f"{explanation.option.field}={value_text(explanation.answers[0].value)}"
        sheet.paragraph(Text(f"Name a value for the walk through its proof ({example}), or -v for all of them.", style="dim"))
    else:
        for answer in explanation.answers:
            _answer(sheet, explanation, devices, answer, whole)
    _open_ends(sheet, explanation)
    return sheet.text()


def _quiet_lines(explanation: Explanation) -> Iterable[str]:
    option = explanation.option
    for answer in explanation.answers:
        for judgement in answer.judgements:
            name = setting(option, [answer.value])
            claim = f"{judgement.verdict.value}: {visible(judgement.summary)}"
            yield f"{visible(option.file)}:{option.line}: {name} on SM{judgement.sm}: {claim}"


def _head(sheet: Sheet, explanation: Explanation) -> None:
    option = explanation.option
    sheet.paragraph(Text(source_title(explanation.source), style="bold"))
    title = Text(option_name(option), style="bold")
    if not option.is_environment:
        title.append(f"  {visible(option.field)}", style="dim")
    sheet.paragraph(title)
    facts = [f"NVIDIA CUDA {visible(explanation.assumptions.cuda_version)}", "optional packages installed"]
    facts += [f"{visible(name)}={value_text(value)}" for name, value in sorted(explanation.assumptions.settings.items())]
    sheet.paragraph(Text(f"Assumed: {', '.join(facts)}.", style="dim"))
    rows = [("declared", _line(explanation, option.file, option.line))]
    rows.append(("default", Text(_declared_default(explanation))))
    for sm, alternatives in explanation.defaults:
        for alternative in alternatives:
            when = f" when {_short(alternative.when)}" if alternative.when else ""
            rows.append(
                (f"SM{sm}", Text(f"becomes {value_text(alternative.value)}{when}  ").append_text(place(alternative.file, alternative.line)))
            )
    sheet.rows(rows, indent=2, label_width=LABEL + 1)


def _declared_default(explanation: Explanation) -> str:
    option = explanation.option
    if option.default is None and option.default_source is not None:
        return visible(option.default_source)
    choices = f", one of {', '.join(value_text(choice) for choice in option.choices)}" if option.choices else ""
    return value_text(option.default) + choices


def _table(sheet: Sheet, explanation: Explanation) -> None:
    """The verdict of each value on each SM."""
    sheet.blank()
    rows = [
        [value_text(answer.value), *(_verdict_on(answer, sm).heading if _verdict_on(answer, sm) else "" for sm in explanation.sms)]
        for answer in explanation.answers
    ]
    head = ["value", *(f"SM{sm}" for sm in explanation.sms)]
    widths = [max(len(row[index]) for row in [head, *rows]) for index in range(len(head))]
    sheet.line(Text("  ".join(cell.ljust(size) for cell, size in zip(head, widths)), style="dim"), indent=2)
    for answer, row in zip(explanation.answers, rows):
        line = Text(row[0].ljust(widths[0]))
        for index, sm in enumerate(explanation.sms, 1):
            verdict = next((j.verdict for j in answer.judgements if j.sm == sm), None)
            line.append("  ").append(row[index].ljust(widths[index]), style=STYLES.get(verdict, ""))
        sheet.line(line, indent=2)


def _verdict_on(answer: Answer, sm: int) -> Any:
    verdict = next((judgement.verdict for judgement in answer.judgements if judgement.sm == sm), None)
    return None if verdict is None else WORDS[verdict]


def _answer(sheet: Sheet, explanation: Explanation, devices: Devices, answer: Answer, whole: bool) -> None:
    sheet.blank()
    if len(explanation.answers) > 1:
        sheet.line(Text(setting(explanation.option, [answer.value]), style="bold underline"))
    for judgement in answer.judgements:
        heading = Text(f"{sm_title(devices, judgement.sm)}: ", style="bold")
        sheet.paragraph(heading.append(WORDS[judgement.verdict].heading, style=STYLES.get(judgement.verdict, "bold green")))
        sheet.paragraph(Text(visible(judgement.summary)), indent=2)
    _resolution(sheet, explanation, answer)
    _reads(sheet, explanation, answer, whole)


def _resolution(sheet: Sheet, explanation: Explanation, answer: Answer) -> None:
    """What happens before anything is loaded."""
    rows: list[tuple[str, Text]] = []
    by_effect: dict[str, tuple[Effect, list[int]]] = {}
    for judgement in answer.judgements:
        for effect in judgement.effects:
            if effect.phase is Phase.RESOLUTION and effect.kind is not EffectKind.BEHAVIOUR:
                by_effect.setdefault(repr(effect), (effect, []))[1].append(judgement.sm)
    for effect, sms in by_effect.values():
        on = f" (on {sm_list(sms)})" if len(sms) < len(answer.judgements) else ""
        rows.append((_RESOLVED[effect.kind], Text(f"{_subject(effect, on)}  ").append_text(place(effect.file, effect.line))))
        source = explanation.lines.get(f"{effect.file}:{effect.line}")
        if source:
            rows.append(("", Text(visible(source), style="dim")))
    if rows:
        sheet.blank()
        sheet.line(Text("While the arguments are resolved", style="bold"))
        sheet.rows(rows, indent=2, label_width=LABEL)


def _subject(effect: Effect, on: str) -> str:
    when = f" when {_short(effect.when)}" if effect.when else ""
    return f"{effect_subject(effect)}{when}{on}"


def _reads(sheet: Sheet, explanation: Explanation, answer: Answer, whole: bool) -> None:
    sheet.blank()
    if not answer.reads:
        sheet.paragraph(Text("Beyond that, nothing was found that does anything else with this value than with the default.", style="bold"))
        return
    sms = explanation.sms
    dead = [sum(1 for read in answer.reads if sm not in read.live_on) for sm in sms]
    counts = ", ".join(f"{number} without effect on SM{sm}" for number, sm in zip(dead, sms) if number)
    title = f"Where it makes a difference: {counted(len(answer.reads), 'place')}" + (f", {counts}" if counts else "")
    sheet.paragraph(Text(title, style="bold"))
    shown = answer.reads if whole else answer.reads[:READS_SHOWN]
    for number, read in enumerate(shown, 1):
        _read(sheet, explanation, number, read, whole)
    if len(shown) < len(answer.reads):
        sheet.blank()
        sheet.paragraph(Text(f"and {len(answer.reads) - len(shown)} more places (-v)", style="dim"), indent=2)


def _read(sheet: Sheet, explanation: Explanation, number: int, read: Read, whole: bool) -> None:
    sheet.blank()
    where = f" in {visible(read.place.function)}" if read.place.function else ""
    sheet.paragraph(Text(f"{number}. ", style="bold").append_text(place(read.place.file, read.place.line)).append(where), indent=2)
    rows: list[tuple[str, Text]] = [("", _standing(explanation, read))]
    if not read.gated and not whole and all(done.kind is EffectKind.BEHAVIOUR for done in read.happenings):
        rows.append(("reads", Text(visible(read.place.source), style="dim")))
        sheet.rows(rows, indent=5, label_width=LABEL)
        return
    if all((test.place.file, test.place.line) != (read.place.file, read.place.line) for test in read.tests):
        rows.append(("reads", Text(visible(read.place.source), style="dim")))
    rows += [_test(test, explanation.known_sms) for test in read.tests]
    limit = len(read.happenings) if whole else DONE_SHOWN
    for index, done in enumerate(read.happenings[:limit]):
        rows.append(("does" if index == 0 else "", _done(done, explanation.sms)))
    left = len(read.happenings) - limit + read.more if len(read.happenings) > limit else read.more
    if left:
        rows.append(("", Text(f"and {left} more", style="dim")))
    rows += [("called" if index == 0 else "", _call(call)) for index, call in enumerate(read.calls)]
    if read.end:
        rows.append(("", Text(visible(read.end), style="dim")))
    sheet.rows(rows, indent=5, label_width=LABEL)


def _standing(explanation: Explanation, read: Read) -> Text:
    """Whether the place makes a difference on the SMs that were asked for, and where else it does."""
    refuses = bool(read.happenings) and read.happenings[0].kind is EffectKind.RAISES
    verb, not_there = ("refuses", "not") if refuses else ("makes a difference", "none")
    if not read.gated:
        return Text(f"{verb} on every SM", style="red" if refuses else "")
    spared = [sm for sm in explanation.sms if sm not in read.live_on]
    line = Text(f"{verb} on {sm_set(read.live_on, explanation.known_sms)}", style="red" if refuses else "green")
    return line.append(f", {not_there} on {sm_list(spared)}", style="green" if refuses else "yellow") if spared else line


def _test(test: Test, known: Sequence[int]) -> tuple[str, Text]:
    label = {True: "if", False: "if not", None: "past"}[test.passes_if]
    line = place(test.place.file, test.place.line).append(f"  {visible(test.place.source)}", style="default")
    if test.true_on is None:
        return label, line
    return label, line.append(f"  lets pass {sm_set(test.true_on, known)}", style="bold" if test.true_on else "yellow")


def _done(done: Happening, sms: Sequence[int]) -> Text:
    whens = {when for sm, when in done.when if sm in sms}
    when = next(iter(whens)) if len(whens) == 1 else None
    what = visible(done.what if " " in done.what or "(" in done.what else done.place.source)
    verb = "" if done.kind is EffectKind.BEHAVIOUR else f"{EFFECT_VERBS[done.kind]} "
    line = Text(f"{verb}{shortened(what, 100)} {PHASES[done.phase]}  ").append_text(place(done.place.file, done.place.line))
    return line.append(f"  when {_short(when)}", style="dim") if when else line


def _call(call: Call) -> Text:
    line = place(call.place.file, call.place.line)
    if call.place.function:
        line.append(f"  in {visible(call.place.function)}:", style="default")
    line.append(f"  {visible(call.place.source)}", style="dim")
    return line.append("  reached on no SM", style="yellow") if call.true_on == () else line


def _open_ends(sheet: Sheet, explanation: Explanation) -> None:
    if not explanation.not_followed:
        return
    sheet.blank()
    sheet.line(Text("Not followed", style="magenta"))
    for left in explanation.not_followed:
        sheet.paragraph(place(left.file, left.line).append(f"  {visible(left.what)}: {MEANING[left.reason]}", style="default"), indent=2)


def _line(explanation: Explanation, file: str, line: int) -> Text:
    source = explanation.lines.get(f"{file}:{line}", "")
    return place(file, line).append(f"  {visible(source)}", style="default")


def _short(condition: str | None) -> str:
    return shortened(visible(condition or ""), WHEN_LENGTH)


# -- JSON -----------------------------------------------------------------------------------------------------------------


def json(explanation: Explanation) -> str:
    """The document ``explanation_report`` of the schema."""
    lines = explanation.lines
    return documents.render(
        {
            **documents.head(explanation.source),
            "assumptions": documents.assumptions(explanation.assumptions),
            "sms": list(explanation.sms),
            "option": {**documents.option_facts(explanation.option), "source": lines.get(_at(explanation.option), None)},
            "defaults": documents.defaults(explanation.defaults),
            "answers": [_answer_document(answer, lines) for answer in explanation.answers],
            "not_followed": documents.not_followed(explanation.not_followed),
            "diagnostics": documents.diagnostics(explanation.diagnostics),
        }
    )


def _at(option: Any) -> str:
    return f"{option.file}:{option.line}"


def _answer_document(answer: Answer, lines: dict[str, str]) -> dict[str, Any]:
    return {
        "value": documents.plain(answer.value),
        "verdicts": [_judgement_document(judgement, lines) for judgement in answer.judgements],
        "reads": [
            {
                **place_document(read.place),
                "live_on": list(read.live_on),
                "gated": read.gated,
                "tests": [test_document(test) for test in read.tests],
                "does": [
                    {
                        "kind": done.kind.value,
                        "phase": done.phase.value,
                        "what": done.what,
                        **place_document(done.place),
                        "live_on": list(done.live_on),
                        "when": {str(sm): when for sm, when in done.when},
                    }
                    for done in read.happenings
                ],
                "more": read.more,
                "calls": [{**place_document(call.place), "callee": call.callee, "true_on": _sms(call.true_on)} for call in read.calls],
                "end": read.end,
            }
            for read in answer.reads
        ],
    }


def _judgement_document(judgement: Judgement, lines: dict[str, str]) -> dict[str, Any]:
    document = documents.judgement(judgement)
    document["effects"] = [{**effect, "source": lines.get(f"{effect['file']}:{effect['line']}")} for effect in document["effects"]]
    return document


def _sms(sms: tuple[int, ...] | None) -> list[int] | None:
    return None if sms is None else list(sms)


def place_document(where: Place) -> dict[str, Any]:
    return {"file": where.file, "line": where.line, "column": where.column, "function": where.function, "source": where.source}


def test_document(test: Test) -> dict[str, Any]:
    return {
        **place_document(test.place),
        "true_on": _sms(test.true_on),
        "passes_if": test.passes_if,
    }
