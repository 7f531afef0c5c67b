"""The version that a tree states, out of every place where one may stand, and never by running anything."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from sm_gatecheck.rulebook import Rulebook
from sm_gatecheck.trees.shape import load_shape
from sm_gatecheck.trees.version import from_describe, from_metadata, from_pyproject, from_python, stated_version

SHAPE = load_shape(Rulebook.open())


@pytest.mark.parametrize(
    ("source", "version"),
    [
        (b'__version__ = "0.7.1"\n', "0.7.1"),
        (b"__version__ = version = '0.7.1.post2'\n__version_tuple__ = (0, 7)\n", "0.7.1.post2"),
        (b'__version__: str = "0.7.1"\n', "0.7.1"),
        (b'__version__: str\n__version__ = "0.7.1"\n', "0.7.1"),
        (b'try:\n    from x import __version__\nexcept ImportError:\n    __version__ = "0.0.0.dev0"\n', None),
        (b'if True:\n    __version__ = "1"\n', None),
        (b"__version__ = compute()\n", None),
        (b'__version__ = "words"\n', None),
        (b"__version__ = 7\n", None),
        (b"def f(:\n", None),
        (b"\0", None),
        (b"", None),
        (b"(" * 5000, None),
    ],
)
def test_a_literal_at_the_top_level(source: bytes, version: str | None) -> None:
    assert from_python(source) == version


@pytest.mark.parametrize(
    ("source", "version"),
    [
        (b"Name: sglang\nVersion: 0.7.1\n", "0.7.1"),
        (b"Metadata-Version: 2.1\nName: SGLang\nVersion: 0.7.1\n\nVersion: 9\n", "0.7.1"),
        (b"Name: sglang-router\nVersion: 0.7.1\n", None),
        (b"Name: sglang\nVersion: $VERSION\n", None),
        (b"Name: sglang\n\nVersion: 1\n", None),
        (b"\xff\xfe", None),
    ],
)
def test_metadata(source: bytes, version: str | None) -> None:
    assert from_metadata(source, SHAPE) == version


@pytest.mark.parametrize(
    ("source", "version"),
    [
        (b'[project]\nname = "sglang"\nversion = "0.7.1"\n', "0.7.1"),
        (b'[project]\nname = "sglang"\ndynamic = ["version"]\n', None),
        (b'[project]\nname = "other"\nversion = "0.7.1"\n', None),
        (b'[project]\nname = "sglang"\nversion = 7\n', None),
        (b"project = 1\n", None),
        (b"[[", None),
        (b"\xff", None),
    ],
)
def test_pyproject(source: bytes, version: str | None) -> None:
    assert from_pyproject(source, SHAPE) == version


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("v0.7.1", "0.7.1"),
        ("v0.7.1-34-gabc1234", "0.7.1+34.gabc1234"),
        ("v0.7.1.post2-1-gabc", "0.7.1.post2+1.gabc"),
        ("v0.7.1rc1", "0.7.1rc1"),
        ("kernel-v2-3-gabc", None),
        ("", None),
    ],
)
def test_describe(text: str, version: str | None) -> None:
    assert from_describe(text) == version


class TestPrecedence:
    def stated(
        self, package: Mapping[str, bytes], metadata: tuple[bytes, ...] = (), project: Mapping[str, bytes] | None = None
    ) -> str | None:
        return stated_version(SHAPE, package.get, metadata, project.get if project is not None else None)

    def test_what_was_installed_comes_first(self) -> None:
        assert self.stated({"version.py": b'__version__ = "1.0"'}, (b"Name: sglang\nVersion: 2.0",)) == "2.0"

    def test_of_two_installed_versions_the_sources_decide(self) -> None:
        both = (b"Name: sglang\nVersion: 2.0", b"Name: sglang\nVersion: 10.0")
        assert self.stated({"version.py": b'__version__ = "2.0"'}, both) == "2.0"
        assert self.stated({}, both) == "10.0"

    def test_the_generated_file_before_the_hand_written_one(self) -> None:
        assert self.stated({"version.py": b'__version__ = "1.0"', "_version.py": b'__version__ = "1.1"'}) == "1.1"

    def test_the_package_before_its_project(self) -> None:
        project = {"PKG-INFO": b"Name: sglang\nVersion: 3.0", "pyproject.toml": b'[project]\nname = "sglang"\nversion = "4.0"'}
        assert self.stated({"version.py": b'__version__ = "1.0"'}, (), project) == "1.0"
        assert self.stated({}, (), project) == "3.0"
        assert self.stated({}, (), {"pyproject.toml": project["pyproject.toml"]}) == "4.0"

    def test_a_placeholder_is_passed_over(self) -> None:
        assert self.stated({"version.py": b'__version__ = "0.0.0.dev0"'}) is None
