"""``gatecheck bisect TREE GOOD BAD OPTION``: the commit that changed a verdict."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sm_gatecheck.cli.inventory import Context, request_for
from sm_gatecheck.cli.named_option import named_option
from sm_gatecheck.cli.outcome import say
from sm_gatecheck.cli.output import Destination
from sm_gatecheck.cli.parameters import context_options, gpu_options, output_options, run_options
from sm_gatecheck.cli.rendering import verbosity_of
from sm_gatecheck.cli.session import Gpus, Rules, read_variables, tree_options, wanted_gpus
from sm_gatecheck.model.errors import UsageError

if TYPE_CHECKING:
    from sm_gatecheck.model.explanation import Explanation
    from sm_gatecheck.model.option import Option
    from sm_gatecheck.trees.revision import History
    from sm_gatecheck.trees.tree import Tree


@click.command(
    "bisect",
    short_help="The commit that changed a verdict.",
    context_settings={"ignore_unknown_options": True},  # OPTION may be a flag of SGLang
)
@click.argument("tree")
@click.argument("good")
@click.argument("bad")
@click.argument("option", metavar="OPTION[=VALUE]")
@gpu_options
@context_options
@output_options(("text", "json"))
@run_options
def command(**parameters: Any) -> int:
    """Find the first commit after GOOD, up to BAD, where the verdict of OPTION is no longer that of GOOD.

    TREE is a git repository; GOOD and BAD are revisions of it, the first in the history of the second. Commits that leave the
    package alone are passed over, nothing is checked out, and what was judged once is remembered.
    """
    rules = Rules.open(parameters["rules"])
    gpus = wanted_gpus(parameters["sms"], parameters["gpus"], rules.devices, parameters["quiet"])
    from sm_gatecheck.trees.revision import open_history
    from sm_gatecheck.trees.shape import load_shape

    history = open_history(Path(parameters["tree"]), parameters["good"], parameters["bad"], load_shape(rules.book))
    search = _Search(history, rules, gpus, Context.of(parameters), parameters["option"], parameters["quiet"])
    found = search.run()
    destination = Destination(parameters["output"], parameters["color"])
    from sm_gatecheck.report import bisection

    if parameters["format_name"] == "json":
        destination.write(bisection.json(found))
    else:
        destination.write(bisection.text(found, rules.devices, destination.width, destination.wants_color, verbosity_of(parameters)))
    return 0


class _Search:
    """One bisection: each commit is judged at most once."""

    def __init__(self, history: History, rules: Rules, gpus: Gpus, context: Context, written: str, quiet: bool) -> None:
        self._history = history
        self._rules = rules
        self._gpus = gpus
        self._context = context
        self._written = written
        self._quiet = quiet
        self._explained: dict[str, Explanation | None] = {}

    def run(self) -> Any:
        from sm_gatecheck.model.bisection import Bisection
        from sm_gatecheck.model.report import Assumptions
        from sm_gatecheck.verdicts.bisecting import changes_between, first_that_differs, same, verdicts_of

        history = self._history
        good, bad = self._at(history.good), self._at(history.bad)
        told = good or bad
        if told is None:
            self._refuse()
        assert told is not None
        before = verdicts_of(history.good, good)
        if same(before, verdicts_of(history.bad, bad)):
            raise UsageError(f"the verdict of {self._written} is the same at both revisions: gatecheck explain shows it")
        index = first_that_differs(history.commits, lambda commit: same(before, verdicts_of(commit, self._at(commit))))
        first = history.commits[index]
        last = history.commits[index - 1] if index else history.good
        day, subject = history.repository.heading(first)
        return Bisection(
            path=str(history.path),
            option=told.option,
            sms=self._gpus.sms,
            assumptions=Assumptions(cuda_version=self._context.cuda, settings=dict(told.assumptions.settings)),
            good=history.good,
            bad=history.bad,
            before=last,
            first=first,
            day=day,
            subject=subject,
            changes=changes_between(self._at(last), self._at(first)),
            between=len(history.commits),
            seen=tuple(verdicts_of(commit, self._explained[commit]) for commit in self._explained),
        )

    def _at(self, commit: str) -> Explanation | None:
        """What is said of the option at a commit; None where it does not exist there."""
        if commit not in self._explained:
            say(f"judging {commit[:12]}", self._quiet)
            self._explained[commit] = self._explain(commit)
        return self._explained[commit]

    def _explain(self, commit: str) -> Explanation | None:
        from sm_gatecheck.verdicts.explaining import explain

        tree = self._tree(commit)
        try:
            option, values = self._named(tree)
        except UsageError:
            return None
        return explain(tree, request_for(tree, self._gpus, self._rules, self._context), option, values)

    def _refuse(self) -> None:
        """Neither revision knows the option: say so as the newer one does."""
        self._named(self._tree(self._history.bad))

    def _tree(self, commit: str) -> Tree:
        from sm_gatecheck.trees import open_tree

        return open_tree(self._history.target(commit), rules=self._rules.book)

    def _named(self, tree: Tree) -> tuple[Option, tuple[Any, ...] | None]:
        variables = read_variables(tree, self._rules, self._written)
        return named_option(self._written, tree_options(tree, self._rules.book), variables)
