from typing import Any

from tests.truth import files
from tests.truth.predicates_score import score
from tests.truth.score import Score


def predicate(name: str, values: dict[str, Any], file: str = "a/b.py", line: int = 1, kind: str = "function") -> dict[str, Any]:
    return {"name": name, "file": file, "line": line, "kind": kind, "values": values}


def scores(truth: list[dict[str, Any]], answer: list[dict[str, Any]]) -> tuple[Score, ...]:
    return score({"predicates": answer}, {"predicates": truth})


def figures(found: tuple[Score, ...]) -> list[tuple[int, int]]:
    return [(item.agree, item.total) for item in found]


def test_the_truth_agrees_with_itself() -> None:
    for name in files.predicate_files():
        truth = files.predicates(name)
        right, given, named = score(truth, truth)
        assert right.is_reached
        assert given.percent == named.percent == 100.0


def test_a_wrong_value_and_a_null_are_told_apart() -> None:
    truth = [predicate("p.f", {"90": True, "100": True, "120": False})]
    found = scores(truth, [predicate("p.f", {"90": True, "100": False, "120": None})])
    assert figures(found) == [(1, 2), (2, 3), (1, 1)]
    assert found[0].disagreements[0].fault == "says False where True"
    assert not found[0].is_reached


def test_numbers_are_no_truth_values() -> None:
    assert figures(scores([predicate("p.f", {"90": True})], [predicate("p.f", {"90": 1})]))[0] == (0, 1)


def test_an_exception_asks_for_no_value_and_takes_none_but_itself() -> None:
    truth = [predicate("p.f", {"90": "raises KeyError", "100": None})]
    assert figures(scores(truth, [predicate("p.f", {"90": None, "100": None})])) == [(0, 0), (0, 0), (1, 1)]
    assert figures(scores(truth, [predicate("p.f", {"90": "raises KeyError: 9"})]))[0] == (1, 1)
    assert figures(scores(truth, [predicate("p.f", {"90": True})]))[0] == (0, 1)


def test_a_predicate_is_found_by_file_and_short_name_and_not_by_short_name_alone() -> None:
    truth = [predicate("p.b.f", {"90": True})]
    assert figures(scores(truth, [predicate("p.a.f", {"90": True})]))[2] == (1, 1)
    assert figures(scores(truth, [predicate("p.a.f", {"90": True}, file="a/c.py")]))[2] == (0, 1)


def test_an_attribute_without_a_file_is_found_where_one_alone_has_its_name() -> None:
    truth = [predicate("p.get().is_x", {"90": True}, file="", kind="platform")]
    one = predicate("p.Platform.is_x", {"90": True}, kind="property")
    assert figures(scores(truth, [one]))[2] == (1, 1)
    assert figures(scores(truth, [one, predicate("q.Other.is_x", {"90": False}, kind="method")]))[2] == (0, 1)
    assert figures(scores(truth, [predicate("p.is_x", {"90": True}, kind="constant")]))[2] == (0, 1)
