"""What real servers logged: their resolved arguments against the prediction for the launch, model and GPU that they had.

Each server's arguments are written out as it would log them and given to ``gatecheck log`` with the command that started it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tests.truth.score import Disagreement, Score, tally

PREDICTED = ("as declared", "as resolved", "given")
DRAWN = "drawn at each start"
NOT_LOGGED = "not in the log"
TARGET = 100.0
NOT_COLLECTED = frozenset({"custom_weight_loader", "expert_distribution_recorder_buffer_size", "mm_process_config"})
"""The release sets these always (``oracle/resolution`` has them too); whoever collected the logs left them out."""

Ask = Callable[[str, Mapping[str, Any]], Any]
"""The document of ``gatecheck log`` for a server's log (a text), and the server."""


def score(ask: Ask, servers: Iterable[Mapping[str, Any]]) -> tuple[Score, ...]:
    """Fields that a server set by itself, each as predicted or not; and fields left alone that are said to change."""
    set_by_server, left_alone = 0, 0
    wrong: list[Disagreement] = []
    invented: list[Disagreement] = []
    for server in servers:
        rows = {row["field"]: row for row in ask(logged(server), server)["prediction"]["arguments"]}
        for name in server["auto_set"]:
            row = rows[name]
            if row["agreement"] == DRAWN:
                continue
            set_by_server += 1
            if row["agreement"] not in PREDICTED:
                wrong.append(Disagreement(f"{name}: {row['agreement']}", f"{server['id']} {row['logged']!r:.40}: {row['why']:.200}"))
        for name, row in rows.items():
            if (
                row["agreement"] != NOT_LOGGED
                or row["is_given"]
                or name in {*NOT_COLLECTED, *server["probably_explicit_but_command_unknown"]}
            ):
                continue
            left_alone += 1
            if is_said_to_change(row):
                invented.append(Disagreement(f"{name}: said to become {row['predicted'][0]['value']!r}", server["id"]))
    return (
        tally("fields that the server set", set_by_server, wrong, TARGET),
        tally("fields that it left alone", left_alone, invented, TARGET),
    )


def is_said_to_change(row: Mapping[str, Any]) -> bool:
    """One value, known, and another than declared."""
    values = row["predicted"]
    return len(values) == 1 and values[0]["is_known"] and values[0]["value"] != row["declared"] and bool(values[0]["file"])


def logged(server: Mapping[str, Any]) -> str:
    """The line that the server wrote, as far as it is known."""
    fields = ", ".join(f"{name}={value!r}" for name, value in server["auto_set"].items())
    return f"[2026-01-01 00:00:00] server_args=ServerArgs({fields})\n"


def arguments(server: Mapping[str, Any]) -> list[str]:
    """What the server was started with, as words."""
    if server["command"] is not None:
        return list(server["command"])
    words = []
    for name, value in server["engine_kwargs"].items():
        words += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    return words
