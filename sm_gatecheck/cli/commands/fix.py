"""``gatecheck fix --sm 120 TREE --launch FILE``: take out of a launch what does nothing or does harm there."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sm_gatecheck.checks.weights import NOT_TAKEN, OTHER_RELEASE
from sm_gatecheck.cli.gate import STDIN, launch_options, open_check, wanted_launches
from sm_gatecheck.cli.group import CONFIGURATION, LAUNCH_ARGUMENTS
from sm_gatecheck.cli.ignores import ignore_findings
from sm_gatecheck.cli.inventory import Context
from sm_gatecheck.cli.outcome import FAIL_ON, counted, counts, exit_status, say
from sm_gatecheck.cli.output import write_bytes, write_stdout
from sm_gatecheck.cli.parameters import Word, context_options, gpu_options, run_options, tree_argument
from sm_gatecheck.cli.progress import DelayedProgress
from sm_gatecheck.cli.session import Rules, wanted_gpus
from sm_gatecheck.model.errors import UsageError
from sm_gatecheck.verdicts.findings import VERDICT_OF

if TYPE_CHECKING:
    from sm_gatecheck.launch.fixing import Done, Fix, Left
    from sm_gatecheck.model.report import Finding, Report

VERDICTS_TO_MEND = set(VERDICT_OF.values())
"""Verdicts that are findings."""


@click.command("fix", short_help="Take out of a launch file what does nothing or does harm on a GPU.")
@tree_argument
@gpu_options
@context_options
@launch_options
@click.option("--write", is_flag=True, help="Change the files; without it only the diff is shown.")
@click.option(
    "--fail-on", type=Word(FAIL_ON), default="harmful", show_default=True, help="Exit 1 where findings of this kind or worse remain."
)
@run_options
@click.pass_context
def command(ctx: click.Context, /, **parameters: Any) -> int:
    """Mend the launch files: a unified diff on stdout, or with --write the files themselves.

    Options that do nothing on the GPU are removed, and so are those that are refused, unless SGLang itself names a value that
    works: then that is written. Everything else stays byte for byte. With several SMs an option goes only where it is bad on all.

    Exits 0 when the mended launch has nothing left to fail on, else 1.
    """
    wanted = wanted_launches(parameters, ctx.meta.get(LAUNCH_ARGUMENTS))
    if wanted is None or wanted.arguments is not None or STDIN in wanted.files:
        raise UsageError("fix mends files: name one with --launch FILE")
    quiet = parameters["quiet"]
    rules = Rules.open(parameters["rules"])
    gpus = wanted_gpus(parameters["sms"], parameters["gpus"], rules.devices, quiet)
    context = Context.of(parameters)
    files = [Path(name) for name in wanted.files]

    def accepted(report: Report) -> Iterable[tuple[int, str]]:
        kept = ignore_findings(report, ctx.meta.get(CONFIGURATION), rules, True, files, complete=False).kept
        return [(finding.launch_number, finding.option) for finding in kept if finding.launch_number is not None]

    with DelayedProgress(enabled=not quiet) as progress:
        from sm_gatecheck.launch.fixing import fix_launches

        check = open_check(parameters["tree"], gpus, rules, context, progress)
        fix = fix_launches(check, wanted, accepted)
    assert fix.report is not None
    if parameters["write"]:
        for path, data in fix.after.items():
            write_bytes(path, data)
        check.keep(fix.launches, fix.report)
    else:
        from sm_gatecheck.report import patch

        base = patch.base_of(fix.after)
        write_stdout(patch.render(((path, fix.before[path], data) for path, data in fix.after.items()), base))
        if base != Path.cwd():
            say(f"the diff's paths start at {base}: apply it with patch -p1 -d {shlex.quote(str(base))}", quiet)
    kept = ignore_findings(fix.report, ctx.meta.get(CONFIGURATION), rules, True, files, complete=False).kept
    _tell(fix, parameters["write"], kept, quiet)
    if quiet and (failing := [finding for finding in kept if counts(finding, parameters["fail_on"])]):
        number = counted(len(failing), "finding remains", "findings remain")
        say(f"{number} that --fail-on {parameters['fail_on']} counts, the first: {failing[0].message}")
    return exit_status(kept, fix.report.diagnostics, parameters["fail_on"], parameters["strict"])


def _tell(fix: Fix, is_written: bool, kept: Iterable[Finding], quiet: bool) -> None:
    """A line for each mend made, each that could not be, what no mend is known for, and what counts under a condition only."""
    for done in fix.done:
        say(f"{_place(done)}: {_what(done, is_written)}", quiet)
    for left in fix.left:
        say(f"{_place(left)}: {left.flag} is left as it is: {left.why}; {_by_hand(left)} by hand", quiet)
    told = {left.mend.field for left in fix.left}
    remaining = list(dict.fromkeys(f"{_remaining(finding)}" for finding in kept if finding.option not in told))
    conditional = list(dict.fromkeys(_conditional(fix)))
    for line in (*remaining, *conditional):
        say(line, quiet)
    if not fix.done and not fix.left:
        say("nothing to mend" if not remaining and not conditional else "nothing that fix can mend", quiet)


def _remaining(finding: Finding) -> str:
    """A finding that stays as it is, and why nothing was done about it."""
    if finding.rule == NOT_TAKEN:
        why = "fix does not guess what was meant"
    elif finding.rule == OTHER_RELEASE:
        why = "which of the two is meant, only you know"
    else:
        why = "no edit of this file is sure to mend it"
    place = finding.launch
    where = "" if place is None else f"{place.file}:{place.line}:{place.column}: "
    return f"{where}{finding.rule} remains: {finding.message.rstrip('.')}; {why}"


def _conditional(fix: Fix) -> Iterator[str]:
    """What a launch would do wrong only under a condition of its file: nothing decides that here, so nothing is changed."""
    for launch in fix.report.launches if fix.report is not None else ():
        for given in launch.conditional:
            if any(verdict.verdict in VERDICTS_TO_MEND for verdict in given.verdicts):
                place = f"{given.span.file}:{given.span.line}:{given.span.column}"
                condition = f" only where {given.when}" if given.when else " only under a condition"
                names = re.findall(r"\$\{?([A-Za-z_]\w*)", given.when or "")
                hint = f"--env {names[0]}=VALUE decides it" if names else "--env NAME=VALUE decides a variable"
                said = next(verdict.summary for verdict in given.verdicts if verdict.verdict in VERDICTS_TO_MEND)
                yield f"{place}: {given.flag} is set{condition}, and is left: {said.rstrip('.')}; {hint}"


def _place(entry: Done | Left) -> str:
    return f"{entry.place.file}:{entry.place.line}:{entry.place.column}"


def _what(done: Done, is_written: bool) -> str:
    if done.mend.action == "remove":
        return f"{'removed' if is_written else 'would remove'} {done.flag}"
    because = f", which SGLang names ({done.mend.file}:{done.mend.line})" if done.mend.file else ""
    return f"{'changed' if is_written else 'would change'} {done.flag} to {done.mend.value}{because}"


def _by_hand(left: Left) -> str:
    return "take it out" if left.mend.action == "remove" else f"set it to {left.mend.value}"
