"""A gate over launches: one report about all of them, from one scan of the tree."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from packaging.version import Version

from sm_gatecheck.launch.gating import GatedLaunch, gate_launch
from sm_gatecheck.launch.history import flags_of_kept_releases, history_of
from sm_gatecheck.launch.local_model import local_configuration
from sm_gatecheck.launch.located import printable
from sm_gatecheck.launch.model import Launch
from sm_gatecheck.launch.reading import read_arguments, read_launch
from sm_gatecheck.launch.rules import LaunchRules
from sm_gatecheck.model.errors import UsageError, without_options
from sm_gatecheck.model.gaps import Reason
from sm_gatecheck.model.report import Coverage, Report, Statistics
from sm_gatecheck.model.verdict import OptionReport, Verdict
from sm_gatecheck.rulebook import Rulebook
from sm_gatecheck.trees.cache import cache_directory
from sm_gatecheck.trees.tree import Tree
from sm_gatecheck.verdicts.analysis import Progress, open_session
from sm_gatecheck.verdicts.gaps import all_left, followed
from sm_gatecheck.verdicts.gate import Gate
from sm_gatecheck.verdicts.memory import Memory
from sm_gatecheck.verdicts.request import Request
from sm_gatecheck.verdicts.scenario import VARIABLE

SECTION = "launches"


@dataclass(frozen=True)
class LaunchInput:
    """What is to be gated: files (``-`` for standard input) in a format (found unless given), plain arguments, known variables."""

    files: tuple[str, ...] = ()
    arguments: tuple[str, ...] | None = None
    format: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


class LaunchCheck:
    """Reads and gates launches on one tree under one request; the tree is scanned when first needed, and once."""

    def __init__(self, tree: Tree, request: Request, rules: Rulebook, progress: Progress | None = None) -> None:
        self.tree = tree
        self.request = request
        self.rules = rules
        self.progress: Progress = progress or (lambda what, done, total: None)
        self._started = time.monotonic()
        self._models: dict[str, Gate] = {}

    @cached_property
    def gate(self) -> Gate:
        session = open_session(self.tree, self.request, self.rules)
        # Options stay open while the tree is scanned, so that each can be judged; what is assumed of them goes with each launch.
        session.settings = {
            name: value for name, value in self.request.settings.items() if name not in session.options.by_field and not _is_variable(name)
        }
        return Gate(session, self.request.sms)

    def read(self, wanted: LaunchInput, contents: Mapping[Path, bytes] | None = None) -> tuple[Launch, ...]:
        """The launches of all inputs. LaunchError for a file that cannot be read, UsageError where one starts no server."""
        self.progress("Reading options", 0, 3)
        table = self.gate.session.options
        if not table:
            raise without_options(self.tree.source.target)
        version = self.tree.source.sglang_version
        found: list[Launch] = []
        for name in wanted.files:
            where: Path | str = name if name == "-" else Path(name)
            launches = read_launch(
                where, table, format=wanted.format, environment=wanted.environment, rules=self.rules, version=version, contents=contents
            )
            found.extend(launches)
        if wanted.files and not found:
            names = " and ".join(printable(name) for name in wanted.files[:3])
            raise UsageError(f"{names}: no start of an SGLang server was found there; --launch-format FORMAT says how to read it")
        if wanted.arguments is not None:
            found.append(read_arguments(wanted.arguments, table, rules=self.rules, version=version))
        return tuple(found)

    def _history(self, flag: str) -> str | None:
        release = self.tree.source.sglang_version
        return history_of(flag, release, self._flags_elsewhere) if release is not None and self._flags_elsewhere else None

    @cached_property
    def _flags_elsewhere(self) -> Mapping[Version, frozenset[str]]:
        return flags_of_kept_releases(self.tree.source.sglang_version or "", self.rules, cache_directory())

    @cached_property
    def _assumed(self) -> dict[str, Any]:
        return {name: value for name, value in self.request.settings.items() if name in self.gate.options}

    def check(self, launches: Sequence[Launch]) -> Report:
        """The report on the launches; kept in the cache, and taken from there."""
        memory = self._memory(launches)
        known = None if memory is None else memory.recall()
        if known is not None:
            return replace(known, statistics=replace(known.statistics, seconds=self._seconds()))
        report = self.report(self.gated(launches))
        self.keep(launches, report)
        return report

    def keep(self, launches: Sequence[Launch], report: Report) -> None:
        """Remember the report on these launches."""
        memory = self._memory(launches)
        if memory is not None:
            memory.keep(report)

    def _memory(self, launches: Sequence[Launch]) -> Memory | None:
        if not self.request.use_cache:
            return None
        asks_others = any(problem.kind == "unknown-flag" for launch in launches for problem in launch.problems)
        models = [repr(local_configuration(launch)) for launch in launches]
        others = sorted(str(version) for version in self._flags_elsewhere) if asks_others else []
        return Memory(self.tree, self.request, self.rules, (SECTION, repr(tuple(launches)), others, models))

    def gated(self, launches: Sequence[Launch]) -> list[GatedLaunch]:
        """Each launch with what the gate found."""
        patterns = LaunchRules.read(self.rules).variables
        with _no_collecting():
            self.progress("Following options through the tree", 1, 3)
            _ = self.gate.sites
            self.progress("Judging", 2, 3)
            found = []
            for launch in launches:
                gate, model = self._gate_for(launch)
                gated = gate_launch(gate, launch, self._assumed, patterns, self.tree.source.sglang_version, self._history)
                found.append(replace(gated, report=replace(gated.report, model_config=model)))
            self.progress("Judging", 3, 3)
        return found

    def _gate_for(self, launch: Launch) -> tuple[Gate, str | None]:
        """The gate that knows the launch's model, and the file that it knows it from, where the model lies on this machine."""
        if self.gate.session.model_config is not None or self.gate.session.facts:
            return self.gate, None  # the command line says more about it
        local = local_configuration(launch)
        if local is None:
            return self.gate, None
        path, config = local
        if str(path) not in self._models:
            self._models[str(path)] = self.gate.for_model(config)
        return self._models[str(path)], str(path)

    def report(self, found: Sequence[GatedLaunch]) -> Report:
        """One report about all launches: findings in the order of the launches, options once with the judgements of every launch."""
        session = self.gate.session
        options = _merged(found)
        diagnostics = (
            *self.tree.diagnostics,
            *(diagnostic for module in session.program.modules() for diagnostic in module.diagnostics),
            *(diagnostic for gated in found for diagnostic in gated.diagnostics),
        )
        work = followed(session, self.gate.sites)
        not_followed = all_left(session, work, session.resolver.run({}), diagnostics)
        return Report(
            source=self.tree.source,
            assumptions=self.request.assumptions,
            sms=self.request.sms,
            options=options,
            findings=tuple(replace(finding, launch_number=number) for number, gated in enumerate(found) for finding in gated.findings),
            diagnostics=diagnostics,
            statistics=Statistics(
                files_seen=len(self.tree.files),
                files_parsed=len(work.parsed),
                seconds=self._seconds(),
                cache="cold",
                coverage=Coverage(
                    options=len(options),
                    gated_options=_count(options, lambda verdict: verdict is not Verdict.UNGATED),
                    unknown_options=_count(options, lambda verdict: verdict is Verdict.UNKNOWN),
                    sites=sum(work.sites.values()),
                    gates_resolved=len(work.resolved),
                    gates_unresolved=sum(1 for gap in not_followed if gap.reason is Reason.GUARD_OPAQUE),
                ),
            ),
            not_followed=not_followed,
            launches=tuple(gated.report for gated in found),
        )

    def _seconds(self) -> float:
        return round(time.monotonic() - self._started, 3)


def _merged(found: Sequence[GatedLaunch]) -> tuple[OptionReport, ...]:
    by_field: dict[str, OptionReport] = {}
    for gated in found:
        for report in gated.report.judged:
            known = by_field.get(report.option.field)
            by_field[report.option.field] = (
                report
                if known is None
                else replace(known, judgements=(*known.judgements, *(j for j in report.judgements if j not in known.judgements)))
            )
    return tuple(by_field[name] for name in sorted(by_field))


def _is_variable(name: str) -> bool:
    return name.startswith(VARIABLE)


def _count(options: Sequence[OptionReport], test: Callable[[Verdict], Any]) -> int:
    return sum(1 for option in options if any(test(judgement.verdict) for judgement in option.judgements))


@contextmanager
def _no_collecting() -> Iterator[None]:
    """Syntax trees and conditions are millions of objects that all stay alive: looking for garbage finds nothing."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
