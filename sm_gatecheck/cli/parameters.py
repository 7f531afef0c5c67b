"""Options that several commands share, declared once; each decorator adds one family of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import reduce, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import click
from click.shell_completion import CompletionItem

from sm_gatecheck.cli.configuration import strongest
from sm_gatecheck.cli.outputs import OutputWord
from sm_gatecheck.cli.refusal import did_you_mean

DEFAULT_CUDA = "12.9"

Decorated = Callable[..., Any]
Decorator = Callable[[Decorated], Decorated]

if TYPE_CHECKING:
    TextType = click.ParamType[str]
    NumberType = click.ParamType[int]
else:  # generic in the stubs of recent versions, and at run time in none that matters
    TextType = NumberType = click.ParamType


class Word(TextType):
    """One of a few words; a misspelt one is refused with the nearest."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(words)
        self.name = "|".join(self.words)

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return f"[{self.name}]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        word = str(value).lower()
        if word in self.words:
            return word
        return self.fail(f"{value!r} is none of {', '.join(self.words)}{did_you_mean(word, self.words)}", param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(word) for word in self.words if word.startswith(incomplete.lower())]


class CudaVersion(TextType):
    """``12.9`` or ``13``, kept as written."""

    name = "version"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if re.fullmatch(r"\d{1,3}(\.\d{1,3}){0,2}", str(value)):
            return str(value)
        return self.fail(f"{value!r} is no CUDA version, write 12.9 or 13.0", param, ctx)


class Memory(NumberType):
    """An amount of memory in MiB; ``96GiB`` and ``96GB`` are understood too."""

    name = "MiB"
    _LEAST, _MOST = 1024, 16 * 2**20
    """Less than a GiB is a GiB without its unit; no GPU has 16 TiB."""
    _UNITS: ClassVar = {"": 1.0, "mib": 1.0, "gib": 1024.0, "g": 1024.0, "mb": 1e6 / 2**20, "gb": 1e9 / 2**20}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)", str(value).strip())
        if match is None or match[2].lower() not in self._UNITS or float(match[1]) == 0:
            return self.fail(f"{value!r} is no amount of memory, write 97887 (MiB) or 96GiB", param, ctx)
        amount = float(match[1]) * self._UNITS[match[2].lower()]
        if not self._LEAST <= amount <= self._MOST:
            meant = f", did you mean {match[1]}GiB?" if not match[2] and amount < self._LEAST else ", write 97887 (MiB) or 96GiB"
            return self.fail(f"{value!r} is the memory of no GPU{meant}", param, ctx)
        return round(amount)


class Size(NumberType):
    """A number of bytes; ``500MB`` and ``1GiB`` are understood too."""

    name = "SIZE"
    _UNITS: ClassVar = {
        "": 1,
        "b": 1,
        "kb": 10**3,
        "mb": 10**6,
        "gb": 10**9,
        "kib": 2**10,
        "mib": 2**20,
        "gib": 2**30,
        "m": 2**20,
        "g": 2**30,
    }

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"(\d{1,15}(?:\.\d{1,9})?)\s*([A-Za-z]*)", str(value).strip())
        if match is None or match[2].lower() not in self._UNITS:
            return self.fail(f"{value!r} is no size, write 500MB or 1GiB", param, ctx)
        return round(float(match[1]) * self._UNITS[match[2].lower()])


def tree_argument(function: Decorated) -> Decorated:
    return click.argument("tree", required=False, metavar="[TREE]", shell_complete=_files)(function)


def _files(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(incomplete, type="file")]


def _sms(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from sm_gatecheck.cli.session import Rules

    devices = Rules.open(None).devices
    return [CompletionItem(word) for word in (*map(str, devices.sms), "all") if word.startswith(incomplete)]


def _gpu_names(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from sm_gatecheck.cli.session import Rules

    names = [name for target in Rules.open(None).devices for name in target.products]
    return [CompletionItem(name) for name in names if name.lower().startswith(incomplete.lower())]


def gpu_options(function: Decorated) -> Decorated:
    """``--sm`` and ``--gpu``; where one is given on the command line, a file or a variable adds nothing to it with the other."""

    @wraps(function)
    def with_the_strongest(*arguments: Any, **parameters: Any) -> Any:
        kept = strongest(click.get_current_context(), ("sms", "gpus"))
        return function(
            *arguments, **{name: () if name in ("sms", "gpus") and name not in kept else value for name, value in parameters.items()}
        )

    return _together(
        click.option(
            "--sm",
            "sms",
            multiple=True,
            metavar="SM",
            shell_complete=_sms,
            help="Compute capability: 120, 12.0, sm_120; a list, repeated, or 'all'.",
        ),
        click.option(
            "--gpu",
            "gpus",
            multiple=True,
            metavar="NAME",
            shell_complete=_gpu_names,
            help="The same by product name or part of it: 'RTX PRO 6000'.",
        ),
    )(with_the_strongest)


def context_options(function: Decorated) -> Decorated:
    return _together(
        click.option("--set", "settings", multiple=True, metavar="FIELD=VALUE", help="Assume an option's value, e.g. tp_size=4."),
        click.option("--model-config", type=click.Path(path_type=Path), metavar="FILE", help="The model's config.json."),
        cuda_option,
        click.option("--gpu-memory", type=Memory(), help="Memory of one GPU (default: that of the product)."),
    )(function)


def cuda_option(function: Decorated) -> Decorated:
    return click.option("--cuda", type=CudaVersion(), default=DEFAULT_CUDA, show_default=True, help="Assumed CUDA version.")(function)


def color_option(function: Decorated) -> Decorated:
    words = ("auto", "always", "never")
    return click.option("--color", type=Word(words), default="auto", show_default=True, help="Colour in text reports.")(function)


def output_options(formats: Sequence[str]) -> Decorator:
    """``--format`` with the formats this command knows, the first being the default, ``-o`` and ``--color``."""
    return _together(
        click.option("--format", "format_name", type=Word(formats), default=formats[0], show_default=True, help="Form of the report."),
        click.option("-o", "--output", type=click.Path(path_type=Path, allow_dash=True), metavar="FILE", help="Write to FILE, atomically."),
        color_option,
    )


def reports_options(formats: Sequence[str]) -> Decorator:
    """The same where one run may write several reports."""
    return _together(
        click.option("--format", "format_name", type=Word(formats), default=formats[0], show_default=True, help="Form of the report."),
        click.option(
            "-o",
            "--output",
            "outputs",
            type=OutputWord(formats),
            multiple=True,
            help="Write to FILE, atomically; with FORMAT: in that form. May be repeated; - is stdout.",
        ),
        color_option,
    )


def run_options(function: Decorated) -> Decorated:
    return _together(
        rules_option,
        click.option("--no-cache", is_flag=True, help="Neither read nor write the cache."),
        click.option("-j", "--processes", type=click.IntRange(min=1), metavar="N", help="Processes to use (default: one a core)."),
        strict_option,
        verbosity_options,
    )(function)


def rules_option(function: Decorated) -> Decorated:
    return click.option("--rules", type=click.Path(path_type=Path), metavar="DIR", help="Use the rules of DIR.")(function)


def strict_option(function: Decorated) -> Decorated:
    return click.option("--strict", is_flag=True, help="Exit 4 when anything was left out.")(function)


def verbosity_options(function: Decorated) -> Decorated:
    return _together(
        click.option("-q", "--quiet", is_flag=True, help="A line a finding; nothing on stderr but errors."),
        click.option("-v", "--verbose", count=True, help="Every finding with its whole proof."),
    )(function)


def _together(*decorators: Decorator) -> Decorator:
    def decorate(function: Decorated) -> Decorated:
        return reduce(lambda inner, decorator: decorator(inner), reversed(decorators), function)

    return decorate
