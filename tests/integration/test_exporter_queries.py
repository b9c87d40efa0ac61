"""The queries for neo4j-exporter: one number each, the one that `jochi metrics` has, and none of them reads memories one by one."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
import yaml
from tests.prometheus import EXPORTER
from tests.query_plans import SCANS, SMALL, operators

from jochi import Jochi
from jochi.operate.metrics import registry

pytestmark = [pytest.mark.server, pytest.mark.slow]  # thirty statements are planned

QUERIES: list[dict[str, Any]] = yaml.safe_load(EXPORTER.read_text(encoding="utf-8"))["custom_queries"]


def test_they_say_what_our_own_metrics_say(jochi: Jochi) -> None:
    now = datetime.now(timezone.utc)
    jochi.remember([{"kind": "Notification", "id": f"n{i}", "content": f"text {i}"} for i in range(3)], now=now)
    jochi.database.run(
        "MATCH (m:Curated {scope: 'default'}) SET m.next_due = $now - duration({hours: 1}) "
        "WITH count(*) AS n "
        "CREATE (:JochiPause {what: 'scope', name: 'x'}), (:JochiBudget {scope: 'x', at: $now, above: [0, 7, 0]}), "
        "(:JochiSpent {id: 'memories', at: $now, names: [], counts: [], tokens: []}), "
        "(:JochiSpent {id: 'runs/hygiene', names: [], counts: [], changed_at: $now}), "
        "(:JochiWorker {id: 'w', seen_at: $now, every_s: 60}) "
        "WITH count(*) AS n MATCH (j:JochiJob {name: 'curate_due'}) SET j.started_at = $now, j.failures = 4 "
        "WITH count(*) AS n MATCH (p:JochiPump) WHERE p.name IN [$pump, $watch] "
        "SET p.guard = 'a test', p.guard_at = $now, p.last_tick = $now, p.armed = true",
        {"now": now - timedelta(seconds=1), "pump": jochi.engine.pump, "watch": jochi.engine.watch},
    )
    own = registry(jochi)
    different = []
    for query in QUERIES:
        rows = jochi.database.run(query["query"], write=False)
        assert len(rows) == 1, query["metric_name"]
        wanted = own.get_sample_value(query["metric_name"], query.get("labels"))
        found = rows[0]["value"]
        if (found is None) != (wanted is None) or (found is not None and abs(found - wanted) > 0.001):
            different.append((query["metric_name"], query.get("labels"), found, wanted))
    assert different == []
    assert [own.get_sample_value(f"jochi_{name}") for name in ("memories_due", "workers", "guard_closed")] == [3, 1, 1]


def test_none_of_them_reads_whole_what_grows(jochi: Jochi) -> None:
    for query in QUERIES:
        text = query["query"]
        if text.startswith(("SHOW", "CALL apoc")):
            continue
        scanned = [
            details
            for operator, details in operators(jochi, text)
            if operator in SCANS and not any(f":{label}" in details for label in {*SMALL, "JochiWorker"})
        ]
        assert scanned == [], query["metric_name"]
