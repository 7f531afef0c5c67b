from pathlib import Path

import pytest

from tests.truth import __main__ as program
from tests.truth import files, tables
from tests.truth.command import CannotMeasure
from tests.truth.score import Disagreement, Score, tally
from tests.truth.tables import ALL, Table


def test_rows_are_chosen_by_release() -> None:
    by_name = {table.name: table for table in tables.tables()}
    assert by_name["predicates"].rows_of(["0.5.9"]) == ("0.5.9", "0.5.9-cuda12.4")
    assert by_name["labels"].rows_of(["0.5.9"]) == ()
    assert by_name["cases"].rows_of([]) == (ALL,)
    assert by_name["cases"].rows_of(["0.5.9"]) == ("0.5.9",)
    assert set(by_name["cases"].needs(ALL)) == {case["version"] for case in files.cases()}
    assert by_name["predicates"].needs("0.5.9-cuda12.4") == ("0.5.9",)


def test_releases_sort_as_versions() -> None:
    assert sorted(["0.5.10", "0.5.9-cuda12.4", "0.5.9", "0.5.6.post2", "0.5.6"], key=files.release_key) == [
        "0.5.6",
        "0.5.6.post2",
        "0.5.9",
        "0.5.9-cuda12.4",
        "0.5.10",
    ]


def run(monkeypatch: pytest.MonkeyPatch, *scores: Score, failure: str | None = None) -> int:
    def measure(row: str) -> tuple[Score, ...]:
        if failure:
            raise CannotMeasure(failure)
        return scores

    monkeypatch.setattr(program, "tables", lambda: (Table("t", ("1",), measure),))
    return program.main(["-v"])


WRONG = tally("fig", 2, [Disagreement("says a where b", "x@SM90")], 90.0)


def test_the_status_tells_what_is_behind(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, tally("fig", 2, [], 90.0)) == 0
    assert run(monkeypatch, WRONG) == 1
    assert "says a where b: 1 (x@SM90)" in capsys.readouterr().out
    assert run(monkeypatch, tally("fig", 2, [Disagreement("f", "w")])) == 0
    assert run(monkeypatch, tally("fig", 0, [])) == 1
    assert run(monkeypatch, failure="no such release") == 2


def test_the_ratchet_only_rises(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "ratchet.toml").write_text('# head\n\n[reached]\n"t/1/b" = 60.0\n"t/1/a" = 50.0\n')
    monkeypatch.setattr(files, "HERE", tmp_path)
    files.raise_ratchet({"t/1/a": 40.0, "t/1/b": 70.0, "t/1/c": 1.5})
    assert (tmp_path / "ratchet.toml").read_text() == '# head\n\n[reached]\n"t/1/a" = 50.0\n"t/1/b" = 70.0\n"t/1/c" = 1.5\n'
    assert files.ratchet() == {"t/1/a": 50.0, "t/1/b": 70.0, "t/1/c": 1.5}
