"""Shell scripts: what the fixtures leave out."""

from __future__ import annotations

from typing import Any

import pytest

from tests.launch.conftest import Read

START = "python3 -m sglang.launch_server --model-path /m"


@pytest.mark.parametrize(
    ("before", "arguments", "values"),
    [
        ("", "--api-key 'a b' --log-level c\\ d", {"api_key": "a b", "log_level": "c d"}),
        ("", "--api-key $'a\\tb\\x41' --log-level a'b'\"c\"d", {"api_key": "a\tbA", "log_level": "abcd"}),
        ("", "--tp 4 `# two` \\\n  --port 3 # the end --api-key x", {"tp_size": 4, "port": 3}),
        ("X=", "$X --tp 4 ${X} \"${Y[@]}\"", {"tp_size": 4}),
        ("X='--tp 4'", "$X", {"tp_size": 4}),
        ("A=(--tp 4); B=(\"${A[@]}\" --port 3)", '"${B[@]}"', {"tp_size": 4, "port": 3}),
        ("A=(--tp 4 --port 3); A[1]=8", '"${A[@]}"', {"tp_size": 8, "port": 3}),
        ("A=(--tp 4)", "${A[0]} 2 --port ${#A[@]}", {"tp_size": 2, "port": 2}),
        ("X=qwen/chat.gguf", "--served-model-name ${X##*/} --api-key ${X%.*}", {"served_model_name": "chat.gguf", "api_key": "qwen/chat"}),
        ("X=qwen/chat.gguf", "--log-level ${X%%/*}", {"log_level": "qwen"}),
        ("N=4", "--tp $((N * 2)) --port $((30000+N-1))", {"tp_size": 8, "port": 30003}),
        ("X=a; X+=b", "--api-key $X", {"api_key": "ab"}),
        ("declare -r X=1; local Y=2; readonly Z=3; typeset W=4", "--tp $X$Y$Z", {"tp_size": 123}),
        ("set -- --tp 4 --port 3; shift 2", '"$@"', {"port": 3}),
        ("X=${UNSET:-${ALSO:-7}}", "--tp $X", {"tp_size": 7}),
        ("A=1 B=2", "--tp $B", {"tp_size": 2}),
        ("A=1 B=2\n\n# and", "--tp $B", {"tp_size": 2}),
        ("FLAG=--tp", "$FLAG 4 ${FLAG}=5", {"tp_size": 5}),
    ],
)  # fmt: skip
def test_words_are_those_that_a_shell_would_make(before: str, arguments: str, values: dict[str, Any], read: Read) -> None:
    (launch,) = read(f"#!/bin/bash\n{before}\n{START} {arguments}\n")
    assert launch.values == {"model_path": "/m", **values}
    assert [problem.kind for problem in launch.problems] == []


@pytest.mark.parametrize(
    ("arguments", "unresolved"),
    [
        ("--tp $TP", ["$TP"]),
        ("--tp ${TP}", ["$TP"]),
        ("--tp $(nproc)", ["$(nproc)"]),
        ("$EXTRA", ["$EXTRA"]),
        ('"$@"', ["$@"]),
        ("${EXTRA[@]}", ["$EXTRA"]),
        ("--tp ${#GPUS[@]}", ["${#GPUS[@]}"]),
        ("--api-key ${KEY^^}", ["${KEY^^}"]),
        ("--$NAME 4", ["$NAME"]),
        ("${EXTRA:-}", ["$EXTRA"]),
    ],
)
def test_what_is_not_known_is_listed_and_in_nobodys_way(arguments: str, unresolved: list[str], read: Read) -> None:
    (launch,) = read(f"#!/bin/bash\n{START} {arguments} --port 3\n")
    assert list(launch.unresolved) == unresolved
    assert launch.options["port"].value == 3
    assert launch.problems == ()


@pytest.mark.parametrize(
    ("condition", "is_met"),
    [
        ('[ "$X" = 1 ]', True),
        ('[ "$X" != 1 ]', False),
        ("[[ $X == 1* && -n $X ]]", True),
        ("[[ $X == 2 || $X -gt 0 ]]", True),
        ("(( X > 1 ))", False),
        ("test -z $X", False),
        ("! [ $X -eq 1 ]", False),
        ("true", True),
        ("[ $X -le 1 ] && [ -n $X ]", True),
        ("[ -d /models ]", None),
        ('[ "$OTHER" = 1 ]', None),
        ('[ "${OTHER:-1}" = 1 ]', None),
        ("nvidia-smi | grep -q H100", None),
    ],
)
def test_a_condition_is_decided_where_the_script_decides_it(condition: str, is_met: bool | None, read: Read) -> None:
    (launch,) = read(f"#!/bin/bash\nX=1\nif {condition}; then TP='--tp 2'; fi\n{START} $TP\n")
    assert ("tp_size" in launch.options) is (is_met is True)
    assert ("tp_size" in launch.conditional) is (is_met is None)
    if is_met is None:
        assert launch.conditional["tp_size"][0].when == condition


def test_each_branch_is_tried(read: Read) -> None:
    (launch,) = read(
        f"""
        #!/bin/bash
        if [ -f /a ]; then X=1; elif [ -f /b ]; then X=2; else X=3; fi
        [ -f /c ] && Y="--port 7" || Y=
        {START} --tp $X $Y
        """
    )
    assert [(setting.value, setting.when) for setting in launch.conditional["tp_size"]] == [
        (1, "[ -f /a ]"),
        (3, "not ([ -f /a ])"),
        (2, "[ -f /b ]"),
    ]
    assert [(setting.value, setting.when) for setting in launch.conditional["port"]] == [(7, "[ -f /c ]")]


def test_conditions_within_conditions(read: Read) -> None:
    (launch,) = read(
        f"""
        #!/bin/bash
        if [ -f /a ]; then
          A="--tp 2"
          if [ -f /b ]; then A="$A --port 3"; fi
        fi
        {START} $A
        """
    )
    assert [(setting.value, setting.when) for setting in launch.conditional["port"]] == [(3, "[ -f /a ] and [ -f /b ]")]
    assert [(setting.value, setting.when) for setting in launch.conditional["tp_size"]] == [(2, "[ -f /a ]")]


def test_a_launch_in_a_branch_says_when(read: Read) -> None:
    first, second = read(f"#!/bin/bash\nif nvidia-smi -L | grep -q B200; then\n{START} --tp 8\nelse\n{START} --tp 4\nfi\n")
    assert (first.when, first.values["tp_size"]) == ("nvidia-smi -L | grep -q B200", 8)
    assert (second.when, second.values["tp_size"]) == ("not (nvidia-smi -L | grep -q B200)", 4)


def test_the_environment_is_what_the_command_is_given(read: Read) -> None:
    (launch,) = read(
        f"""
        #!/bin/bash
        SGLANG_OWN=1
        export SGLANG_A=1 SGLANG_B="two words"
        SGLANG_C=3
        export SGLANG_C
        export SGLANG_GONE=1; unset SGLANG_GONE
        export PATH=/opt/bin:$PATH SGLANG_D=$UNKNOWN
        set -a; SGLANG_E=5; set +a
        (export SGLANG_SUB=1)
        SGLANG_F=6 {START}
        """
    )
    assert {name: setting.value for name, setting in launch.environment.items()} == {
        "SGLANG_A": "1",
        "SGLANG_B": "two words",
        "SGLANG_C": "3",
        "PATH": "/opt/bin:$PATH",
        "SGLANG_D": "$UNKNOWN",
        "SGLANG_E": "5",
        "SGLANG_F": "6",
    }
    assert launch.unresolved == ("$UNKNOWN",)


def test_variables_of_the_machine_where_they_are_given(read: Read) -> None:
    (launch,) = read(f"#!/bin/bash\n{START} --tp ${{TP:-1}} --port $PORT\n", environment={"TP": "8", "PORT": "7"})
    assert launch.values == {"model_path": "/m", "tp_size": 8, "port": 7}
    assert launch.options["tp_size"].assumed == ()


@pytest.mark.parametrize(
    "line",
    [
        f"echo {START}",
        f"# {START}",
        f"cat <<EOF\n{START}\nEOF",
        f"pkill -f '{START}'",
        f"git commit -m '{START}'",
        f"ps aux | grep '{START}'",
        "python3 -m sglang.bench_serving --model-path /m",
        "python3 -m sglang.srt.launch_server --model-path /m",
        "pip install sglang",
        f"exit 0\n{START}",
        f"false && {START}",
    ],
)
def test_what_starts_no_server(line: str, read: Read) -> None:
    assert read(f"#!/bin/bash\n{line}\n") == ()


def test_a_script_that_takes_its_own_arguments_apart(read: Read) -> None:
    (launch,) = read(
        """
        #!/bin/bash
        TP=2
        while [[ $# -gt 0 ]]; do
          case "$1" in
            --tp) TP="$2"; shift 2 ;;
            *) REST+=("$1"); shift ;;
          esac
        done
        sglang serve --model-path /m --tp "$TP" "${REST[@]}"
        """
    )
    assert launch.values == {"model_path": "/m", "tp_size": 2}
    assert [setting.value for setting in launch.conditional["tp_size"]] == ["$2"]


def test_loops_that_run_until_something_happens(read: Read) -> None:
    launches = read(
        """
        #!/bin/bash
        while true; do sglang serve --model-path /a; sleep 1; done
        until sglang serve --model-path /b; do sleep 1; done
        while [ -f /run/on ]; do sglang serve --model-path /c; done
        while read -r line; do sglang serve --model-path "$line"; done < models
        """
    )
    assert [(launch.values["model_path"], launch.when) for launch in launches] == [
        ("/a", None),
        ("/b", None),
        ("/c", "[ -f /run/on ]"),
        ("$line", None),
    ]


def test_redirections_and_pipes_are_no_arguments(read: Read) -> None:
    (launch,) = read(f"#!/bin/bash\n{START} > >(tee log) 2>err --tp 2 </dev/null 2>&1 --port 3 |& tee -a all --port 9 &\n")
    assert launch.values == {"model_path": "/m", "tp_size": 2, "port": 3}


def test_a_comment_between_continued_lines_ends_the_command(read: Read) -> None:
    (launch,) = read(f"#!/bin/bash\n{START} \\\n  # --tp 2 \\\n  --port 3\n")
    assert launch.values == {"model_path": "/m"}


def test_what_does_not_parse_is_said(read: Read) -> None:
    (launch,) = read(f"#!/bin/bash\n{START} --tp 2\nif [ x ]; then\n")
    assert [problem.kind for problem in launch.problems] == ["syntax"]
    assert launch.options["tp_size"].value == 2
