from pathlib import Path

import pytest

from tests.truth import command


def test_a_command_that_gives_no_json_cannot_be_measured(tmp_path: Path) -> None:
    with pytest.raises(command.CannotMeasure, match=r"^gatecheck check --sm all .*: status [23]: gatecheck: "):
        command.document("check", "--sm", "all", str(tmp_path / "nothing"))


def test_a_release_at_hand_is_read_where_it_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "1.0" / "sglang").mkdir(parents=True)
    monkeypatch.setenv(command.TREES_VARIABLE, str(tmp_path))
    assert command.tree_argument("1.0") == str(tmp_path / "1.0" / "sglang")
    assert command.tree_argument("2.0") == "sglang==2.0"
    monkeypatch.delenv(command.TREES_VARIABLE)
    assert command.tree_argument("1.0") == "sglang==1.0"


def test_settings_are_handed_on_and_each_question_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []

    def document(*arguments: str) -> dict[str, list[str]]:
        asked.append(arguments)
        return {"options": []}

    monkeypatch.setattr(command, "document", document)
    monkeypatch.delenv(command.TREES_VARIABLE, raising=False)
    for _ in range(2):
        command.inventory("0", {"tp_size": 4, "enable_x": True})
        command.context_inventory("0", "llama|tp4")
    assert asked[0] == ("check", "--sm", "all", "sglang==0", "--set", "enable_x=true", "--set", "tp_size=4")
    assert asked[1][:6] == ("check", "--sm", command.ORACLE_SMS, "sglang==0", "--set", "tp_size=4")
    assert Path(asked[1][7]).is_file()
    assert len(asked) == 2
