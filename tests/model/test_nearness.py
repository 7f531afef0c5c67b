"""Which name somebody meant who wrote one that does not exist."""

from __future__ import annotations

import pytest

from sm_gatecheck.model.nearness import nearest_name

KNOWN = [
    "--queue-order",
    "--attention-backend",
    "--tensor-parallel-size",
    "--enable-wide-loads",
    "--enable-torch-compile",
    "--disable-radix-cache",
    "--stage-2-width",
]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("--que-ordr", "--queue-order"),
        ("--attention-bakend", "--attention-backend"),
        ("--Attention-Backends", "--attention-backend"),
        ("--tensor-paralell-size", "--tensor-parallel-size"),
        ("--wide-loads", "--enable-wide-loads"),
        ("--enable-wideloads", "--enable-wide-loads"),
        ("--enable-torch-complie", "--enable-torch-compile"),
        ("--enable-wide-cache", None),
        ("--enable-torch-profile", None),
        ("--disable-wide-loads", None),
        ("--enable-radix-cache", None),
        ("--stage-3-width", None),
        ("--zzz", None),
        ("", None),
    ],
)
def test_a_slip_has_its_name_and_another_thing_has_none(written: str, meant: str | None) -> None:
    assert nearest_name(written, KNOWN) == meant
