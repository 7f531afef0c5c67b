"""A page of fixed width: the few layouts that all text reports are made of, over rich."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable

from rich.console import Console
from rich.padding import Padding
from rich.text import Text


class Sheet:
    """Collects what is printed on it; width and colour are given, nothing is asked of the terminal."""

    def __init__(self, width: int, color: bool) -> None:
        self.width = width
        self._buffer = io.StringIO()
        self._console = Console(
            file=self._buffer,
            width=width,
            height=100,
            force_terminal=color,
            color_system="standard" if color else None,
            no_color=not color,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
        )

    def paragraph(self, text: Text, indent: int = 0) -> None:
        self._console.print(Padding(text, (0, 0, 0, indent)), overflow="fold")

    def line(self, text: Text, indent: int = 0) -> None:
        """One line, never wrapped: cut with an ellipsis where it does not fit."""
        text = Text(" " * indent).append_text(text)
        text.truncate(self.width, overflow="ellipsis")
        self._console.print(text, no_wrap=True, overflow="ignore", crop=False)

    def verbatim(self, lines: Iterable[str], indent: int = 0) -> None:
        """Lines as they are, however long."""
        for line in lines:
            self._console.print(Text(" " * indent + line), no_wrap=True, overflow="ignore", crop=False)

    def blank(self) -> None:
        self._console.print()

    def rows(self, rows: Iterable[tuple[str, Text]], indent: int, label_width: int) -> None:
        """Labelled texts: the label once, the text beside it, wrapped under itself."""
        margin = indent + label_width + 2
        lines: list[Text] = []
        for label, text in rows:
            lead = Text(" " * indent).append(label.ljust(label_width + 2), style="dim")
            for line in text.wrap(self._console, max(self.width - margin, 8), overflow="fold"):
                lines.append(lead.append_text(line))
                lead = Text(" " * margin)
        self._console.print(Text("\n").join(lines), no_wrap=True, overflow="ignore", crop=False)

    def text(self) -> str:
        """The page, without blanks at the ends of its lines."""
        return re.sub(r"[ \t]+$", "", self._buffer.getvalue(), flags=re.MULTILINE)
