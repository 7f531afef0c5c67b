"""A job followed under each of its open conditions, the same invocation brought together over all runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sm_gatecheck.launch.choices import MAX_RUNS, Branching, Budget, Choices, Exhausted, Key, described
from sm_gatecheck.launch.files import Companions
from sm_gatecheck.launch.job import Invocation, Job, Outcome, Variant
from sm_gatecheck.launch.model import LaunchError, Problem
from sm_gatecheck.launch.rules import LaunchRules
from sm_gatecheck.launch.shell.interpreter import Following
from sm_gatecheck.launch.shell.scope import Scope
from sm_gatecheck.launch.unwrap import Surroundings, image_entry
from sm_gatecheck.launch.versions import image_version

_TOO_MUCH = "too much for one launch file (too many conditions, steps, or scripts within scripts): not all of it was followed"


@dataclass
class _Seen:
    """An invocation, the run in which it was met first, and how it happens there."""

    fixed: Mapping[Key, int]
    invocation: Invocation
    variants: list[Variant]


def follow(job: Job, rules: LaunchRules, companions: Companions, inherited: Mapping[str, str]) -> Iterator[Outcome]:
    """Every start of a server in a job, in the order in which it is written."""
    branchings: dict[Key, Branching] = {}
    seen: dict[Key, _Seen] = {}
    runs: list[tuple[dict[Key, int], dict[Key, Invocation]]] = [({}, {})]
    first_met: set[Key] = set()
    budget = Budget()
    is_cut = False
    done = 0
    while runs:
        fixed, parent = runs.pop(0)
        if done >= MAX_RUNS or budget.is_spent:
            is_cut = True
            break
        done += 1
        met, found = _run(job, Choices(fixed), rules, companions, inherited, budget)
        branchings.update(met)
        for key, invocation in found.items():
            first = seen.get(key)
            if first is None:
                needs = [branchings[condition].needs[branch] for condition, branch in fixed.items()]
                path = tuple(dict.fromkeys((*needs, *invocation.when)))
                seen[key] = _Seen(fixed, replace(invocation, when=path), [])
            elif fixed:
                extra = {condition: branch for condition, branch in fixed.items() if first.fixed.get(condition) != branch}
                last = next(reversed(fixed))
                against = parent.get(key, first.invocation)
                # Something else is done in its place only where the condition was met in the run that is compared with.
                is_alone = all(condition in first.fixed for condition in fixed if condition != last)
                replaces = branchings[last].has_default and key in parent and is_alone
                first.variants.append(Variant(described(extra, branchings), invocation, against, replaces))
        for condition, branching in met.items():
            # Conditions are tried one at a time; together only where one stands inside another, and so was not met before.
            if condition not in first_met:
                first_met.add(condition)
                runs.extend(({**fixed, condition: branch}, found) for branch in range(len(branching.needs)))
    for when, words in job.alternatives:
        _, found = _run(replace(job, words=words, alternatives=()), Choices(), rules, companions, inherited, budget)
        for entry, other in zip(seen.values(), found.values(), strict=False):
            entry.variants.append(Variant(when, other, entry.invocation))
    is_cut = is_cut or budget.is_spent
    if is_cut and not seen:
        raise LaunchError(f"{_name(job)}: {_TOO_MUCH}")
    for entry in _in_order(list(seen.values())):
        invocation = entry.invocation
        if is_cut:
            note = Problem("limit", _TOO_MUCH, invocation.extent.span)
            invocation = replace(invocation, problems=(*invocation.problems, note))
        yield Outcome(invocation, tuple(entry.variants))


def _name(job: Job) -> str:
    place = job.script.extent if job.script is not None else job.words[0].extent if job.words else None
    return place.file if place is not None else "launch"


def _in_order(entries: list[_Seen]) -> list[_Seen]:
    """As met, those that only a condition brings about put where they are written."""
    found = [entry for entry in entries if not entry.fixed]
    for entry in (entry for entry in entries if entry.fixed):
        place = entry.invocation.extent
        before = [index for index, other in enumerate(found) if other.invocation.extent <= place]
        found.insert(before[-1] + 1 if before else 0, entry)
    return found


def _run(
    job: Job, choices: Choices, rules: LaunchRules, companions: Companions, inherited: Mapping[str, str], budget: Budget
) -> tuple[dict[Key, Branching], dict[Key, Invocation]]:
    mention = image_version(job.image, rules)
    around = Surroundings(
        environment=job.environment,
        shell=job.environment,
        image=job.image,
        name=job.name,
        notes=job.notes,
        versions=(*((mention,) if mention is not None else ()), *job.versions),
        directory=job.directory,
        is_container=job.image is not None,
        inside=job.inside,
    )
    following = Following(rules, companions, choices, problems=list(job.problems), budget=budget)
    scope = Scope(inherited=inherited).with_environment(job.environment)
    try:
        if job.script is not None:
            following.script(job.script, scope, around, job.directory)
        else:
            following.command(job.words, scope, around)
            if not following.invocations and job.image is not None and job.words:
                server = image_entry(job.words, job.image, job.words[0].extent, around, rules)
                if server is not None:
                    following.started(server)
    except Exhausted:
        pass  # ``budget`` says so
    return choices.met, {invocation.key: invocation for invocation in following.invocations}
