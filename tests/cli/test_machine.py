"""``gatecheck TREE``: the GPUs of this machine, made up."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest

from sm_gatecheck.cli.session import GpuKind, Gpus, Rules, wanted_gpus
from sm_gatecheck.model.errors import UsageError
from sm_gatecheck.target import devices as devices_module
from sm_gatecheck.target.devices import LocalGpu
from tests.cli.conftest import FUSION_STORY, Run

H100 = LocalGpu("NVIDIA H100 80GB HBM3", (9, 0), 81559)
PRO_6000 = LocalGpu("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", (12, 0), 97887)
RTX_5090 = LocalGpu("NVIDIA GeForce RTX 5090", (12, 0), 32607)
GB10 = LocalGpu("NVIDIA GB10", (12, 1), None)
FUSION = "--enable-flashinfer-allreduce-fusion"

Machine = Callable[..., None]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    def has(*gpus: LocalGpu) -> None:
        monkeypatch.setattr(devices_module, "_nvml_gpus", lambda: iter(gpus))
        monkeypatch.setattr(devices_module, "_smi_lines", lambda query: [])

    return has


def without_time(text: str) -> str:
    return re.sub(r"[\d.]+ s, (cold|warm) cache", "", text)


def wanted() -> Gpus:
    return wanted_gpus((), (), Rules.open(None).devices)


def test_eight_alike_are_one_kind(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    machine(*[H100] * 8)
    assert wanted() == Gpus((90,), 81559, (GpuKind(90, "8 x NVIDIA H100 80GB HBM3", 81559),))
    assert capsys.readouterr().err == "gatecheck: GPUs of this machine: 8 x NVIDIA H100 80GB HBM3, SM90\n"


def test_of_one_sm_the_least_memory_counts(machine: Machine) -> None:
    machine(PRO_6000, RTX_5090)
    assert wanted().memory_mib == 32607
    assert wanted().kinds[0].title == f"{PRO_6000.name}, {RTX_5090.name}"
    machine(GB10)
    assert wanted() == Gpus((121,), None, (GpuKind(121, "NVIDIA GB10", None),))


def test_the_report_is_about_the_gpu_of_this_machine(run: Run, machine: Machine) -> None:
    machine(PRO_6000)
    ended = run("--no-cache", FUSION_STORY)
    assert ended.status == 0
    assert f"gatecheck: GPU of this machine: {PRO_6000.name}, SM120\n" in ended.stderr
    assert FUSION in ended.stdout
    assert run("--no-cache", "-q", FUSION_STORY).stderr == ""


def test_mixed_gpus_have_a_report_each(run: Run, machine: Machine) -> None:
    machine(H100, PRO_6000, H100)
    ended = run("--no-cache", FUSION_STORY)
    assert "GPUs of this machine: 2 x NVIDIA H100 80GB HBM3, SM90" in ended.stderr
    alone = [run("--no-cache", "--sm", sm, FUSION_STORY).stdout for sm in ("90", "120")]
    assert without_time(ended.stdout) == without_time("\n".join(alone))
    assert ended.stdout.count(FUSION) == alone[1].count(FUSION)  # it is no finding on SM90


def test_for_a_program_they_are_one_document(run: Run, machine: Machine) -> None:
    machine(H100, PRO_6000)
    mixed = json.loads(run("--no-cache", "--format", "json", FUSION_STORY).stdout)
    named = json.loads(run("--no-cache", "--sm", "90,120", "--format", "json", FUSION_STORY).stdout)
    for document in (mixed, named):
        del document["stats"]
    assert mixed == named


def test_a_gpu_that_is_not_known(run: Run, machine: Machine) -> None:
    machine(LocalGpu("NVIDIA GTX 1080", (6, 1), 8192))
    ended = run(FUSION_STORY)
    assert ended.status == 2
    assert "this machine has NVIDIA GTX 1080, and SM61 is not known here: name one of 70 72" in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_no_gpu_is_one_line(run: Run, machine: Machine) -> None:
    machine()
    ended = run(FUSION_STORY)
    assert (ended.status, ended.stdout) == (2, "")
    assert ended.stderr == "gatecheck: no NVIDIA GPU was found on this machine: name one with --sm 120 or --gpu 'RTX PRO 6000'\n"
    with pytest.raises(UsageError):
        wanted()


def test_a_name_with_escapes_is_neutralised(run: Run, machine: Machine) -> None:
    machine(LocalGpu("NVIDIA \x1b[31mL4", (8, 9), 23034))
    assert "\x1b" not in run("--no-cache", FUSION_STORY).stderr
