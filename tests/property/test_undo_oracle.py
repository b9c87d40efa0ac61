"""Whatever jobs and calls did with a random graph, undoing their runs, the newest first, gives the graph back (DESIGN §10, §12)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests import merge_graph, native_values
from tests.conftest import say_go
from tests.oracle import Memory, graph
from tests.oracle.strategies import batches, firsts, nows
from tests.tally import expect_all_seen

from jochi import Jochi
from jochi.database.database import in_one_map
from jochi.jobs.runner import run_job
from jochi.text.content import content_hash
from jochi.undo import undo as undoing
from jochi_workers.handler import Result
from jochi_workers.queue import Queue

pytestmark = pytest.mark.server

DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)
FAR = timedelta(days=3650)
JOBS = (
    *("curate_due", "enforce_budgets", "sweep_orphans", "hygiene", "settle_slots", "fold_accesses", "roll_access_days"),
    *("decay_edges", "schedule_edges", "merge_duplicates", "find_duplicates", "requeue", "requeue_slots", "requeue_duplicates"),
)  # fmt: skip
CALLS = ("compress", "restore", "touch")
ALWAYS = (
    *("curate_due", "hygiene", "merge_duplicates", "touch", "fold_accesses", "decay_edges", "compress", "restore"),
    "sweep_orphans",
)
"""What happens in every case, before what is drawn."""
BOOKKEEPING = {
    *("next_due", "last_curated_at", "curation_action", "hold_until", "similar_due", "prepare_due", "embed_due"),
    *(
        "revision",
        "tier_reason",
        "tier_from",
        "tier_at",
        "mvs",
        "mvs_at",
        "mvs_low_at",
        "curation_rails",
        "needs_compression",
    ),
    *("needs_improvement", "slot_due"),
}
"""What the engine writes anew instead of putting it back."""
OF_ACCESSES = {
    *("access_count", "access_days", "access_day", "access_count_7d", "last_accessed_at", "prev_accessed_at", "agents"),
    *("recall_count", "recall_frequency", "last_recalled_at", "last_recall_interval", "decay_gradient", "salience"),
    *("access_windows", "salience_at", "confidence", "confidence_at"),
}
"""What was counted is a fact: nobody takes an access back."""
OF_FLAGS = {"unlinked", "held_by", "merge_due", "seen_at"}
"""What a look at a pair of duplicates notes."""
ANSWERS = {"undone", "as_before", "derived", "no_record", "purged", "gone", "merge_again", "compress_again"}
"""Of what was purged the other records say that it is gone."""
ACTIONS = {
    *("prune", "archive", "demote", "flag", "state", "repair", "archive_edge", "merge", "compress", "restore"),
    *("unarchive", "promote", "unflag", "unrepair", "unarchive_edge"),
}
"""What must have been taken back at least once, for the test to say anything; the second line: by undoing an undo."""
GENTLE: dict[str, Any] = {
    "deadline": None,
    "phases": [Phase.explicit, Phase.reuse, Phase.generate],
    "suppress_health_check": list(HealthCheck),
    "print_blob": True,
}


@dataclass(frozen=True)
class Case:
    """A random graph, what happens to it, and how that is taken back."""

    now: datetime
    memories: list[Memory]
    natives: list[list[str]]
    first: dict[str, datetime | None]
    done: list[tuple[str, int]]
    purges: int
    since: bool
    cuts: list[int]
    again: bool


@st.composite
def cases(draw: st.DrawFn) -> Case:
    now = draw(nows)
    found = draw(batches(now, 12, 20))
    return Case(
        now=now,
        memories=found,
        natives=[draw(st.lists(st.sampled_from(native_values.NAMES), max_size=3)) for _ in found],
        first=draw(firsts(now)),
        done=draw(st.lists(st.tuples(st.sampled_from(JOBS + CALLS), st.integers(0, 3)), min_size=3, max_size=10)),
        purges=draw(st.sampled_from([0, 0, 1, 3])),
        since=draw(st.booleans()),
        cuts=draw(st.lists(st.integers(1, 4), max_size=3)),
        again=draw(st.booleans()),
    )


def cast(now: datetime) -> list[Memory]:
    """For each action one memory that it happens to, whatever else is drawn."""
    old = {"created_at": now - 40 * DAY, "tier": "HOT"}
    twin = {"content": "one text", "content_hash": content_hash("one text")}
    away = {"state": "archived", "archived_at": now - DAY, "salience": 0.2, "salience_at": now - DAY}
    unused = {"last_accessed_at": now - 30 * DAY, "access_count": 1, "content": "x"}
    dull = {"consolidated": False, "tier": "ARCHIVE"}
    long = {"content": "long " * 99, "tier": "ARCHIVE", "token_count": 90_000, "content_hash": "h"}
    made = [
        ("prune", ("Notification", "Urgent"), {"read": True}),
        ("archive", ("Task",), {"status": "completed", "completed_at": now - 20 * DAY}),
        ("demote", ("MemoryEntry",), unused),
        ("flag", ("Reflection",), dull),
        ("flag2", ("Reflection",), dull | {"needs_consolidation": "perhaps"}),
        ("state", ("Concept",), away),
        ("idea", ("Concept",), {}),
        ("repair", ("MemoryEntry",), {"tier": "LUKEWARM", "token_count": -5, "content": "y"}),
        ("twin1", ("MemoryEntry",), twin | {"access_count": 1}),
        ("twin2", ("MemoryEntry",), twin | {"access_count": 3, "created_at": now - 41 * DAY}),
        ("orphan", ("CompressedContext",), {}),
        ("long", ("CompressedContext",), long),
    ]
    return [Memory(id, labels, old | held, scope="cast") for id, labels, held in made]


WAITING = ("twin1", "twin2", "state", "idea", "repair", "long")
"""Of the cast those that no rule is to look at: something else happens to them."""
_TIES = """
MATCH (a:Curated {key: 'cast/state'}) MATCH (b:Curated {key: 'cast/idea'}) MATCH (p:Curated {key: 'cast/prune'})
MATCH (t1:Curated {key: 'cast/twin1'}) MATCH (t2:Curated {key: 'cast/twin2'})
CREATE (a)-[:RELATED_TO {state: 'active', salience: 0.5, created_at: $long, next_due: $due}]->(b)
CREATE (x:Thing)
CREATE (t1)-[:ABOUT]->(x), (t2)-[:ABOUT]->(x), (t1)-[:KNOWS]->(a), (p)-[:ABOUT]->(x), (p)-[:KNOWS]->(p)
"""


def build(client: Jochi, case: Case) -> None:
    """The graph of a case: what was drawn, the cast with every native value, relationships with them."""
    database, now = client.database, case.now
    graph.clear(database)
    database.run(
        "MATCH (j:JochiJob) SET j += {cursor: null, walked_at: null, checked_at: null, check_cursor: null, check_mark: null}"
    )
    database.run(
        "MATCH (n:JochiScopeChange|JochiBudget|JochiSlotChange|JochiSlot|"
        "JochiWork|JochiDerivation|JochiSpent|Thing) DETACH DELETE n"
    )
    graph.write(database, case.memories, due=now)
    graph.write(database, [one for one in cast(now) if one.id not in WAITING], due=now)
    graph.write(database, [one for one in cast(now) if one.id in WAITING], due=now + FAR)
    graph.write_scopes(database, case.first | {"cast": now - 300 * DAY})
    database.run("MATCH (s:JochiScope {name: 'cast'}) SET s.first_edge_use_at = $at", {"at": now - 3000 * DAY})
    database.run(_TIES, {"long": now - 3000 * DAY, "due": now - DAY})
    merge_graph.flag(database, "cast/twin1", "cast/twin2", now - DAY)
    everyone = [memory.key for memory in cast(now)]
    rows = dict.fromkeys(everyone, native_values.NAMES) | {
        m.key: n for m, n in zip(case.memories, case.natives, strict=True)
    }
    native_values.put(database, rows)
    for type in ("ABOUT", "KNOWS", "RELATED_TO"):
        native_values.put_on_relationships(database, everyone, type)


_NODES = f"""
MATCH (m) WHERE m.key IS NOT NULL AND (m:Curated OR m:Tombstone) AND NOT m:OtherEnd
RETURN m.key AS key, labels(m) AS labels, {native_values.SAID.format("m")} AS said
"""
_EDGES = f"""
MATCH (a)-[r]->(b) WHERE NOT a:CurationAudit
RETURN coalesce(a.key, a.id, 'thing') AS a, type(r) AS type, coalesce(b.key, b.id, 'thing') AS b,
  {native_values.SAID.format("r")} AS said
"""


def told(client: Jochi, without: frozenset[str], gone: set[str]) -> tuple[dict[str, Any], Counter[Any]]:
    """Labels and properties of every memory with their types, and every relationship with its own; without what belongs to memories
    that are gone for good."""
    nodes = {
        row["key"]: (tuple(sorted(row["labels"])), native_values.said(row["said"], BOOKKEEPING | without))
        for row in client.database.run(_NODES, write=False)
        if row["key"] not in gone
    }
    edges = Counter(
        (
            row["a"],
            row["type"],
            row["b"],
            native_values.said(row["said"], OF_FLAGS | {"next_due", "curation_merges", "confidence"}),
        )
        for row in client.database.run(_EDGES, write=False)
        if row["type"] != "SIMILAR_TO" and not {row["a"], row["b"]} & gone
    )
    return nodes, edges


def differences(left: tuple[dict[str, Any], Counter[Any]], right: tuple[dict[str, Any], Counter[Any]]) -> list[str]:
    """What two graphs don't have in common, in words."""
    found = []
    for key in sorted(left[0].keys() | right[0].keys()):
        one, other = left[0].get(key), right[0].get(key)
        if one is None or other is None or one[0] != other[0]:
            found.append(f"{key}: {one and one[0]} | {other and other[0]}")
        elif one != other:
            found.append(f"{key}: {sorted({*one[1]} - {*other[1]})} | {sorted({*other[1]} - {*one[1]})}")
    return found + [f"-{edge}" for edge in left[1] - right[1]] + [f"+{edge}" for edge in right[1] - left[1]]


def compress(client: Jochi, at: datetime) -> None:
    queue = Queue(client.engine, "compress", clock=lambda: at)
    batch = queue.lease(3)
    used = {"provider": "test", "model": None, "used_in": 0, "used_out": 0, "token_count": 1, "token_counter": "test"}
    done = [
        Result(row["key"], {"summary": "short", "summary_hash": content_hash("short"), **used}) for row in batch.rows
    ]
    queue.finish(batch, done)


def restore(client: Jochi) -> None:
    dead = client.database.run(
        "MATCH (t:Tombstone) WHERE t.merged_into IS NULL RETURN t.key AS key ORDER BY key LIMIT 2"
    )
    if dead:
        client.restore([row["key"] for row in dead])


def act(client: Jochi, case: Case) -> tuple[list[str], datetime]:
    """All that the case says, and each kind of action once; the runs in their order, and when it is over."""
    at, runs, seen = case.now, [], set[str]()
    always = [(name, 0) for name in ALWAYS]
    for name, days in [*always, *case.done]:
        at += days * DAY + SECOND
        if name == "compress":
            compress(client, at)
        elif name == "restore":
            restore(client)
        elif name == "touch":
            client.touch(["cast/state"], now=at)
        else:
            for run in run_job(client.engine, name, now=at, drain=True):
                assert run.error is None, run
        # A call's run is known by its records; in the order in which they came.
        new = client.database.run(
            "MATCH (a:CurationAudit) WHERE NOT a.run IN $seen RETURN DISTINCT a.run AS run ORDER BY run",
            {"seen": [*seen]},
        )
        runs += [row["run"] for row in new]
        seen |= {row["run"] for row in new}
    return runs, at


def purge(client: Jochi, n: int, at: datetime) -> None:
    """Deletes a few tombstones for good; none that was merged, for then the one it lives on in stays as it is."""
    [row] = client.database.run("MATCH (j:JochiJob {name: 'purge_tombstones'}) RETURN properties(j) AS job")
    select, act = (client.engine.text("curate/purge_tombstones", section) for section in ("select", "act"))
    given = {"now": at + 31 * DAY, "limit": n + 1, "skip": [], "job": row["job"]}
    merged = {
        row["key"]
        for row in client.database.run("MATCH (t:Tombstone) WHERE t.merged_into IS NOT NULL RETURN t.key AS key")
    }
    keys = [key for key in client.database.run(select, in_one_map(given))[0]["keys"] if key not in merged][:n]
    client.database.run(act, in_one_map({**given, "keys": keys, "run": "purge_tombstones/test", "policy": "p"}))


class _Cut(Exception):
    pass


def undo(client: Jochi, target: str | datetime, at: datetime, cuts: list[int]) -> tuple[Counter[str], str | None]:
    """Undone in pages of two, cut off as often as there are cuts (each after so many pages) and gone on with; what was answered,
    and the undo's run."""
    counts: Counter[str] = Counter()
    run = None
    while True:
        pages = cuts.pop() if cuts else 0

        def on_page(_done: int, left: list[int] = [pages]) -> None:  # noqa: B006
            left[0] -= 1
            if left[0] == 0:
                raise _Cut

        try:
            done = undoing.undo(client.engine, target, now=at, by="test", page=2, on_page=on_page)
        except _Cut:
            continue
        counts.update(done.counts)
        assert run in (None, done.run)
        return counts, done.run


def taken_back(client: Jochi) -> Counter[str]:
    rows = client.database.run(
        "MATCH (a:CurationAudit) WHERE a.undone_by IS NOT NULL OR a.again IS NOT NULL RETURN a.action AS action, count(*) AS n"
    )
    return Counter({row["action"]: row["n"] for row in rows})


def undo_all(
    client: Jochi, targets: Sequence[str | datetime], at: datetime, cuts: list[int], purged: set[str]
) -> list[str]:
    """The runs of the undos, in their order."""
    made = []
    for target in targets:
        counts, run = undo(client, target, at, cuts)
        assert set(counts) <= ANSWERS, (target, counts)
        assert not counts["gone"] or purged
        if run:
            made.append(run)
    return made


@pytest.mark.exhaustive  # each action by itself: tests/integration/test_undo.py
def test_undoing_all_runs_gives_the_graph_back(jochi: Jochi) -> None:
    tally: Counter[str] = Counter()

    @given(case=cases())
    @settings(max_examples=8, **GENTLE)
    def holds(case: Case) -> None:
        build(jochi, case)
        say_go(jochi)
        touched = frozenset(OF_ACCESSES)
        before = told(jochi, touched, set())
        runs, at = act(jochi, case)
        if case.purges:
            purge(jochi, case.purges, at)
        purged = {
            row["key"] for row in jochi.database.run("MATCH (a:CurationAudit {action: 'purge'}) RETURN a.key AS key")
        }
        expected = told_without(before, purged)
        targets: list[str | datetime] = [case.now] if case.since else [*reversed(runs)]
        undos = undo_all(jochi, targets, at + DAY, [*case.cuts], purged)
        assert differences(expected, told(jochi, touched, purged)) == []
        if case.again:
            redone = undo_all(jochi, undos[::-1], at + 2 * DAY, [*case.cuts], purged)
            undo_all(jochi, redone[::-1], at + 3 * DAY, [*case.cuts], purged)
            assert differences(expected, told(jochi, touched, purged)) == []
        tally.update(taken_back(jochi))

    holds()
    expect_all_seen(ACTIONS - {*tally})


def told_without(before: tuple[dict[str, Any], Counter[Any]], gone: set[str]) -> tuple[dict[str, Any], Counter[Any]]:
    nodes, edges = before
    return {key: one for key, one in nodes.items() if key not in gone}, Counter(
        {edge: n for edge, n in edges.items() if not {edge[0], edge[2]} & gone}
    )
