"""Refusals of a class that names its least capability, over a tree of three files."""

from __future__ import annotations

from sm_gatecheck.target.rules import open_rules
from sm_gatecheck.target.session import Session

TABLE = b"""
class Base:
    @classmethod
    def get_min_capability(cls):
        raise NotImplementedError

class Dense(Base):
    @classmethod
    def get_min_capability(cls):
        return 75

class Narrow(Dense):
    @classmethod
    def get_min_capability(cls):
        return 90

class Heir(Narrow):
    pass

QUANTIZATION_METHODS = {"dense": Dense, "narrow": Narrow, "heir": Heir, "open": Base}
"""
CHECK = b"""
def _get_quantization_config(model_config):
    found = look(model_config)
    have = capability()
    if have < found.get_min_capability():
        raise ValueError("too old")
    return found
"""


def session(check: bytes) -> Session:
    files = {
        "__init__.py": b"",
        "srt/__init__.py": b"",
        "srt/layers/__init__.py": b"",
        "srt/layers/quantization/__init__.py": TABLE,
        "srt/model_loader/__init__.py": b"",
        "srt/model_loader/loader.py": check,
        "srt/server_args.py": b"class ServerArgs:\n    quantization: str = None\n",
    }
    return Session(files, open_rules(None), cuda="12.9", settings={}, version="0.5.10")


def refused(found: Session, value: str) -> tuple[int, ...]:
    (refusal,) = [r for r in found.minimums.refusals if r.option == "quantization"]
    return found.space.members(refusal.condition.restrict("quantization", value).exists)


def test_below_what_the_class_asks_for() -> None:
    found = session(CHECK)
    assert refused(found, "dense") == (70, 72)
    assert refused(found, "narrow") == refused(found, "heir") == (70, 72, 75, 80, 86, 87, 89)
    assert refused(found, "open") == refused(found, "unlisted") == ()
    assert {r.option for r in found.minimums.refusals} == {"quantization", "speculative_draft_model_quantization"}
    assert [(r.module.path, r.node.lineno) for r in found.minimums.refusals] == [("srt/model_loader/loader.py", 6)] * 2


def test_a_question_of_another_kind_is_none() -> None:
    assert session(CHECK.replace(b"have <", b"have >")).minimums.refusals == ()
    assert session(CHECK.replace(b"raise ValueError", b"print")).minimums.refusals == ()
