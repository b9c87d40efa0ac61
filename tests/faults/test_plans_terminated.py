"""Transactions that apply a plan are terminated again and again: what is done is whole, and it goes on where it stopped."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta, timezone

import pytest
from neo4j.exceptions import Neo4jError
from tests.oracle import Memory, graph

from jochi import Jochi
from jochi.curate import saved_plans as plans

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, 30, tzinfo=timezone.utc)
N = 1_500
CUTS = 5
ROUNDS = 20
_TERMINATE = (
    "SHOW TRANSACTIONS YIELD transactionId AS id, currentQuery AS text WHERE text CONTAINS 'UNWIND [one IN entries' "
    "AND NOT text STARTS WITH 'SHOW' RETURN id"
)


class Cutter(threading.Thread):
    """Terminates what applies the plan, as often as ``CUTS``; ``cuts`` counts."""

    def __init__(self, client: Jochi) -> None:
        super().__init__()
        self.client, self.cuts, self.over = client, 0, threading.Event()

    def run(self) -> None:
        while self.cuts < CUTS and not self.over.wait(0.01):
            for row in self.client.database.autocommit(_TERMINATE):
                said = self.client.database.autocommit(f"TERMINATE TRANSACTIONS '{row['id']}'")
                self.cuts += said[0]["message"] == "Transaction terminated."


def test_terminated_again_and_again(jochi: Jochi) -> None:
    """Plan after plan, until one was hit: a quick machine may be through with one before anybody could terminate it."""
    cutter = Cutter(jochi)
    cutter.start()
    failed = 0
    try:
        for turn in range(ROUNDS):
            failed += applied_in_the_end(jochi, turn)
            if cutter.cuts > 0 and failed > 0:
                break
    finally:
        cutter.over.set()
        cutter.join()
    assert cutter.cuts > 0
    assert failed > 0


def applied_in_the_end(jochi: Jochi, turn: int) -> int:
    """Saves a plan over memories of its own and applies it until that is done; how often that was cut off."""
    old = {"read": True, "created_at": NOW - timedelta(days=40)}
    graph.write(jochi.database, [Memory(f"n{turn}-{i:05d}", ("Notification",), old) for i in range(N)], due=NOW)
    saved = jochi.save_plan(jochi.plan(NOW))
    failed = 0
    while jochi.show_plan(saved.id).state != "applied":
        try:
            plans.apply(jochi.engine, saved.id, now=NOW, by="a test", batch=100)
        except Neo4jError:
            failed += 1
        pruned = set(graph.pruned(jochi.database))
        rows = jochi.database.run("MATCH (a:CurationAudit {action: 'prune'}) RETURN a.key AS key")
        assert sorted(row["key"] for row in rows) == sorted(pruned)
    shown = jochi.show_plan(saved.id)
    assert shown.outcomes == {"applied": N}
    assert shown.run is not None
    (run,) = jochi.runs(shown.run)
    assert (run.status, run.changed, run.counts["pruned"]) == ("ok", N, N)
    return failed
