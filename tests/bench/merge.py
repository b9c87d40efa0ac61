"""What a merge of two memories with 20 relationships costs, beside the same merge written by hand as one transaction.

By hand: both nodes locked, relationships made anew and the old ones deleted, counts added, tags united, the other labelled
as a tombstone and
one record written; no rails, no vectors, no copies for the way back. Both send one transaction a pair, turn by turn.
"""

from __future__ import annotations

import time
from datetime import datetime, timedelta, timezone
from statistics import median

from rich.table import Table

from jochi import Jochi
from jochi.database.database import Database, in_one_map

NOW = datetime(2026, 6, 1, 12, tzinfo=timezone.utc)
ROUNDS = 150
WARM_UP = 60
RELATIONSHIPS = 20
DENSE = 100_000

_PAIRS = """
UNWIND range(1, $n) AS i
CREATE (a:Curated:MemoryEntry {key: $scope + '/a' + i, scope: $scope, id: 'a' + i, content: 'text ' + i, content_hash: 'a' +
i, tier: 'WARM',
  created_at: $made - duration('P1D'), confidence: 1.0,
  access_count: 3, tags: ['x', 'y'], agents: ['ann'], last_accessed_at: $made, revision:
  1, next_due: $far})
CREATE (b:Curated:MemoryEntry {key: $scope + '/b' + i, scope: $scope, id: 'b' + i, content: 'text ' + i, content_hash: 'b' +
i, tier: 'HOT',
  created_at: $made, access_count: 4, tags: ['y', 'z'], agents: ['bob'], last_accessed_at: $made, revision: 1, next_due: $far})
WITH a, b, i
CALL (a, b, i) {
  UNWIND range(1, $relationships / 2) AS j
  CREATE (c:Curated:MemoryEntry {key: $scope + '/c' + i + '-' + j, scope: $scope, id: 'c' + i + '-' + j, content: 'other',
  created_at: $made, next_due: $far})
  CREATE (b)-[:ABOUT {weight: j, since: $made, note: 'as said'}]->(c)
  CREATE (c)-[:CAUSED {weight: j, since: $made}]->(b)
}
CREATE (a)-[:SIMILAR_TO {score: 0.99, same_text: true, found_at: $made, seen_at: $made, start_hash: a.content_hash, end_hash:
b.content_hash,
  verdict: 'merge', reasons: [], guard: 'same text', judged_at: $made, merge_due: $due}]->(b)
"""

_BY_HAND = """
MATCH (a:Curated {key: $kept})
MATCH (b:Curated {key: $lost})
REMOVE a.hand_lock
REMOVE b.hand_lock
WITH a, b
CALL (a, b) {
  MATCH (b)-[r]->(x) WHERE x <> a
  CREATE (a)-[n:$(type(r))]->(x)
  SET n = properties(r)
}
CALL (a, b) {
  MATCH (b)<-[r]-(x) WHERE x <> a
  CREATE (a)<-[n:$(type(r))]-(x)
  SET n = properties(r)
}
CALL (b) {
  MATCH (b)-[r]-()
  DELETE r
}
SET a.access_count = coalesce(a.access_count, 0) + coalesce(b.access_count, 0),
    a.tags = reduce(all = [], tag IN coalesce(a.tags, []) + coalesce(b.tags, []) | CASE WHEN tag IN all THEN all ELSE all +
    tag END),
    a.agents = reduce(all = [], tag IN coalesce(a.agents, []) + coalesce(b.agents, []) | CASE WHEN tag IN all THEN all ELSE
    all + tag END),
    a.last_accessed_at = CASE WHEN b.last_accessed_at > a.last_accessed_at THEN b.last_accessed_at ELSE a.last_accessed_at END,
    a.tier = CASE WHEN b.tier = 'HOT' THEN 'HOT' ELSE a.tier END, a.revision = a.revision + 1,
    a.merged_from = coalesce(a.merged_from, []) + b.key
SET b.tombstone = true, b.deleted_at = $now, b.tombstone_labels = labels(b), b.merged_into = a.key, b:Tombstone
REMOVE b:Curated, b:MemoryEntry
CREATE (:CurationAudit {id: randomUUID(), key: b.key, into: a.key, action: 'merge', at: $now})
RETURN count(*) AS merged
"""


def merge(client: Jochi, table: Table) -> None:
    """Adds the figures of this part."""
    client.install(arm=False)
    wipe(client.database)
    n = ROUNDS + WARM_UP
    parameters = {
        "n": n,
        "made": NOW - timedelta(days=30),
        "far": NOW + timedelta(days=3650),
        "relationships": RELATIONSHIPS,
    }
    client.database.run(_PAIRS, parameters | {"scope": "ours", "due": NOW})
    client.database.run(_PAIRS, parameters | {"scope": "hand", "due": None})
    # What the breaker would say of so many is no part of what is measured.
    client.database.run(
        "CREATE (:JochiQuota {key: 'ours/MemoryEntry', scope: 'ours', kind: 'MemoryEntry', hours: [], counts: [], population: "
        "1000000, population_hour: $hour, lift_left: 0})",
        {"hour": int(NOW.timestamp()) // 3600},
    )
    act = client.engine.text("dedup/merge_duplicates", "act")
    ours, hand = [], []
    for i in range(1, n + 1):
        started = time.perf_counter()
        given = {"now": NOW, "keys": [f"ours/a{i}"], "run": f"bench/{i}", "policy": "bench", "job": {}}
        [done] = client.database.run(act, in_one_map(given))
        middle = time.perf_counter()
        [by_hand] = client.database.run(_BY_HAND, {"kept": f"hand/a{i}", "lost": f"hand/b{i}", "now": NOW})
        assert (done["changed"], by_hand["merged"]) == (1, 1), done
        ours.append(middle - started)
        hand.append(time.perf_counter() - middle)
    mine, other = (median(times[WARM_UP:]) * 1000 for times in (ours, hand))
    figure = f"{mine:.1f} ms, by hand {other:.1f} ms: {mine / other:.2f}×"
    table.add_row(f"merge of a pair with {RELATIONSHIPS} relationships", figure, "≤ 2×")
    lost = [f"ours/b{i}" for i in range(WARM_UP, n + 1)]
    back = []
    for key in lost:
        started = time.perf_counter()
        [answer] = client.unmerge([key], now=NOW)
        assert (answer.outcome, answer.relationships) == ("unmerged", RELATIONSHIPS + 1), answer
        back.append(time.perf_counter() - started)
    table.add_row("unmerge of one", f"{median(back[20:]) * 1000:.1f} ms", "")


_DENSE = """
CREATE (a:Curated:MemoryEntry {key: 'd/a', scope: 'd', id: 'a', content: 'text', content_hash: 'a',
  created_at: $made, next_due: $far})
CREATE (b:Curated:MemoryEntry {key: 'd/b', scope: 'd', id: 'b', content: 'text', content_hash: 'b',
  created_at: $made, next_due: $far})
CREATE (a)-[:SIMILAR_TO {score: 0.99, same_text: true, found_at: $made, seen_at: $made, start_hash: 'a', end_hash: 'b',
  verdict: 'merge', reasons: [], guard: 'same text', judged_at: $made, merge_due: $due}]->(b)
CREATE (:JochiMerging {id: 'bench', from: 'd/b', into: 'd/a', state: 'copying', started_at: $due, copies: 0})
"""
_TIES = """
MATCH (b:Curated {key: $key})
UNWIND range(1, $n) AS j
CREATE (b)-[:ABOUT {weight: j, since: $made, note: 'as said'}]->(:Thing {name: j})
"""


def dense(client: Jochi, table: Table) -> None:
    """Adds the figures of one with 100,000 relationships that goes into another that has as many of its own."""
    client.install(arm=False)
    wipe(client.database)
    made = NOW - timedelta(days=30)
    client.database.run(_DENSE, {"made": made, "far": NOW + timedelta(days=3650), "due": NOW})
    for key in ("d/a", "d/b"):
        for _part in range(DENSE // 10_000):
            client.database.run(_TIES, {"key": key, "n": 10_000, "made": made})
    act = client.engine.text("dedup/merge_duplicates", "act")
    given = in_one_map({"now": NOW, "keys": ["d/a"], "run": "bench/d", "policy": "bench", "job": {}})
    times = []
    while not client.database.run("MATCH (t:Tombstone {key: 'd/b'}) RETURN count(t) AS n")[0]["n"]:
        started = time.perf_counter()
        [done] = client.database.run(act, given)
        times.append(time.perf_counter() - started)
        assert done["changed"] > 0, done
    _add(table, "merge", times)
    times, more = [], True
    while more:
        started = time.perf_counter()
        answer = client.engine.call(
            "memory/unmerge",
            {"now": NOW, "keys": ["d/b"], "dry_run": False, "run": "bench/u", "hold": False, "audits": None},
        )
        times.append(time.perf_counter() - started)
        more = answer["results"][0]["more"]
    _add(table, "unmerge", times)


def _add(table: Table, what: str, times: list[float]) -> None:
    longest = f"longest {max(times[1:]):.2f} s, the first (planned) {times[0]:.2f} s, the last {times[-1]:.2f} s"
    figure = f"{sum(times):.1f} s in {len(times)} transactions: {longest}"
    table.add_row(f"{what} of one with {DENSE:,} relationships", figure, "")


def wipe(database: Database) -> None:
    """Takes memories and what was written about them out."""
    database.autocommit(
        "MATCH (n) WHERE n:Curated OR n:Tombstone OR n:CurationAudit OR n:CurationSnapshot OR n:JochiMerged "
        "OR n:JochiMerging OR n:JochiQuota OR n:JochiScopeChange "
        "CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 10000 ROWS"
    )


def main() -> None:
    """On a server of its own."""
    from rich.console import Console
    from tests.own_server import own_server

    table = Table("what", "figure", "wanted")
    with own_server("bench-merge") as client:
        merge(client, table)
        dense(client, table)
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
