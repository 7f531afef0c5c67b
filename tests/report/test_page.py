"""The HTML matrix as markup; ``test_page_in_a_browser.py`` opens it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from sm_gatecheck.model.report import Report
from sm_gatecheck.model.verdict import Verdict
from sm_gatecheck.report import page
from sm_gatecheck.report.page.markup import anchor, data
from tests.report.samples import DEVICES, hostile_sample, sample

COMMAND = "gatecheck matrix --sm 90,100,120,121 sglang==9.9.9"
VOID = {"meta", "input", "br"}
Attributes = list[tuple[str, "str | None"]]


class Page(HTMLParser):
    """Elements and texts of a page; fails where an element is not closed by its own end."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self._open: list[str] = []
        self.feed(source)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        within = self._open[-1] if self._open else ""
        {"script": self.scripts, "style": self.styles}.get(within, self.texts).append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def buttons(self) -> list[int]:
        return [int(button["data-p"] or "") for button in self.all("button") if "data-p" in button]

    @property
    def proofs(self) -> dict[str, list[list[object]]]:
        found: dict[str, list[list[object]]] = json.loads(self.scripts[0])
        return found


def rendered(report: Report) -> str:
    return page.render(report, DEVICES, COMMAND)


def test_it_needs_nothing_else() -> None:
    source = rendered(sample())
    parsed = Page(source)
    assert not re.search(r"https?:|//[a-z]|@import|url\(", source)
    assert {tag for tag, _ in parsed.elements}.isdisjoint({"link", "img", "iframe", "object", "embed", "base"})
    assert all("src" not in attributes for _, attributes in parsed.elements)
    assert all(str(link["href"]).startswith("#") for link in parsed.all("a"))


def test_its_policy_lets_only_its_own_script_and_style_run() -> None:
    parsed = Page(rendered(sample()))
    policy = next(str(meta["content"]) for meta in parsed.all("meta") if "http-equiv" in meta)
    assert policy.startswith("default-src 'none';")
    for name, (source,) in (("script-src", parsed.scripts[1:]), ("style-src", parsed.styles)):
        digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
        assert f"{name} 'sha256-{digest}'" in policy
    assert not any(name.startswith("on") or name == "style" for _, attributes in parsed.elements for name in attributes)


def test_every_cell_opens_its_proof() -> None:
    report = sample()
    parsed = Page(rendered(report))
    proofs = parsed.proofs
    judged = [judgement for option in report.options for judgement in option.judgements if judgement.verdict is not Verdict.UNGATED]
    defaults = sum(len(option.defaults) for option in report.options)
    assert len(parsed.buttons()) == len(judged) + defaults
    assert set(parsed.buttons()) == set(range(len(proofs["proofs"])))
    for _, lines, effects, _, _ in proofs["proofs"]:
        assert isinstance(lines, list)
        assert isinstance(effects, list)
        assert all(0 <= number < len(proofs["lines"]) for number in lines)
        assert all(0 <= number < len(proofs["effects"]) for number in effects)
    assert len({json.dumps(line) for line in proofs["lines"]}) == len(proofs["lines"])
    assert ["gate", "srt/layers/communicator.py", 31, "_is_sm90 or _is_sm100", "true on SM90, SM100 and SM103"] in proofs["lines"]


@pytest.mark.parametrize("report", [sample(), sample((120,)), hostile_sample()])
def test_places_have_names_of_their_own(report: Report) -> None:
    names = [attributes["id"] for _, attributes in Page(rendered(report)).elements if "id" in attributes]
    assert len(names) == len(set(names))
    assert all(name and not re.search(r"\s", name) for name in names)


def test_a_fragment_is_made_of_a_row_and_a_column() -> None:
    parsed = Page(rendered(sample()))
    assert {"enable_fused_reduce=True", "attention_backend=paged_mla", "attention_backend"} <= {row.get("id") for row in parsed.all("tr")}
    columns = [header["data-sm"] for header in parsed.all("th") if "data-sm" in header]
    assert columns == ["90", "100", "120", "121"] * 2


def test_tables_can_be_read_without_the_script() -> None:
    parsed = Page(rendered(sample()))
    headers = parsed.all("th")
    assert all(header["scope"] in ("col", "row", "rowgroup") for header in headers)
    assert [table["aria-label"] for table in parsed.all("table")] == ["Options by SM", "Defaults by SM"]
    assert "form { display: none; }\n@media (scripting: enabled)" in parsed.styles[0]  # nothing is offered that would not work
    text = " ".join(parsed.texts)
    for words in ("refused", "costs only", "replaced", "nothing", "in part", "works", "?", "–", "--attention-backend", "paged_mla"):
        assert words in text


def test_what_a_tree_says_is_text() -> None:
    source = rendered(hostile_sample())
    parsed = Page(source)
    assert {tag for tag, _ in parsed.elements} <= {tag for tag, _ in Page(rendered(sample())).elements} | {"li", "ul"}
    assert len(parsed.scripts) == 2
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]", source)


@pytest.mark.parametrize("value", ["</script><script>alert(1)</script>", "<!--", "]]>", "\u2028", "&lt;", "\x00"])
def test_data_cannot_end_its_element(value: str) -> None:
    written = data({"a": [value]})
    assert not re.search(r"[<>&\u2028\x00]", written)
    assert json.loads(written) == {"a": [value]}


def test_anchors() -> None:
    assert anchor("a b", "=", "c\td") == "a_b=c_d"
    assert anchor("") == "_"


def test_the_same_report_is_the_same_page() -> None:
    assert rendered(sample()) == rendered(sample())
    assert rendered(sample()).endswith("</html>\n")
