"""The model's directory, of which only the configuration is known."""

from __future__ import annotations

import pytest

from sm_gatecheck.evaluate.values import Known, Partial, Sequence, Value
from sm_gatecheck.target.files import ModelFiles, path_object, path_text

FILES = ModelFiles("/m")


@pytest.mark.parametrize(
    ("function", "path", "expected"),
    [
        ("os.path.exists", "/m", True),
        ("os.path.isdir", "/m", True),
        ("os.path.isfile", "/m", False),
        ("os.path.isfile", "/m/config.json", True),
        ("os.path.exists", "/m/hf_quant_config.json", False),
    ],
)
def test_questions_about_the_directory(function: str, path: str, expected: bool) -> None:
    assert FILES.call(function, (Known(path),)) == Known(expected)


def test_other_paths_stay_unknown() -> None:
    assert FILES.call("os.path.exists", (Known("/etc/hosts"),)) is None
    assert FILES.call("os.path.exists", (Known("/models"),)) is None
    assert FILES.call("os.remove", (Known("/m"),)) is None


def test_listing() -> None:
    assert FILES.call("os.listdir", (Known("/m"),)) == Sequence("list", (Known("config.json"),))
    assert FILES.call("glob.glob", (Known("/m/*.safetensors"),)) == Sequence("list", ())


def asked(value: Value | None) -> Value:
    assert isinstance(value, Partial)
    return value.args[0]


def test_path_objects() -> None:
    made = FILES.call("pathlib.Path", (Known("/m"), Known("model.gguf")))
    assert made is not None
    assert path_text(made) == "/m/model.gguf"
    path = path_object("/m/model.gguf")
    assert FILES.attribute(path, "suffix") == Known(".gguf")
    assert FILES.attribute(path, "name") == Known("model.gguf")
    assert asked(FILES.attribute(path, "is_file")) == Known(False)
    assert asked(FILES.attribute(path_object("/m"), "is_dir")) == Known(True)
    assert FILES.attribute(path_object("/elsewhere"), "exists") is None
