"""``gatecheck diff`` over the story and variations of it, in directories and in the history of a repository."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from sm_gatecheck.report import schema
from tests.cli.conftest import FUSION_STORY, Run

OPTION = "enable_flashinfer_allreduce_fusion"
ARGS = "srt/server_args.py"
LAYER = "srt/layers/communicator.py"
RUNNER = "srt/model_executor/model_runner.py"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATECHECK_CACHE", str(tmp_path / "cache"))


class Story:
    """A copy of the fusion story that tests may change."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        shutil.copytree(FUSION_STORY, directory)

    def change(self, file: str, old: str, new: str) -> Story:
        path = self.directory / "sglang" / file
        source = path.read_text(encoding="utf-8")
        assert old in source
        path.write_text(source.replace(old, new), encoding="utf-8")
        return self

    def __str__(self) -> str:
        return str(self.directory)


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(tmp_path / "new")


def document(run: Run, *arguments: str) -> Any:
    ended = run("diff", *arguments, "--format", "json")
    assert (ended.status, ended.stderr) == (0, "")
    found = json.loads(ended.stdout)
    jsonschema.Draft202012Validator(schema.document()).validate(found)
    return found


def changed(found: Any) -> dict[tuple[str, Any, int], tuple[str | None, str | None]]:
    return {(change["field"], change["value"], change["sm"]): (change["old"], change["new"]) for change in found["changes"]}


def test_a_tree_does_not_differ_from_itself(run: Run) -> None:
    found = document(run, "--sm", "90,120", FUSION_STORY, FUSION_STORY)
    assert [found[key] for key in ("changes", "defaults", "added", "removed", "renamed")] == [[], [], [], [], []]


def test_a_site_that_moved_is_no_change(run: Run, story: Story) -> None:
    story.change(LAYER, "MAX_FUSED_TOKENS = 512\n", "MAX_FUSED_TOKENS = 512\n\n\n# a remark\n\n")
    story.change(ARGS, "import argparse\n", "import argparse\nimport sys\n")
    found = document(run, "--sm", "90,120", FUSION_STORY, str(story))
    assert (found["changes"], found["defaults"]) == ([], [])


def test_a_verdict_that_changed_names_the_guard_before_and_after(run: Run, story: Story) -> None:
    story.change(LAYER, "_is_sm90_supported or _is_sm100_supported)", "_is_sm90_supported or _is_sm100_supported or is_sm120())")
    story.change(LAYER, "MAX_FUSED_TOKENS = 512\n", "MAX_FUSED_TOKENS = 512\n\n\ndef is_sm120():\n    return get_device_sm() == 120\n")
    story.change(LAYER, "import is_sm90_supported, is_sm100_supported", "import get_device_sm, is_sm90_supported, is_sm100_supported")
    found = document(run, "--sm", "90,120,121", FUSION_STORY, str(story))
    assert changed(found) == {(OPTION, True, 120): ("noop_with_side_effects", "active")}
    (change,) = found["changes"]
    assert change["before"]["source"] == "_is_sm90_supported or _is_sm100_supported"
    assert 120 not in change["before"]["true_on"]
    assert change["why"].startswith("before: without use, and not without cost at srt/server_args.py:")
    assert "srt/layers/communicator.py:16 _is_sm90_supported or _is_sm100_supported is true on SM90, SM100" in change["why"]
    page = run("diff", "--sm", "120", FUSION_STORY, str(story)).stdout
    assert "Got better  1 setting" in page
    assert "does nothing, and still costs → works" in page


def test_a_refusal_is_named_with_its_line_and_its_gate(run: Run, story: Story) -> None:
    story.change(
        RUNNER,
        "        from sglang.srt.layers.flashinfer_comm_fusion",
        "        from sglang.srt.utils import is_sm90_supported, is_sm100_supported\n\n"
        "        if not (is_sm90_supported() or is_sm100_supported()):\n"
        '            raise ValueError("no fusion here")\n'
        "        from sglang.srt.layers.flashinfer_comm_fusion",
    )
    found = document(run, "--sm", "90,120", FUSION_STORY, str(story))
    assert changed(found) == {(OPTION, True, 120): ("noop_with_side_effects", "rejected")}
    after = found["changes"][0]["after"]
    assert after["words"].startswith(f"refused at {RUNNER}:27: ValueError")
    assert (after["file"], after["line"]) == (RUNNER, 26)
    assert "is_sm90_supported() or is_sm100_supported()" in after["source"]
    page = run("diff", "--sm", "120", FUSION_STORY, str(story)).stdout
    assert "Got worse  1 setting" in page
    assert f"{RUNNER}:27" in page


def test_a_deprecated_flag_has_the_verdict_of_what_it_is_handed_on_to(run: Run, story: Story) -> None:
    """The kind of change that a release made of this option: the flag stays, and means another option."""
    story.change(
        ARGS, "    disable_piecewise_cuda_graph: bool", "    fusion_backend: Optional[str] = None\n    disable_piecewise_cuda_graph: bool"
    )
    story.change(
        ARGS,
        "            # The fused kernel",
        '            self.fusion_backend = "auto"\n'
        "            self.enable_flashinfer_allreduce_fusion = False\n"
        "            # The fused kernel",
    )
    story.change(
        ARGS,
        '        parser.add_argument(\n            "--disable-piecewise',
        '        parser.add_argument("--fusion-backend", choices=["auto", "ring"], default=ServerArgs.fusion_backend)\n'
        '        parser.add_argument(\n            "--disable-piecewise',
    )
    story.change(
        RUNNER,
        "        if not self.server_args.enable_flashinfer_allreduce_fusion:\n            return\n",
        "        if self.server_args.fusion_backend is None:\n            return\n"
        "        from sglang.srt.utils import get_device_sm\n\n        if get_device_sm() >= 120:\n"
        '            raise ValueError("no fusion here")\n',
    )
    story.change(
        LAYER, "get_global_server_args().enable_flashinfer_allreduce_fusion", "get_global_server_args().fusion_backend is not None"
    )
    found = document(run, "--sm", "120", FUSION_STORY, str(story))
    rows = {key: value for key, value in changed(found).items() if key[0] == OPTION}
    assert rows == {(OPTION, True, 120): ("noop_with_side_effects", "rejected")}
    after = next(change["after"] for change in found["changes"] if change["field"] == OPTION)
    assert after["handed_on"].startswith("fusion_backend = 'auto' (srt/server_args.py:")
    assert [option["field"] for option in found["added"]] == ["fusion_backend"]
    assert changed(found)["fusion_backend", "ring", 120] == (None, "rejected")


def test_options_that_came_went_and_were_renamed(run: Run, story: Story) -> None:
    story.change(ARGS, "enable_wide_loads", "use_wide_loads").change("srt/layers/norm.py", "enable_wide_loads", "use_wide_loads")
    story.change(ARGS, '"--enable-wide-loads",', '"--use-wide-loads",\n            "--enable-wide-loads",')
    story.change(ARGS, "    # Speed\n", "    # Speed\n    enable_warm_start: bool = False\n")
    found = document(run, "--sm", "80,120", FUSION_STORY, str(story))
    assert found["renamed"] == [{"old": "enable_wide_loads", "new": "use_wide_loads"}]
    assert [option["field"] for option in found["added"]] == ["enable_warm_start"]
    assert found["removed"] == []
    assert all(change["field"] != "use_wide_loads" for change in found["changes"])
    back = document(run, "--sm", "80", str(story), FUSION_STORY)
    assert [option["field"] for option in back["removed"]] == ["enable_warm_start"]


def test_a_default_that_changed_on_one_sm(run: Run, story: Story) -> None:
    story.change(
        ARGS,
        "    def __post_init__(self):\n",
        "    def __post_init__(self):\n        from sglang.srt.utils import get_device_sm\n\n"
        '        if get_device_sm() == 120:\n            self.queue_order = "longest-prefix"\n',
    )
    found = document(run, "--sm", "90,120", FUSION_STORY, str(story))
    assert [(change["field"], change["sm"]) for change in found["defaults"]] == [("queue_order", 120)]
    (change,) = found["defaults"]
    assert [value["value"] for value in change["old"]] == ["arrival"]
    assert [value["value"] for value in change["new"]] == ["longest-prefix"]
    page = run("diff", "--sm", "90,120", FUSION_STORY, str(story)).stdout
    assert "Defaults  1 change" in page


def git(directory: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", *identity, *arguments], cwd=directory, check=True, capture_output=True, text=True).stdout.strip()


def test_two_revisions_are_compared_and_the_work_tree_is_left_alone(run: Run, story: Story) -> None:
    git(story.directory, "init", "-q", "-b", "main")
    git(story.directory, "add", ".")
    git(story.directory, "commit", "-qm", "first")
    git(story.directory, "tag", "v0.5.12")
    story.change(LAYER, "(_is_sm90_supported or _is_sm100_supported)", "_is_sm90_supported")
    git(story.directory, "commit", "-qam", "second")
    story.change(LAYER, "MAX_FUSED_TOKENS = 512", "MAX_FUSED_TOKENS = 1024")
    before = git(story.directory, "status", "--porcelain")
    found = document(run, "--sm", "90,100", f"{story}@v0.5.12", f"{story}@main")
    assert changed(found) == {(OPTION, True, 100): ("active", "noop_with_side_effects")}
    assert [found[side]["kind"] for side in ("old", "new")] == ["git", "git"]
    assert git(story.directory, "status", "--porcelain") == before != ""
    page = run("diff", "--sm", "90,100", f"{story}@v0.5.12", f"{story}@main", "--format", "markdown").stdout
    assert page.startswith("# SGLang 0.5.12 (`")
    assert "| `--enable-flashinfer-allreduce-fusion` | SM100 | ✅ works → 💥 does nothing, and still costs |" in page
    assert f"`gatecheck diff --sm 90,100 {story}@v0.5.12 {story}@main`" in page


@pytest.mark.parametrize("columns", ["80", "160"])
def test_pages_keep_to_the_width(run: Run, story: Story, monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    story.change(LAYER, "(_is_sm90_supported or _is_sm100_supported)", "_is_sm90_supported")
    monkeypatch.setenv("COLUMNS", columns)
    page = run("diff", "--sm", "100,120", FUSION_STORY, str(story)).stdout
    assert max(map(len, page.splitlines())) <= int(columns)
    quiet = run("diff", "--sm", "100,120", FUSION_STORY, str(story), "-q").stdout
    assert quiet.splitlines() == [
        f"{LAYER}:16: --enable-flashinfer-allreduce-fusion on SM100: works → does nothing, and still costs",
    ]


def test_a_tree_that_is_missing_is_refused(run: Run) -> None:
    ended = run("diff", "--sm", "120", FUSION_STORY, "nowhere")
    assert (ended.status, ended.stdout) == (2, "")
    assert "nowhere" in ended.stderr


def test_only_what_a_launch_sets_is_compared(run: Run, story: Story) -> None:
    story.change(LAYER, "(_is_sm90_supported or _is_sm100_supported)", "_is_sm90_supported")
    story.change("srt/layers/norm.py", "get_device_sm() >= 80", "get_device_sm() >= 120")
    both = document(run, "--sm", "100", FUSION_STORY, str(story))
    assert {change["field"] for change in both["changes"]} == {OPTION, "enable_wide_loads"}
    ended = run("diff", "--sm", "100", FUSION_STORY, str(story), "--format", "json", "--", "--model-path", "m", "--enable-wide-loads")
    found = json.loads(ended.stdout)
    jsonschema.Draft202012Validator(schema.document()).validate(found)
    assert changed(found) == {("enable_wide_loads", True, 100): ("active", "noop")}
    assert (found["added"], found["removed"]) == ([], [])


def test_an_option_that_a_launch_sets_and_the_new_tree_lacks_is_gone(run: Run, story: Story, tmp_path: Path) -> None:
    story.change(ARGS, "enable_wide_loads", "wide_loads").change("srt/layers/norm.py", "enable_wide_loads", "wide_loads")
    story.change(ARGS, '"--enable-wide-loads"', '"--wide-loads"')
    start = tmp_path / "start.sh"
    start.write_text("python -m sglang.launch_server --model-path m --enable-wide-loads\n", encoding="utf-8")
    found = document(run, "--sm", "100", FUSION_STORY, str(story), "--launch", str(start))
    assert [option["field"] for option in found["removed"]] == ["enable_wide_loads"]
    assert changed(found) == {("enable_wide_loads", True, 100): ("active", None)}
