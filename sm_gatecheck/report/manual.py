"""The manual page in roff's man macros."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sm_gatecheck import __version__
from sm_gatecheck.report.clean import visible


@dataclass(frozen=True)
class Page:
    """A command: its name, its help text, its arguments as usage shows them, and its options with their help."""

    name: str
    text: str
    arguments: tuple[str, ...]
    options: tuple[tuple[str, str], ...]


STATUSES = (
    ("0", "nothing at or above --fail-on"),
    ("1", "findings at or above --fail-on"),
    ("2", "wrong usage"),
    ("3", "the tree could not be analysed"),
    ("4", "with --strict: something was left out"),
    ("130", "interrupted"),
)


def render(program: Page, commands: Sequence[Page], default: str) -> str:
    """One page for the program and all its commands."""
    lines = [
        f'.TH GATECHECK 1 "" "gatecheck {__version__}" "User Commands"',
        ".SH NAME",
        r"gatecheck \- what each SGLang server option will do on your GPU",
        ".SH SYNOPSIS",
    ]
    for page in commands:
        name = page.name if page.name != default else f"[{page.name}]"
        lines += [f".B gatecheck {_escaped(name)}", _escaped(" ".join(["[OPTIONS]", *page.arguments])), ".br"]
    lines += [".SH DESCRIPTION", *_paragraphs(program.text), ".SH OPTIONS", *_options(program), ".SH COMMANDS"]
    for page in commands:
        lines += [f'.SS "gatecheck {_escaped(page.name)}"', *_paragraphs(page.text), *_options(page)]
    lines.append(".SH EXIT STATUS")
    for status, meaning in STATUSES:
        lines += [".TP", f".B {status}", _escaped(meaning)]
    return "\n".join([*lines, ""])


def _paragraphs(text: str) -> list[str]:
    lines: list[str] = []
    for paragraph in re.split(r"\n[ \t]*\n", text.strip()):
        if paragraph.lstrip().startswith("\b"):
            kept = [_escaped(line.rstrip()) for line in paragraph.split("\n")[1:]]
            lines += [".PP", ".nf", *kept, ".fi"]
        else:
            lines += [".PP", _escaped(visible(paragraph))]
    return lines


def _options(page: Page) -> list[str]:
    return [line for names, text in page.options for line in (".TP", f".B {_escaped(names)}", _escaped(visible(text)))]


def _escaped(text: str) -> str:
    """Text that roff takes literally, also at the beginning of a line."""
    text = text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq")
    text = "".join(character if character.isascii() else f"\\[u{ord(character):04X}]" for character in text)
    return r"\&" + text if text.startswith((".", "'")) else text
