from __future__ import annotations

from pathlib import Path

import pytest

from sm_gatecheck.checks.cards import Card, load_cards, read_card
from sm_gatecheck.checks.code_rules import is_about_code
from sm_gatecheck.model.verdict import SEVERITY_OF, Verdict
from sm_gatecheck.rulebook import Rulebook, RulesError, shipped_rules
from sm_gatecheck.verdicts.findings import RULE_OF

CARDS = load_cards(Rulebook.open())
WRITTEN = (shipped_rules() / "checks" / "GC102.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("verdict", RULE_OF)
def test_every_rule_of_a_verdict_has_its_card(verdict: Verdict) -> None:
    card = CARDS[RULE_OF[verdict]]
    assert card.severity is SEVERITY_OF[verdict]
    assert card.verdict is verdict


@pytest.mark.parametrize("card", CARDS.values(), ids=lambda card: card.id)
def test_a_card_says_all_that_reports_need(card: Card) -> None:
    assert all((card.title, card.why, card.what_to_do, card.example))
    assert card.mend.format(option="--x", sms="SM120").endswith(".")
    assert "SM120" in card.mend.format(option="--x", sms="SM120") or is_about_code((card.id,))
    if card.mend_with_alternatives:
        assert "a or b" in card.mend_with_alternatives.format(option="--x", sms="SM120", alternatives="a or b")


def test_a_card_of_the_user_takes_the_place_of_the_shipped_one(tmp_path: Path) -> None:
    (tmp_path / "checks").mkdir()
    (tmp_path / "checks" / "GC102.toml").write_text(WRITTEN.replace("Remove {option}", "See the runbook about {option}"), encoding="utf-8")
    cards = load_cards(Rulebook.open(tmp_path))
    assert cards["GC102"].mend.startswith("See the runbook")
    assert cards["GC101"] == CARDS["GC101"]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('id = "GC102"', 'id = "GC900"', "calls itself 'GC900'"),
        ('title = "Option that does', 'titel = "Option that does', "needs 'title'"),
        ('severity = "error"', 'severity = "awful"', "'awful' is not a valid Severity"),
        ('verdict = "noop_with_side_effects"', 'verdict = "bad"', "'bad' is not a valid Verdict"),
        ("mend = ", "mend == ", "GC102.toml"),
        ("{option}", "{opt}", "mend: .opt. cannot"),
        ("{option}", "{option", "mend"),
        ('example = """', 'example = 3 # """', "GC102.toml"),
    ],
)
def test_a_file_that_is_no_card_is_refused_in_one_line(tmp_path: Path, before: str, after: str, said: str) -> None:
    assert before in WRITTEN
    path = tmp_path / "GC102.toml"
    path.write_text(WRITTEN.replace(before, after), encoding="utf-8")
    with pytest.raises(RulesError, match=said) as refusal:
        read_card(path)
    assert "\n" not in str(refusal.value)
