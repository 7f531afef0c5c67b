"""``gatecheck explain`` over the fixtures: nothing is left out between the command line and the page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from sm_gatecheck.report import schema
from sm_gatecheck.report.wording import sm_set
from tests.cli.conftest import FUSION_STORY, Run

FIXTURES = Path(__file__).parents[2] / "fixtures"
WRITERS = str(FIXTURES / "many-writers")
OPTION = "enable_flashinfer_allreduce_fusion"
FLAG = "--enable-flashinfer-allreduce-fusion"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATECHECK_CACHE", str(tmp_path / "cache"))


def document(run: Run, *arguments: str) -> Any:
    ended = run("explain", *arguments, "--format", "json")
    assert (ended.status, ended.stderr) == (0, "")
    found = json.loads(ended.stdout)
    jsonschema.Draft202012Validator(schema.document()).validate(found)
    return found


def line_of(tree: str, file: str, text: str) -> int:
    lines = (Path(tree) / "sglang" / file).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


@pytest.mark.parametrize("name", [OPTION, FLAG, f"{OPTION}=true", OPTION.replace("_", "-")])
def test_an_option_is_named_by_field_or_flag(run: Run, name: str) -> None:
    ended = run("explain", "--sm", "120", FUSION_STORY, name)
    assert (ended.status, ended.stderr) == (0, "")
    assert "Does nothing, and still costs" in ended.stdout


def test_a_flag_may_stand_before_the_tree(run: Run) -> None:
    assert run("explain", "--sm", "120", FLAG, FUSION_STORY).stdout == run("explain", "--sm", "120", FUSION_STORY, FLAG).stdout


def test_the_walk_names_every_step_with_its_line(run: Run) -> None:
    page = run("explain", "--sm", "120", FUSION_STORY, OPTION).stdout
    for file, text in (
        ("srt/server_args.py", "enable_flashinfer_allreduce_fusion: bool = False"),
        ("srt/server_args.py", "self.disable_piecewise_cuda_graph = True"),
        ("srt/layers/communicator.py", "(_is_sm90_supported or _is_sm100_supported)"),
        ("srt/layers/communicator.py", "return ("),
        ("srt/model_executor/model_runner.py", "if not self.server_args.enable_flashinfer_allreduce_fusion"),
        ("srt/model_executor/model_runner.py", "pre_initialize_workspaces(torch"),
        ("srt/model_executor/model_runner.py", "self._prepare_fusion_workspace()"),
        ("srt/managers/scheduler.py", "Scheduler(server_args, gpu_id).event_loop()"),
    ):
        assert f"{file}:{line_of(FUSION_STORY, file, text)}" in page
    assert "disable_piecewise_cuda_graph = True" in page
    assert re.search(r"lets pass\s+SM90, SM100, SM103", page)
    assert "allocates pre_initialize_workspaces(…) at start-up" in page


def test_the_document_holds_the_walk(run: Run) -> None:
    found = document(run, "--sm", "90,120", FUSION_STORY, OPTION)
    assert found["option"]["source"] == "enable_flashinfer_allreduce_fusion: bool = False"
    (answer,) = found["answers"]
    assert answer["value"] is True
    assert {verdict["sm"]: verdict["verdict"] for verdict in answer["verdicts"]} == {90: "active", 120: "noop_with_side_effects"}
    read = answer["reads"][0]
    assert (read["function"], read["gated"]) == ("may_fuse_allreduce", True)
    assert 90 in read["live_on"]
    assert 120 not in read["live_on"]
    gate = read["tests"][0]
    assert (gate["source"], gate["passes_if"]) == ("_is_sm90_supported or _is_sm100_supported", True)
    assert set(gate["true_on"]) == set(read["live_on"])
    assert [call["function"] for call in read["calls"]] == ["LayerCommunicator.before_mlp", "TwoLayerModel.forward"]
    late = answer["reads"][-1]
    assert late["tests"][0]["passes_if"] is False
    assert late["does"][0]["kind"] == "allocates"
    assert [call["callee"] for call in late["calls"]][:3] == ["_prepare_fusion_workspace", "initialize", "ModelRunner"]


def test_what_was_explained_once_is_remembered_and_the_same(run: Run) -> None:
    arguments = ("explain", "--sm", "120", FUSION_STORY, OPTION, "--format", "json")
    assert run(*arguments).stdout == run(*arguments).stdout == run(*arguments, "--no-cache").stdout


def test_a_value_is_judged_even_if_no_inventory_would(run: Run) -> None:
    found = document(run, "--sm", "120", FUSION_STORY, "tp_size=4")
    assert [answer["value"] for answer in found["answers"]] == [4]


def test_several_values_are_a_table_until_one_is_named(run: Run) -> None:
    tree = str(FIXTURES / "registry")
    options = json.loads(run("options", tree, "--format", "json").stdout)["options"]
    field = max((option for option in options if option["choices"]), key=lambda option: len(option["choices"]))
    page = run("explain", "--sm", "90,120", tree, field["field"]).stdout
    for choice in field["choices"]:
        assert re.search(rf"^  {re.escape(str(choice))} ", page, re.MULTILINE)
    one = run("explain", "--sm", "90,120", tree, f"{field['field']}={field['choices'][0]}").stdout
    assert "SM90" in one
    assert not re.search(rf"^  {re.escape(str(field['choices'][1]))} ", one, re.MULTILINE)


def test_a_variable_is_an_option(run: Run) -> None:
    tree = str(FIXTURES / "environment-option")
    names = {option["field"] for option in json.loads(run("check", "--sm", "120", tree, "--format", "json").stdout)["options"]}
    name = sorted(name for name in names if name.startswith("env:"))[0]
    assert document(run, "--sm", "120", tree, name)["option"]["field"] == name
    assert document(run, "--sm", "120", tree, name.removeprefix("env:"))["option"]["field"] == name


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((FUSION_STORY, "enable_flashinfer_allreduce_fuson"), f"did you mean '{OPTION}'?"),
        ((FUSION_STORY, "--enable-flashinfer-allreduce-fuson"), f"did you mean '{FLAG}'?"),
        ((FUSION_STORY, "env:SGLANG_NONE"), "there is no variable 'env:SGLANG_NONE'"),
        ((FUSION_STORY, "queue_order=longest-prefx"), "did you mean 'longest-prefix'?"),
        ((FUSION_STORY, "zzzzzzz"), "'gatecheck options TREE' lists them"),
        ((FUSION_STORY,), "name an option"),
        ((FUSION_STORY, OPTION, "x"), "one word too many"),
        ((FUSION_STORY, f"{OPTION}=true", "--what-sets"), "without a value"),
    ],
)
def test_a_wrong_word_is_refused_with_the_mend(run: Run, words: tuple[str, ...], message: str) -> None:
    ended = run("explain", "--sm", "120", *words)
    assert (ended.status, ended.stdout) == (2, "")
    assert message in ended.stderr
    assert ended.stderr.count("\n") == 1


def writes(run: Run, *arguments: str) -> dict[str, Any]:
    """The writes by what stands in the test that leads to them."""
    found = document(run, *arguments, "--what-sets")
    return {write["tests"][-1]["source"]: write for write in found["writes"]}


def test_every_write_is_listed_with_its_condition(run: Run) -> None:
    found = writes(run, "--sm", "100,120", WRITERS, "disable_pieces")
    met = {source: {entry["sm"]: entry["met"] for entry in write["met"]} for source, write in found.items()}
    assert met == {
        "self.enforce_pieces": {100: "never", 120: "never"},
        'os.path.exists(os.path.join(self.model_path, "vision.json"))': {100: "depends", 120: "depends"},
        "self.draft_rows > 0": {100: "never", 120: "never"},
        "self.enable_adapters": {100: "never", 120: "never"},
        "is_hip()": {100: "never", 120: "never"},
        "is_sm100_supported() and self.tp_size > 1": {100: "never", 120: "never"},
        "self.server_args.draft_rows > 8": {100: "later", 120: "later"},
    }
    assert found["self.draft_rows > 0"]["when"] == "draft_rows > 0 and not enforce_pieces"
    assert found["is_hip()"]["when"] == "never"
    assert found["self.enforce_pieces"]["values"] == [False]
    assert found["self.enable_adapters"]["values"] == [True]
    early = found["self.enable_adapters"]["tests"][0]
    assert (early["source"], early["passes_if"]) == ("self.enforce_pieces", False)
    on_blackwell = found["is_sm100_supported() and self.tp_size > 1"]
    assert 100 in on_blackwell["possible_on"]
    assert 120 not in on_blackwell["possible_on"]


def test_what_is_set_decides_what_is_met(run: Run) -> None:
    found = document(run, "--sm", "100,120", WRITERS, "disable_pieces", "--what-sets", "--set", "tp_size=2", "--set", "draft_rows=3")
    by_test = {write["tests"][-1]["source"]: {entry["sm"]: entry["met"] for entry in write["met"]} for write in found["writes"]}
    assert by_test["is_sm100_supported() and self.tp_size > 1"] == {100: "always", 120: "never"}
    assert by_test["self.draft_rows > 0"] == {100: "always", 120: "always"}
    assert [[value["value"] for value in entry["values"]] for entry in found["final"]] == [[True], [True]]
    enforced = document(run, "--sm", "120", WRITERS, "disable_pieces", "--what-sets", "--set", "enforce_pieces=true")
    assert {entry["met"] for write in enforced["writes"] for entry in write["met"]} == {"always", "never", "later"}


def test_what_sets_never_blames_an_option_that_does_not(run: Run) -> None:
    """The page of an option without writers says so; that of the story blames the one that does it, and only when it is set."""
    assert "Nothing in this tree writes it" in run("explain", "--sm", "120", FUSION_STORY, "queue_order", "--what-sets").stdout
    page = run("explain", "--sm", "120", FUSION_STORY, "disable_piecewise_cuda_graph", "--what-sets").stdout
    assert "Does not happen with these options  1 place" in page
    given = run("explain", "--sm", "120", FUSION_STORY, "disable_piecewise_cuda_graph", "--what-sets", "--set", f"{OPTION}=true").stdout
    assert "Happens  1 place" in given
    assert re.search(r"ends as\s+True", given)


@pytest.mark.parametrize("columns", ["80", "160"])
@pytest.mark.parametrize("more", [(), ("--what-sets",), ("-v",)])
def test_pages_keep_to_the_width_and_carry_no_colour(
    run: Run, monkeypatch: pytest.MonkeyPatch, columns: str, more: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    page = run("explain", "--sm", "120", WRITERS, "disable_pieces", *more).stdout
    assert max(map(len, page.splitlines())) <= int(columns)
    assert "\x1b" not in page
    assert "\x1b[" in run("explain", "--sm", "120", WRITERS, "disable_pieces", *more, "--color", "always").stdout


def test_quiet_is_a_line_an_answer(run: Run) -> None:
    quiet = run("explain", "--sm", "90,120", FUSION_STORY, OPTION, "-q").stdout.splitlines()
    assert [re.search(r"on SM(\d+): (\w+):", line).groups() for line in quiet] == [("90", "active"), ("120", "noop_with_side_effects")]  # type: ignore[union-attr]
    assert len(run("explain", "--sm", "120", WRITERS, "disable_pieces", "--what-sets", "-q").stdout.splitlines()) == 7


@pytest.mark.parametrize("fixture", ["fusion-story", "early-return", "registry", "parameter-passing", "overridden", "refused-at-a-request"])
def test_an_explanation_and_an_inventory_never_disagree(run: Run, fixture: str) -> None:
    tree = str(FIXTURES / fixture)
    report = json.loads(run("check", "--sm", "90,120", tree, "--format", "json").stdout)
    gated = [option for option in report["options"] if option["verdicts"]]
    assert gated
    for option in gated:
        found = document(run, "--sm", "90,120", tree, option["field"])
        explained = {(repr(v["value"]), v["sm"]): v for answer in found["answers"] for v in answer["verdicts"]}
        for verdict in option["verdicts"]:
            other = explained[repr(verdict["value"]), verdict["sm"]]
            assert (other["verdict"], other["summary"]) == (verdict["verdict"], verdict["summary"])


def test_each_alternative_of_a_default_has_the_line_that_leaves_it(run: Run) -> None:
    (default,) = document(run, "--sm", "120", WRITERS, "disable_pieces")["defaults"]
    lines = {value["value"]: value["line"] for value in default["values"]}
    assert lines == {
        True: line_of(WRITERS, "srt/server_args.py", "vision.json") + 1,
        False: line_of(WRITERS, "srt/server_args.py", "disable_pieces: bool"),
    }


def test_a_pass_that_answers_with_values_names_the_lines_that_do(run: Run) -> None:
    tree = str(FIXTURES / "era-namespaces")
    (write,) = document(run, "--sm", "100,120", tree, "page_rows", "--what-sets")["writes"]
    assert write["function"] == "run_resolution_pipeline"
    passes = "srt/arg_groups/overrides.py"
    assert {(place["file"], place["function"]) for place in write["through"]} == {(passes, "_page_rows_default")}
    (declared,) = document(run, "--sm", "120", tree, "ring_rows", "--what-sets")["writes"]
    assert (declared["file"], declared["values"]) == ("srt/arg_groups/kernel_hook.py", [64])


@pytest.mark.parametrize(
    ("sms", "words"),
    [
        ((), "no SM"),
        ((90,), "SM90"),
        ((80, 90), "SM80 and SM90"),
        ((80, 90, 100, 120), "every SM but SM121"),
        ((80, 90, 100, 120, 121), "every SM"),
    ],
)
def test_most_of_the_sms_are_named_by_those_that_are_not(sms: tuple[int, ...], words: str) -> None:
    assert sm_set(sms, (80, 90, 100, 120, 121)) == words


def test_a_registered_function_is_called_through_its_registry(run: Run) -> None:
    found = document(run, "--sm", "90,120", str(FIXTURES / "registry"), "attention_backend")
    ends = {read["end"] for answer in found["answers"] for read in answer["reads"]}
    assert any(end is not None and end.endswith("is registered, and called where its name in the registry is asked for") for end in ends)
