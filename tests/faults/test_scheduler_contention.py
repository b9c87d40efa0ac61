"""A batch and an application want the same memories: what waits is measured, and a deadlock is nobody's fault and tried again
(issue 8, conflict avoidance; docs/reference/jobs-and-runs.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import neo4j
import pytest
from tests.conftest import TEST_POLICY
from tests.faults.support import expect_whole, job_of, keys, remember, set_job, within

from jochi import Jochi, clock
from jochi.policy import LoadedPolicy, load_policy

pytestmark = pytest.mark.server

DAY = timedelta(days=1)
HOW = ["from outside", "in the database"]

_TWINS = """
UNWIND ['a', 'b'] AS id
CREATE (m:Curated:MemoryEntry {key: 's/' + id, scope: 's', id: id, content: 'one text', content_hash: 'one',
  access_count: 1, tier: 'HOT', created_at: $now - duration({days: CASE id WHEN 'a' THEN 50 ELSE 40 END}),
  next_due: $now + duration('P1D')})
CREATE (m)-[:ABOUT {rid: id}]->(:Thing {name: id})
WITH collect(m) AS two, $now - duration('P1D') AS at
WITH two[0] AS x, two[1] AS y, at
CREATE (x)-[:SIMILAR_TO {score: 0.99, same_text: true, found_at: at, start_hash: 'one', end_hash: 'one', verdict: 'merge',
  guard: 'same text', merge_due: at}]->(y)
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> LoadedPolicy:
    """The tests' policy, by which a batch of more than a second is slow."""
    file: Path = tmp_path_factory.mktemp("policies") / "measured.toml"
    text = TEST_POLICY.read_text()
    assert 'slow_batch = "1h"' in text
    file.write_text(text.replace('slow_batch = "1h"', 'slow_batch = "1s"'))
    return load_policy(file)


@pytest.fixture
def jochi(install_once: Callable[[LoadedPolicy], Jochi], measured: LoadedPolicy) -> Jochi:
    """Instead of the one with the tests' policy."""
    return install_once(measured)


@pytest.fixture
def start(
    engine: Jochi, alone: Callable[[str], None], arm: Callable[[], None]
) -> Iterator[Callable[[str, str], Callable[[], dict[str, Any]]]]:
    """Starts one job once, from outside or by the pump, and gives back what waits for what it said of itself in the end."""
    engine.apply()
    with ThreadPoolExecutor(1) as pool:

        def begun(job: str, how: str) -> Callable[[], dict[str, Any]]:
            alone(job)
            set_job(engine, job, next_start=clock.now(), every=timedelta(hours=1), pace=None)
            if how == "from outside":
                running = pool.submit(engine.run, job, drain=True)

                def ended() -> bool:
                    return running.done() and bool(running.result())
            else:
                arm()

                def ended() -> bool:
                    runs = engine.history(job)
                    return bool(runs) and runs[0].get("drained") is True and runs[0].get("finished_at") is not None

            def said() -> dict[str, Any]:
                within(20, ended, "the run ends")
                runs = engine.history(job)
                counted = ("changed", "retried", "failed_batches", "slow_batches", "longest_batch_ms")
                return {name: [run.get(name) or 0 for run in runs] for name in counted} | {"runs": runs}

            return said

        yield begun


@contextmanager
def holding(client: Jochi, key: str) -> Iterator[neo4j.Transaction]:
    """An application's transaction that has written the memory. It holds more locks than any batch: so of a deadlock's two the
    server ends the batch."""
    with client.database.driver.session(database=client.database.name) as session:
        transaction = session.begin_transaction()
        transaction.run("UNWIND range(1, 2000) AS i CREATE (:Ballast {i: i})").consume()
        write(transaction, key)
        yield transaction
        transaction.commit()


def write(transaction: neo4j.Transaction, key: str) -> None:
    transaction.run(
        "MATCH (m:Curated {key: $key}) SET m.turns = coalesce(m.turns, 0) + 1 RETURN m.turns", key=key
    ).single(strict=True)


def waits(client: Jochi, milliseconds: int = 0) -> None:
    """Until a transaction waits for a lock that began so long ago."""
    text = (
        "SHOW TRANSACTIONS YIELD status, elapsedTime WHERE status STARTS WITH 'Blocked' AND elapsedTime.milliseconds >= $ms "
        "RETURN status"
    )
    within(20, lambda: client.database.run(text, {"ms": milliseconds}, write=False), "a batch waits")


@pytest.mark.parametrize("how", HOW)
def test_a_batch_that_waited_was_slow_by_the_clock_and_the_next_is_smaller(
    engine: Jochi, start: Callable[[str, str], Callable[[], dict[str, Any]]], how: str
) -> None:
    (key,) = remember(engine.database, 1)
    with holding(engine, key):
        said = start("curate_due", how)
        waits(engine, 1_200)
    counts = said()
    assert max(counts["longest_batch_ms"]) >= 1_000
    assert (counts["slow_batches"], counts["changed"]) == ([1], [1])
    job = job_of(engine, "curate_due")
    assert (job["batch_size"], job["batch_now"]) == (100, 50)


@pytest.mark.parametrize("how", HOW)
def test_a_merge_that_meets_a_deadlock_is_tried_again(
    engine: Jochi, start: Callable[[str, str], Callable[[], dict[str, Any]]], how: str
) -> None:
    engine.database.run(_TWINS, {"now": clock.now()})
    # As after failures: a batch of one, after which the memory itself would be taken to be bad.
    set_job(engine, "merge_duplicates", batch_now=1)
    with holding(engine, "s/b") as transaction:
        said = start("merge_duplicates", how)
        waits(engine)
        write(transaction, "s/a")
    counts = said()
    assert (sum(counts["changed"]), sum(counts["failed_batches"])) == (1, 0)
    assert sum(counts["retried"]) >= 1
    none_is_blamed(engine, "merge_duplicates", counts["runs"])
    assert (keys(engine.database, "Curated"), keys(engine.database, "Tombstone")) == ({"s/b"}, {"s/a"})
    rows = engine.database.run(
        "MATCH (m) WHERE m:Curated OR m:Tombstone "
        "RETURN m.key AS key, m.turns AS turns, COLLECT { MATCH (m)-[r:ABOUT]->() RETURN r.rid ORDER BY r.rid } AS rids, "
        "COUNT { MATCH (a:CurationAudit {key: m.key, action: 'merge'}) } AS merges",
        write=False,
    )
    found = {row["key"]: row for row in rows}
    assert (found["s/b"]["rids"], found["s/a"]["rids"]) == (["a", "b"], [])
    assert (found["s/b"]["merges"], found["s/a"]["merges"]) == (0, 1)
    assert [found[key]["turns"] for key in ("s/a", "s/b")] == [1, 1]  # what the application wrote is there


@pytest.mark.parametrize("how", HOW)
def test_the_queue_that_meets_a_deadlock_is_tried_again(
    engine: Jochi, start: Callable[[str, str], Callable[[], dict[str, Any]]], how: str
) -> None:
    first, second = remember(engine.database, 2)
    set_job(engine, "curate_due", batch_now=2)
    with holding(engine, second) as transaction:
        said = start("curate_due", how)
        waits(engine)
        write(transaction, first)
    counts = said()
    assert (sum(counts["changed"]), sum(counts["failed_batches"])) == (2, 0)
    assert sum(counts["retried"]) >= 1
    none_is_blamed(engine, "curate_due", counts["runs"])
    assert keys(engine.database, "Tombstone", "m.turns = 1") == {first, second}
    expect_whole(engine.database)


def none_is_blamed(client: Jochi, job: str, runs: list[dict[str, Any]]) -> None:
    assert [run for run in runs if run["status"] != "ok" or run.get("error") or run.get("quarantined")] == []
    assert keys(client.database, "Curated", "m.quarantined_until IS NOT NULL OR m.curation_failures > 0") == set()
    state = job_of(client, job)
    assert (state["failures"], state["isolated_in_a_row"], state["skip"]) == (0, 0, [])


DEADLOCKS = {
    "5.26": (
        "ForsetiClient[transactionId=1, clientId=2] can't acquire "
        "ExclusiveLock{owner=ForsetiClient[transactionId=3, clientId=4]} on NODE(5) "
        "because holders of that lock are waiting for ForsetiClient[transactionId=1, clientId=2]."
    ),
    "2026.09": (
        "ForsetiClient[transactionId=10, clientId=3] can't acquire EXCLUSIVE NODE(1) "
        "because it would form this deadlock wait cycle:\n"
        "NODE(1)-[EXCLUSIVE_OWNER]->(tx:7)-[WAITING_FOR_EXCLUSIVE]->(NODE(0))-[EXCLUSIVE_OWNER]->(tx:10)"
        "-[WAITING_FOR_EXCLUSIVE]->(NODE(1))"
    ),
}
"""As servers of these versions report one."""


@pytest.mark.parametrize("error", DEADLOCKS.values(), ids=DEADLOCKS.keys())
def test_deadlock_after_deadlock_becomes_a_failure(engine: Jochi, error: str) -> None:
    """As many as memories may be put aside in a row: from then on it is one like any other, and the job backs off in the end."""
    engine.apply()
    held = claim(engine)
    set_job(engine, "curate_due", batch_now=1)
    isolated = []
    for _ in range(4):
        row = engine.engine.call("scheduler/fail", {"clock": clock.now(), "error": error, **held})
        isolated.append(row["isolate"])
    assert isolated == [False, False, False, True]
    (run,) = engine.history("curate_due")
    assert (run["retried"], run["failed_batches"], run["error"]) == (3, 1, error)


@pytest.mark.parametrize(
    "said",
    [
        "because holders of that lock are waiting for ForsetiClient[",
        "ForsetiClient[1] can't acquire NODE(1) because it would form this deadlock wait cycle:",
    ],
)
def test_what_only_speaks_of_a_deadlock_is_a_failure(engine: Jochi, said: str) -> None:
    engine.apply()
    held = claim(engine)
    set_job(engine, "curate_due", batch_now=1)
    error = f"Node(1) already exists with property `title` = '{said}'"
    assert engine.engine.call("scheduler/fail", {"clock": clock.now(), "error": error, **held})["isolate"]
    (run,) = engine.history("curate_due")
    assert (run.get("retried"), run["failed_batches"]) == (None, 1)


def claim(client: Jochi) -> dict[str, Any]:
    now = clock.now()
    pump = client.engine.pump
    asked = {"clock": now, "due_by": now + DAY, "now": now, "pump": pump, "job": "curate_due", "except": []}
    row = client.engine.call("scheduler/claim", {**asked, "runner": "client"})
    return {name: row[name] for name in ("job", "token", "run")}
