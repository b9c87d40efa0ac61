"""The demonstration's own statements: memories that come in their time."""

from __future__ import annotations

from typing import Any

import pytest
from tests.curation_looks import DAY, NOW

from jochi import Jochi
from jochi.database.statements import statement
from jochi.jobs.runner import replay

pytestmark = pytest.mark.server


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
