"""Six processes write and lock the same memories while the engine curates them: no write is lost, no deadlock surfaces, and
every conflict is told to somebody (issue 8, conflict avoidance; DESIGN §10)."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable
from random import Random
from typing import Any

import neo4j
import pytest
from neomodel import db
from tests.faults.support import within

from jochi import Jochi
from jochi_models import CompressedContext, Locked, LostUpdate

pytestmark = pytest.mark.server

WRITERS = 6
MEMORIES = 30
SECONDS = float(os.environ.get("JOCHI_CONFLICT_SECONDS", "20"))


def _write_at_random(uri: str, user: str, password: str, seed: int, enough: Any, answers: Any) -> None:
    """Adds one to the turns of a memory, again and again: each sum that was said to be saved must be there in the end."""
    dice = Random(seed)
    saved: dict[str, int] = {}
    told = {"lost": 0, "locked": 0, "touched": 0}
    with neo4j.GraphDatabase.driver(uri, auth=(user, password), notifications_min_severity="OFF") as driver:
        db.set_connection(driver=driver)
        client = Jochi(driver)
        try:
            while not enough.is_set():
                key = f"default/b{int(MEMORIES * dice.random() ** 3)}"  # some are in everybody's hands, on a quick machine, too
                memory = CompressedContext.nodes.get(key=key)
                choice = dice.random()
                try:
                    if choice < 0.2:
                        client.touch([key], agent=f"agent-{seed}")
                        told["touched"] += 1
                        continue
                    if choice < 0.6:
                        with memory.lock(f"agent-{seed}", wait=dice.choice((0.0, 0.5))):
                            memory.turns = (memory.turns or 0) + 1
                            memory.save()
                    else:
                        memory.turns = (memory.turns or 0) + 1
                        memory.save()
                except LostUpdate:
                    told["lost"] += 1
                except Locked:
                    told["locked"] += 1
                else:
                    saved[key] = saved.get(key, 0) + 1
        finally:
            db.close_connection()
    answers.put((saved, told))


def test_six_processes_and_the_engine_lose_no_write(engine: Jochi, arm: Callable[[], None], server: Any) -> None:
    contexts = [
        {"kind": "CompressedContext", "id": f"b{i}", "content": f"what was said in session {i}"}
        for i in range(MEMORIES)
    ]
    assert engine.remember(contexts, on_refused="raise").written == MEMORIES
    engine.database.run(
        "MATCH (j:JochiJob) SET j.every_s = 1, j.every = duration('PT1S'), "
        "j.enabled = j.name IN ['curate_due', 'fold_accesses', 'enforce_budgets']"
    )
    engine.apply()
    arm()
    context = multiprocessing.get_context("spawn")
    answers, enough = context.Queue(), context.Event()
    writers = [
        context.Process(target=_write_at_random, args=(server.uri, server.user, server.password, seed, enough, answers))
        for seed in range(WRITERS)
    ]
    for writer in writers:
        writer.start()
    try:
        # They go on until the engine has looked often at what they write, and for so long at least.
        end = time.monotonic() + SECONDS
        within(45, lambda: len(looked(engine)) > 5 and time.monotonic() > end, "the engine looks at what they write")
    finally:
        enough.set()
    saved: dict[str, int] = {}
    told: dict[str, int] = {}
    for _ in writers:
        some, conflicts = answers.get(timeout=120)
        saved = {key: saved.get(key, 0) + some.get(key, 0) for key in saved.keys() | some.keys()}
        told = {name: told.get(name, 0) + n for name, n in conflicts.items()}
    for writer in writers:
        writer.join(60)
        assert writer.exitcode == 0  # nothing but a conflict that it counted came to the surface
    rows = engine.database.run(
        "MATCH (m:Curated) RETURN m.key AS key, coalesce(m.turns, 0) AS n, m.locked_by AS by", write=False
    )
    assert {row["key"]: row["n"] for row in rows if row["n"]} == saved
    assert [row["key"] for row in rows if row["by"] is not None] == []
    assert told["lost"] > 0, told
    assert told["locked"] > 0, told
    assert told["touched"] > 0, told
    failed = [run for run in engine.history(limit=1_000) if run["status"] in ("failed", "crashed")]
    assert failed == []


def looked(engine: Jochi) -> list[dict[str, Any]]:
    """Runs of the evaluator that looked at something."""
    return [run for run in engine.history("curate_due", limit=1_000) if run["selected"]]
