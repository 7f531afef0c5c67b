"""Where a finding stands for whoever has to act on it, and how that place is written in the formats of other programs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import quote

from sm_gatecheck.model.option import Option
from sm_gatecheck.model.report import Finding, Source

NO_FILES = frozenset({"<arguments>", "<stdin>", "<text>"})
"""Names that launches have for what lies in no file."""


@dataclass(frozen=True)
class Place:
    """A line (from 1; 0 where there is none) of a file (empty where there is none).

    ``file`` is below the package's directory when ``in_tree``, else as the user named it.
    """

    file: str
    line: int
    column: int | None = None
    in_tree: bool = True


class Places:
    """Places of the findings of one report: the launch line where there is one, else the option's declaration, else the deciding line.

    ``in_code``: findings are about their own lines, whatever option they name.
    """

    def __init__(self, options: Iterable[Option], source: Source, in_code: bool = False) -> None:
        self._options = {} if in_code else {option.field: option for option in options}
        self._source = source

    def of(self, finding: Finding) -> Place:
        """The place that a finding is about."""
        if finding.launch is not None and finding.launch.file not in NO_FILES:
            return Place(finding.launch.file, finding.launch.line, finding.launch.column, in_tree=False)
        option = self._options.get(finding.option)
        if option is not None and option.file:
            return Place(option.file, option.line)
        return Place(finding.file, finding.line)

    def path(self, place: Place) -> str:
        """The file as seen from where gatecheck was run, with ``/``; below the package's directory where that lies nowhere."""
        if not place.file or not place.in_tree or self._source.package is None:
            return place.file
        return str(PurePosixPath(self._source.package.replace("\\", "/")) / place.file)


def uri(path: str) -> str:
    """A path as a URI reference: relative stays relative, absolute becomes ``file:``; whatever a URI lacks is percent-encoded."""
    escaped = quote(path.encode("utf-8", "surrogateescape"), safe="/")
    return f"file://{escaped}" if path.startswith("/") else escaped
