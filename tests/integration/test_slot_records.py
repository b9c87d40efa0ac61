"""What moves in a slot is on record: what was written or came due, and what lies next to it (docs/reference/audit-and-undo.md)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.oracle import graph
from tests.slot_looks import DAY, MADE, NOW, fact, remember, settle

from jochi import Jochi
from jochi.graph.driver_values import to_python
from jochi.policy import LoadedPolicy

pytestmark = pytest.mark.server


def slots(client: Jochi) -> list[dict[str, Any]]:
    found = [to_python(each) for each in graph.audits(client.database, lists=True)]
    return [each for each in found if each["action"] == "slot"]


def moves(record: dict[str, Any]) -> dict[str, tuple[str, str]]:
    assert len(record["keys"]) == record["n"]
    return {
        key: (before, after)
        for key, before, after in zip(record["keys"], record["before"], record["after"], strict=True)
    }


def test_who_is_superseded_is_on_record_though_nobody_named_it(jochi: Jochi) -> None:
    remember(jochi, [fact("a", "Rome", 1)])
    [first] = slots(jochi)
    assert moves(first) == {"default/a": ("none", "active")}
    remember(jochi, [fact("b", "Oslo", 2)], NOW + DAY)
    [_, second] = slots(jochi)
    assert moves(second) == {"default/a": ("active", "superseded"), "default/b": ("none", "active")}
    assert (second["rule"], second["procedure"], second["at"]) == ("slots.asked", "memory/supersede", NOW + DAY)
    assert second["policy"] == jochi.engine.state().pump["policy"]
    assert second["procedure_version"]
    assert not any("Rome" in str(value) for value in second.values())
    assert [row.outcome for row in jochi.undo(second["run"], dry_run=True).rows] == ["derived", "derived"]


def test_a_stretch_that_only_ends_earlier_stands_as_before(jochi: Jochi) -> None:
    remember(jochi, [fact("a", "Rome", 1), fact("c", "Bonn", 9)])
    remember(jochi, [fact("b", "Oslo", 5)], NOW + DAY)
    assert moves(slots(jochi)[-1]) == {
        "default/a": ("superseded", "superseded"),
        "default/b": ("none", "superseded"),
    }


def test_where_nothing_moves_there_is_no_record(jochi: Jochi) -> None:
    remember(jochi, [fact("a", "Rome", 1)])
    n = len(slots(jochi))
    jochi.supersede(["default/a"], now=NOW)
    assert len(slots(jochi)) == n


def test_what_begins_in_its_time_and_whom_it_supersedes(jochi: Jochi) -> None:
    jochi.apply()
    begins = NOW + 2 * DAY
    remember(jochi, [fact("a", "Rome", 1), fact("b", "Oslo", (begins - MADE) / DAY)])
    settle(jochi, begins)
    record = slots(jochi)[-1]
    assert moves(record) == {"default/a": ("active", "superseded"), "default/b": ("none", "active")}
    assert (record["rule"], record["at"]) == ("slots.due", begins)
    assert [run.job for run in jochi.runs(run=record["run"])] == ["settle_slots"]
    n = len(slots(jochi))
    settle(jochi, begins + DAY)
    assert len(slots(jochi)) == n


def test_at_the_level_destructive_slots_and_pairs_are_not_on_record(
    install_once: Callable[[LoadedPolicy], Jochi], destructive_only: LoadedPolicy
) -> None:
    client = install_once(destructive_only)
    remember(client, [fact("a", "Rome", 1)])
    remember(client, [fact("b", "Oslo", 2)])
    assert slots(client) == []
