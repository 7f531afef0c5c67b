"""Refusals in one line that names the mend."""

from __future__ import annotations

from collections.abc import Iterable

import click

from sm_gatecheck.model.errors import UsageError
from sm_gatecheck.model.nearness import nearest_name


def one_line(message: str) -> str:
    """A message without line breaks, control characters or escape sequences, whatever path or name it quotes."""
    text = " ".join(message.split())
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)


def did_you_mean(word: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """``: did you mean 'x'?`` for the nearest of the known words, else an empty string."""
    near = nearest_name(word, known, cutoff)
    return f": did you mean {near!r}?" if near else ""


def unknown(kind: str, word: str, known: Iterable[str], mend: str) -> UsageError:
    """The refusal of a name that is not known; ``mend`` is said where nothing known comes near it."""
    return UsageError(f"there is no {kind} {word!r}{did_you_mean(word, known) or f': {mend}'}")


def usage_message(error: click.ClickException) -> str:
    """What click found wrong, as one line that says where the help is."""
    if isinstance(error, click.NoSuchOption):
        return _no_such_option(error)
    message = error.format_message().rstrip(".")
    context = getattr(error, "ctx", None)
    return f"{message}; see {context.command_path} --help" if context is not None else message


def _no_such_option(error: click.NoSuchOption) -> str:
    context = error.ctx
    if context is None:
        return f"there is no option {error.option_name!r}"
    spellings = [spelling for parameter in context.command.get_params(context) for spelling in (*parameter.opts, *parameter.secondary_opts)]
    known = [spelling for spelling in spellings if spelling.startswith("--")]
    mend = did_you_mean(error.option_name, known) or f"; see {context.command_path} --help"
    return f"there is no option {error.option_name!r}{mend}"
