"""Processes that remember and touch the same memories at the same moment, while jobs of the engine run beside them."""

from __future__ import annotations

import multiprocessing
import threading
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

from tests.conftest import TestServer

from jochi import Jochi

NOW = datetime(2026, 6, 1, 12, tzinfo=timezone.utc)
JOBS = ("fold_accesses", "curate_due")
_A_FEW = 20


def the_same(mine: int, *, memories: int, processes: int, same_ids: bool) -> list[dict[str, Any]]:
    """The same contents, each process in an order of its own; with ids of its own or the same for all."""
    rows = [
        {
            "kind": "Belief",
            "id": f"m{i}" if same_ids else f"p{mine}-m{i}",
            "scope": f"s{i % 7}",
            "content": f"note {i} of the day",
            "properties": {"confidence": 0.5},
            "relationships": [{"type": "ABOUT", "to_key": "hub/hub"}] if i % 10 == 0 else [],
        }
        for i in range(memories)
    ]
    turn = mine * memories // processes
    rows = rows[turn:] + rows[:turn]
    return rows if mine % 2 else rows[::-1]


def one_process(
    server: TestServer, mine: int, rows: Sequence[dict[str, Any]], start: Any, enough: Any, answers: Any
) -> None:
    """Remembers a quarter, touches all it knows by then, and so on; then touches a few until ``enough``. Each batch of touches is
    sent twice and counts once."""
    touched: Counter[str] = Counter()
    written = reinforced = 0
    problems: list[str] = []
    known: list[str] = []

    def touch(batch: str, keys: list[str]) -> None:
        # Shown and used: both are recalls.
        given: dict[str, Any] = {"agent": f"agent {mine}", "batch": batch, "used": mine % 2 == 0, "now": NOW}
        done, again = (client.touch(keys, **given) for _ in range(2))
        if (done.touched, again.touched) != (len(keys), 0):
            problems.append(f"{batch}: {done}, {again}")
        touched.update(keys)

    try:
        with server.driver() as driver:
            client = Jochi(driver)
            start.wait(timeout=240)
            quarter = len(rows) // 4
            for part in range(4):
                done = client.remember(
                    rows[part * quarter : (part + 1) * quarter], agent=f"agent {mine}", now=NOW, batch_size=quarter
                )
                written, reinforced = written + done.written, reinforced + done.reinforced
                problems += [str(refusal) for refusal in done.refusals]
                known += [str(result.owner or result.key) for result in done.results]
                touch(f"{mine}-part {part}", known)
            rounds = 0
            while not enough.wait(0.2):
                rounds += 1
                touch(f"{mine}-{rounds}", known[:_A_FEW])
        answers.put((written, reinforced, touched, problems))
    except BaseException as error:
        answers.put((0, 0, Counter(), [*problems, repr(error)]))
        raise


def all_at_once(jochi: Jochi, server: TestServer, *, processes: int, memories: int, same_ids: bool) -> None:
    """Sets them going together with the jobs, and compares every count with what the processes say they did."""
    jochi.apply()
    jochi.remember({"kind": "Entity", "id": "hub", "scope": "hub"}, now=NOW)
    context = multiprocessing.get_context("spawn")
    start, enough, answers = context.Barrier(processes + 1), context.Event(), context.Queue()
    running = [
        context.Process(
            target=one_process,
            args=(
                server,
                mine,
                the_same(mine, memories=memories, processes=processes, same_ids=same_ids),
                start,
                enough,
                answers,
            ),
        )
        for mine in range(processes)
    ]
    for process in running:
        process.start()
    over = threading.Event()
    worked: Counter[str] = Counter()

    def tick() -> None:
        try:
            while not over.is_set():
                for job in JOBS:
                    worked[job] += sum(run.selected > 0 for run in jochi.run(job, now=NOW))
                # The processes go on until both have worked beside them.
                if worked["fold_accesses"] > 1 and worked["curate_due"]:
                    enough.set()
        finally:
            enough.set()

    ticking = threading.Thread(target=tick)
    start.wait(timeout=240)
    ticking.start()
    try:
        got = [answers.get(timeout=300) for _ in running]
    finally:
        over.set()
        ticking.join()
    for process in running:
        process.join(timeout=60)
        assert process.exitcode == 0

    assert [problem for *_, problems in got for problem in problems] == []
    assert worked["fold_accesses"] > 1
    assert worked["curate_due"] > 0
    written, reinforced = sum(row[0] for row in got), sum(row[1] for row in got)
    assert (written, reinforced) == (memories, (processes - 1) * memories)
    state = jochi.database.run(
        "MATCH (m:Belief) RETURN count(m) AS memories, count(DISTINCT m.key) AS keys, "
        "count(DISTINCT m.content_hash) AS hashes, count(DISTINCT m.content_key) AS seals"
    )[0]
    assert state == dict.fromkeys(("memories", "keys", "hashes", "seals"), memories)
    # Nothing of what is set up for a lock only stays.
    assert jochi.database.run("MATCH (m:Curated) WHERE NOT m:Belief AND NOT m:Entity RETURN count(m) AS n")[0]["n"] == 0
    assert jochi.database.run("MATCH (:Belief)-[r:ABOUT]->(:Entity) RETURN count(r) AS n")[0]["n"] == memories // 10

    jochi.run("fold_accesses", now=NOW, drain=True)
    assert jochi.database.run("MATCH (a:JochiAccess) RETURN count(a) AS n") == [{"n": 0}]
    rows = jochi.database.run("MATCH (m:Belief) RETURN m.key AS key, m.recall_count AS n")
    # Who remembers what is known reinforces it, and that is one recall; each touch is another.
    sent = sum((row[2] for row in got), Counter({row["key"]: processes - 1 for row in rows}))
    assert {row["key"]: row["n"] for row in rows} == sent
    assert sum(sent.values()) == reinforced + sum(sum(row[2].values()) for row in got)
    history = jochi.history(limit=10_000)
    assert {run["job"] for run in history} >= set(JOBS)
    assert [run for run in history if run.get("error") or run["status"] not in ("ok", "partial")] == []
