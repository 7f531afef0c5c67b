"""``sglang==VERSION``: asked of pip once, kept whole or not at all, and refused in words a person can act on."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sm_gatecheck.trees import TreeError, UsageError, cache_directory, open_tree, release
from sm_gatecheck.trees.release import PipRun
from tests.trees.shapes import SOURCES, sdist, wheel, wheel_files

NAME = "sglang-0.7.1-py3-none-any.whl"


class Index:
    """A pip that fetches from a directory of our own, and counts how often it was asked."""

    def __init__(self, said: str = "", files: dict[str, bytes] | None = None, before: Callable[[Path], None] | None = None) -> None:
        self.said = said
        self.files = files
        self.before = before
        self.asked: list[tuple[str, ...]] = []

    def __call__(self, arguments: tuple[str, ...], directory: Path) -> PipRun:
        self.asked.append(arguments)
        if self.before is not None:
            self.before(directory)
        if self.files is None:
            return PipRun(False, self.said)
        wheel(directory / NAME, self.files)
        return PipRun(True, self.said)


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[[Index], Index]:
    def put(index: Index) -> Index:
        monkeypatch.setattr(release, "run_pip", index)
        return index

    return put


def test_fetched_once_then_read_from_the_cache(tmp_path: Path, install: Callable[[Index], Index]) -> None:
    index = install(Index(files=wheel_files()))
    for _ in range(2):
        tree = open_tree("sglang==0.7.1", cache_dir=tmp_path)
        assert dict(tree.files) == SOURCES
        assert (tree.source.kind, tree.source.sglang_version, tree.source.target) == ("release", "0.7.1", "sglang==0.7.1")
    assert len(index.asked) == 1
    assert index.asked[0][:3] == ("download", "--no-deps", "--only-binary=:all:")
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [NAME]


def test_releases_stay_below_their_bound_and_the_last_used_stay(
    tmp_path: Path, install: Callable[[Index], Index], monkeypatch: pytest.MonkeyPatch
) -> None:
    install(Index(files=wheel_files()))
    for days, version in enumerate(("0.6.0", "0.6.1", "0.6.2")):
        kept = tmp_path / "releases" / f"sglang-{version}" / f"sglang-{version}.whl"
        kept.parent.mkdir(parents=True)
        wheel(kept, wheel_files())
        os.utime(kept, (time.time() - (3 - days) * 86400,) * 2)
    size = kept.stat().st_size
    open_tree("sglang==0.6.0", cache_dir=tmp_path)  # used now
    monkeypatch.setattr(release, "MAX_BYTES", 2 * size)
    open_tree("sglang==0.7.1", cache_dir=tmp_path)
    assert sorted(path.name for path in (tmp_path / "releases").iterdir()) == ["sglang-0.6.0", "sglang-0.6.2", "sglang-0.7.1"]


def test_offline_reads_what_is_kept_and_fetches_nothing(tmp_path: Path, install: Callable[[Index], Index]) -> None:
    index = install(Index(files=wheel_files()))
    with pytest.raises(TreeError, match="is not kept in"):
        open_tree("sglang==0.7.1", cache_dir=tmp_path, offline=True)
    assert index.asked == []
    open_tree("sglang==0.7.1", cache_dir=tmp_path)
    assert dict(open_tree("sglang==0.7.1", cache_dir=tmp_path, offline=True).files) == SOURCES


@pytest.mark.parametrize(
    "target", ["sglang==0.7.1", " sglang == 0.7.1 ", "SGLang==0.7.1", "sglang===0.7.1", "sglang[all]==0.7.1", "sglang==v0.7.1"]
)
def test_every_spelling_is_the_same_release(tmp_path: Path, install: Callable[[Index], Index], target: str) -> None:
    index = install(Index(files=wheel_files()))
    open_tree(target, cache_dir=tmp_path)
    assert index.asked[0][-1] == "sglang==0.7.1"
    assert open_tree("sglang==0.7.1", cache_dir=tmp_path, offline=True).source.sglang_version == "0.7.1"


def test_the_variable_and_the_user_s_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATECHECK_CACHE", str(tmp_path))
    assert cache_directory() == tmp_path
    assert cache_directory(tmp_path / "given") == tmp_path / "given"
    monkeypatch.delenv("GATECHECK_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_directory().name == "gatecheck"
    assert tmp_path in cache_directory().parents


class TestWhatIsKept:
    def test_a_killed_run_leaves_nothing_that_is_taken_for_a_release(self, tmp_path: Path, install: Callable[[Index], Index]) -> None:
        def die(directory: Path) -> None:
            (directory / NAME).write_bytes(b"PK half")
            raise KeyboardInterrupt

        install(Index(before=die))
        with pytest.raises(KeyboardInterrupt):
            open_tree("sglang==0.7.1", cache_dir=tmp_path)
        assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
        install(Index(files=wheel_files()))
        assert dict(open_tree("sglang==0.7.1", cache_dir=tmp_path).files) == SOURCES

    def test_half_a_file_of_a_run_killed_at_once_is_never_read(self, tmp_path: Path, install: Callable[[Index], Index]) -> None:
        abandoned = tmp_path / "releases/.fetching-x"
        abandoned.mkdir(parents=True)
        (abandoned / NAME).write_bytes(b"PK half")
        index = install(Index(files=wheel_files()))
        open_tree("sglang==0.7.1", cache_dir=tmp_path)
        assert len(index.asked) == 1
        assert abandoned.exists()
        old = time.time() - 2 * 24 * 3600
        os.utime(abandoned, (old, old))
        install(Index(files=wheel_files("0.7.2")))
        open_tree("sglang==0.7.2", cache_dir=tmp_path)
        assert not abandoned.exists()

    def test_two_runs_at_once_agree(self, tmp_path: Path, install: Callable[[Index], Index]) -> None:
        def other(directory: Path) -> None:
            install(Index(files=wheel_files()))
            open_tree("sglang==0.7.1", cache_dir=tmp_path)

        install(Index(files=wheel_files(), before=other))
        assert dict(open_tree("sglang==0.7.1", cache_dir=tmp_path).files) == SOURCES
        assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [NAME]

    def test_a_broken_file_says_what_to_remove(self, tmp_path: Path) -> None:
        kept = tmp_path / "releases/sglang-0.7.1"
        kept.mkdir(parents=True)
        (kept / NAME).write_bytes(b"PK half")
        with pytest.raises(TreeError, match="is a damaged zip file") as caught:
            open_tree("sglang==0.7.1", cache_dir=tmp_path)
        assert f"remove {kept / NAME}" in str(caught.value)

    def test_a_cache_that_cannot_be_written(self, tmp_path: Path, install: Callable[[Index], Index]) -> None:
        install(Index(files=wheel_files()))
        (tmp_path / "file").write_bytes(b"")
        with pytest.raises(TreeError, match=r"cannot be kept in .*name another place with GATECHECK_CACHE"):
            open_tree("sglang==0.7.1", cache_dir=tmp_path / "file")


class TestRefusals:
    KNOWN = "ERROR: Could not find a version that satisfies the requirement (from versions: 0.6.9, 0.7.0, 0.7.0.post1, 0.8.0rc1)\n"

    def test_an_unknown_version_names_the_nearest(self, tmp_path: Path, install: Callable[[Index], Index]) -> None:
        install(Index(said=self.KNOWN))
        with pytest.raises(UsageError) as caught:
            open_tree("sglang==0.7.1", cache_dir=tmp_path)
        assert str(caught.value) == "sglang==0.7.1: there is no such release; did you mean sglang==0.7.0? (the newest is 0.7.0.post1)"
        assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
        assert not (tmp_path / "releases/sglang-0.7.1").exists()

    def test_wheels_of_other_machines_are_tried(self, tmp_path: Path, install: Callable[[Index], Index]) -> None:
        index = Index(said=self.KNOWN)

        def appear(directory: Path) -> None:
            if len(index.asked) == 2:
                index.files = wheel_files()

        index.before = appear
        install(index)
        assert dict(open_tree("sglang==0.7.1", cache_dir=tmp_path).files) == SOURCES
        assert "--platform" not in index.asked[0]
        assert "--platform" in index.asked[1]
        assert all("--only-binary=:all:" in asked for asked in index.asked)

    def test_no_network(self, tmp_path: Path, install: Callable[[Index], Index]) -> None:
        index = install(
            Index(
                said="WARNING: Retrying after connection broken by 'X(': [Errno 111] Connection refused')'\n"
                "ERROR: Could not find a version that satisfies the requirement sglang==0.7.1 (from versions: none)\n"
            )
        )
        with pytest.raises(TreeError, match=r"could not be fetched: \[Errno 111\] Connection refused; check the network"):
            open_tree("sglang==0.7.1", cache_dir=tmp_path)
        assert len(index.asked) == 1

    def test_only_sources(self, tmp_path: Path, install: Callable[[Index], Index]) -> None:
        install(Index(said=self.KNOWN.replace("0.8.0rc1", "0.7.1")))
        with pytest.raises(TreeError, match="there is no wheel of it"):
            open_tree("sglang==0.7.1", cache_dir=tmp_path)

    @pytest.mark.parametrize(
        ("target", "words"),
        [
            ("sglang>=0.5", "one release is needed, not a range; write sglang=="),
            ("sglang~=0.5", "one release is needed"),
            ("sglang==latest", "'latest' is no version; write sglang=="),
            ("sglang==", "'' is no version"),
            ("sglang==0.5.*", "is no version"),
            ("sglagn==0.5.12", "did you mean sglang==0.5.12?"),
            ("vllm==0.5.12", "only releases of sglang can be analysed"),
            ("0.5.12", "did you mean sglang==0.5.12?"),
            ("v0.5.12", "did you mean sglang==0.5.12?"),
            ("sglang@0.5.12", "did you mean sglang==0.5.12?"),
            ("sglang", "write sglang==VERSION"),
        ],
    )
    def test_what_was_meant(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str, words: str) -> None:
        monkeypatch.chdir(tmp_path)
        with pytest.raises(UsageError) as caught:
            open_tree(target, cache_dir=tmp_path, offline=True)
        assert words in str(caught.value)


class TestRealPip:
    def test_from_a_directory_of_wheels(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "index").mkdir()
        wheel(tmp_path / "index" / NAME)
        monkeypatch.setenv("PIP_NO_INDEX", "1")
        monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
        assert dict(open_tree("sglang==0.7.1", cache_dir=tmp_path / "cache").files) == SOURCES
        with pytest.raises(UsageError, match=r"did you mean sglang==0\.7\.1\?"):
            open_tree("sglang==0.7.2", cache_dir=tmp_path / "cache")

    def test_an_sdist_is_not_built(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "index").mkdir()
        setup = f"open({str(tmp_path / 'ran')!r}, 'w')\n".encode()
        sdist(
            tmp_path / "index/sglang-0.7.1.tar.gz",
            {"sglang-0.7.1/setup.py": setup, "sglang-0.7.1/PKG-INFO": b"Name: sglang\nVersion: 0.7.1\n"},
        )
        monkeypatch.setenv("PIP_NO_INDEX", "1")
        monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
        with pytest.raises(TreeError, match="could not be fetched"):
            open_tree("sglang==0.7.1", cache_dir=tmp_path / "cache")
        assert not (tmp_path / "ran").exists()

    def test_a_python_without_pip(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sys.executable", str(tmp_path / "no-python"))
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(TreeError, match="pip is needed to fetch a release"):
            open_tree("sglang==0.7.1", cache_dir=tmp_path)


@pytest.mark.release
def test_a_real_release_is_read_in_well_under_a_second() -> None:
    try:
        open_tree("sglang==0.5.12")
    except TreeError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(error))
    start = time.process_time()
    tree = open_tree("sglang==0.5.12", offline=True)
    assert time.process_time() - start < 1
    assert tree.source.sglang_version == "0.5.12"
    assert tree.diagnostics == ()
    assert len(tree.files) > 1500
    assert b"class ServerArgs" in tree.files["srt/server_args.py"]
