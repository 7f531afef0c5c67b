"""A report in the format that was asked for, and the command line that makes it again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from sm_gatecheck.cli.outcome import counts
from sm_gatecheck.cli.output import Destination
from sm_gatecheck.cli.parameters import DEFAULT_CUDA
from sm_gatecheck.cli.session import Gpus, Rules
from sm_gatecheck.model.report import Report

REPORT_FORMATS = ("text", "json", "jsonl", "sarif", "github", "gitlab", "junit", "markdown")
FOR_PEOPLE = ("text", "markdown")
_REPEATED = (("--set", "settings"),)
_GIVEN = (("--model-config", "model_config"), ("--gpu-memory", "gpu_memory"), ("--rules", "rules"))


def verbosity_of(parameters: dict[str, Any]) -> int:
    """-1 for ``--quiet``, else how often ``--verbose`` was given."""
    return -1 if parameters["quiet"] else int(parameters["verbose"])


def render_report(
    report: Report,
    format_name: str,
    rules: Rules,
    destination: Destination,
    verbosity: int,
    command: str,
    fail_on: str = "never",
    resolved: bool = False,
) -> str:
    """The report in one of ``REPORT_FORMATS``. ``fail_on`` says what is a failure where the format knows failures."""
    if format_name == "json":
        from sm_gatecheck.report import json

        return json.render(json.report_document(report))
    if format_name == "jsonl":
        from sm_gatecheck.report import jsonl

        return jsonl.render(report)
    if format_name == "markdown" and not report.about_code:
        from sm_gatecheck.report import markdown

        return markdown.render(report, rules.devices, command)
    if format_name == "html":
        from sm_gatecheck.report import page

        return page.render(report, rules.devices, command)
    from sm_gatecheck.checks.cards import load_cards

    cards = load_cards(rules.book)
    if report.about_code and format_name in FOR_PEOPLE:
        from sm_gatecheck.report import code

        if format_name == "markdown":
            return code.markdown(report, cards, command)
        return code.text(report, cards, destination.width, destination.wants_color, verbosity < 0)
    if format_name == "sarif":
        from sm_gatecheck.report import sarif
        from sm_gatecheck.trees.shape import load_shape

        return sarif.render(report, cards, load_shape(rules.book).repository)
    if format_name == "github":
        from sm_gatecheck.report import github

        return github.render(report, cards)
    if format_name == "gitlab":
        from sm_gatecheck.report import gitlab

        return gitlab.render(report, cards)
    if format_name == "junit":
        from sm_gatecheck.report import junit

        return junit.render(report, cards, lambda finding: counts(finding, "any" if fail_on == "never" else fail_on))
    from sm_gatecheck.report import text

    style = text.TextStyle(destination.width, destination.wants_color, verbosity, cards)
    if report.launches:
        from sm_gatecheck.report import gate

        return gate.render(report, rules.devices, style, resolved=resolved)
    return text.render(report, rules.devices, style)


def render_apart(report: Report, gpus: Gpus, format_name: str, rules: Rules, destination: Destination, *how: Any) -> str:
    """The same; for people, where this machine has GPUs of several kinds, a report for each, one after the other."""
    if len(gpus.kinds) < 2 or format_name not in FOR_PEOPLE:
        return render_report(report, format_name, rules, destination, *how)
    from sm_gatecheck.verdicts.merging import only

    return "\n".join(render_report(only(report, kind.sm), format_name, rules, destination, *how) for kind in gpus.kinds)


def command_line(command: str, sms: Sequence[int], parameters: dict[str, Any]) -> str:
    """The command that makes this report again: what bears on its content, in a fixed order and spelling."""
    words = ["gatecheck", command, "--sm", ",".join(map(str, sms))]
    for flag, name in _REPEATED:
        words += [word for value in sorted(parameters[name]) for word in (flag, value)]
    if parameters["cuda"] != DEFAULT_CUDA:
        words += ["--cuda", parameters["cuda"]]
    for flag, name in _GIVEN:
        if parameters[name] is not None:
            words += [flag, str(parameters[name])]
    words += ["--maintainer"] if parameters.get("maintainer") else []
    trees = [parameters[name] for name in ("old", "new", "tree") if parameters.get(name) is not None]
    return shlex.join([*words, *trees])


def listing_command_line(command: str, parameters: dict[str, Any]) -> str:
    """The same for a command that only lists what a tree holds."""
    words = ["gatecheck", command, "--format", parameters["format_name"]]
    words += [word for flag, name in (("--sm", "sms"), ("--gpu", "gpus")) for value in parameters.get(name, ()) for word in (flag, value)]
    if parameters.get("cuda", DEFAULT_CUDA) != DEFAULT_CUDA:
        words += ["--cuda", parameters["cuda"]]
    if parameters["rules"] is not None:
        words += ["--rules", str(parameters["rules"])]
    return shlex.join(words if parameters["tree"] is None else [*words, parameters["tree"]])
