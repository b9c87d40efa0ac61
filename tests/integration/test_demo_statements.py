"""The demonstration's own statements: what the audit says was done, what rails held back, and memories that come in their time."""

from __future__ import annotations

from typing import Any

import pytest
from tests.curation_looks import DAY, NOW

from jochi import Jochi
from jochi.database.statements import statement
from jochi.demo.story import Action
from jochi.graph.driver_values import read_as
from jochi.jobs.runner import replay

pytestmark = pytest.mark.server


def record(client: Jochi, run: str, action: str, rule: str, **more: Any) -> None:
    properties = {"run": run, "action": action, "rule": rule, "at": NOW, **more}
    client.database.run("CREATE (a:CurationAudit) SET a = $properties", {"properties": properties})


def actions(client: Jochi) -> set[tuple[Any, ...]]:
    rows = client.database.run(statement("demo/actions"), write=False)
    found = [read_as(Action, row) for row in rows]
    return {(one.action, one.rule, one.kind, one.to, one.replayed, one.n, len(one.keys)) for one in found}


def test_a_record_of_a_budget_counts_every_memory_that_it_moved(jochi: Jochi) -> None:
    moved = {"keys": ["s/a", "s/b", "s/c", "s/d", "s/e"], "n": 5}
    tiers = {"before": ["HOT", "HOT", "HOT", "HOT", "WARM"], "after": ["ARCHIVE"] * 4 + ["COLD"]}
    record(jochi, "replay.enforce_budgets/1", "demote", "budget", **moved, **tiers)
    record(jochi, "enforce_budgets/1", "demote", "budget", keys=["s/a"], n=1, before=["HOT"], after=["ARCHIVE"])
    assert actions(jochi) == {
        ("demote", "budget.HOT", "other", "ARCHIVE", True, 4, 3),
        ("demote", "budget.WARM", "other", "COLD", True, 1, 1),
        ("demote", "budget.HOT", "other", "ARCHIVE", False, 1, 1),
    }


def test_what_rails_held_back_is_counted_by_rail_and_is_no_action(jochi: Jochi) -> None:
    record(jochi, "curate_due/1", "prune", "any.expires_at", key="s/gone", kind="MemoryEntry")
    held = {"action": "protect", "rule": "notification.read", "kind": "Notification"}
    record(jochi, "replay.curate_due/1", key="s/a", rails=["pinned", "consensus"], **held)
    record(jochi, "replay.curate_due/2", key="s/a", rails=["pinned"], **held)
    record(jochi, "replay.curate_due/2", key="s/b", rails=["pinned"], **held)
    record(jochi, "curate_due/1", key="s/b", rails=["consensus"], **held)
    assert actions(jochi) == {("prune", "any.expires_at", "MemoryEntry", None, False, 1, 1)}
    rails = jochi.database.run(statement("demo/rails"), write=False)
    assert rails == [{"rail": "consensus", "replayed": 1, "alone": 1}, {"rail": "pinned", "replayed": 2, "alone": 0}]


def tiers(client: Jochi) -> dict[str, str | None]:
    rows = client.database.run("MATCH (m:Curated) RETURN m.id AS id, m.tier AS tier", write=False)
    return {row["id"]: row["tier"] for row in rows}


def test_budgets_move_no_memory_before_its_time_has_come(jochi: Jochi) -> None:
    made = (("first", NOW, "HOT"), ("second", NOW + DAY, "WARM"), ("third", NOW + 3 * DAY, "HOT"))
    rows = [{"id": id, "at": at, "tier": tier} for id, at, tier in made]
    jochi.database.run(
        "UNWIND $rows AS row CREATE (m:Curated:MemoryEntry {key: 's/' + row.id, scope: 's', id: row.id, created_at: row.at, "
        "tier: row.tier, token_count: 1500, next_due: row.at}) CREATE (:JochiScopeChange {scope: 's', at: row.at})",
        {"rows": rows},
    )
    jochi.database.autocommit(statement("demo/wait"), {"now": NOW})
    assert tiers(jochi) == {"first": "HOT", "second": None, "third": None}
    seen = []

    def arrive(at: Any) -> None:
        jochi.database.run(statement("demo/arrive"), {"now": at, "until": at})
        seen.append((at, tiers(jochi)))

    replay(jochi.engine, {"enforce_budgets": DAY, "curate_due": DAY}, start=NOW, end=NOW + 3 * DAY, before=arrive)
    assert [at for at, _ in seen] == [NOW + days * DAY for days in range(4)], "once for each moment, not for each job"
    assert seen[1][1] == {"first": "HOT", "second": "WARM", "third": None}
    assert tiers(jochi) == {"first": "ARCHIVE", "second": "ARCHIVE", "third": "HOT"}
    left = jochi.database.run("MATCH (m:Curated) WHERE m.demo_tier IS NOT NULL RETURN m", write=False)
    assert left == []
