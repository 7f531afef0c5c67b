"""The page put together: head, filters, legend, tables, proofs. The same report gives the same bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from importlib import resources

from sm_gatecheck import __version__
from sm_gatecheck.model.report import Report
from sm_gatecheck.model.target import Devices
from sm_gatecheck.model.verdict import DefaultAlternative, Judgement, OptionReport, Verdict
from sm_gatecheck.report.grouping import distinct
from sm_gatecheck.report.markdown import DEFAULT, DEFAULT_SOMETIMES, TITLES, WORST_FIRST, default_mark, worst
from sm_gatecheck.report.page.markup import anchor, code, data, policy_hash, text
from sm_gatecheck.report.page.proofs import Proofs
from sm_gatecheck.report.wording import WORDS, counted, option_name, products, value_text

SHORT: dict[Verdict, str] = {
    Verdict.REJECTED: "refused",
    Verdict.NOOP_WITH_SIDE_EFFECTS: "costs only",
    Verdict.OVERRIDDEN: "replaced",
    Verdict.NOOP: "nothing",
    Verdict.PARTIAL: "in part",
    Verdict.ACTIVE: "works",
    Verdict.UNKNOWN: "?",
    Verdict.UNGATED: "–",
}
"""What stands in a cell: words, since a symbol alone is neither read out nor printed everywhere."""


OWN = {DEFAULT: "what the option is when nobody sets it", DEFAULT_SOMETIMES: "the same, under a condition"}


def render(report: Report, devices: Devices, command: str) -> str:
    """The page of a report. ``command`` is the command line that makes it again."""
    style, script = _resource("style.css"), _resource("script.js")
    proofs = Proofs()
    used: Counter[str] = Counter()
    main = [*_matrix(report, devices, proofs, used), *_defaults(report, proofs, used), *_left_out(report)]
    title = f"SGLang {text(report.source.sglang_version)}" if report.source.sglang_version else "SGLang"
    policy = f"default-src 'none'; style-src {policy_hash(style)}; script-src {policy_hash(script)}; base-uri 'none'; form-action 'none'"
    lines = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{title}: server options by GPU</title>",
        f"<style>{style}</style>",
        "</head>",
        "<body>",
        '<a class="skip" href="#matrix">Skip to the table</a>',
        "<header>",
        f"<h1>{title}: what each server option does on each GPU</h1>",
        *_facts(report, command),
        *_legend(report, devices),
        "</header>",
        *_filters(report),
        "<main>",
        *main,
        "</main>",
        '<dialog id="proof" aria-labelledby="proof-title"><div class="bar"><h2 id="proof-title" tabindex="-1"></h2>'
        '<button type="button" id="close">Close</button></div><div id="proof-body"></div></dialog>',
        f'<script type="application/json" id="proofs">{data(proofs.document())}</script>',
        f"<script>{script}</script>",
        "</body>",
        "</html>",
    ]
    return "\n".join(lines) + "\n"


def _resource(name: str) -> str:
    return (resources.files(__package__) / name).read_text(encoding="utf-8")


# -- head


def _facts(report: Report, command: str) -> list[str]:
    source, assumed = report.source, report.assumptions
    tree = f"{text(source.kind)} {code(source.target)}, version {text(source.sglang_version or 'not stated')}"
    if source.git is not None:
        tree += f", commit {code(source.git.commit)}{', with local changes' if source.git.dirty else ''}"
    facts = [f"NVIDIA CUDA {text(assumed.cuda_version)}", "optional packages installed"]
    facts += [code(f"{field}={value_text(value)}") for field, value in sorted(assumed.settings.items())]
    return [
        "<dl>",
        f"<dt>Tree</dt><dd>{tree}</dd>",
        f"<dt>Assumed</dt><dd>{', '.join(facts)}</dd>",
        f"<dt>Made by</dt><dd>gatecheck {text(__version__)}: {code(command)}</dd>",
        "</dl>",
    ]


def _legend(report: Report, devices: Devices) -> list[str]:
    verdicts = "".join(f"<dt>{_badge(verdict)}</dt><dd>{text(words.legend)}</dd>" for verdict, words in WORDS.items())
    verdicts += "".join(f"<dt>{sign}</dt><dd>{words}</dd>" for sign, words in OWN.items())
    targets = "".join(f"<dt>SM{sm}</dt><dd>{text(products(devices, sm, limit=4)) or '–'}</dd>" for sm in report.sms)
    return [
        '<details class="legend" open><summary>Legend</summary>',
        f'<div><dl class="verdicts">{verdicts}</dl><dl class="targets">{targets}</dl></div>',
        '<p class="keys">In the table: arrow keys move, Enter opens a proof, Esc closes it, / goes to the filter.</p>',
        "</details>",
    ]


def _badge(verdict: Verdict) -> str:
    return f'<span class="badge {verdict.value}">{text(SHORT[verdict])}</span>'


def _filters(report: Report) -> list[str]:
    counts = Counter(judgement.verdict for option in report.options for judgement in option.judgements)
    sms = "".join(f'<label><input type="checkbox" name="sm" value="{sm}" checked>SM{sm}</label>' for sm in report.sms)
    verdicts = "".join(
        f'<label><input type="checkbox" name="verdict" value="{verdict.value}" checked>'
        f"{_badge(verdict)} <small>{counts[verdict]:,}</small></label>"
        for verdict in WORDS
        if verdict is not Verdict.UNGATED and counts[verdict]
    )
    return [
        '<form id="filters" role="search" aria-label="Filter the table">',
        '<label class="text">Option or value <input type="search" id="q" autocomplete="off" spellcheck="false"></label>',
        f"<fieldset><legend>SM</legend>{sms}</fieldset>",
        f"<fieldset><legend>On one of these SMs</legend>{verdicts}</fieldset>",
        '<button type="reset">Show all</button>',
        '<output id="count" aria-live="polite"></output>',
        "</form>",
    ]


# -- tables


def _matrix(report: Report, devices: Devices, proofs: Proofs, used: Counter[str]) -> list[str]:
    head = "".join(_column(devices, sm) for sm in report.sms)
    lines = [
        '<table id="matrix" role="grid" aria-label="Options by SM" tabindex="-1">',
        f'<thead><tr><th scope="col">Option</th><th scope="col">Value</th>{head}</tr></thead>',
    ]
    for verdict in WORST_FIRST:
        members = [option for option in report.options if worst(option) is verdict]
        if members:
            lines.append(f'<tbody><tr class="group"><th scope="rowgroup" colspan="{2 + len(report.sms)}">{text(TITLES[verdict])}</th></tr>')
            lines += [row for option in members for row in _rows(option, report.sms, proofs, used)]
            lines.append("</tbody>")
    gated = sum(1 for option in report.options if worst(option) is not None)
    about = f"{counted(len(report.options), 'option')}, {gated:,} in the table; the others do not ask for the GPU."
    return [*lines, "</table>", f'<p class="about">{about}</p>']


def _column(devices: Devices, sm: int) -> str:
    few, many = (text(products(devices, sm, limit=limit)) for limit in (1, 6))
    return f'<th scope="col" data-sm="{sm}" title="{many}">SM{sm}<small>{few}</small></th>'


def _rows(option: OptionReport, sms: Sequence[int], proofs: Proofs, used: Counter[str]) -> Iterable[str]:
    cells = {(repr(judgement.value), judgement.sm): judgement for judgement in option.judgements}
    name, field, by_itself = option_name(option.option), option.option.field, dict(option.defaults)
    for value in distinct(judgement.value for judgement in option.judgements if judgement.verdict is not Verdict.UNGATED):
        shown = value_text(value)
        key = _unique(anchor(field, "=", "*" if value == "*" else shown), used)
        tds = "".join(_cell(cells.get((repr(value), sm)), default_mark(option, value, by_itself.get(sm)), proofs) for sm in sms)
        search = text(f"{field} {' '.join((*option.option.flags, *option.option.aliases))} {shown}".lower())
        yield f'<tr id="{text(key)}" data-k="{search}"><th scope="row">{code(name)}</th><td>{code(shown)}</td>{tds}</tr>'


def _cell(judgement: Judgement | None, mark: str, proofs: Proofs) -> str:
    verdict = Verdict.UNGATED if judgement is None else judgement.verdict
    if judgement is None or verdict is Verdict.UNGATED:
        return f'<td class="v ungated">–{_own(mark)}</td>'
    return f'<td class="v {verdict.value}">{_button(proofs.of(judgement), text(SHORT[verdict]) + _own(mark))}</td>'


def _own(mark: str) -> str:
    """The sign of a value that the option takes by itself, in words for those who hear it."""
    if not mark:
        return ""
    words = OWN[mark.strip()]
    return f' <abbr title="{words}" aria-label="{words}">{mark.strip()}</abbr>'


def _button(proof: int, content: str) -> str:
    return f'<button tabindex="-1" data-p="{proof}">{content}</button>'


def _defaults(report: Report, proofs: Proofs, used: Counter[str]) -> list[str]:
    rows = []
    for option in report.options:
        if option.defaults:
            name, field, by_sm = option_name(option.option), option.option.field, dict(option.defaults)
            key = _unique(anchor(field), used)
            tds = "".join(_default(by_sm.get(sm, ()), proofs) for sm in report.sms)
            declared = code(value_text(option.option.default))
            search = text(f"{field} {name}".lower())
            rows.append(f'<tr id="{text(key)}" data-k="{search}"><th scope="row">{code(name)}</th><td>{declared}</td>{tds}</tr>')
    if not rows:
        return []
    head = "".join(f'<th scope="col" data-sm="{sm}">SM{sm}</th>' for sm in report.sms)
    return [
        "<h2>Defaults that resolution changes</h2>",
        '<table id="defaults" role="grid" aria-label="Defaults by SM">',
        f'<thead><tr><th scope="col">Option</th><th scope="col">Declared</th>{head}</tr></thead>',
        "<tbody>",
        *rows,
        "</tbody>",
        "</table>",
    ]


def _default(alternatives: tuple[DefaultAlternative, ...], proofs: Proofs) -> str:
    if not alternatives:
        return '<td class="v"></td>'
    shown = [value_text(alternative.value) for alternative in alternatives]
    short = [value if len(value) <= 24 else value[:23] + "…" for value in dict.fromkeys(shown)]
    words = " or ".join(short[:3]) + (f" or {len(short) - 3} more" if len(short) > 3 else "")
    return f'<td class="v default">{_button(proofs.of_default(alternatives), text(words))}</td>'


def _left_out(report: Report) -> list[str]:
    if not report.diagnostics:
        return []
    entries = "".join(f"<li>{code(f'{entry.file}:{entry.line}')}: {text(entry.message)}</li>" for entry in report.diagnostics)
    return ["<h2>Left out</h2>", f"<ul>{entries}</ul>"]


def _unique(name: str, used: Counter[str]) -> str:
    used[name] += 1
    return name if used[name] == 1 else f"{name}~{used[name]}"
