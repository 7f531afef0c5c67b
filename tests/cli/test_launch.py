"""``--launch FILE`` and ``-- ARGS…`` on the trees of fixtures/, from the command line to the report."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from sm_gatecheck.report import schema
from tests.cli.conftest import FUSION_STORY, Run

FIXTURES = Path(__file__).parents[2] / "fixtures"
FUSION = "--enable-flashinfer-allreduce-fusion"
UNIT = f"""\
[Service]
ExecStart=/usr/bin/python3 -m sglang.launch_server \\
  --model-path /models/x \\
  {FUSION} \\
  --enable-wide-loads
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test in a directory of its own, without a cache from before."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GATECHECK_CACHE", str(tmp_path / "cache"))
    return tmp_path


def launch_file(name: str, text: str) -> str:
    Path(name).write_text(text, encoding="utf-8")
    return name


def gate(run: Run, *arguments: str, sm: str = "120", tree: str = FUSION_STORY) -> dict[str, Any]:
    """The JSON report, which must be valid."""
    document: dict[str, Any] = json.loads(run("--sm", sm, tree, "--format", "json", *arguments).stdout)
    jsonschema.Draft202012Validator(schema.document()).validate(document)
    return document


def rules(document: dict[str, Any]) -> list[tuple[str, str]]:
    return [(finding["rule"], finding["option"]) for finding in document["findings"]]


def test_the_unit_fails_at_its_own_line_and_the_harmless_option_does_not(run: Run) -> None:
    ended = run("--sm", "120", FUSION_STORY, "--launch", launch_file("chat.service", UNIT))
    assert ended.status == 1
    first = ended.stdout.splitlines()[0]
    assert first.startswith("chat.service:2 on SM120 (RTX PRO 6000")
    assert "1 setting does nothing and still has side effects" in " ".join(ended.stdout.split())
    assert f"chat.service:4:3  {FUSION}" in ended.stdout
    assert "srt/layers/communicator.py:16" in ended.stdout
    assert "--enable-wide-loads" not in ended.stdout
    assert ended.stderr == ""


def test_the_same_unit_passes_where_the_option_works(run: Run) -> None:
    ended = run("--sm", "100", FUSION_STORY, "--launch", launch_file("chat.service", UNIT))
    assert ended.status == 0
    assert "nothing that it sets is refused, replaced or dead" in " ".join(ended.stdout.split())


def test_the_json_says_where_and_what_becomes_of_it(run: Run) -> None:
    document = gate(run, "--launch", launch_file("chat.service", UNIT))
    (finding,) = document["findings"]
    assert (finding["file"], finding["line"], finding["column"]) == ("chat.service", 4, 3)
    assert finding["guard"] == {"file": "srt/layers/communicator.py", "line": 16}
    (launch,) = document["launch"]
    assert (launch["file"], launch["line"], launch["entry"]) == ("chat.service", 2, "python -m sglang.launch_server")
    assert launch["options"] == {
        "model_path": "/models/x",
        "enable_flashinfer_allreduce_fusion": True,
        "enable_wide_loads": True,
    }
    changed = document["resolved"]["120"]["disable_piecewise_cuda_graph"]
    assert (changed["value"], changed["from"], changed["when"]) == (True, False, None)
    assert changed["because"].startswith("srt/server_args.py:")


def test_only_what_the_launch_sets_is_reported(run: Run) -> None:
    document = gate(run, "--", "--model-path", "m", "--enable-wide-loads")
    assert {option["field"] for option in document["options"]} == {"model_path", "enable_wide_loads"}
    assert document["findings"] == []
    assert document["resolved"] == {"120": {}}


def test_a_second_run_is_warm_and_says_the_same(run: Run) -> None:
    arguments = ("--launch", launch_file("chat.service", UNIT))
    cold, warm = gate(run, *arguments), gate(run, *arguments)
    assert (cold["stats"].pop("cache"), warm["stats"].pop("cache")) == ("cold", "warm")
    cold["stats"].pop("seconds"), warm["stats"].pop("seconds")
    assert cold == warm


def test_an_edited_launch_is_judged_anew(run: Run) -> None:
    name = launch_file("chat.service", UNIT)
    assert gate(run, "--launch", name)["findings"]
    launch_file("chat.service", UNIT.replace(f"  {FUSION} \\\n", ""))
    assert gate(run, "--launch", name)["findings"] == []


def test_several_launches_are_told_apart(run: Run) -> None:
    script = f"python -m sglang.launch_server --model-path a {FUSION} &\npython -m sglang.launch_server --model-path b\n"
    document = gate(run, "--launch", launch_file("both.sh", script))
    assert [launch["options"]["model_path"] for launch in document["launch"]] == ["a", "b"]
    assert [(finding["line"], finding["launch_number"]) for finding in document["findings"]] == [(1, 0)]
    assert [bool(launch["resolved"]["120"]) for launch in document["launch"]] == [True, False]
    text = " ".join(run("--sm", "120", FUSION_STORY, "--launch", "both.sh").stdout.split())
    assert "both.sh:1 on SM120" in text
    assert "both.sh:2 on SM120 (RTX PRO 6000, RTX 5090 …): nothing that it sets" in text


def test_plain_arguments_and_files_may_be_checked_together(run: Run) -> None:
    document = gate(run, "--launch", launch_file("chat.service", UNIT), "--", "--model-path", "m", FUSION)
    assert [launch["file"] for launch in document["launch"]] == ["chat.service", "<arguments>"]
    assert [finding["file"] for finding in document["findings"]] == ["chat.service", "<arguments>"]
    assert len({finding["fingerprint"] for finding in document["findings"]}) == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--enable-wide-load-s",), "did you mean --enable-wide-loads?"),
        (("--queue-order", "shortest"), "--queue-order does not take 'shortest'"),
        (("--tp-size", "many"), "takes a whole number"),
        (("--tp-size",), "--tp-size needs a value"),
    ],
)
def test_what_the_servers_parser_refuses_is_a_finding(run: Run, arguments: tuple[str, ...], said: str) -> None:
    ended = run("--sm", "90", FUSION_STORY, "--", "--model-path", "m", *arguments)
    assert ended.status == 1
    assert said in " ".join(ended.stdout.split())
    assert "GC201" in ended.stdout


def test_a_variable_that_nothing_reads_is_named(run: Run) -> None:
    document = gate(run, "--launch", launch_file("a.sh", "export SGLANG_NOBODY=1\nsglang serve --model-path m\n"))
    (finding,) = document["findings"]
    assert (finding["rule"], finding["option"], finding["line"]) == ("GC202", "env:SGLANG_NOBODY", 1)
    assert run("--sm", "120", FUSION_STORY, "--launch", "a.sh").status == 0
    assert run("--sm", "120", FUSION_STORY, "--launch", "a.sh", "--fail-on", "noop").status == 1


def test_another_release_in_the_image_is_a_finding(run: Run) -> None:
    line = "docker run --gpus all lmsysorg/sglang:v{} python -m sglang.launch_server --model-path m\n"
    document = gate(run, "--launch", launch_file("a.sh", line.format("0.5.9")))
    assert rules(document) == [("GC203", "sglang_version")]
    assert "SGLang 0.5.9" in document["findings"][0]["message"]
    assert gate(run, "--launch", launch_file("a.sh", line.format("0.5.12-cu129")))["findings"] == []


@pytest.mark.parametrize(("option", "verdict", "rule"), [("shared", "rejected", "GC101"), ("lent", "overridden", "GC103")])
def test_what_needs_another_option_counts_once_that_is_set(run: Run, option: str, verdict: str, rule: str) -> None:
    tree, field = str(FIXTURES / "refused-only-with-another-option"), f"enable_{option}_rows"
    alone = ("--", "--model-path", "m", f"--enable-{option}-rows")
    assert gate(run, *alone, tree=tree)["findings"] == []
    together = gate(run, *alone, "--tp-size", "4", tree=tree)
    assert rules(together) == [(rule, field)]  # said once, of the option that the GPU lacks something for
    (judged,) = [found for found in together["options"] if found["field"] == field]
    assert judged["verdicts"][0]["verdict"] == verdict


def test_no_variable_comes_from_the_environment_unless_asked_for(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL", "from-here")
    script = launch_file("a.sh", 'python -m sglang.launch_server --model-path "$MODEL"\n')
    assert gate(run, "--launch", script)["launch"][0]["unresolved"] == ["$MODEL"]
    known = gate(run, "--launch", script, "--env", "MODEL")["launch"][0]
    assert (known["options"], known["unresolved"]) == ({"model_path": "from-here"}, [])
    assert gate(run, "--launch", script, "--env", "MODEL=given")["launch"][0]["options"] == {"model_path": "given"}


def test_what_is_taken_for_granted_is_told(run: Run) -> None:
    script = launch_file("a.sh", "sglang serve --model-path m --tp-size ${TP:-2}\n")
    (launch,) = gate(run, "--launch", script)["launch"]
    assert (launch["options"]["tp_size"], launch["unresolved"], launch["assumed"]) == (2, [], ["$TP is not set"])
    assert "assumed   $TP is not set\n" in run("--sm", "120", FUSION_STORY, "--launch", script).stdout


def test_what_the_launch_leaves_open_can_be_assumed(run: Run) -> None:
    script = launch_file("a.sh", "python -m sglang.launch_server --model-path m --queue-order $ORDER\n")
    judged = gate(run, "--launch", script, "--set", "queue_order=longest-prefix")
    assert judged["launch"][0]["unresolved"] == ["$ORDER"]
    assert judged["assumptions"]["settings"] == {"queue_order": "longest-prefix"}


def test_a_file_without_a_launch_is_wrong_usage(run: Run) -> None:
    ended = run("--sm", "120", FUSION_STORY, "--launch", launch_file("a.sh", "echo hello\n"))
    assert ended.status == 2
    assert "a.sh: no start of an SGLang server was found there" in ended.stderr


def test_resolved_is_shown_when_asked_for(run: Run) -> None:
    name = launch_file("chat.service", UNIT)
    row = "disable_piecewise_cuda_graph  False → True  srt/server_args.py:"
    assert row in run("--sm", "120", FUSION_STORY, "--launch", name, "--resolved").stdout
    assert row not in run("--sm", "120", FUSION_STORY, "--launch", name).stdout


def test_quiet_is_a_line_a_finding_at_the_launch(run: Run) -> None:
    ended = run("--sm", "120", FUSION_STORY, "--launch", launch_file("chat.service", UNIT), "-q")
    assert ended.stdout.startswith(f"chat.service:4:3: GC102 {FUSION} on SM120: ")
    assert ended.stdout.count("\n") == 1


def test_annotations_stand_at_the_launch(run: Run) -> None:
    ended = run("--sm", "120", FUSION_STORY, "--launch", launch_file("chat.service", UNIT), "--format", "github")
    assert "file=chat.service,line=4,col=3" in ended.stdout


def test_a_baseline_accepts_a_finding_of_one_file_and_not_of_another(run: Run) -> None:
    launch_file("a.service", UNIT)
    launch_file("b.service", UNIT)
    assert run("--sm", "120", FUSION_STORY, "--launch", "a.service", "--write-baseline", "accepted.json").status == 0
    assert run("--sm", "120", FUSION_STORY, "--launch", "a.service", "--baseline", "accepted.json").status == 0
    assert run("--sm", "120", FUSION_STORY, "--launch", "b.service", "--baseline", "accepted.json").status == 1


def choosing_tree(chosen_if: str) -> str:
    """A tree that chooses ``queue_order=tensor`` by itself, and refuses it at start-up off SM100."""
    tree = Path("tree/sglang/srt")
    tree.mkdir(parents=True)
    (tree.parent / "version.py").write_text('__version__ = "0.5.12"\n', encoding="utf-8")
    source = (FIXTURES / "fusion-story/sglang/srt/server_args.py").read_text(encoding="utf-8")
    source = source.replace('ORDER_CHOICES = ["arrival", "longest-prefix"]', 'ORDER_CHOICES = ["arrival", "longest-prefix", "tensor"]')
    source = source.replace("        self._resolve_graphs()\n", f'        if {chosen_if}:\n            self.queue_order = "tensor"\n', 1)
    (tree / "server_args.py").write_text(source, encoding="utf-8")
    (tree / "model_executor").mkdir()
    (tree / "model_executor/model_runner.py").write_text(
        "import torch\n\nfrom sglang.srt.server_args import get_global_server_args\n\n\nclass ModelRunner:\n"
        "    def __init__(self, requests):\n"
        '        if get_global_server_args().queue_order == "tensor":\n'
        "            if torch.cuda.get_device_capability()[0] != 10:\n"
        '                raise ValueError("ordering by tensor needs major 10")\n'
        "            self.order = sorted(requests)\n",
        encoding="utf-8",
    )
    return "tree/sglang"


def test_what_an_option_makes_the_server_choose_is_judged_at_that_option(run: Run) -> None:
    tree = choosing_tree("self.enable_wide_loads")
    arguments = ("--", "--model-path", "m", "--enable-wide-loads")
    (finding,) = gate(run, *arguments, tree=tree)["findings"]
    assert (finding["rule"], finding["option"], finding["value"], finding["column"]) == ("GC101", "queue_order", "tensor", 16)
    assert finding["message"].startswith("SGLang chooses this because of --enable-wide-loads: ")
    assert "do Set --queue-order yourself: what SGLang chooses" in " ".join(run("--sm", "120", tree, *arguments).stdout.split())
    assert gate(run, *arguments, tree=tree, sm="100")["findings"] == []
    assert gate(run, "--", "--model-path", "m", tree=tree)["findings"] == []
    assert gate(run, *arguments, "--queue-order", "arrival", tree=tree)["options"]


def test_what_the_server_chooses_by_itself_is_judged_too(run: Run) -> None:
    tree = choosing_tree('self.queue_order == "arrival"')
    (finding,) = gate(run, "--", "--model-path", "m", tree=tree)["findings"]
    assert (finding["rule"], finding["option"], finding["line"]) == ("GC101", "queue_order", 1)
    assert finding["message"].startswith("SGLang chooses this by itself: ")
    assert gate(run, "--", "--model-path", "m", "--queue-order", "longest-prefix", tree=tree)["findings"] == []


def keep_release(cache: Path, version: str, flag: str) -> None:
    """A release in the cache whose parser knows one flag more than the story's."""
    story = Path(FUSION_STORY) / "sglang"
    folder = cache / "releases" / f"sglang-{version}"
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / f"sglang-{version}-py3-none-any.whl", "w") as wheel:
        for path in story.rglob("*.py"):
            text = path.read_text(encoding="utf-8").replace("--enable-wide-loads", flag)
            wheel.writestr(f"sglang/{path.relative_to(story).as_posix()}", text)
        wheel.writestr(f"sglang-{version}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: sglang\nVersion: {version}\n")


@pytest.mark.parametrize(
    ("versions", "said"),
    [
        (("0.5.14", "0.5.16"), "(0.5.14 has it: it came after 0.5.12)"),
        (("0.5.9", "0.5.10"), "(0.5.10 had it: it went before 0.5.12)"),
        (("0.5.10", "0.5.14"), "(0.5.10 and 0.5.14 have it)"),
    ],
)
def test_an_unknown_flag_that_another_release_at_hand_knows(run: Run, here: Path, versions: tuple[str, ...], said: str) -> None:
    arguments = ("--", "--model-path", "m", "--enable-tall-loads")
    assert "has it" not in gate(run, *arguments)["findings"][0]["message"]
    for version in versions:
        keep_release(here / "cache", version, "--enable-tall-loads")
    assert gate(run, *arguments)["findings"][0]["message"].endswith(said)
    assert not gate(run, "--", "--model-path", "m", "--enable-high-loads")["findings"][0]["message"].endswith(")")


def test_a_default_that_the_next_check_refuses_is_found_without_the_option(run: Run) -> None:
    tree = str(FIXTURES / "default-refused-by-next-check")
    (finding,) = gate(run, "--", "--model-path", "m", tree=tree)["findings"]
    assert (finding["rule"], finding["option"], finding["guard"]["file"]) == ("GC204", "attention_backend", "srt/server_args.py")
    assert gate(run, "--", "--model-path", "m", tree=tree, sm="100")["findings"] == []
    assert gate(run, "--", "--model-path", "m", "--attention-backend", "rows", tree=tree)["findings"] == []


def test_options_that_contradict_each_other_on_every_gpu(run: Run) -> None:
    tree = choosing_tree('self.queue_order == "longest-prefix" and self.tp_size > 1')
    path = Path(tree) / "srt/server_args.py"
    text = path.read_text(encoding="utf-8").replace(
        '            self.queue_order = "tensor"\n', '            raise ValueError("one rank only")\n'
    )
    path.write_text(text, encoding="utf-8")
    arguments = ("--", "--model-path", "m", "--queue-order", "longest-prefix")
    assert gate(run, *arguments, tree=tree)["findings"] == []
    found = gate(run, *arguments, "--tp-size", "2", tree=tree, sm="90,120")["findings"]
    refused = [finding for finding in found if finding["rule"] == "GC204"]
    assert [(finding["option"], finding["sm"]) for finding in refused] == [("queue_order", 90), ("queue_order", 120)]
    assert refused[0]["message"].endswith("because of --queue-order and --tp-size: one rank only.")


def test_a_model_that_lies_here_is_known(run: Run, here: Path) -> None:
    tree = choosing_tree("self._is_paired()")
    path = Path(tree) / "srt/server_args.py"
    text = path.read_text(encoding="utf-8").replace(
        "    def _resolve_graphs(self):\n",
        "    def _is_paired(self):\n        from transformers import AutoConfig\n\n"
        '        return AutoConfig.from_pretrained(self.model_path).architectures[0] == "PairedForCausalLM"\n\n'
        "    def _resolve_graphs(self):\n",
    )
    path.write_text(text, encoding="utf-8")
    arguments = ("--", "--model-path", "model")
    unknown = gate(run, *arguments, tree=tree)
    assert (unknown["launch"][0]["model_config"], unknown["findings"]) == (None, [])
    (here / "model").mkdir()
    (here / "model/config.json").write_text('{"architectures": ["PairedForCausalLM"]}', encoding="utf-8")
    known = gate(run, *arguments, tree=tree)
    assert known["launch"][0]["model_config"] == "model/config.json"
    assert rules(known) == [("GC101", "queue_order")]
    assert known["resolved"]["120"]["queue_order"]["value"] == "tensor"
    (here / "model/config.json").write_text('{"architectures": ["OtherForCausalLM"]}', encoding="utf-8")
    assert gate(run, *arguments, tree=tree)["findings"] == []
    (here / "model/config.json").write_text("no json", encoding="utf-8")
    assert gate(run, *arguments, tree=tree)["launch"][0]["model_config"] is None


def test_what_is_set_under_a_condition_is_told_and_does_not_count(run: Run) -> None:
    script = f'if [ "$FAST" = 1 ]; then EXTRA="{FUSION}"; fi\nsglang serve --model-path m $EXTRA\n'
    document = gate(run, "--launch", launch_file("a.sh", script))
    assert document["findings"] == []
    (conditional,) = document["launch"][0]["conditional"]
    assert (conditional["field"], conditional["verdicts"][0]["verdict"]) == (
        "enable_flashinfer_allreduce_fusion",
        "noop_with_side_effects",
    )
    ended = run("--sm", "120", FUSION_STORY, "--launch", "a.sh")
    assert ended.status == 0
    told = " ".join(ended.stdout.split())
    assert f'maybe {FUSION} when [ "$FAST" = 1 ]: {FUSION} does nothing of what it is for on SM120' in told


@pytest.mark.parametrize(("does", "rule", "status"), [("", "GC205", 0), ('        raise ValueError("gone")\n', "GC201", 1)])
def test_a_retired_flag_is_dropped_or_refused_as_the_tree_does_it(run: Run, does: str, rule: str, status: int) -> None:
    tree = Path("tree/sglang")
    shutil.copytree(FIXTURES / "deprecated-flag/sglang", tree)
    path = tree / "srt/server_args.py"
    text = path.read_text(encoding="utf-8").replace("action=DeprecatedAction,", "action=DeprecatedAction,\n            nargs=0,")
    head = "class DeprecatedAction(argparse.Action):"
    before, _, after = text.partition(head)
    call = "    def __call__(self, parser, namespace, values, option_string=None):\n"
    path.write_text(before + head + after.replace(call, call + does, 1), encoding="utf-8")
    script = launch_file("a.sh", "sglang serve --model-path m --enable-old-mixing\n")
    (finding,) = gate(run, "--launch", script, tree=str(tree))["findings"]
    assert (finding["rule"], finding["option"]) == (rule, "enable_old_mixing")
    assert "mixing has one form now" in finding["message"]
    assert run("--sm", "120", str(tree), "--launch", script).status == status
    assert run("fix", "--sm", "120", str(tree), "--launch", script, "--write").status == 0
    assert Path("a.sh").read_text(encoding="utf-8") == "sglang serve --model-path m\n"


@pytest.mark.parametrize(("sm", "variable", "found"), [("120", "SGLANG_TINY_PAIRS", ["GC104"]), ("90", "SGLANG_TINY_PAIRS", [])])
def test_a_variable_that_does_nothing_on_this_gpu_is_found_and_taken_out(run: Run, sm: str, variable: str, found: list[str]) -> None:
    tree = str(FIXTURES / "environment-option")
    text = f"export {variable}=1\nsglang serve --model-path m\n"
    script = launch_file("a.sh", text)
    assert [rule for rule, _ in rules(gate(run, "--launch", script, tree=tree, sm=sm))] == found
    run("fix", "--sm", sm, tree, "--launch", script, "--write")
    assert Path("a.sh").read_text(encoding="utf-8") == ("sglang serve --model-path m\n" if found else text)


def test_a_variable_that_resolution_reads_has_its_effects(run: Run) -> None:
    tree = choosing_tree('os.environ.get("SGLANG_ORDER") == "fast"')
    path = Path(tree) / "srt/server_args.py"
    path.write_text(path.read_text(encoding="utf-8").replace("import logging\n", "import logging\nimport os\n", 1), encoding="utf-8")
    script = launch_file("a.sh", "SGLANG_ORDER=fast sglang serve --model-path m\n")
    document = gate(run, "--launch", script, tree=tree)
    assert document["resolved"]["120"]["queue_order"]["value"] == "tensor"
    (finding,) = document["findings"]
    assert (finding["rule"], finding["option"], finding["column"]) == ("GC101", "queue_order", 1)
    assert finding["message"].startswith("SGLang chooses this because of SGLANG_ORDER: ")
    assert gate(run, "--launch", launch_file("a.sh", "sglang serve --model-path m\n"), tree=tree)["findings"] == []
