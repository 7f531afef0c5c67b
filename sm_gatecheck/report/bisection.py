"""``gatecheck bisect``: the commit, what it changed, and what was looked at."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rich.text import Text

from sm_gatecheck.model.bisection import Bisection, Verdicts
from sm_gatecheck.model.target import Devices
from sm_gatecheck.report import json as documents
from sm_gatecheck.report.clean import visible
from sm_gatecheck.report.difference import change_document, write_changes
from sm_gatecheck.report.sheet import Sheet
from sm_gatecheck.report.wording import WORDS, counted, listed, option_name, sm_title, value_text


def text(found: Bisection, devices: Devices, width: int, color: bool, verbosity: int) -> str:
    """The commit first; then its changes; with ``-v`` every commit that was judged."""
    sheet = Sheet(width, color)
    if verbosity < 0:
        sheet.verbatim([f"{found.first} {found.day} {visible(found.subject)}"])
        return sheet.text()
    sheet.paragraph(Text(option_name(found.option), style="bold").append(f" on {listed([sm_title(devices, sm) for sm in found.sms])}"))
    facts = [f"NVIDIA CUDA {visible(found.assumptions.cuda_version)}", "optional packages installed"]
    facts += [f"{visible(name)}={value_text(value)}" for name, value in sorted(found.assumptions.settings.items())]
    sheet.paragraph(Text(f"Assumed: {', '.join(facts)}.", style="dim"))
    sheet.blank()
    sheet.paragraph(Text(found.first, style="bold yellow").append(f"  {found.day}  {visible(found.subject)}", style="not bold default"))
    sheet.paragraph(Text(f"is the first of {counted(found.between, 'commit')} to the package that changes the verdict"), indent=2)
    write_changes(sheet, {found.option.field: found.option}, found.changes, found.sms)
    sheet.blank()
    if verbosity > 0:
        sheet.line(Text("Judged", style="bold"))
        for verdicts in found.seen:
            sheet.paragraph(Text(verdicts.commit[:12], style="cyan").append(f"  {_in_words(verdicts)}", style="default"), indent=2)
    sheet.paragraph(
        Text(f"{counted(len(found.seen), 'commit')} judged; before it {found.before[:12]} was as {found.good[:12]}.", style="dim")
    )
    return sheet.text()


def _in_words(verdicts: Verdicts) -> str:
    counts = Counter(verdict for _, _, verdict in verdicts.rows)
    if not counts:
        return "no such option"
    if len(verdicts.rows) == 1:
        return WORDS[verdicts.rows[0][2]].heading.lower()
    return ", ".join(f"{WORDS[verdict].heading.lower()}: {count}" for verdict, count in counts.items())


def json(found: Bisection) -> str:
    """The document ``bisection_report`` of the schema."""
    return documents.render(
        {
            "schema_version": documents.SCHEMA_VERSION,
            "tool": documents.tool(),
            "path": found.path,
            "assumptions": documents.assumptions(found.assumptions),
            "sms": list(found.sms),
            "option": documents.option_facts(found.option),
            "good": found.good,
            "bad": found.bad,
            "before": found.before,
            "first": {"commit": found.first, "day": found.day, "subject": found.subject},
            "changes": [change_document(change) for change in found.changes],
            "between": found.between,
            "judged": [_judged(verdicts) for verdicts in found.seen],
        }
    )


def _judged(verdicts: Verdicts) -> dict[str, Any]:
    rows = [{"value": documents.plain(value), "sm": sm, "verdict": verdict.value} for value, sm, verdict in verdicts.rows]
    return {"commit": verdicts.commit, "verdicts": rows}
