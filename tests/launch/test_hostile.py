"""What nobody writes by hand: it runs nothing, ends soon, and is either read or refused in one line."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from sm_gatecheck.launch import Launch, LaunchError, format_names, read_launch
from tests.launch.tables import table

SECONDS = 20.0
"""Each takes well under five on a slow machine; this catches what does not end."""

START = "python -m sglang.launch_server "


def doubling(lines: int, first: str, more: str) -> str:
    """Lines of which each holds the one before several times."""
    return first + "".join(more.format(this=number, before=number - 1) for number in range(1, lines))


FILES = {
    "aliases.yaml": doubling(30, "a0: &a0 [x, x]\n", "a{this}: &a{this} [*a{before}, *a{before}, *a{before}]\n"),
    "alias-values.yaml": doubling(40, 'a0: &a0 {{args: "--tp 4"}}\n'.format(), "a{this}: &a{this} {{x: *a{before}, y: *a{before}}}\n"),
    "alias-services.yaml": "services:\n"
    + doubling(
        60, "  x0: &x0 {image: a, command: sglang serve}\n", "  x{this}: &x{this} {{<<: [*x{before}, *x{before}], b{this}: *x{before}}}\n"
    ),
    "cycle.yaml": "a: &a\n  b: *a\n  <<: *a\n  image: lmsysorg/sglang:v0.5.9\n  command: [*a]\n  args: [--tp, '4']\n",
    "deep.yaml": "[" * 100_000,
    "folded.yaml": "services:\n a:\n  image: x\n  command: >\n" + "   --tp 4\n" * 20_000,
    "tabs.yaml": "services:\n\ta: 1\n",
    "deep.json": "[" * 100_000 + "]" * 100_000,
    "deep.py": "x = " + "(" * 5_000 + ")" * 5_000,
    "unary.py": "import sglang\nsglang.Engine(tp_size=" + "-" * 50_000 + "1)",
    "doubled.py": "import sglang\n" + doubling(60, "a0 = 'x'\n", "a{this} = a{before} + a{before}\n") + "sglang.Engine(model_path=a59)\n",
    "power.py": "import sglang\nsglang.Engine(tp_size=9**9**9, page_size='x' * 10**10, port=1 << 10**9)\n",
    "line.service": "[Service]\nEnvironment="
    + "A=1 " * 100_000
    + "\nExecStart="
    + START
    + "--model-path /"
    + "x" * 1_000_000
    + " --tp 4" * 50_000,
    "line.sh": START + "--model-path /m " + "--page-size 1 " * 100_000,
    "quotes.sh": START + '"' * 500_001,
    "doubled.sh": "A=x\n" + 'B="$A$A$A$A"\nA="$B$B$B$B"\n' * 40 + START + "--tp $A\n",
    "elements.sh": "A=(" + "x " * 40_000 + ")\n" + (START + '"${A[@]}" ' * 5 + "\n") * 5,
    "deep.sh": "if a; then " * 3_000 + START + "\n" + "fi\n" * 3_000,
    "open.sh": "(" * 50_000 + START,
    "substitutions.sh": START + "$(" * 20_000,
    "defaults.sh": START + "${A:-" * 5_000 + "x" + "}" * 5_000,
    "recursion.sh": f"f() {{ g; f; g; }}\ng() {{ f; g; {START}; }}\nf\n",
    "calls.sh": doubling(30, "f0() { :; }\n", "f{this}() {{ f{before}; f{before}; f{before}; }}\n") + "f29\n" + START,
    "loops.sh": "for a in 1 2 3 4 5 6 7 8 9; do " * 8 + START + "--tp $a" + "; done" * 8,
    "conditions.sh": "".join(f'if [ -f /x{number} ]; then A="$A --port {number}"; fi\n' for number in range(300)) + START + "$A\n",
    "eval.sh": 'A=\'eval "$A"; eval "$A"\'\neval "$A"\n' + START,
    "itself.sh": ". ./itself.sh\nbash ./itself.sh\nbash ./itself.sh\n" + START,
    "Makefile": doubling(30, "A0 = x\n", "A{this} = $(A{before})$(A{before})$(A{before})\n") + f"x:\n\t{START}$(A29)\n",
    "Dockerfile": "FROM x\n" + doubling(60, "ENV A0=x\n", "ENV A{this}=$A{before}$A{before}$A{before}\n") + f"CMD {START}$A59\n",
    "pod.yaml": "apiVersion: v1\nkind: Pod\nspec:\n containers:\n - image: x\n   command: [sglang, serve, --tp, $(A59)]\n   env:\n"
    + doubling(60, "   - {name: A0, value: x}\n", "   - {{name: A{this}, value: $(A{before})$(A{before})$(A{before})}}\n"),
    "compose.yaml": "services:\n a:\n  image: x\n  command: sglang serve --tp " + "${A:-" * 3_000 + "}" * 3_000 + "\n",
    "programs.conf": f"[program:a]\ncommand={START}\n" + " --tp 4\n" * 20_000,
}


def read_or_refused(file: Path | str, format: str | None = None) -> tuple[tuple[Launch, ...], str | None]:
    """The launches, or what is said instead; anything but a ``LaunchError`` goes through."""
    try:
        return read_launch(file, table(), format=format), None
    except LaunchError as error:
        return (), str(error)


@pytest.mark.parametrize("name", FILES)
def test_it_ends_soon_with_launches_or_one_line(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(FILES[name], encoding="utf-8")
    started = time.process_time()
    launches, refusal = read_or_refused(tmp_path / name)
    assert refusal is None or ("\n" not in refusal and name in refusal)
    assert all(len(launch.problems) < 300 for launch in launches)
    assert time.process_time() - started < SECONDS


@pytest.mark.parametrize("name", format_names())
@pytest.mark.parametrize(
    "text", ["", "\n", "\\", "'", '"', "[", "{", "]", "%", "$", "${", "$(", "`", "<<", "- a\n  b: [", "\r\n\t", "\ufffe", "=\n:\n;#"]
)
def test_scraps_are_no_traceback_in_any_format(name: str, text: str) -> None:
    for before in ("", START, "services:\n a: {image: x, command: sglang serve}\n", "[Service]\nExecStart=" + START, "import sglang\n"):
        _, refusal = read_or_refused(before + text, format=name)
        assert refusal is None or "\n" not in refusal


def test_nothing_of_a_file_is_run(tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    files = {
        "a.sh": f"$(touch {witness})\n`touch {witness}`\nX=$(touch {witness})\n{START}--tp $X --model-path `touch {witness}`\n",
        "b.service": f"[Service]\nExecStartPre=/bin/touch {witness}\nExecStart=/bin/sh -c '{START}--tp $(touch {witness})'\n",
        "c.py": f"import os, sglang\nos.system('touch {witness}')\nsglang.Engine(model_path=os.popen('touch {witness}').read())\n",
        "Makefile": f"X := $(shell touch {witness})\nx:\n\t{START}--tp $(X)\n",
        "d.yaml": f"services:\n a:\n  image: x\n  command: !!python/object/apply:os.system ['touch {witness}']\n",
        "Dockerfile": f"FROM x\nRUN touch {witness}\nCMD {START}--tp $(touch {witness})\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        read_launch(tmp_path / name, table())
        assert not witness.exists(), name


def test_no_variable_is_taken_from_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TP", "8")
    monkeypatch.setenv("SGLANG_SECRET", "x")
    text = f"{START}--model-path /m --tp $TP\n"
    (launch,) = read_launch(text, table(), format="shell")
    assert (launch.options["tp_size"].value, launch.unresolved, launch.environment) == ("$TP", ("$TP",), {})
    (asked,) = read_launch(text, table(), format="shell", environment=os.environ)
    assert asked.options["tp_size"].value == 8
    assert {name for name in asked.environment if name.startswith("SGLANG_")} >= {"SGLANG_SECRET"}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (bytes(range(256)) * 40, "binary"),
        (START.encode("utf-16"), "UTF-16"),
        (b"x" * 4_000_001, "too long"),
    ],
)
def test_what_is_no_text_is_refused(data: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "file.sh").write_bytes(data)
    with pytest.raises(LaunchError, match=said):
        read_launch(tmp_path / "file.sh", table())


def test_what_is_no_plain_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.sh")
    with pytest.raises(LaunchError, match="no plain file"):
        read_launch(tmp_path / "pipe.sh", table())
    with pytest.raises(LaunchError, match="is a directory"):
        read_launch(tmp_path, table())
    with pytest.raises(LaunchError, match="no such file"):
        read_launch(tmp_path / "none.sh", table())


def test_a_name_in_a_file_may_be_anything(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "/dev/zero", "x" * 5_000, "\ud800", "~/x", "/"):
        text = f"[Service]\nEnvironmentFile={name}\nWorkingDirectory={name}\nExecStart={START}--tp 4 --config {name}\n"
        (tmp_path / "a.service").write_bytes(text.encode("utf-8", "surrogatepass"))
        (launch,) = read_launch(tmp_path / "a.service", table())
        assert launch.options["tp_size"].value == 4
        assert launch.unresolved


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("json", '{"model_path": "\\ud800", "tp_size": 2}'),
        ("yaml", 'run: "sglang serve --served-model-name \\ud800x --zz \\ud800"'),
        ("systemd", "[Service]\nEnvironment=A=\\ud800\nExecStart=sglang serve --api-key \\ud800 --zz\\ud800\n"),
        (
            "shell",
            "sglang serve --api-key $'\\ud800' --zz$'\\udfff'; shift ²; shift " + "9" * 5_000 + "; A[²]=1; ${²} ${" + "9" * 5_000 + "}\n",
        ),
        ("python", "import sglang\nsglang.Engine(model_path='\\ud800', tp_size=int('" + "9" * 5_000 + "'))"),
        ("config", "tp-size: " + "9" * 5_000 + "\nport: 0x" + "f" * 5_000),
    ],
)
def test_half_characters_and_endless_numbers(format: str, text: str) -> None:
    launches, refusal = read_or_refused(text, format=format)
    assert len(launches) == 1 or refusal is not None
    for launch in launches:
        repr(launch).encode("utf-8")
        json.dumps({name: setting.value for name, setting in {**launch.options, **launch.environment}.items()}, ensure_ascii=False).encode()
        for problem in launch.problems:
            problem.message.encode("utf-8")


def test_bytes_that_are_no_utf8_keep_their_places(tmp_path: Path) -> None:
    (tmp_path / "latin.sh").write_bytes(START.encode() + b"--served-model-name caf\xe9 --tp 2\n")
    (launch,) = read_launch(tmp_path / "latin.sh", table())
    assert launch.options["served_model_name"].value == "caf\ufffd"
    data = (tmp_path / "latin.sh").read_bytes()
    extent = launch.options["tp_size"].extent
    assert data[extent.start : extent.end] == b"--tp"
