"""The exit criteria of seed 000, judged on what is in the graph and not on what the engine says of itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from tests.oracle.memory import Memory
from tests.oracle.rails import RAILS

from jochi import Jochi
from jochi.graph.driver_values import to_python

BUDGETS = {"HOT": 1600, "WARM": 400, "COLD": 200}

_TOKENS = """
MATCH (m:Curated) WHERE m.tier IN ['HOT', 'WARM', 'COLD'] AND NOT coalesce(m.pinned, false)
RETURN m.scope AS scope, m.tier AS tier, sum(m.token_count) AS tokens
"""
_READ = "MATCH (n:Curated:Notification) WHERE n.read = true AND n.read_at < $since RETURN properties(n) AS p, labels(n) AS labels"
_DONE = """
MATCH (t:Curated:Task) WHERE t.status = 'completed' AND t.completed_at < $since AND NOT coalesce(t.state = 'archived', false)
  AND NOT EXISTS { MATCH (t)-[:LEARNED_FROM]-(x) WHERE NOT x:Tombstone }
RETURN properties(t) AS p, labels(t) AS labels
"""
_PRUNED = """
MATCH (a:CurationAudit {action: 'prune'}) WHERE a.at = $at
MATCH (t:Tombstone {key: a.key})
OPTIONAL MATCH (t)--(agent:Agent)
RETURN properties(t) AS p, a.labels AS labels, a.at AS at, collect(DISTINCT agent.id) AS agents
"""


@dataclass(frozen=True)
class Criterion:
    """One line of the seed, whether it holds, and the figure."""

    what: str
    holds: bool
    figure: str


def over_budget(client: Jochi) -> list[str]:
    """Scopes and tiers above their budget by what isn't pinned."""
    rows = client.database.run(_TOKENS, write=False)
    return [f"{r['scope']} {r['tier']} {r['tokens']}" for r in rows if r["tokens"] > BUDGETS[r["tier"]]]


def stale_notifications(client: Jochi, now: datetime, slack: timedelta) -> list[str]:
    """Read more than seven days ago (and a schedule's step), with no rail that protects them, and still there."""
    return _unprotected(client, _READ, now - timedelta(days=7) - slack, now)


def unarchived_tasks(client: Jochi, now: datetime, slack: timedelta) -> list[str]:
    """Completed more than fourteen days ago, nothing learned from them, not protected, not archived."""
    return _unprotected(client, _DONE, now - timedelta(days=14) - slack, now)


def _unprotected(client: Jochi, text: str, since: datetime, now: datetime) -> list[str]:
    rows = client.database.run(text, {"since": since}, write=False)
    return [memory.key for memory in map(_memory, rows) if not _held(memory, now)]


def protected_and_pruned(client: Jochi, at: datetime) -> tuple[int, list[str]]:
    """How many were pruned at ``at``, and those of them that a rail of the oracle protected then.

    To be asked at once: accesses of what is pruned are counted on its tombstone, and can make a rail of it later.
    """
    rows = client.database.run(_PRUNED, {"at": at}, write=False)
    wrong = []
    for row in rows:
        memory, at = _memory(row), to_python(row["at"])
        if held := _held(memory, at):
            wrong.append(f"{memory.key} ({', '.join(sorted(held))})")
    return len(rows), wrong


def _memory(row: dict[str, Any]) -> Memory:
    p = to_python(row["p"])
    labels = tuple(label for label in row["labels"] if label != "Curated")
    return Memory(p["id"], labels, p, tuple(row.get("agents") or ()), scope=p["scope"])


def _held(memory: Memory, at: datetime) -> set[str]:
    return {name for name, blocks in RAILS.items() if blocks(memory, at)}
