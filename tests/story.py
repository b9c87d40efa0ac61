"""One story with every call and every job in it, told to two servers; what it returns must not depend on the server."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from unittest import mock

from tests import story_of_seeds

from jochi import Jochi
from jochi.database.database import Database
from jochi.forgetting import VARIABLE, Request
from jochi.graph.driver_values import to_python
from jochi.jobs.results import Switch
from jochi.jobs.runner import Run
from jochi.text.content import content_hash
from jochi.use.edges import Edge
from jochi.write import importing
from jochi_workers.guard import Ruling
from jochi_workers.handler import Result
from jochi_workers.judge import JudgeHandler
from jochi_workers.queue import Queue, retry
from jochi_workers.queue import status as work_left

NOW = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)


def tell(client: Jochi, made: Path) -> dict[str, Any]:
    """Install, import, plan, curate, explain, restore, use, purge, uninstall."""
    database = client.database
    story: dict[str, Any] = {}
    client.install(arm=False)
    imported = importing.import_files(database, [made], now=NOW)
    story["import"] = (imported.written, imported.relationships.written, imported.bad_count)
    later = NOW + timedelta(days=60)
    plan = client.plan(later)
    story["plan"] = sorted((g.kind, str(g.rule), g.outcome, g.scopes, g.n) for g in plan.groups), plan.rails
    assert plan.prunes > 50
    story["apply"] = client.apply(plan).prunes
    keys = sorted(row["key"] for row in database.run("MATCH (m:Curated) RETURN m.key AS key", write=False))
    story["scores"] = [_plain(one) for one in client.score(keys[:: len(keys) // 20], at=later)]
    story["improvable"] = sum(1 for _ in client.improvable())
    story["explain"] = [_plain(client.explain(key, at=later)) for key in keys[:: len(keys) // 20]]

    client.pause(Switch("kind", "Notification"))
    story["paused"] = _sum(client.run("curate_due", now=later, drain=True))
    client.resume(Switch("kind", "Notification"))
    database.run("MATCH (m:Curated) WHERE m.next_due IS NOT NULL SET m.next_due = m.created_at")
    story["curated"] = _sum(client.run("curate_due", now=later, drain=True))
    story["graph"] = graph(database)
    dead = sorted(row["key"] for row in database.run("MATCH (t:Tombstone) RETURN t.key AS key", write=False))
    assert len(dead) > 50
    story["restored"] = [(each.key, each.outcome) for each in client.restore([*dead[:5], "default/none"])]
    story |= use(client, later)
    client.approve()
    pinned = client.pin_mode("MINIMAL")
    story["mode"] = (pinned.mode, client.pin_mode(None).mode, [str(job.pace) for job in client.jobs() if job.adaptive])
    end = datetime(2040, 1, 1, tzinfo=timezone.utc)
    story["budgets"] = _plain(client.plan_budgets())
    story["merged"] = merges(client, end)
    story["compressed"] = compressions(client, end)
    for job in sorted(client.policy.policy.jobs):
        runs = client.run(job, now=end, drain=True)
        # How many runs there are to prune depends on how fast the server is.
        story[job] = {run.error for run in runs} if job == "prune_runs" else _sum(runs)
    # A restored memory is due at the moment of the test itself.
    story["purged"] = graph(database, "next_due")
    found = client.hygiene()
    story["hygiene"] = _plain((found.repairs, found.reported, found.waiting))
    story["jobs"] = [(job.name, job.last_status) for job in client.jobs()]
    story["history"] = sorted({(run["job"], run["status"]) for run in client.history(limit=200)})
    status = client.status()
    story["status"] = (status.due, status.tombstones, status.tombstones_due, status.pauses)
    story["tiers"] = client.tiers().by_tier()
    story["pruned"] = sorted(
        (str(row["action"]), str(row["kind"]), str(row["rule"]), row["n"]) for row in client.pruned()
    )
    story["seeds"] = story_of_seeds.tell(client)
    story |= undo(client)
    story["forgotten"] = forget(client)
    budgets = {"kinds": False, "samples": 5}
    story["report/tiers"] = _plain(client.engine.call("report/tiers", budgets, write=False))
    glance = {"now": end, "pump": client.engine.pump, "most": 10}
    story["put_aside"] = _plain(
        {"quarantined": client.engine.call("report/status", glance, write=False)["quarantined"]}
    )
    story["kept"] = plans_and_approval(client, end)
    done = client.uninstall()
    story["uninstalled"] = (done.restored, done.unenrolled)
    story["left"] = database.run("MATCH (n) UNWIND labels(n) AS l RETURN l, count(*) AS n ORDER BY l", write=False)
    return story


def plans_and_approval(client: Jochi, now: datetime) -> Any:
    """A plan that is kept, thinned out and applied; then one memory too many for the breaker, and a person's go for it."""
    make = (
        "UNWIND range(1, $n) AS i CREATE (m:Curated:Notification {id: 'n' + i, scope: $scope, key: $scope + '/n' + i, read: true, "
        "created_at: $now - duration('P40D'), next_due: $now})"
    )
    client.database.run(make, {"n": 5, "scope": "planned", "now": now})
    client.database.run(
        "CREATE (:Curated:CompressedContext {id: 'c', scope: 'planned', key: 'planned/c', created_at: $now - duration('P40D'), "
        "next_due: $now + duration('P1D')})",
        {"now": now},
    )
    saved = client.save_plan(client.plan(now))
    excluded = client.exclude(saved.id, ["planned/n1", "planned/none"], now=now)
    done = client.apply_plan(saved.id, now=now)
    kept = client.show_plan(saved.id)
    named = client.plan_entries(saved.id, limit=1000)
    client.database.run(make, {"n": 101, "scope": "many", "now": now})
    run = client.run("curate_due", now=now, drain=True)[-1]
    approved = client.approve_run(run.id, now=now)
    after = _sum(client.run("curate_due", now=now, drain=True))
    (stop,) = client.runs(run.id)[0].stops
    return _plain(
        (
            kept.state,
            kept.groups,
            kept.outcomes,
            named,
            excluded,
            done.outcomes,
            run.status,
            stop,
            approved.lifts,
            after,
        )
    )


def undo(client: Jochi) -> dict[str, Any]:
    """What a person looks at and takes back: the last run of curation that changed something."""
    run = next(run for run in client.history("curate_due", limit=500, changed_only=True))
    (seen,) = client.runs(run["id"])
    would = client.undo(run["id"], dry_run=True)
    done = client.undo(run["id"])
    assert done.run is not None
    redone = client.undo(done.run)
    # All that ever happened, only looked at: records of every form.
    everything = client.undo(datetime(2000, 1, 1, tzinfo=timezone.utc), dry_run=True)
    size = client.audit_size()
    return {
        "run": (seen.scanned, seen.changed, sorted(seen.counts.items()), sorted(seen.skipped.items())),
        "undo": [sorted(each.counts.items()) for each in (would, done, redone)],
        "actions": sorted({row.action for row in everything.rows}),
        "audit": (size.records > 0, size.memories),
    }


def forget(client: Jochi) -> Any:
    """What a person asks to be forgotten: a memory, what was made of it, a clause of another; and what can't be learned again."""
    given = [
        {"kind": "MemoryEntry", "id": "a", "content": "Ann lives at 5 Elm St"},
        {"kind": "MemoryEntry", "id": "b", "content": "Ann likes tea and lives at 5 Elm St"},
        {"kind": "MemoryEntry", "id": "c", "content": "Ann slept well"},
        {
            "kind": "Belief",
            "id": "of_a",
            "content": "Ann has a home",
            "relationships": [{"type": "EVIDENCE", "to": "a"}],
        },
        {
            "kind": "Belief",
            "id": "of_both",
            "content": "Ann is fine",
            "relationships": [{"type": "EVIDENCE", "to": "a"}, {"type": "EVIDENCE", "to": "c"}],
        },
    ]
    request = Request(phrase="5 Elm St", scope="forgetful")
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {VARIABLE: f"{folder}/key"}):
        client.remember([{**row, "scope": "forgetful"} for row in given])
        plan = client.plan_forgetting(request)
        done = client.forget(request, verify=True)
        again = client.remember([{**row, "scope": "forgetful"} for row in given])
        lifted = client.allow_again(request)
    found = sorted((target.key, target.why, target.outcome, sorted(target.left.items())) for target in plan.targets)
    return (
        found,
        sorted(done.counts.items()),
        len(done.left),
        [each.outcome for each in again.results],
        lifted,
        len(client.receipts().receipts),
    )


def use(client: Jochi, now: datetime) -> dict[str, Any]:
    """What applications and workers do: remember, recall, touch, enrol, work the queues."""
    story: dict[str, Any] = {}
    dimensions = client.policy.policy.embedding.dimensions
    vectors = [[float(i == j) + 0.1 for j in range(dimensions)] for i in range(4)]
    given = [
        {
            "kind": kind,
            "id": f"{kind}{i}",
            "scope": "app",
            "content": f"{kind} {i}: the green train to Berlin leaves at {7 + i}:{10 + i}",
            **({"embedding": vectors[i], "embedding_model": client.policy.policy.embedding.model} if i < 3 else {}),
            "properties": {"confidence": 0.5} if kind == "Belief" else {},
            "relationships": [
                {"type": "NEXT", "to": f"{kind}{i - 1}"},
                {"type": "SAME_ENTITY", "to": f"{kind}{i - 1}", "properties": {"confidence": i / 12}},
            ]
            if i
            else [],
        }
        for kind in ("Belief", "MemoryEntry")
        for i in range(12)
    ]
    given.append({"kind": "Concept", "id": "berlin", "scope": "app", "content": "Berlin"})
    wrong = {
        "kind": "Belief",
        "id": "wrong",
        "scope": "app",
        "content": "x",
        "properties": {"created_at": "1970-01-20"},
    }
    story["remembered"] = _plain(client.remember([*given, given[0], wrong], now=now, agent="ada"))
    story["touched"] = _plain(
        client.touch(["app/Belief1", "app/Belief2", "app/berlin"], agent="ada", batch="story", now=now)
    )
    story["touched again"] = _plain(
        client.touch(["app/Belief1", "app/Belief2", "app/berlin"], agent="ada", batch="story", now=now)
    )
    found = client.recall("green train", vector=vectors[1], scope="app", k=5)
    story["recalled"] = [(hit.key, hit.vector_rank, hit.text_rank, round(hit.cosine or 0, 5)) for hit in found]
    seen = [Edge(f"app/Belief{i}", "SAME_ENTITY", f"app/Belief{i - 1}") for i in (2, 2, 3, 40)]
    story["reinforced"] = [_plain(client.reinforce(seen, batch="story", now=now)) for _ in range(2)]
    along = client.recall("green train", vector=vectors[1], scope="app", k=5, hops=2).reached
    client.database.run(
        "MATCH (a:Curated {key: 'app/berlin'}) MATCH (b:Curated {key: 'app/Belief1'}) "
        "CREATE (a)-[:RELATED_TO {created_at: $at, confidence: 0.7}]->(b)",
        {"at": now},
    )
    used = Edge("app/berlin", "RELATED_TO", "app/Belief1")
    story["used"] = [_plain(client.reinforce([used] * n, now=now + n * timedelta(days=3))) for n in (1, 11)]
    story["present"] = _plain(client.edge_salience([used, Edge("app/berlin", "RELATED_TO", "app/x")], at=now))
    story["reached"] = [(one.key, one.path, round(one.score, 9)) for one in along]
    assert along
    story["edges"] = [(t.type, t.stored, t.due, t.next_due) for t in client.edges(now + timedelta(days=180)).types]
    client.database.run(
        "UNWIND range(1, 7) AS i CREATE (:Ticket {ticket_no: 't' + i, customer: 'app', body: 'printer ' + i, "
        "opened: CASE i WHEN 7 THEN 'long ago' ELSE $at.epochMillis END, done: i = 1})",
        {"at": now},
    )
    planned, enrolled = client.plan_enrolment("Ticket"), client.enrol("Ticket")
    story["salience"] = _plain(client.salience(["app/berlin"], at=now + timedelta(days=9)))
    story["enrolled"] = (planned.ready, enrolled.enrolled, planned.wrong_types, _plain(planned.troubles))
    model = client.policy.policy.embedding.model
    # Work comes oldest first; what waits since one moment comes in an order that is the index's own. So none does.
    client.database.run(
        "MATCH (m:Curated) WHERE m.prepare_due <= $now OR m.embed_due <= $now WITH m ORDER BY m.key "
        "WITH collect(m) AS waiting UNWIND range(0, size(waiting) - 1) AS i "
        "WITH waiting[i] AS m, $now - duration({minutes: size(waiting) - i}) AS since "
        "FOREACH (x IN CASE WHEN m.prepare_due <= $now THEN [m] ELSE [] END | SET x.prepare_due = since) "
        "FOREACH (x IN CASE WHEN m.embed_due <= $now THEN [m] ELSE [] END | SET x.embed_due = since)",
        {"now": now},
    )
    queues = [Queue(client.engine, queue, clock=lambda: now) for queue in ("prepare", "embed")]
    story["slots"] = slots(client, now)
    story["queues"] = [work(queue, {"embedding": vectors[3], "embedding_model": model}) for queue in queues]
    story["duplicates"] = duplicates(client, now)
    left = work_left(client.engine, now)
    story["left"] = {name: [one.waiting, one.later, one.unsure, one.put_aside] for name, one in left.items()}
    story["retried"] = retry(client.engine, now)
    looked_at = {"most": 100, "most_silent": 100, "samples": 5}
    story["report/unseen"] = _plain(client.engine.call("report/unseen", looked_at, write=False))
    return story


def slots(client: Jochi, now: datetime) -> Any:
    """There and back again, and one that is still to come."""
    said = [("Rome", -9), ("Oslo", -5), ("Rome", -1), ("Bonn", 5)]
    facts = [
        {
            "kind": "Fact",
            "id": f"city{i}",
            "scope": "app",
            "properties": {
                "subject": "Ann",
                "attribute": "city",
                "value": value,
                "valid_from": now + timedelta(days=day),
            },
        }
        for i, (value, day) in enumerate(said)
    ]
    written = client.remember(facts, now=now)
    again = client.supersede([f"app/city{i}" for i in range(4)], now=now)
    history = client.history_of("app", "ann", "CITY"), client.history_of("app", "ann", "city", now)
    return _plain((written.results, again, history)), _sum(client.run("settle_slots", now=now, drain=True))


def duplicates(client: Jochi, now: datetime) -> Any:
    """Some that are near each other: found, judged, decided over, looked at."""
    model, dimensions = client.policy.policy.embedding.model, client.policy.policy.embedding.dimensions
    texts = [*(f"Ann met Bo in room {i} on Monday" for i in range(5)), "Same", "Same"]
    near = [
        {
            "kind": "Belief",
            "id": f"near{i}",
            "scope": "near",
            "content": text,
            "embedding": [1.0, i / 40] + [0.0] * (dimensions - 2),
            "embedding_model": model,
        }
        for i, text in enumerate(texts)
    ]
    client.remember(near, now=now)
    # Each in its own moment: else which of two finds the other, and is on record with it, is the index's to say.
    hashes = [
        {"key": f"near/near{i}", "hash": content_hash(text), "due": now - timedelta(minutes=9 - i)}
        for i, text in enumerate(texts)
    ]
    client.database.run(
        "UNWIND $rows AS row MATCH (m:Curated {key: row.key}) "
        "SET m.content_hash = row.hash, m.embedding_hash = row.hash, m.similar_due = row.due",
        {"rows": hashes},
    )
    found = _sum(client.run("find_duplicates", now=now, drain=True))
    # What waits since one moment comes in an order that is the index's own.
    client.database.run(
        "MATCH (a)-[r:SIMILAR_TO]->(b) WHERE r.judge_due <= $now WITH r ORDER BY a.key, b.key WITH collect(r) AS flags "
        "UNWIND range(0, size(flags) - 1) AS i WITH flags[i] AS r, $now - duration({minutes: size(flags) - i}) AS since "
        "SET r.judge_due = since",
        {"now": now},
    )
    queue = Queue(client.engine, "judge", clock=lambda: now, guard="story")
    batch = queue.lease(20)
    rulings = JudgeHandler(
        lambda left, right, **_: Ruling("veto", ("number",)) if "4" in left + right else Ruling("merge")
    )
    finished = queue.finish(batch, rulings.handle(batch.rows[:-2]).done)
    failed = queue.fail(batch, {batch.rows[-2]["key"]: "too strange"})
    released = queue.release(batch, [batch.rows[-1]["key"]])
    pairs = [("near/near0", "near/near1"), ("near/near0", "near/none")]
    decided = client.decide_duplicates(pairs, "rejected", by="ada")
    decision = next(run.id for run in client.runs(limit=200) if run.job == "decide")
    shown = [pair for verdict in (None, "veto", "merged") for pair in client.duplicates(verdict=verdict).pairs]
    listed = [(pair.left, pair.right, pair.verdict, pair.reasons, round(pair.score or 0, 5)) for pair in shown]
    keys = [row["key"] for row in batch.rows]
    counted = client.count_duplicates()
    taken_back = [sorted(client.undo(decision, dry_run=dry).counts.items()) for dry in (True, False)]
    return found, keys, _plain((finished, failed, decided, listed)), released, _plain(counted), taken_back


def merges(client: Jochi, now: datetime) -> Any:
    """Two of one text become one, and two again."""
    made = now - timedelta(days=9)
    client.database.run(
        "UNWIND ['m1', 'm2'] AS id CREATE (:Curated:MemoryEntry {key: 'twins/' + id, scope: 'twins', id: id, content: "
        "'twice', content_hash: 'h' + id, "
        "created_at: $made, next_due: datetime({year: 2100}), tier: 'HOT', access_count: 2}) "
        "WITH count(*) AS n MATCH (a:Curated {key: 'twins/m1'}) MATCH (b:Curated {key: 'twins/m2'}) CREATE (b)-[:ABOUT {n: "
        "1}]->(:Thing) "
        "CREATE (a)-[:SIMILAR_TO {same_text: true, found_at: $made, seen_at: $made, start_hash: 'hm1', end_hash: 'hm2', "
        "verdict: 'merge', "
        "reasons: [], guard: 'same text', merge_due: $made}]->(b)",
        {"made": made},
    )
    planned = client.plan(now).merges
    runs = _sum(client.run("merge_duplicates", now=now, drain=True))
    would = client.unmerge(["twins/m2"], dry_run=True, now=now)
    return _plain(
        (planned, runs, client.restore(["twins/m2"]), would, client.unmerge(["twins/m2", "twins/m1"], now=now))
    )


def compressions(client: Jochi, now: datetime) -> Any:
    """One of three long memories is shortened and comes back, one fails, one is given back. (Contexts have levels instead.)"""
    made = now - timedelta(days=9)
    client.database.run(
        "UNWIND [1, 2, 3] AS i CREATE (:Curated:Analysis {key: 'long/c' + i, scope: 'long', id: 'c' + i, "
        "content: 'long ' + i, content_hash: 'h' + i, created_at: $made, "
        "next_due: datetime({year: 2100}), tier: 'ARCHIVE', token_count: 90000 + i})",
        {"made": made},
    )
    queue = Queue(client.engine, "compress", clock=lambda: now)
    batch = queue.lease(3)
    first, second, third = (row["key"] for row in batch.rows)
    summary = {
        "summary": "short",
        "summary_hash": "h0",
        "token_count": 1,
        "token_counter": "story",
        "provider": "story",
    }
    finished = queue.finish(batch, [Result(first, {**summary, "model": None, "used_in": 0, "used_out": 0})])
    failed = queue.fail(batch, {second: "cut off"}, {second: {"used_in": 3, "used_out": 4}})
    released = queue.release(batch, [third])
    would = client.decompress([first, second], dry_run=True, now=now)
    left = (finished, failed, released, would, work_left(client.engine, now)["compress"].spent)
    return (first, second, third, _plain(left), _plain(client.decompress([first], now=now)))


def work(queue: Queue, embedded: dict[str, Any]) -> Any:
    """One lease of a worker: of it three results, one failure, and the rest given back."""
    batch = queue.lease(40)
    done = [
        Result(
            row["key"],
            {"content_hash": content_hash(row["content"]), "token_count": 9, "token_counter": "story"}
            if queue.name == "prepare"
            else {**embedded, "embedding_hash": content_hash(row["content"]), "embedding_unknown": 0.0},
        )
        for row in batch.rows[:3]
    ]
    finished = queue.finish(batch, done)
    failed = queue.fail(batch, {batch.rows[3]["key"]: "too strange"})
    released = queue.release(batch, [row["key"] for row in batch.rows[4:]])
    return [row["key"] for row in batch.rows], _plain((finished, failed)), released


def graph(database: Database, *without: str) -> list[Any]:
    """All memories, live and dead, with their properties (but those named) and the number of their relationships."""
    rows = database.run(
        "MATCH (m) WHERE m:Curated OR m:Tombstone RETURN m.key AS key, labels(m) AS labels, properties(m) AS stored, "
        "COUNT { (m)-->() } AS links ORDER BY key",
        write=False,
    )
    for row in rows:
        for name in without:
            row["stored"].pop(name, None)
    return [(row["key"], sorted(row["labels"]), _plain(row["stored"]), row["links"]) for row in rows]


_OF_THE_CLOCK = {
    "hold_until",
    "curation_audit",
    "curation_run",
    "run",
    "audit",
    "id",
    "last_curated_at",
    "enrolled_at",
    "enrolled_run",
    "prepare_due",
    "embed_due",
    "similar_due",
    "decided_at",
}
"""Names of properties that hold ids or the time of day of the test itself."""


def _plain(value: Any) -> Any:
    if hasattr(value, "__dataclass_fields__"):
        value = {name: getattr(value, name) for name in value.__dataclass_fields__}
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items() if name not in _OF_THE_CLOCK}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return to_python(value)


def _sum(runs: list[Run]) -> Any:
    """What all runs of a job did together: how many they are depends on how fast the server is."""
    tally: Counter[str] = Counter()
    for run in runs:
        tally.update(run.tally)
    return (
        {(run.status, run.error, run.quarantined) for run in runs},
        sum(run.selected for run in runs),
        sum(run.changed for run in runs),
        dict(tally),
    )
