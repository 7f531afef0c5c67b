"""Python programs: what the fixtures leave out."""

from __future__ import annotations

from typing import Any

import pytest

from tests.launch.conftest import Read


@pytest.mark.parametrize(
    ("imports", "call"),
    [
        ("import sglang", "sglang.Engine"),
        ("import sglang as sgl", "sgl.Engine"),
        ("from sglang import Engine", "Engine"),
        ("from sglang import Engine as LLM", "LLM"),
        ("import sglang.srt.entrypoints.engine as e", "e.Engine"),
        ("from sglang.srt.server_args import ServerArgs", "ServerArgs"),
        ("import sglang", "with_it = sglang.Runtime"),
    ],
)
def test_engines_by_every_import(imports: str, call: str, read: Read) -> None:
    (launch,) = read(f"{imports}\n{call}(model_path='/m', tp_size=2)\n", format="python")
    assert launch.values == {"model_path": "/m", "tp_size": 2}
    assert launch.line == 2


def test_other_classes_of_that_name_are_none(read: Read) -> None:
    assert read("from other import Engine\nEngine(model_path='/m')\n", format="python") == ()
    assert read("import sglang\nclass Engine: pass\nEngine(model_path='/m')\n", format="python") == ()


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 + 1", 2),
        ("-1", -1),
        ("int('4')", 4),
        ("f'{NAME}-{2 + 2}'", "qwen-4"),
        ("NAME + '-x'", "qwen-x"),
        ("os.path.join('/m', NAME)", "/m/qwen"),
        ("SIZES['big']", 8),
        ("[*LIST, 3]", [1, 2, 3]),
        ("list(range(2))", [0, 1]),
        ("{'a': [1, {'b': None}]}", {"a": [1, {"b": None}]}),
        ("os.environ.get('UNSET', 'x')", "x"),
        ("os.getenv('UNSET', '3')", "3"),
        ("os.environ.get('UNSET') or 'y'", "y"),
        ("'a' if True else 'b'", "a"),
        ("not False", True),
        ("('a', 'b')[1]", "b"),
        ("None", None),
    ],
)
def test_values_are_those_of_python(expression: str, value: Any, read: Read) -> None:
    (launch,) = read(
        f"import os\nimport sglang\nNAME = 'qwen'\nSIZES = dict(big=8)\nLIST = [1, 2]\nsglang.Engine(tp_size={expression})\n",
        format="python",
    )
    assert launch.options["tp_size"].value == value
    assert launch.unresolved == ()


@pytest.mark.parametrize(
    ("expression", "unresolved"),
    [
        ("os.environ['X']", "$X"),
        ("os.environ.get('X')", "$X"),
        ("args.tp", "args.tp"),
        ("compute()", "compute()"),
        ("unknown", "unknown"),
        ("f'{unknown}'", "unknown"),
        ("[1, unknown]", "unknown"),
        ("torch.cuda.device_count()", "torch.cuda.device_count()"),
        ("10 ** 3", "10 ** 3"),
        ("lambda: 1", "lambda: 1"),
    ],
)
def test_what_is_not_literal_stays_as_written(expression: str, unresolved: str, read: Read) -> None:
    (launch,) = read(f"import os, sglang\nsglang.Engine(model_path='/m', tp_size={expression})\n", format="python")
    assert launch.unresolved == (unresolved,)
    assert launch.options["tp_size"].value == expression
    assert launch.model_path == "/m"


def test_names_are_what_they_are_at_that_line(read: Read) -> None:
    first, second = read(
        """
        import sglang
        tp = 1
        def build(tp=4, **more):
            size = tp
            return sglang.Engine(tp_size=size)
        tp = 2
        sglang.Engine(tp_size=tp)
        tp = 3
        """,
        format="python",
    )
    assert (first.values, second.values) == ({"tp_size": 4}, {"tp_size": 2})


def test_dicts_are_followed_through_their_changes(read: Read) -> None:
    (launch,) = read(
        """
        import sglang
        base = {"tp_size": 1, "port": 3}
        options = base.copy()
        options["tp_size"] = 2
        options.setdefault("port", 4)
        options.setdefault("page_size", 16)
        options.update({"log_level": "info"}, dtype="half")
        options |= {"dtype": "auto"}
        options.pop("port")
        if fast:
            options["enable_torch_compile"] = True
        else:
            options["enable_metrics"] = True
        sglang.Engine(**options, **unknown)
        """,
        format="python",
    )
    assert launch.values == {"tp_size": 2, "page_size": 16, "log_level": "info", "dtype": "auto"}
    assert {name: [(setting.value, setting.when) for setting in settings] for name, settings in launch.conditional.items()} == {
        "enable_torch_compile": [(True, "fast")],
        "enable_metrics": [(True, "not (fast)")],
    }
    assert launch.unresolved == ("**unknown",)
    assert [earlier.value for earlier in launch.options["tp_size"].overridden] == [1]


def test_environment_that_the_program_sets(read: Read) -> None:
    (launch,) = read(
        """
        import os
        import sglang
        os.environ["SGLANG_A"] = "1"
        os.environ.setdefault("SGLANG_B", "2")
        os.environ |= {"SGLANG_C": "3"}
        os.putenv("SGLANG_D", "4")
        os.environ["SGLANG_E"] = "5"; del os.environ["HOME"]
        os.environ.pop("SGLANG_E")
        def set_up():
            os.environ["SGLANG_F"] = name
        def never():
            os.environ["SGLANG_G"] = "7"
        set_up()
        sglang.Engine(model_path="/m")
        os.environ["SGLANG_LATER"] = "8"
        """,
        format="python",
    )
    assert {name: (setting.value, setting.when) for name, setting in launch.environment.items()} == {
        "SGLANG_A": ("1", None),
        "SGLANG_B": ("2", "not already set"),
        "SGLANG_C": ("3", None),
        "SGLANG_D": ("4", None),
        "SGLANG_F": ("name", None),
    }


def test_an_unknown_keyword_has_its_neighbour_named(read: Read) -> None:
    (launch,) = read("import sglang\nsglang.Engine(model_path='/m', tp=2, attention_backed='fa3')\n", format="python")
    assert [(problem.kind, problem.flag, problem.suggestion, problem.span.column) for problem in launch.problems] == [
        ("unknown-field", "tp", None, 32),
        ("unknown-field", "attention_backed", "attention_backend", 38),
    ]


def test_commands_that_a_program_starts(read: Read) -> None:
    launches = read(
        """
        import os, subprocess
        os.system("sglang serve --model-path /a &")
        subprocess.run(["bash", "-c", "sglang serve --model-path /b"], check=True)
        subprocess.Popen("sglang serve --model-path /c".split())
        launch_server_cmd('''
        python3 -m sglang.launch_server --model-path /d \\\\
          --tp 2
        ''')
        args = ["--model-path", "/e"]
        subprocess.Popen(args=["python3", "-m", "sglang.launch_server", *args])
        logger.info("sglang serve --model-path /no")
        """,
        format="python",
    )
    assert [launch.model_path for launch in launches] == ["/a", "/b", "/c", "/d", "/e"]
    assert launches[3].options["tp_size"].span.line == 7
