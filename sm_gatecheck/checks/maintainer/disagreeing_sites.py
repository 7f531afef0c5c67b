"""GC303: two places that belong to one option, of which one asks for the GPU and the other does not."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from sm_gatecheck.checks.subject import Remark, Remarks, Subject
from sm_gatecheck.checks.surroundings import ancestors, tests_in
from sm_gatecheck.evaluate.values import fields_in
from sm_gatecheck.model.condition import ANY
from sm_gatecheck.model.option import Option
from sm_gatecheck.model.verdict import EffectKind
from sm_gatecheck.verdicts.domains import shown
from sm_gatecheck.verdicts.evidence import gates_of
from sm_gatecheck.verdicts.judging import Trial
from sm_gatecheck.verdicts.sites import Site

RULE = "GC303"
_COSTS = (EffectKind.ALLOCATES, EffectKind.SETS_ENV)
_WORD = re.compile(r"[a-z0-9]{4,}")
_COMMON = frozenset({"enable", "disable", "with", "backend", "sglang", "self", "use"})


def of_option(subject: Subject, option: Option, trials: Sequence[Trial]) -> Remarks:
    """A remark for each pair: what costs where nothing uses it, then what does the same with and without asking."""
    for trial in trials:
        if trial.value is not ANY:
            yield from _costs_for_nothing(subject, option.field, trial)
            yield from _half_asked(subject, option.field, trial)


def _costs_for_nothing(subject: Subject, field: str, trial: Trial) -> Iterator[Remark]:
    """Memory or variables that the option takes on SMs on which nothing that it is for can run."""
    used = 0
    for _, active in trial.behaviours:
        used |= active
    if not used or used == subject.space.all_bits:
        return
    held = [(site, active & ~used) for site, active in trial.sites if site.kind in _COSTS and active & ~used]
    gated = next(((site, gates) for site, _ in trial.behaviours if (gates := gates_of(subject.session, site))), None)
    if not held or gated is None:
        return
    # Nearest to where the option is read: what it calls costs because of it.
    site, bits = min(held, key=lambda pair: (len(pair[0].chain), not _reads(pair[0], field), pair[0].module.path, pair[0].line))
    gate = gated[1][0]
    message = (
        f"{_setting(field, trial)} reaches {site.what} on {subject.named(bits)} too, where nothing uses it: "
        f"what it is for asks for `{gate.source}` ({gate.file}:{gate.line})"
    )
    yield Remark(site.module.path, site.line, message, bits, (field, str(shown(trial.value)), site.what), field, shown(trial.value))


def _half_asked(subject: Subject, field: str, trial: Trial) -> Iterator[Remark]:
    """Two reads of one option in one file, for things of one name, of which one asks for the SM in the same breath."""
    everywhere = subject.space.all_bits
    asking = [(site, active) for site, active in trial.reads if active != everywhere and _asks_beside(subject, site, field)]
    silent = [
        site
        for site, active in trial.reads
        if active == everywhere and _does_something(site) and _reads(site, field) and not _asks_anywhere(subject, site)
    ]
    for site, active in asking:
        about = _words(field) & _about(site)
        other = next((other for other in silent if other.module is site.module and about & _about(other)), None)
        if about and other is not None:
            gate = gates_of(subject.session, site)[0]
            message = (
                f"{_setting(field, trial)} leads to {other.what} whatever the GPU is, while {site.what} at "
                f"{site.module.path}:{site.line} asks for `{gate.source}`: "
                f"on {subject.named(everywhere & ~active)} the one runs without the other"
            )
            file, line, _ = other.read_at(field)
            yield Remark(file, line, message, everywhere & ~active, (field, other.what, site.what), field, shown(trial.value))


def _setting(field: str, trial: Trial) -> str:
    return f"{field.removeprefix('env:')}={shown(trial.value)}"


def _reads(site: Site, field: str) -> bool:
    """Whether a test on the way to a site asks for the option itself."""
    return any(field in fields_in(guard.condition) for guard in site.guards)


def _does_something(site: Site) -> bool:
    """Whether a site is a call or an answer: what is only kept may be asked for its GPU where it is used."""
    return isinstance(site.node, (ast.Call, ast.Return))


def _asks_beside(subject: Subject, site: Site, field: str) -> bool:
    """Whether the expression that reads the option asks for the SM too."""
    if not gates_of(subject.session, site):
        return False
    for guard in reversed(site.guards):
        if field in fields_in(guard.condition):
            whole = next((n for n in ancestors(guard.module, guard.node) if isinstance(n, (ast.BoolOp, ast.If, ast.Return))), guard.node)
            expression = whole.test if isinstance(whole, ast.If) else whole
            return any(True for _ in tests_in(subject.tests, expression))
    return isinstance(site.node, ast.Return)


def _asks_anywhere(subject: Subject, site: Site) -> bool:
    return bool(gates_of(subject.session, site)) or site.condition.depends_on_target()


def _about(site: Site) -> frozenset[str]:
    """The words in the names of what happens and of the function in which it does."""
    return _words(f"{site.what} {site.summary.qualname}")


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower().replace("_", " "))) - _COMMON
