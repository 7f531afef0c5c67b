"""One sentence a person can act on for each judgement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sm_gatecheck.model.verdict import Effect, EffectKind, Phase, Verdict
from sm_gatecheck.verdicts.domains import shown

if TYPE_CHECKING:
    from sm_gatecheck.verdicts.judging import Trial

_WHEN_FELT = {
    Phase.RESOLUTION: "seconds after the start",
    Phase.STARTUP: "while the server loads",
    Phase.RUNTIME: "at a request",
}


def summary_of(trial: Trial, sm: int, verdict: Verdict, active: tuple[int, ...], effects: tuple[Effect, ...]) -> str:
    """What setting the value does on this SM, shortest useful form. For a refused value ``effects`` are what refuses it there."""
    name = _setting(trial)
    if verdict is Verdict.REJECTED:
        return _refused(name, sm, tuple(effect for effect in effects if effect.kind is EffectKind.RAISES))
    if verdict is Verdict.OVERRIDDEN:
        return _overridden(trial, name, sm, effects)
    if verdict is Verdict.NOOP:
        return f"{name} does nothing on SM{sm}{_elsewhere(active)}."
    if verdict is Verdict.NOOP_WITH_SIDE_EFFECTS:
        costs = [effect for effect in effects if effect.kind not in (EffectKind.BEHAVIOUR, EffectKind.WARNS)]
        listed = "; ".join(f"{_verb(effect)} ({effect.file}:{effect.line})" for effect in costs[:3])
        more = f" and {len(costs) - 3} more" if len(costs) > 3 else ""
        return f"{name} does nothing of what it is for on SM{sm}{_elsewhere(active)}, but still {listed}{more}."
    if verdict is Verdict.PARTIAL:
        return f"{name} works in part on SM{sm}: {_missing(trial, sm)}."
    if verdict is Verdict.UNKNOWN:
        return f"What {name} does on SM{sm} could not be followed: {'; '.join(trial.unknown)}."
    if verdict is Verdict.UNGATED:
        return f"{name} does not depend on the GPU."
    return f"{name} takes effect on SM{sm}."


def _setting(trial: Trial) -> str:
    value = shown(trial.value)
    if value is True and trial.option.flags:
        return trial.option.flags[0]
    return f"{trial.option.field}={value}"


def _elsewhere(active: tuple[int, ...]) -> str:
    return f" (it works on SM{', '.join(map(str, active))})" if active else ""


def _refused(name: str, sm: int, refusals: tuple[Effect, ...]) -> str:
    """The refusal that asks for least, and is met first."""
    first = min(refusals, key=lambda effect: (effect.when is not None, len(effect.when or ""), list(_WHEN_FELT).index(effect.phase)))
    condition = "" if first.when is None else f" when {first.when}"
    return f"{name} is refused on SM{sm} {_WHEN_FELT[first.phase]} ({first.file}:{first.line}){condition}."


def _overridden(trial: Trial, name: str, sm: int, effects: tuple[Effect, ...]) -> str:
    own = [effect for effect in effects if effect.kind is EffectKind.SETS_OPTION and effect.option == trial.option.field]
    if not own:
        return f"{name} is replaced on SM{sm}."
    first = min(own, key=lambda effect: effect.when is not None)
    condition = "" if first.when is None else f" when {first.when}"
    logged = "a warning is logged" if any(effect.kind is EffectKind.WARNS for effect in effects) else "silently"
    return f"{name} is replaced by {first.value!r} on SM{sm} ({first.file}:{first.line}){condition}; {logged}."


def _missing(trial: Trial, sm: int) -> str:
    index = trial.behaviours[0][0].condition.space.sms.index(sm)
    dead = [site for site, active in trial.reads if not active >> index & 1]
    places = ", ".join(f"{site.what} ({site.module.path}:{site.line})" for site in dead[:2])
    more = f" and {len(dead) - 2} more" if len(dead) > 2 else ""
    return f"not {places}{more}"


def _verb(effect: Effect) -> str:
    if effect.kind is EffectKind.SETS_OPTION:
        return f"sets {effect.what}"
    if effect.kind is EffectKind.SETS_ENV:
        return f"sets {effect.what}"
    if effect.kind is EffectKind.ALLOCATES:
        return f"allocates: {effect.what}"
    return effect.what
