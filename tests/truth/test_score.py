import pytest

from tests.truth.score import Disagreement, Score, by_fault, line, merge, rounded_down, tally


def test_a_score_must_list_what_it_counts_as_wrong() -> None:
    with pytest.raises(ValueError, match="2 of 3 agree, but 0"):
        Score("t", 2, 3)


def test_nothing_compared_is_behind() -> None:
    assert not tally("t", 0, []).is_reached
    assert "empty" in line("x", tally("t", 0, []))


def test_a_target_just_missed_is_behind_and_not_rounded_up() -> None:
    score = tally("t", 2000, [Disagreement("f", str(i)) for i in range(101)], 95.0)
    assert score.percent == pytest.approx(94.95)
    assert rounded_down(score.percent) == 94.9
    assert not score.is_reached
    assert "behind" in line("x", score)


def test_a_target_exactly_met_is_reached() -> None:
    assert tally("t", 100, [Disagreement("f", str(i)) for i in range(5)], 95.0).is_reached


def test_merge_counts_every_answer() -> None:
    merged = merge("m", [tally("a", 2, [Disagreement("f", "1")]), tally("b", 3, [])])
    assert (merged.agree, merged.total) == (4, 5)


def test_faults_are_grouped_commonest_first() -> None:
    wrong = [Disagreement("rare", "x"), *(Disagreement("common", str(i)) for i in range(4))]
    assert by_fault(tally("t", 9, wrong)) == ["common: 4 (0, 1, 2, …)", "rare: 1 (x)"]
    assert by_fault(tally("t", 9, wrong), examples=None)[0] == "common: 4 (0, 1, 2, 3)"
