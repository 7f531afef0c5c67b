"""One test a kind of predicate, on trees of a few lines."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

from sm_gatecheck.model.report import PredicateRow, Source
from sm_gatecheck.trees.tree import Tree
from sm_gatecheck.verdicts.predicates import predicates
from sm_gatecheck.verdicts.request import Request

SMS = (75, 80, 89, 90, 100, 107, 120)


def found(cuda: str = "12.9", **files: str) -> dict[str, PredicateRow]:
    """The predicates of a tree by name without ``sglang.srt.``; ``files`` are modules under srt/."""
    texts = {f"srt/{name}.py": dedent(text).encode() for name, text in files.items()}
    tree = Tree(Source("tree", "package", None), texts)
    rows = predicates(tree, Request(sms=SMS, cuda=cuda, use_cache=False, processes=1))
    return {row.name.removeprefix("sglang.srt."): row for row in rows}


def values(row: PredicateRow) -> dict[int, Any]:
    return dict(row.values)


def true_on(row: PredicateRow) -> set[int]:
    assert all(value in (True, False) for _, value in row.values), row
    return {sm for sm, value in row.values if value}


def test_what_is_defined_under_a_test_is_null_where_the_test_fails() -> None:
    rows = found(
        rows="""
        import torch

        if torch.cuda.get_device_capability()[0] >= 10:

            def row_layout():
                return "paired"

            ROW_WIDTH = 4
        """
    )
    for name, value in (("rows.row_layout", "paired"), ("rows.ROW_WIDTH", 4)):
        assert values(rows[name]) == {sm: value if sm >= 100 else None for sm in SMS}
        assert rows[name].reason == "on SM75, SM80, SM89, SM90: not defined"


def test_what_raises_says_so_on_the_sms_where_it_does() -> None:
    rows = found(
        rows="""
        import torch

        SIZES = {9: 16, 10: 32}

        def _checked_major():
            major, _ = torch.cuda.get_device_capability()
            if major < 9:
                raise ValueError("too old")
            return major

        def row_count():
            return _checked_major() * 2

        def row_size():
            return SIZES[torch.cuda.get_device_capability()[0]]

        def spared():
            try:
                return row_count() > 18
            except ValueError:
                return False
        """
    )
    assert values(rows["rows.row_count"]) == {**dict.fromkeys((75, 80, 89), "raises ValueError"), 90: 18, 100: 20, 107: 20, 120: 24}
    assert values(rows["rows.row_size"]) == {**dict.fromkeys((75, 80, 89, 120), "raises KeyError"), 90: 16, 100: 32, 107: 32}
    assert true_on(rows["rows.spared"]) == {100, 107, 120}


def test_a_function_that_only_checks_is_none() -> None:
    rows = found(
        rows="""
        import torch

        def check_rows():
            if torch.cuda.get_device_capability()[0] < 9:
                raise ValueError("too old")
        """
    )
    assert rows == {}


def test_a_list_that_may_have_been_filled_does_not_raise() -> None:
    rows = found(
        rows="""
        import torch

        def first_row(count=3):
            rows = []
            fill(rows)
            return rows[0] if torch.cuda.get_device_capability()[0] >= 9 else 7
        """
    )
    assert values(rows["rows.first_row"]) == {sm: 7 if sm < 90 else None for sm in SMS}


def test_a_handler_around_what_cannot_fail_is_dead() -> None:
    rows = found(
        rows="""
        import torch
        import triton
        from functools import lru_cache

        @lru_cache(maxsize=None)
        def vendor():
            try:
                return triton.runtime.driver.active.get_current_target().backend
            except BaseException:
                return "none"

        def major():
            try:
                device = torch.cuda.current_device()
                found, _ = torch.cuda.get_device_capability(device)
            except Exception:
                found = 0
            return found

        def measured():
            try:
                return torch.cuda.get_device_capability()[0] + probe()
            except Exception:
                return 0

        IS_WIDE = vendor() == "cuda" and major() >= 9
        """
    )
    assert true_on(rows["rows.IS_WIDE"]) == {90, 100, 107, 120}
    assert values(rows["rows.major"])[120] == 12
    assert "rows.measured" not in rows


def test_a_global_that_only_an_initialiser_makes() -> None:
    rows = found(
        traits="""
        import torch
        from contextlib import contextmanager
        from dataclasses import dataclass

        @dataclass
        class Traits:
            major: int
            minor: int

        def _prepare():
            global _TRAITS
            major, minor = torch.cuda.get_device_capability()
            _TRAITS = Traits(major, minor)

        @contextmanager
        def other_traits(major):
            global _TRAITS
            kept = traits()
            _TRAITS = Traits(major, 0)
            yield
            _TRAITS = kept

        def traits():
            _prepare()
            return _TRAITS
        """,
        rows="""
        from sglang.srt.traits import traits

        def is_wide():
            return traits().major >= 10
        """,
    )
    assert true_on(rows["rows.is_wide"]) == {100, 107, 120}


def test_a_placeholder_that_the_first_call_fills() -> None:
    rows = found(
        rows="""
        import torch

        _ready = None
        _kernel = None

        def _load():
            global _ready, _kernel
            if _ready is None:
                try:
                    from flashinfer.rows import kernel

                    _kernel = kernel
                    _ready = torch.cuda.get_device_capability()[0] >= 9
                except (ImportError, RuntimeError):
                    _ready = False
            return _ready, _kernel, 1, 2

        def is_loaded():
            ready, kernel, *_ = _load()
            return bool(ready and kernel is not None)
        """
    )
    assert true_on(rows["rows.is_loaded"]) == {90, 100, 107, 120}


def test_a_name_bound_again_further_down_has_its_earlier_value_above() -> None:
    rows = found(
        rows="""
        import torch

        kind = "wide"
        IS_WIDE = kind == "wide" and torch.cuda.get_device_capability()[0] >= 10
        kind = "narrow"
        """
    )
    assert true_on(rows["rows.IS_WIDE"]) == {100, 107, 120}


def test_optional_packages_have_what_is_asked_of_them() -> None:
    rows = found(
        rows="""
        import torch

        def _has_rows():
            try:
                import deep_gemm
            except (ImportError, OSError):
                return False
            return all(callable(getattr(deep_gemm, name, None)) for name in ("row_sum", "row_max"))

        def is_wide():
            import deep_gemm
            return torch.cuda.get_device_capability()[0] >= 10 and _has_rows() and hasattr(deep_gemm, "rows")
        """
    )
    assert true_on(rows["rows.is_wide"]) == {100, 107, 120}


def test_a_named_tuple_is_a_tuple() -> None:
    rows = found(
        traits="""
        import torch
        from typing import NamedTuple

        class Pair(NamedTuple):
            major: int
            minor: int

        def pair():
            return Pair(*torch.cuda.get_device_capability())

        def is_newer():
            return pair() >= (8, 9)

        def first():
            major, minor = pair()
            return major
        """
    )
    assert values(rows["traits.pair"])[107] == (10, 7)
    assert true_on(rows["traits.is_newer"]) == {89, 90, 100, 107, 120}
    assert values(rows["traits.first"])[89] == 8


def test_the_name_of_the_gpu_tells_what_all_products_of_an_sm_share() -> None:
    rows = found(
        rows="""
        import torch

        IS_OURS = "NVIDIA H" in torch.cuda.get_device_name(0) or torch.cuda.get_device_capability()[0] >= 10
        IS_OTHER = "ZW" in torch.cuda.get_device_name() or torch.cuda.get_device_capability()[0] == 9
        """
    )
    assert values(rows["rows.IS_OURS"]) == {75: False, 80: False, 89: False, 90: None, 100: True, 107: True, 120: True}
    assert "in the name of the GPU" in (rows["rows.IS_OURS"].reason or "")
    assert true_on(rows["rows.IS_OTHER"]) == {90}


def test_shared_memory_goes_with_the_sm_where_it_is_published() -> None:
    rows = found(
        rows="""
        import torch

        def is_small():
            traits = torch.cuda.get_device_properties(0)
            return getattr(traits, "shared_memory_per_block_optin", None) < 128 * 1024
        """
    )
    assert values(rows["rows.is_small"]) == {75: True, 80: False, 89: True, 90: False, 100: False, 107: None, 120: True}


def test_the_cuda_version_counts() -> None:
    text = """
    import torch

    def is_paired():
        return torch.cuda.get_device_capability()[0] == 10 and torch.version.cuda >= "12.8"
    """
    assert true_on(found(rows=text)["rows.is_paired"]) == {100, 107}
    assert "rows.is_paired" not in found("12.4", rows=text)


def test_tests_and_the_diffusion_server_are_not_searched() -> None:
    text = "import torch\nIS_WIDE = torch.cuda.get_device_capability()[0] >= 10\n"
    files = {path: text.encode() for path in ("srt/rows.py", "test/rows.py", "multimodal_gen/runtime/rows.py", "srt/latest/rows.py")}
    tree = Tree(Source("tree", "package", None), files)
    rows = predicates(tree, Request(sms=SMS, use_cache=False, processes=1))
    assert [row.file for row in rows] == ["srt/latest/rows.py", "srt/rows.py"]


def test_every_null_has_a_reason() -> None:
    rows = found(
        rows="""
        import torch

        class Rows:
            def __init__(self, layer):
                self.is_paired = torch.cuda.get_device_capability()[0] >= 9 and layer.is_wide

            def depth(self):
                return None if torch.cuda.get_device_capability()[0] < 9 else 3
        """
    )
    assert rows["rows.Rows.is_paired"].reason == "on SM90, SM100, SM107, SM120: layer.is_wide"
    assert rows["rows.Rows.depth"].reason == "on SM75, SM80, SM89: None"
