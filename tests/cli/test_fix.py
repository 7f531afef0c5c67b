"""``gatecheck fix``: what is taken out, what stays, byte for byte, in every kind of launch file."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import FUSION_STORY, Ended, Run

FIXTURES = Path(__file__).parents[2] / "fixtures"
FUSION = "--enable-flashinfer-allreduce-fusion"
OTHER = "--enable-wide-loads"

FILES: dict[str, tuple[str, str, str]] = {
    "unit, middle line": (
        "a.service",
        f"[Service]\nExecStart=/v/python -m sglang.launch_server \\\n\t--model-path /m \\\n\t{FUSION} \\\n\t{OTHER}\nRestart=always\n",
        f"[Service]\nExecStart=/v/python -m sglang.launch_server \\\n\t--model-path /m \\\n\t{OTHER}\nRestart=always\n",
    ),
    "unit, last line of the command": (
        "a.service",
        f"[Service]\nExecStart=/v/python -m sglang.launch_server \\\n  --model-path /m \\\n  {OTHER}   \\\n  {FUSION}\nRestart=always\n",
        f"[Service]\nExecStart=/v/python -m sglang.launch_server \\\n  --model-path /m \\\n  {OTHER}\nRestart=always\n",
    ),
    "unit, one line, a comment above": (
        "a.service",
        f"[Service]\n# fuse the sums\nExecStart=python -m sglang.launch_server --model-path /m {FUSION} {OTHER}\n",
        f"[Service]\n# fuse the sums\nExecStart=python -m sglang.launch_server --model-path /m {OTHER}\n",
    ),
    "script with carriage returns and no line feed at the end": (
        "a.sh",
        f"#!/bin/bash\r\npython -m sglang.launch_server \\\r\n  --model-path /m \\\r\n  {OTHER} \\\r\n  {FUSION}",
        f"#!/bin/bash\r\npython -m sglang.launch_server \\\r\n  --model-path /m \\\r\n  {OTHER}\r\n",
    ),
    "script, given twice": (
        "a.sh",
        f"sglang serve {FUSION} --model-path /m {FUSION}\n",
        "sglang serve --model-path /m\n",
    ),
    "script, an array": (
        "a.sh",
        f'ARGS=({OTHER} {FUSION})\nsglang serve --model-path /m "${{ARGS[@]}}"\n',
        f'ARGS=({OTHER})\nsglang serve --model-path /m "${{ARGS[@]}}"\n',
    ),
    "script, an array a line each": (
        "a.sh",
        f'ARGS=(\n  {FUSION}\n  {OTHER}\n)\nsglang serve --model-path /m "${{ARGS[@]}}"\n',
        f'ARGS=(\n  {OTHER}\n)\nsglang serve --model-path /m "${{ARGS[@]}}"\n',
    ),
    "script, a text in a variable": (
        "a.sh",
        f'EXTRA="{FUSION} {OTHER}"\nsglang serve --model-path /m $EXTRA # go\n',
        f'EXTRA="{OTHER}"\nsglang serve --model-path /m $EXTRA # go\n',
    ),
    "compose, a list": (
        "compose.yaml",
        "services:\n  a:\n    command:\n      - sglang\n      - serve\n      - --model-path\n      - /m\n"
        f"      - {FUSION}  # fast?\n      - {OTHER}\n",
        f"services:\n  a:\n    command:\n      - sglang\n      - serve\n      - --model-path\n      - /m\n      - {OTHER}\n",
    ),
    "compose, a flow list": (
        "compose.yaml",
        f'services:\n  a:\n    command: ["sglang", "serve", "--model-path", "/m", "{OTHER}", "{FUSION}"]\n',
        f'services:\n  a:\n    command: ["sglang", "serve", "--model-path", "/m", "{OTHER}"]\n',
    ),
    "compose, folded": (
        "compose.yaml",
        f"services:\n  a:\n    command: >\n      sglang serve\n      --model-path /m\n      {FUSION}\n      {OTHER}\n",
        f"services:\n  a:\n    command: >\n      sglang serve\n      --model-path /m\n      {OTHER}\n",
    ),
    "kubernetes": (
        "pod.yaml",
        f"apiVersion: v1\nkind: Pod\nmetadata: {{name: x}}\nspec:\n  containers:\n  - name: s\n    image: lmsysorg/sglang:v0.5.12\n"
        f'    command: [sglang, serve]\n    args:\n    - "--model-path=/m"\n    - "{FUSION}"\n',
        "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec:\n  containers:\n  - name: s\n    image: lmsysorg/sglang:v0.5.12\n"
        '    command: [sglang, serve]\n    args:\n    - "--model-path=/m"\n',
    ),
    "dockerfile": (
        "Dockerfile",
        f'FROM lmsysorg/sglang:v0.5.12\nCMD ["sglang", "serve", "{FUSION}", "--model-path", "/m"]\n',
        'FROM lmsysorg/sglang:v0.5.12\nCMD ["sglang", "serve", "--model-path", "/m"]\n',
    ),
    "python": (
        "a.py",
        "import sglang as sgl\n\nengine = sgl.Engine(\n    model_path='/m',\n    enable_flashinfer_allreduce_fusion=True,  # fast\n"
        "    enable_wide_loads=True,\n)\n",
        "import sglang as sgl\n\nengine = sgl.Engine(\n    model_path='/m',\n    enable_wide_loads=True,\n)\n",
    ),
    "python, one line": (
        "a.py",
        "import sglang as sgl\nengine = sgl.Engine(model_path='/m', enable_flashinfer_allreduce_fusion=True)\n",
        "import sglang as sgl\nengine = sgl.Engine(model_path='/m')\n",
    ),
    "json, last key": (
        "a.json",
        '{\n  "model_path": "/m",\n  "enable_wide_loads": true,\n  "enable_flashinfer_allreduce_fusion": true\n}\n',
        '{\n  "model_path": "/m",\n  "enable_wide_loads": true\n}\n',
    ),
    "a byte order mark": (
        "a.sh",
        f"\ufeffsglang serve --model-path /m/caf\u00e9 {FUSION}\n",
        "\ufeffsglang serve --model-path /m/caf\u00e9\n",
    ),
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GATECHECK_CACHE", str(tmp_path / "cache"))
    return tmp_path


def fix(run: Run, name: str, *arguments: str, sm: str = "120", tree: str = FUSION_STORY) -> Ended:
    return run("fix", "--sm", sm, tree, "--launch", name, *arguments)


@pytest.mark.parametrize("case", FILES)
def test_the_option_goes_and_every_other_byte_stays(run: Run, case: str) -> None:
    name, before, after = FILES[case]
    Path(name).write_bytes(before.encode())
    assert fix(run, name, "--write").status == 0
    assert Path(name).read_bytes() == after.encode()
    assert run("--sm", "120", FUSION_STORY, "--launch", name, "--fail-on", "noop").status == 0
    again = fix(run, name, "--write")
    assert (again.status, again.stderr) == (0, "gatecheck: nothing to mend\n")
    assert Path(name).read_bytes() == after.encode()


@pytest.mark.parametrize("case", ["unit, middle line", "script with carriage returns and no line feed at the end", "json, last key"])
def test_without_write_the_diff_is_shown_and_applies(run: Run, case: str) -> None:
    name, before, after = FILES[case]
    Path(name).write_bytes(before.encode())
    ended = fix(run, name)
    assert ended.status == 0
    assert Path(name).read_bytes() == before.encode()
    assert ended.stdout.startswith(f"--- a/{name}\n+++ b/{name}\n@@ ")
    subprocess.run(["git", "init", "-q"], check=True)
    subprocess.run(["git", "apply", "--whitespace=nowarn", "-"], input=ended.stdout.encode(), check=True)
    assert Path(name).read_bytes() == after.encode()


def test_it_says_on_stderr_what_it_does(run: Run) -> None:
    Path("a.sh").write_text(f"sglang serve --model-path /m {FUSION}\n", encoding="utf-8")
    assert fix(run, "a.sh").stderr == f"gatecheck: a.sh:1:30: would remove {FUSION}\n"
    assert fix(run, "a.sh", "-q").stderr == ""
    assert fix(run, "a.sh", "--write").stderr == f"gatecheck: a.sh:1:30: removed {FUSION}\n"


def test_the_mode_of_a_file_stays(run: Run) -> None:
    script = Path("a.sh")
    script.write_text(f"sglang serve --model-path /m {FUSION}\n", encoding="utf-8")
    script.chmod(0o750)
    fix(run, "a.sh", "--write")
    assert stat.S_IMODE(os.stat(script).st_mode) == 0o750


def test_a_check_after_a_fix_is_warm(run: Run) -> None:
    Path("a.sh").write_text(f"sglang serve --model-path /m {FUSION}\n", encoding="utf-8")
    fix(run, "a.sh", "--write")
    assert "warm cache" in run("--sm", "120", FUSION_STORY, "--launch", "a.sh").stdout


def test_what_works_there_stays(run: Run) -> None:
    text = f"sglang serve --model-path /m {FUSION}\n"
    Path("a.sh").write_text(text, encoding="utf-8")
    assert fix(run, "a.sh", "--write", sm="100").stderr == "gatecheck: nothing to mend\n"
    assert fix(run, "a.sh", "--write", sm="100,120").status == 1  # it is bad on one of the two alone
    assert Path("a.sh").read_text(encoding="utf-8") == text


def test_both_launches_of_a_loop_are_mended_with_one_edit(run: Run) -> None:
    Path("a.sh").write_text(f"for p in 1 2; do sglang serve --model-path /m --tp-size $p {FUSION} & done\n", encoding="utf-8")
    assert fix(run, "a.sh", "--write").status == 0
    assert Path("a.sh").read_text(encoding="utf-8") == "for p in 1 2; do sglang serve --model-path /m --tp-size $p & done\n"


def test_a_drop_in_is_mended_where_the_option_stands(run: Run) -> None:
    Path("a.service").write_text("[Service]\nExecStart=sglang serve --model-path /m $EXTRA\n", encoding="utf-8")
    Path("a.service.d").mkdir()
    drop_in = Path("a.service.d/10.conf")
    drop_in.write_text(f'[Service]\nEnvironment="EXTRA={FUSION} {OTHER}"\n', encoding="utf-8")
    ended = fix(run, "a.service", "--write")
    assert ended.status == 0
    assert "a.service.d/10.conf" in ended.stderr
    assert drop_in.read_text(encoding="utf-8") == f'[Service]\nEnvironment="EXTRA={OTHER}"\n'


def test_what_cannot_be_taken_out_safely_is_left_and_said(run: Run) -> None:
    tree = refusing_tree("needs major 10")
    text = 'KIND=ten\nsglang serve --model-path /m --queue-order "${KIND}sor"\n'
    Path("a.sh").write_text(text, encoding="utf-8")
    ended = fix(run, "a.sh", "--write", tree=tree)
    assert (ended.status, Path("a.sh").read_text(encoding="utf-8")) == (1, text)
    assert "--queue-order is left as it is: " in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_options_that_two_launches_share_go_from_both(run: Run) -> None:
    text = f'COMMON="--model-path /m {FUSION}"\nsglang serve $COMMON\nsglang serve $COMMON --disable-piecewise-cuda-graph\n'
    Path("a.sh").write_text(text, encoding="utf-8")
    assert fix(run, "a.sh", "--write").status == 0
    assert FUSION not in Path("a.sh").read_text(encoding="utf-8")


def test_an_ignored_finding_is_not_mended(run: Run) -> None:
    text = f"# gatecheck: ignore[GC102] the other nodes use it\nsglang serve --model-path /m {FUSION}\n"
    Path("a.sh").write_text(text, encoding="utf-8")
    ended = fix(run, "a.sh", "--write")
    assert (ended.status, Path("a.sh").read_text(encoding="utf-8")) == (0, text)


def refusing_tree(message: str) -> str:
    """A tree whose ``--row-width tensor`` is refused off SM100, with a message of the test's own."""
    tree = Path("tree/sglang/srt")
    tree.mkdir(parents=True)
    (tree.parent / "__init__.py").write_text("", encoding="utf-8")
    (tree.parent / "version.py").write_text('__version__ = "0.5.12"\n', encoding="utf-8")
    source = (FIXTURES / "fusion-story/sglang/srt/server_args.py").read_text(encoding="utf-8")
    source = source.replace('ORDER_CHOICES = ["arrival", "longest-prefix"]', 'ORDER_CHOICES = ["arrival", "longest-prefix", "tensor"]')
    source = source.replace("import logging\n", "import logging\n\nimport torch\n", 1)
    source = source.replace(
        "        self._resolve_graphs()\n",
        '        if self.queue_order == "tensor" and torch.cuda.get_device_capability()[0] != 10:\n'
        f"            raise ValueError({message!r})\n",
        1,
    )
    (tree / "server_args.py").write_text(source, encoding="utf-8")
    (tree / "queue.py").write_text(
        "from sglang.srt.server_args import get_global_server_args\n\n\ndef order(requests):\n"
        '    if get_global_server_args().queue_order == "longest-prefix":\n        return sorted(requests)\n    return list(requests)\n',
        encoding="utf-8",
    )
    return "tree/sglang"


@pytest.mark.parametrize(
    ("message", "after"),
    [
        ("ordering by tensor needs major 10, use longest-prefix instead", "--queue-order longest-prefix "),
        ("ordering by tensor needs major 10", "--queue-order arrival "),  # what resolution chooses by itself
    ],
)
def test_a_refused_value_gives_way_to_one_that_the_tree_names(run: Run, message: str, after: str) -> None:
    tree = refusing_tree(message)
    Path("a.sh").write_text("sglang serve --model-path /m --queue-order tensor\n", encoding="utf-8")
    checked = " ".join(run("--sm", "120", tree, "--launch", "a.sh").stdout.split())
    assert "GC101" in checked
    assert f"Write --queue-order {after.split()[1]}" in checked
    ended = fix(run, "a.sh", "--write", tree=tree)
    assert ended.status == 0
    assert f"changed --queue-order to {after.split()[1]}, which SGLang names (srt/server_args.py:" in ended.stderr
    assert Path("a.sh").read_text(encoding="utf-8") == f"sglang serve --model-path /m {after.strip()}\n"


def test_a_value_in_a_variable_is_changed_there(run: Run) -> None:
    tree = refusing_tree("use longest-prefix")
    Path("a.sh").write_text('ORDER="tensor"  # fast\nsglang serve --model-path /m --queue-order "$ORDER"\n', encoding="utf-8")
    assert fix(run, "a.sh", "--write", tree=tree).status == 0
    expected = 'ORDER="longest-prefix"  # fast\nsglang serve --model-path /m --queue-order "$ORDER"\n'
    assert Path("a.sh").read_text(encoding="utf-8") == expected


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "fix mends files: name one with --launch FILE"),
        (("--launch", "-"), "fix mends files: name one with --launch FILE"),
        (("--", FUSION), "fix mends files: name one with --launch FILE"),
        (("--launch", "nowhere.sh"), "--launch nowhere.sh: no such file"),
    ],
)
def test_wrong_usage(run: Run, arguments: tuple[str, ...], said: str) -> None:
    ended = run("fix", "--sm", "120", FUSION_STORY, *arguments)
    assert ended.status == 2
    assert said in ended.stderr


def test_a_file_that_cannot_be_written_is_one_line(run: Run) -> None:
    Path("in").mkdir()
    Path("in/a.sh").write_text(f"sglang serve --model-path /m {FUSION}\n", encoding="utf-8")
    os.chmod("in", 0o500)
    try:
        if os.access("in", os.W_OK):
            pytest.skip("this user may write anywhere")
        ended = fix(run, "in/a.sh", "--write")
    finally:
        os.chmod("in", 0o700)
    assert ended.status == 2
    assert "cannot write in/a.sh" in ended.stderr


SCRIPT = f"sglang serve --model-path /m {FUSION} --queue-order arrival\n"


@pytest.mark.parametrize("name", ["a.sh", "with space.sh", 'quo"te.sh', "sub/dir/a.sh"])
@pytest.mark.parametrize("where", ["here", "absolute", "beside"])
@pytest.mark.parametrize("program", [("git", "apply"), ("patch", "-s", "-p1")])
def test_git_and_patch_take_the_diff_whatever_the_path(
    run: Run, monkeypatch: pytest.MonkeyPatch, name: str, where: str, program: tuple[str, ...]
) -> None:
    root = Path.cwd()
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(SCRIPT, encoding="utf-8")
    if where == "beside":
        (root / "elsewhere").mkdir()
        monkeypatch.chdir(root / "elsewhere")
    ended = fix(run, os.path.relpath(file) if where == "here" else str(file))
    assert ended.status == 0
    assert (f"patch -p1 -d {root}" in ended.stderr) == (where == "beside")
    subprocess.run(program, input=ended.stdout.encode(), check=True, cwd=root)
    assert file.read_text(encoding="utf-8") == SCRIPT.replace(f"{FUSION} ", "")


def test_a_carriage_return_inside_a_line_does_not_break_the_diff(run: Run) -> None:
    before = f"# one\rtwo\nsglang serve --model-path /m {FUSION}\n".encode()
    Path("a.sh").write_bytes(before)
    subprocess.run(["git", "apply", "--whitespace=nowarn"], input=fix(run, "a.sh").stdout.encode(), check=True)
    assert Path("a.sh").read_bytes() == before.replace(f" {FUSION}".encode(), b"")


def test_what_remains_is_said_with_the_reason(run: Run) -> None:
    Path("a.sh").write_text(f"sglang serve --model-path /m {FUSION} --que-ordr arrival --queue-order never\n", encoding="utf-8")
    ended = fix(run, "a.sh")
    assert ended.status == 1
    assert f"would remove {FUSION}" in ended.stderr
    remaining = [line for line in ended.stderr.splitlines() if "remains" in line]
    assert len(remaining) == 2
    assert remaining[0].startswith("gatecheck: a.sh:1:") and "--que-ordr" in remaining[0]  # noqa: PT018
    assert all("fix does not guess what was meant" in line for line in remaining)
    quiet = fix(run, "a.sh", "-q")
    assert quiet.status == 1
    assert quiet.stderr.startswith("gatecheck: 2 findings remain that --fail-on harmful counts")
    assert quiet.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "text",
    [
        f'[ -n "$FUSE" ] && EXTRA="{FUSION}"\nsglang serve --model-path /m $EXTRA\n',
        f'if [ "$FUSE" = 1 ]; then EXTRA="{FUSION}"; fi\nsglang serve --model-path /m $EXTRA\n',
    ],
)
def test_what_is_set_under_a_condition_only_is_said(run: Run, text: str) -> None:
    Path("a.sh").write_text(text, encoding="utf-8")
    ended = fix(run, "a.sh", "--write")
    assert (ended.status, Path("a.sh").read_text(encoding="utf-8")) == (0, text)
    assert f"{FUSION} is set only where" in ended.stderr
    assert "--env FUSE=VALUE decides it" in ended.stderr
    assert fix(run, "a.sh", "--env", "FUSE=").stderr == "gatecheck: nothing to mend\n"
    assert f"would remove {FUSION}" in fix(run, "a.sh", "--env", "FUSE=1").stderr
