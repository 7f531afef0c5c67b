"""SMs and GPUs as people, drivers and rule files write them."""

from __future__ import annotations

import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from sm_gatecheck.model.errors import UsageError
from sm_gatecheck.model.target import Devices, Product, Target
from sm_gatecheck.rulebook import Rulebook, RulesError, shipped_rules
from sm_gatecheck.target.devices import LocalGpu, find_gpu, local_gpus, parse_sms, sm_of_gpu, stated_memory
from sm_gatecheck.target.rules import load_devices, open_rules

DEVICES = load_devices()
ALL = (70, 72, 75, 80, 86, 87, 89, 90, 100, 103, 107, 110, 120, 121)


class TestShippedDevices:
    def test_every_sm_is_there_in_order(self) -> None:
        assert DEVICES.sms == ALL
        assert DEVICES.members(DEVICES.all_bits) == ALL

    def test_each_has_an_architecture_and_a_product(self) -> None:
        assert all(target.architecture and target.products for target in DEVICES)

    def test_a_whole_name_stands_for_one_sm(self) -> None:
        for target in DEVICES:
            for product in target.catalogue:
                for name in product.names:
                    assert sm_of_gpu(name, DEVICES) == target.sm, name

    def test_capabilities(self) -> None:
        assert {target.sm: target.capability for target in DEVICES}[103] == (10, 3)
        assert {target.sm: target.capability for target in DEVICES}[89] == (8, 9)


class TestParseSms:
    @pytest.mark.parametrize(
        "text",
        [
            "120",
            "12.0",
            "sm_120",
            "sm120",
            "SM120",
            "sm-120",
            "sm 120",
            "sm120a",
            "sm_120f",
            "SM_120A",
            "compute_120",
            "compute_120a",
            "cc12.0",
            " 120 ",
            "120,120",
        ],
    )
    def test_every_spelling_of_one(self, text: str) -> None:
        assert parse_sms(text, DEVICES) == (120,)

    @pytest.mark.parametrize(
        ("text", "sms"),
        [
            ("90,120", (90, 120)),
            ("120, 90", (90, 120)),
            ("120 90", (90, 120)),
            ("9.0;10.3", (90, 103)),
            (["90", "sm_120,8.9", "90"], (89, 90, 120)),
            ("all", ALL),
            (["ALL", "90"], ALL),
            ("121", (121,)),
            ("compute_90a", (90,)),
            ("7.5", (75,)),
        ],
    )
    def test_lists(self, text: str | list[str], sms: tuple[int, ...]) -> None:
        assert parse_sms(text, DEVICES) == sms

    @pytest.mark.parametrize(
        ("text", "meant"),
        [
            ("12", "did you mean 120 or 121?"),
            ("9", "did you mean 90?"),
            ("101", "did you mean 100 or 103?"),
            ("sm_130", "did you mean 120 or 121?"),
            ("h100", "did you mean --gpu h100, which is 90?"),
            ("90,sm12O", ""),
            ("twelve", ""),
            ("120.0", "did you mean"),
            ("-", ""),
        ],
    )
    def test_what_is_unknown_is_refused_with_what_is_known(self, text: str, meant: str) -> None:
        with pytest.raises(UsageError) as caught:
            parse_sms(text, DEVICES)
        assert meant in str(caught.value)
        assert str(caught.value).endswith("known are 70 72 75 80 86 87 89 90 100 103 107 110 120 121")

    @pytest.mark.parametrize("text", ["", " , ", []])
    def test_none_at_all(self, text: str | list[str]) -> None:
        with pytest.raises(UsageError, match="no SM is named"):
            parse_sms(text, DEVICES)


class TestGpuNames:
    @pytest.mark.parametrize(
        ("name", "sm"),
        [
            ("RTX PRO 6000", 120),
            ("rtx pro 6000", 120),
            ("5090", 120),
            ("rtx5090", 120),
            ("pro 6000", 120),
            ("h100", 90),
            ("H100-SXM5", 90),
            ("A10", 86),
            ("A100", 80),
            ("H20", 90),
            ("L4", 89),
            ("B200", 100),
            ("GB200", 100),
            ("b300", 103),
            ("GB10", 121),
            ("spark", 121),
            ("thor", 110),
            ("orin", 87),
            ("T4", 75),
            ("V100", 70),
            ("RTX 6000 Ada", 89),
            ("quadro rtx 6000", 75),
            ("hopper", 90),
            ("h10", 90),
        ],
    )
    def test_as_people_write_them(self, name: str, sm: int) -> None:
        assert sm_of_gpu(name, DEVICES) == sm

    @pytest.mark.parametrize(
        ("name", "sm", "memory"),
        [
            ("NVIDIA H100 80GB HBM3", 90, 81559),
            ("NVIDIA H100 NVL", 90, 95830),
            ("NVIDIA A100-SXM4-80GB", 80, 81920),
            ("NVIDIA A100-PCIE-40GB", 80, 40960),
            ("Tesla V100-SXM2-16GB", 70, 16384),
            ("Tesla T4", 75, 15360),
            ("NVIDIA GeForce RTX 5090", 120, 32607),
            ("NVIDIA GeForce RTX 3060 Laptop GPU", 86, 12288),
            ("NVIDIA RTX 6000 Ada Generation", 89, 49140),
            ("NVIDIA RTX A6000", 86, 49140),
            ("NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", 120, 97887),
            ("NVIDIA RTX PRO 6000 Blackwell Server Edition", 120, 97887),
            ("NVIDIA RTX PRO 5000 72GB Blackwell", 120, 73415),
            ("NVIDIA RTX PRO 5000 Blackwell", 120, 48935),
            ("NVIDIA B200", 100, 183359),
            ("NVIDIA GB200", 100, 189471),
            ("NVIDIA B300 SXM6 AC", 103, 275040),
            ("NVIDIA-B300", 103, 275040),
            ("NVIDIA GB300", 103, 284208),
            ("NVIDIA GH200 480GB", 90, 97871),
            ("NVIDIA GB10", 121, 124610),
            ("NVIDIA Thor", 110, 125790),
            ("NVIDIA H20-3e", 90, 143771),
            ("Orin (nvgpu)", 87, None),
        ],
    )
    def test_as_drivers_report_them(self, name: str, sm: int, memory: int | None) -> None:
        found = find_gpu(name, DEVICES)
        assert (found.sm, found.memory_mib) == (sm, memory)

    def test_memory_of_products_that_differ_is_not_guessed(self) -> None:
        assert find_gpu("A100", DEVICES).memory_mib is None
        assert find_gpu("A100", DEVICES).products == ("A100 80GB", "A100 40GB")
        assert find_gpu("5090", DEVICES).memory_mib == 32607

    @pytest.mark.parametrize(
        ("name", "candidates"),
        [
            ("6000", "Quadro RTX 6000 (SM75), RTX 6000 Ada (SM89), RTX PRO 6000 (SM120)"),
            ("RTX 6000", "Quadro RTX 6000 (SM75), RTX 6000 Ada (SM89)"),
            ("blackwell", "B200, GB200 … (SM100), Jetson Thor (SM110), RTX PRO 6000, RTX 5090 … (SM120), GB10 (SM121)"),
        ],
    )
    def test_an_ambiguous_name_lists_what_it_could_be(self, name: str, candidates: str) -> None:
        with pytest.raises(UsageError) as caught:
            sm_of_gpu(name, DEVICES)
        assert str(caught.value) == f"GPU {name!r} could be {candidates}: write more of its name"

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("RTX 5900", "did you mean 'RTX 5090'?"),
            ("MI300X", "unknown GPU 'MI300X'; name its SM"),
            ("NVIDIA Graphics Device", "unknown GPU"),
        ],
    )
    def test_an_unknown_name(self, name: str, words: str) -> None:
        with pytest.raises(UsageError) as caught:
            sm_of_gpu(name, DEVICES)
        assert words in str(caught.value)

    @pytest.mark.parametrize("name", ["", " ", "nvidia", "--"])
    def test_no_name(self, name: str) -> None:
        with pytest.raises(UsageError, match="no GPU is named"):
            sm_of_gpu(name, DEVICES)


@pytest.mark.parametrize(
    ("mib", "sm", "stated"),
    [
        (20480, 86, 20470),
        (24576, 86, 24576),
        (24576, 89, 24570),
        (81920, 90, 81559),
        (81920, 80, 81920),
        (98304, 120, 97887),
        (32768, 120, 32623),
        (81000, 90, 81000),
        (102400, 90, 102400),
        (20480, 110, 20480),
    ],
)
def test_the_size_on_the_box(mib: int, sm: int, stated: int) -> None:
    assert stated_memory(mib, sm, DEVICES) == stated


class FakeNvml(types.ModuleType):
    """The binding as far as it is used: one discrete GPU, one that shares the host's memory."""

    class NVMLError(Exception):
        pass

    def __init__(self, initialises: bool = True) -> None:
        super().__init__("pynvml")
        self.initialises = initialises
        self.shut_down = False

    def nvmlInit(self) -> None:
        if not self.initialises:
            raise self.NVMLError

    def nvmlShutdown(self) -> None:
        self.shut_down = True

    def nvmlDeviceGetCount(self) -> int:
        return 2

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:
        return index

    def nvmlDeviceGetName(self, handle: int) -> str | bytes:
        return (b"NVIDIA H100 80GB HBM3", "NVIDIA GB10")[handle]

    def nvmlDeviceGetCudaComputeCapability(self, handle: int) -> tuple[int, int]:
        return ((9, 0), (12, 1))[handle]

    def nvmlDeviceGetMemoryInfo(self, handle: int) -> Any:
        if handle == 1:
            raise self.NVMLError("Not Supported")
        return types.SimpleNamespace(total=81559 << 20)


class TestLocalGpus:
    def smi(self, monkeypatch: pytest.MonkeyPatch, output: str, status: int = 0) -> None:
        monkeypatch.setitem(sys.modules, "pynvml", None)
        monkeypatch.setattr(subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, status, output, ""))

    def test_through_nvml(self, monkeypatch: pytest.MonkeyPatch) -> None:
        nvml = FakeNvml()
        monkeypatch.setitem(sys.modules, "pynvml", nvml)
        gpus = local_gpus()
        assert gpus == [("NVIDIA H100 80GB HBM3", (9, 0), 81559), ("NVIDIA GB10", (12, 1), None)]
        assert [gpu.sm for gpu in gpus] == [90, 121]
        assert nvml.shut_down

    def test_through_nvidia_smi(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.smi(monkeypatch, "NVIDIA RTX PRO 6000, Server, 12.0, 97887\nNVIDIA GB10, 12.1, [N/A]\n\n")
        assert local_gpus() == [LocalGpu("NVIDIA RTX PRO 6000, Server", (12, 0), 97887), LocalGpu("NVIDIA GB10", (12, 1), None)]

    def test_nvidia_smi_is_asked_where_nvml_has_no_driver(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.smi(monkeypatch, "NVIDIA L4, 8.9, 23034\n")
        monkeypatch.setitem(sys.modules, "pynvml", FakeNvml(initialises=False))
        assert [gpu.sm for gpu in local_gpus()] == [89]

    def test_a_gpu_that_does_not_answer_hides_no_other(self, monkeypatch: pytest.MonkeyPatch) -> None:
        nvml = FakeNvml()
        monkeypatch.setitem(sys.modules, "pynvml", nvml)

        def lost(handle: int) -> tuple[int, int]:
            if handle == 0:
                raise nvml.NVMLError("GPU is lost")
            return (12, 1)

        monkeypatch.setattr(nvml, "nvmlDeviceGetCudaComputeCapability", lost)
        assert [gpu.sm for gpu in local_gpus()] == [121]
        assert nvml.shut_down

    def test_an_old_driver_is_asked_for_names(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def old(command: list[str], **_: Any) -> Any:
            knows = "compute_cap" not in command[1]
            return subprocess.CompletedProcess(command, 0 if knows else 2, "Tesla T4, 15109\nSome Card, 8\n" if knows else "no field\n", "")

        monkeypatch.setitem(sys.modules, "pynvml", None)
        monkeypatch.setattr(subprocess, "run", old)
        assert local_gpus(DEVICES) == [LocalGpu("Tesla T4", (7, 5), 15109)]
        with pytest.raises(UsageError, match="no NVIDIA GPU was found"):
            local_gpus()

    @pytest.mark.parametrize(
        ("output", "status"), [("", 0), ("No devices were found\n", 6), ("NVIDIA L4, N/A, N/A\n", 0), ("Field is not valid\n", 2)]
    )
    def test_none(self, monkeypatch: pytest.MonkeyPatch, output: str, status: int) -> None:
        self.smi(monkeypatch, output, status)
        with pytest.raises(UsageError, match="no NVIDIA GPU was found on this machine: name one with --sm"):
            local_gpus()

    @pytest.mark.parametrize("error", [FileNotFoundError(), PermissionError(), subprocess.TimeoutExpired("nvidia-smi", 30)])
    def test_no_driver(self, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
        def fail(*_: Any, **__: Any) -> None:
            raise error

        monkeypatch.setitem(sys.modules, "pynvml", None)
        monkeypatch.setattr(subprocess, "run", fail)
        with pytest.raises(UsageError, match="no NVIDIA GPU was found"):
            local_gpus()


class TestDeviceRules:
    def load(self, directory: Path, text: str) -> Devices:
        (directory / "devices.toml").write_text(text, encoding="utf-8")
        return load_devices(directory)

    def test_a_new_sm_is_known_everywhere(self, tmp_path: Path) -> None:
        devices = self.load(tmp_path, '[[device]]\nsm = 130\narchitecture = "Next"\nproducts = [{ name = "X1", memory_mib = 500000 }]\n')
        assert devices.sms == (*ALL, 130)
        assert parse_sms("13.0", devices) == (130,)
        assert find_gpu("x1", devices).memory_mib == 500000

    def test_products_are_added_and_replaced(self, tmp_path: Path) -> None:
        devices = self.load(tmp_path, '[[device]]\nsm = 120\nproducts = [{ name = "RTX 5090", memory_mib = 99 }, { name = "Workhorse" }]\n')
        target = next(target for target in devices if target.sm == 120)
        assert target.architecture == "Blackwell"
        assert target.products[-1] == "Workhorse"
        assert find_gpu("RTX 5090", devices).memory_mib == 99
        assert sm_of_gpu("RTX PRO 6000", devices) == 120
        assert DEVICES.sms == devices.sms

    def test_other_forms_of_the_rules(self, tmp_path: Path) -> None:
        assert load_devices(Rulebook.open()) == load_devices(open_rules()) == DEVICES
        assert load_devices(open_rules(tmp_path)) == DEVICES
        with pytest.raises(RulesError, match="no such directory"):
            load_devices(tmp_path / "nowhere")

    def test_only_our_own_directory(self, tmp_path: Path) -> None:
        (tmp_path / "devices.toml").write_text('[[device]]\nsm = 90\nproducts = [{ name = "H100" }]\n')
        assert load_devices(Rulebook((tmp_path,))) == Devices((Target(90, "", (Product("H100"),)),))
        (tmp_path / "devices.toml").write_text("")
        with pytest.raises(RulesError, match="device: at least one is needed"):
            load_devices(Rulebook((tmp_path,)))

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("[[devices]]\nsm = 90\n", "devices: no such key; did you mean device"),
            ("device = 3\n", "device: write [[device]], a list of tables"),
            ("device = [3]\n", "device 1: a table is needed, not 3"),
            ("[[device]]\narchitecture = 'x'\n", "device 1: sm: a compute capability"),
            ("[[device]]\nsm = '90'\n", "device 1: sm: a compute capability as major * 10 + minor is needed, e.g. 120; not '90'"),
            ("[[device]]\nsm = 9\n", "device 1: sm: a compute capability"),
            ("[[device]]\nsm = true\n", "device 1: sm: a compute capability"),
            ("[[device]]\nsm = 90\n[[device]]\nsm = 90\n", "device 2: sm: 90 is there twice"),
            ("[[device]]\nsm = 90\narch = 'x'\n", "device 1: arch: no such key; did you mean architecture"),
            ("[[device]]\nsm = 90\narchitecture = 9\n", "device 1 (sm 90): architecture: a text is needed, not 9"),
            ("[[device]]\nsm = 90\nproducts = 'H100'\n", "device 1 (sm 90): products: a list is needed"),
            ("[[device]]\nsm = 90\nproducts = ['H100']\n", "device 1 (sm 90): products 1: a table is needed"),
            ("[[device]]\nsm = 90\nproducts = [{ name = '' }]\n", "device 1 (sm 90): products 1: name: a text is needed"),
            ("[[device]]\nsm = 90\nproducts = [{ name = 'a', aliases = 'b' }]\n", "device 1 (sm 90): products 1: aliases: a list of texts"),
            (
                "[[device]]\nsm = 90\nproducts = [{ name = 'a', memory_mib = 0 }]\n",
                "device 1 (sm 90): products 1: memory_mib: a number of MiB",
            ),
            ("[[device]]\nsm = 90\nproducts = [{ name = 'a', memory = 5 }]\n", "products 1: memory: no such key; did you mean memory_mib"),
        ],
    )
    def test_a_mistake_names_file_and_key(self, tmp_path: Path, text: str, words: str) -> None:
        with pytest.raises(RulesError) as caught:
            self.load(tmp_path, text)
        assert str(caught.value).startswith(str(tmp_path / "devices.toml"))
        assert words in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_a_rules_error_is_wrong_usage(self) -> None:
        assert issubclass(RulesError, UsageError)
        assert shipped_rules().is_dir()
