"""What the model runner decides at the start, in the releases in which that belongs to resolution."""

from __future__ import annotations

from typing import Any

import pytest

from sm_gatecheck.target.outcome import Outcome
from sm_gatecheck.target.rules import open_rules
from sm_gatecheck.target.session import Session
from sm_gatecheck.verdicts.resolved import values_on

ARGS = b"""
import dataclasses
from typing import Optional

@dataclasses.dataclass
class ServerArgs:
    model_path: str
    backend: Optional[str] = None
    width: int = 8

    def __post_init__(self):
        if self.width > 64:
            self.width = 64
"""
RUNNER = b"""
import torch
from sglang.srt.server_args import ServerArgs

class ModelRunner:
    def __init__(self, server_args: ServerArgs):
        self.server_args = server_args
        self.width = server_args.width
        self.model_specific_adjustment()

    def model_specific_adjustment(self):
        if self.server_args.backend is None:
            newer = torch.cuda.get_device_capability()[0] >= 9
            self.server_args.backend = "tensor" if newer and self.width > 8 else "rows"
"""


def session(version: str) -> Session:
    files = {
        "__init__.py": b"",
        "srt/__init__.py": b"",
        "srt/server_args.py": ARGS,
        "srt/model_executor/__init__.py": b"",
        "srt/model_executor/model_runner.py": RUNNER,
    }
    return Session(files, open_rules(None), cuda="12.9", settings={}, version=version)


def backend(found: Session, outcome: Outcome, sm: int) -> list[Any]:
    return [alternative.value for alternative in values_on(found.space, outcome.fields["backend"], found.devices.bit(sm)).values()]


def test_each_run_sees_its_own_options() -> None:
    found = session("0.5.2")
    narrow = found.resolver.run({})
    wide = found.resolver.run({"width": 16})
    assert (backend(found, narrow, 90), backend(found, wide, 90), backend(found, wide, 80)) == (["rows"], ["tensor"], ["rows"])
    assert all(id(write) in wide.later for write in wide.writes)


def test_what_resolution_writes_before_is_not_later() -> None:
    outcome = session("0.5.2").resolver.run({"width": 100})
    assert [(write.field, id(write) in outcome.later) for write in outcome.writes] == [("width", False), ("backend", True)]


@pytest.mark.parametrize(("version", "belongs"), [("0.4.6", True), ("0.5.4", True), ("0.5.4.post1", False), ("0.5.12", False)])
def test_only_where_the_runner_is_the_one_to_choose(version: str, belongs: bool) -> None:
    found = session(version)
    assert backend(found, found.resolver.run({}), 90) == (["rows"] if belongs else [None])
    assert found.belongs_to_resolution("srt/model_executor/model_runner.py", "ModelRunner.model_specific_adjustment") is belongs
    assert not found.belongs_to_resolution("srt/model_executor/model_runner.py", "ModelRunner.__init__")
