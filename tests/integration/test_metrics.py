"""Metrics of a real database: totals are what runs did, counts what is there (docs/reference/metrics.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta, timezone
from functools import lru_cache, partial
from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.openmetrics.exposition import generate_latest
from tests.curation_looks import set_batches
from tests.faults.support import claim, poison, remember, set_job
from tests.integration.test_undo import idle, notice, put, reflection, task
from tests.oracle import Memory, graph
from tests.unit.test_metrics import HOSTILE, samples

from jochi import Jochi, clock
from jochi.database.statements import statement
from jochi.forgetting.records import SearchTerms, change
from jochi.graph.driver_values import to_python
from jochi.jobs.runner import run_job
from jochi.operate.metrics import registry
from jochi.policy import LoadedPolicy
from jochi.text.tokens import Estimate
from jochi_workers.prepare import PrepareHandler
from jochi_workers.worker import Worker

pytestmark = pytest.mark.server

DAY = timedelta(days=1)


class Exact(Estimate):
    """What is counted by it isn't looked at again."""

    name = "exact"


Totals = dict[str, Counter[tuple[str, ...]]]


@lru_cache
def collected(client: Jochi, by_scope: int) -> CollectorRegistry:
    """One a client: what is looked at once in five minutes costs most of a read."""
    return registry(client, by_scope=by_scope)


def shown(client: Jochi, by_scope: int = 0) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    return samples(generate_latest(collected(client, by_scope)).decode())


def one(client: Jochi, name: str, **labels: str) -> float | None:
    return shown(client).get((name, frozenset(labels.items())))


def totals(seen: Mapping[tuple[str, frozenset[tuple[str, str]]], float]) -> Totals:
    """What the counters of `shown` say, without what is 0 from the start."""
    found: Totals = {
        "runs": Counter(),
        "changed": Counter(),
        "actions": Counter(),
        "pruned": Counter(),
        "held": Counter(),
    }
    names = {
        "jochi_runs_total": ("runs", ("job_name", "outcome")),
        "jochi_memories_changed_total": ("changed", ("job_name",)),
        "jochi_actions_total": ("actions", ("action",)),
        "jochi_memories_pruned_total": ("pruned", ("rule",)),
        "jochi_memories_held_total": ("held", ("rail",)),
    }
    for (name, labels), number in seen.items():
        if name in names and number:
            kind, wanted = names[name]
            found[kind][tuple(dict(labels)[label] for label in wanted)] += int(number)
    return found


ACTIONS = {
    **{name: name for name in ("promote", "demote", "archive", "flag", "unflag", "restore", "purge")},
    **{"pruned": "prune", "merged": "merge"},
}


def of_runs(client: Jochi) -> Totals:
    """The same, summed up from what each run says of itself."""
    found: Totals = {
        "runs": Counter(),
        "changed": Counter(),
        "actions": Counter(),
        "pruned": Counter(),
        "held": Counter(),
    }
    rows = client.database.run(
        "MATCH (r:JochiJobRun) WHERE r.status <> 'running' RETURN properties(r) AS run", write=False
    )
    for run in (dict(row["run"]) for row in rows):
        found["runs"][run["job"], run["status"]] += 1
        found["changed"][(run["job"],)] += run["changed"]
        numbers = {name: n for name, n in run.items() if type(n) is int}
        for name, n in numbers.items():
            if name.startswith("rail_"):
                found["held"][(name.removeprefix("rail_"),)] += n
            if name in ACTIONS or name.startswith("repaired_"):
                found["actions"][(ACTIONS.get(name, "repair"),)] += n
        if run["job"] == "undo":
            found["actions"]["undo",] += run["changed"]
    # By rule there are the records.
    prunes = client.database.run(
        "MATCH (a:CurationAudit {action: 'prune'}) RETURN a.rule AS rule, count(*) AS n", write=False
    )
    found["pruned"].update({(row["rule"],): row["n"] for row in prunes})
    return {kind: +sums for kind, sums in found.items()}


def test_totals_are_the_sum_of_what_runs_did_and_outlive_them(applied: Jochi, now: datetime) -> None:
    client, database = applied, applied.database
    put(
        client,
        now,
        notice("n1", now),
        notice("n2", now, pinned=True),
        task("t", now),
        reflection("r", now),
        idle("i", now),
    )
    [bad, *_] = remember(database, 3)
    poison(database, bad)
    curated = run_job(client.engine, "curate_due", now=now, drain=True)
    assert {run.status for run in curated} & {"partial", "failed"}
    assert [key for run in curated for key in run.quarantined] == [bad]
    # Somebody takes the run over that somebody else has begun and left.
    set_job(client, "curate_due", next_start=now)
    first = claim(client, clock.now())
    done = {
        "clock": now,
        "job": "curate_due",
        "run": first["run"],
        "limit": 10,
        "selected": 3,
        "changed": 2,
        "took_ms": 1,
    }
    client.engine.call(
        "scheduler/account", {**done, "stop": False, "more": True, "tally": [{"name": "rail_grace", "n": 2}]}
    )
    database.run("MATCH (j:JochiJob {name: 'curate_due'}) SET j.lease_until = $past", {"past": now - DAY})
    client.run("curate_due")
    client.run("hygiene")
    assert [each.outcome for each in client.restore(["default/n1"])] == ["restored"]
    client.undo(next(run.id for run in curated if run.changed))

    seen = shown(client)
    found = totals(seen)
    assert found == of_runs(client)
    assert seen["jochi_quarantined_memories", frozenset()] == 1
    assert found["held"]["grace",] >= 2
    assert found["runs"]["curate_due", "crashed"] == 1
    assert {rule for (rule,) in found["pruned"]} == {"notification.read"}
    assert found["actions"]["prune",] == sum(found["pruned"].values()) > 1
    assert {"archive", "flag", "demote", "undo", "restore"} <= {action for (action,) in found["actions"]}
    assert found["held"]["pinned",] >= 1
    of_job = frozenset([("job_name", "curate_due")])
    assert seen["jochi_run_duration_seconds_count", of_job] == sum(
        n for (job, status), n in found["runs"].items() if job == "curate_due" and status != "crashed"
    )
    assert abs(seen["jochi_job_last_change_timestamp_seconds", of_job] - now.timestamp()) < 600

    client.run("prune_runs", now=now + 1000 * DAY)
    database.run("MATCH (r:JochiJobRun) DETACH DELETE r")
    after = totals(shown(client))
    assert all(after[kind][labels] >= n for kind in found for labels, n in found[kind].items())
    assert after["pruned"] == found["pruned"]


@pytest.mark.slow
def test_totals_outlive_another_install(applied: Jochi, now: datetime) -> None:
    put(applied, now, notice("n1", now))
    run_job(applied.engine, "curate_due", now=now)
    before = totals(shown(applied))
    assert before["pruned"]["notification.read",] == 1
    applied.install()
    assert totals(shown(applied)) == before


@pytest.fixture
def small_pages(jochi: Jochi, test_policy: LoadedPolicy) -> Any:
    shape: Callable[..., None] = partial(set_batches, job="hygiene")
    shape(jochi, 3, 1000)
    yield
    job = test_policy.policy.jobs["hygiene"]
    shape(jochi, job.batch_size, job.max_batches)


def test_hygiene_counts_what_it_walks_past(jochi: Jochi, now: datetime, small_pages: None) -> None:
    scopes = ["a", "a-b", 'quoted "x"', "zz", HOSTILE.replace("/", "")]
    memories = [
        Memory(
            f"m{n}",
            (kind,),
            {"tier": tier, "token_count": n + 1, "content": "unmentionable", "created_at": now - DAY},
            scope=scope,
        )
        for n, (scope, kind, tier) in enumerate(
            [
                (scope, kind, tier)
                for scope in scopes
                for kind in ("Note", "Task", "Unheard")
                for tier in ("HOT", "COLD")
            ]
            * 2
        )
    ]

    def counted(by_scope: int) -> dict[str, Counter[tuple[str, ...]]]:
        found: dict[str, Counter[tuple[str, ...]]] = {}
        for (name, labels), number in shown(jochi, by_scope).items():
            if name in ("jochi_memories", "jochi_memory_tokens", "jochi_scope_memories", "jochi_scope_tokens"):
                found.setdefault(name, Counter())[tuple(text for _, text in sorted(labels))] += int(number)
        return found

    def expected(there: list[Memory]) -> dict[str, Counter[tuple[str, ...]]]:
        sums: dict[str, Counter[tuple[str, ...]]] = {
            name: Counter()
            for name in ("jochi_memories", "jochi_memory_tokens", "jochi_scope_memories", "jochi_scope_tokens")
        }
        for memory in there:
            kind = memory.labels[0] if memory.labels[0] != "Unheard" else "other"
            for what, labels in ("memor", (kind, memory.properties["tier"])), ("scope", (memory.scope,)):
                many, tokens = (
                    ("jochi_memories", "jochi_memory_tokens")
                    if what == "memor"
                    else ("jochi_scope_memories", "jochi_scope_tokens")
                )
                sums[many][labels] += 1
                sums[tokens][labels] += memory.properties["token_count"]
        return sums

    graph.write(jochi.database, memories, due=now + DAY)
    assert counted(100) == {}
    run_job(jochi.engine, "hygiene", now=now)
    assert counted(100) == expected(memories)
    # A walk that is under way shows what the last one found; one that begins anew counts anew.
    jochi.database.run("MATCH (m:Curated) WHERE m.id IN ['m0', 'm7'] DETACH DELETE m")
    set_batches(jochi, 3, 2, job="hygiene")
    run_job(jochi.engine, "hygiene", now=now + DAY)
    assert counted(100) == expected(memories)
    set_job(jochi, "hygiene", cursor=None)
    set_batches(jochi, 3, 1000, job="hygiene")
    run_job(jochi.engine, "hygiene", now=now + DAY, drain=True)
    left = [memory for memory in memories if memory.id not in ("m0", "m7")]
    assert counted(100) == expected(left)
    # Who forgets a scope takes the count away that names it; a walk that has begun by then says nothing of what it passed.
    set_batches(jochi, 3, 2, job="hygiene")
    run_job(jochi.engine, "hygiene", now=now + 2 * DAY)
    [of_memories] = jochi.database.run("MATCH (c:JochiSpent {id: 'memories'}) RETURN properties(c) AS c", write=False)
    row = {"id": "", "labels": ["JochiSpent"], "stored": of_memories["c"], "names": [*of_memories["c"]]}
    assert change(row, SearchTerms(scopes=frozenset(["zz"]))) == {"id": "", "delete": True, "new": {}}
    assert change(row, SearchTerms(scopes=frozenset(["z"]))) is None
    jochi.database.run("MATCH (c:JochiSpent {id: 'memories'}) DELETE c")
    set_batches(jochi, 3, 1000, job="hygiene")
    run_job(jochi.engine, "hygiene", now=now + 2 * DAY)
    assert counted(100) == {}
    run_job(jochi.engine, "hygiene", now=now + 3 * DAY)
    assert counted(100) == expected(left)
    assert one(jochi, "jochi_curated_memories") == len(left)
    largest = counted(2)["jochi_scope_memories"]
    assert len(largest) == 2
    assert min(largest.values()) == sorted(expected(left)["jochi_scope_memories"].values())[-2]
    assert "unmentionable" not in jochi.metrics(by_scope=2)
    jochi.database.run("MATCH (m:Curated) DETACH DELETE m")
    assert counted(100) == {}


def test_what_workers_did_and_that_they_live(jochi: Jochi, now: datetime) -> None:
    jochi.database.run(
        "UNWIND range(1, 3) AS i CREATE (:Curated:MemoryEntry {key: 's/m' + i, scope: 's', id: 'm' + i, content: 'secret ' + i, "
        "created_at: $now, prepare_due: $now - duration({minutes: 1})})",
        {"now": now},
    )
    assert one(jochi, "jochi_work_waiting", derivation="prepare") == 3
    Worker(jochi.engine, [PrepareHandler(Exact())]).run(once=True)
    assert one(jochi, "jochi_derivation_items_total", derivation="prepare", outcome="done") == 3
    assert one(jochi, "jochi_work_waiting", derivation="prepare") == 0

    def seen(worker: str, at: datetime, **how: bool) -> None:
        given = {"worker": worker, "now": at, "every_s": 60, "derivations": ["prepare"], "failing": []}
        jochi.database.run(statement("work/seen"), given | {"begins": False, "ends": False} | how)

    def workers() -> set[str]:
        return {
            dict(labels)["worker"]
            for name, labels in shown(jochi)
            if name == "jochi_worker_last_seen_timestamp_seconds"
        }

    minute = timedelta(minutes=1)
    seen("a/1", now - 10 * minute, begins=True)
    seen("a/2", now - 9 * minute, begins=True)
    seen("a/2", now - minute)
    seen("b/1", now - 8 * DAY, begins=True)
    seen("b/2", now, begins=True)
    assert (workers(), one(jochi, "jochi_workers")) == ({"a/1", "a/2", "b/2"}, 2)
    # What died on a machine is missed until somebody takes its place there, or for a week.
    seen("a/3", now, begins=True)
    assert workers() == {"a/2", "a/3", "b/2"}
    seen("a/3", now, ends=True)
    seen("b/2", now)
    assert workers() == {"a/2", "b/2"}
    jochi.database.run(
        "UNWIND range(1, 220) AS n CREATE (:JochiWorker {id: 'c' + n + '/1', seen_at: $now - duration({seconds: n}), every_s: 60})",
        {"now": now},
    )
    seen("b/2", now)
    rows = jochi.database.run("MATCH (w:JochiWorker) RETURN count(w) AS n, max(w.started_at) AS last", write=False)
    assert rows[0]["n"] <= 201
    assert to_python(rows[0]["last"]) <= now.astimezone(timezone.utc)
    assert len(workers()) == 50
