"""One run of the analysis for a command: the tree opened, the request put together, progress shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sm_gatecheck.cli.progress import DelayedProgress
from sm_gatecheck.cli.session import Gpus, Rules, assumed_settings, read_model_config

if TYPE_CHECKING:
    from sm_gatecheck.model.report import Report
    from sm_gatecheck.trees.tree import Tree
    from sm_gatecheck.verdicts.request import Request


@dataclass(frozen=True)
class Context:
    """What the user assumes and how the analysis is to run, as the command line gives it."""

    settings: Sequence[str] = ()
    model_config: Path | None = None
    cuda: str = "12.9"
    gpu_memory: int | None = None
    use_cache: bool = True
    processes: int | None = None
    quiet: bool = False

    @classmethod
    def of(cls, parameters: dict[str, Any]) -> Context:
        """From the parameters of a click command that has the options of ``context_options`` and ``run_options``."""
        return cls(
            settings=parameters["settings"],
            model_config=parameters["model_config"],
            cuda=parameters["cuda"],
            gpu_memory=parameters["gpu_memory"],
            use_cache=not parameters["no_cache"],
            processes=parameters["processes"],
            quiet=parameters["quiet"],
        )


def take_inventory(target: str | None, gpus: Gpus, rules: Rules, context: Context, maintainer: bool = False) -> Report:
    """The report on a tree; with ``maintainer``, on its code. UsageError or TreeError, one line, when there can be none."""
    from sm_gatecheck.trees import open_tree
    from sm_gatecheck.verdicts.analysis import analyse
    from sm_gatecheck.verdicts.merging import merged

    tree = open_tree(target, rules=rules.book)
    request = request_for(tree, gpus, rules, context)
    memories = {kind.sm: kind.memory_mib for kind in gpus.kinds} if context.gpu_memory is None else {}
    requests = [request]
    if len(set(memories.values())) > 1:  # GPUs of different memory: each SM under its own
        requests = [replace(request, sms=(sm,), gpu_memory=memory) for sm, memory in memories.items()]
    with DelayedProgress(enabled=not context.quiet) as progress:
        if maintainer:
            from sm_gatecheck.checks.cards import load_cards
            from sm_gatecheck.checks.maintaining import Maintenance

            return analyse(tree, request, progress, Maintenance(load_cards(rules.book), gpus.sms))
        return merged([analyse(tree, each, progress) for each in requests])


def request_for(tree: Tree, gpus: Gpus, rules: Rules, context: Context) -> Request:
    """What is asked of an analysis of ``tree``. UsageError for an assumption that the tree does not know."""
    from sm_gatecheck.verdicts.request import Request

    return Request(
        sms=gpus.sms,
        cuda=context.cuda,
        settings=assumed_settings(context.settings, tree, rules.book),
        model_config=read_model_config(context.model_config),
        gpu_memory=gpus.memory_under(context.gpu_memory, rules.devices),
        rules_dir=rules.directory,
        use_cache=context.use_cache,
        processes=context.processes,
    )
