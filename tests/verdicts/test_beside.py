"""Which options have to be opened before it may be said that one changes nothing."""

from __future__ import annotations

from sm_gatecheck.target.rules import open_rules
from sm_gatecheck.target.session import Session
from sm_gatecheck.verdicts.beside import options_beside

SOURCE = b"""
import dataclasses

@dataclasses.dataclass
class ServerArgs:
    model_path: str
    width: int = 1
    fuse: bool = False
    never_fuse: bool = False
    other: bool = False
    loud: bool = False

    def __post_init__(self):
        if self.width > 1 and not self.other:
            self.fuse = True
        if self.never_fuse:
            self.fuse = False
        if self.loud:
            self.volume = 3
"""


def test_those_in_the_tests_around_what_it_writes() -> None:
    files = {"__init__.py": b"", "srt/__init__.py": b"", "srt/server_args.py": SOURCE}
    session = Session(files, open_rules(None), cuda="12.9", settings={}, version="0.5.10")
    assert options_beside(session, "never_fuse") == {"width", "other"}
    assert options_beside(session, "loud") == frozenset()
