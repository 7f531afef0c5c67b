from __future__ import annotations

import pytest

from sm_gatecheck.model.report import PredicateRow
from sm_gatecheck.report import predicate_list
from tests.report.golden import assert_golden
from tests.report.samples import sample

SMS = (75, 80, 90, 100, 120)
BELOW_90 = ((75, "not defined"), (80, "not defined"))


def row(name: str, kind: str, line: int, values: tuple[object, ...], undecided: tuple[tuple[int, str], ...] = ()) -> PredicateRow:
    return PredicateRow(f"sglang.srt.utils.common.{name}", "srt/utils/common.py", line, kind, tuple(zip(SMS, values)), undecided)  # type: ignore[arg-type]


ROWS = (
    row("is_pairing_supported", "function", 7, (False, False, True, True, False)),
    row("CAPABILITY", "constant", 9, ((7, 5), (8, 0), (9, 0), (10, 0), (12, 0))),
    row("row_major", "function", 12, (7, 8, 9, 10, 12)),
    row("pair_backend", "function", 20, ("plain", "plain", "paired", "paired", "plain")),
    row("wide_rows", "function", 31, (None, None, True, None, False), (*BELOW_90, (100, "rows.width > 4"))),
    row("required_rows", "function", 40, ("raises ValueError", "raises ValueError", True, True, False)),
    PredicateRow(
        "sglang.srt.layers.a_layer_whose_name_goes_on.AndAClassWithALongName.and_a_property",
        "srt/layers/a_layer_whose_name_goes_on.py",
        3,
        "property",
        tuple(zip(SMS, (False, False, False, True, True))),
    ),
    PredicateRow(
        "sglang.srt.layers.open.depth", "srt/layers/open.py", 5, "property", tuple((sm, None) for sm in SMS), tuple((sm, "x") for sm in SMS)
    ),
)


@pytest.mark.parametrize("width", [80, 160])
def test_text(width: int) -> None:
    text = predicate_list.text(sample().source, "12.9", ROWS, width, False)
    assert max(map(len, text.splitlines())) <= width
    assert_golden(f"predicates-{width}.txt", text)


def test_few_columns_leave_room_and_many_do_not_at_forty() -> None:
    narrow = predicate_list.text(sample().source, "12.9", ROWS, 30, False)
    assert "True on SM90 and SM100" in " ".join(narrow.split())
