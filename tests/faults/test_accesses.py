"""Every touch counts exactly once: many processes at once, clients and servers killed in the middle (DESIGN §8, §12)."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import neo4j
import pytest
from tests.faults.support import within
from tests.own_server import module_server

from jochi import Jochi, clock
from jochi.localserver import LocalServer
from jochi.policy import load_policy

pytestmark = pytest.mark.server

CONNECT = """
import os, sys
import neo4j
from jochi import Jochi
driver = neo4j.GraphDatabase.driver(os.environ["T_URI"], auth=(os.environ["T_USER"], os.environ["T_PASSWORD"]))
client = Jochi(driver)
"""
SENDER = (
    CONNECT
    + """
for number in range(int(sys.argv[1]), int(sys.argv[2])):
    client.touch([f"default/m{i}" for i in range(50)] * 20, agent=f"a{number % 7}", batch=f"batch-{number}")
    print(number, flush=True)
"""
)


def remember(client: Jochi, n: int) -> None:
    client.database.run(
        "UNWIND range(0, $n - 1) AS i CREATE (:Curated:Note {key: 'default/m' + i, id: 'm' + i, scope: 'default', "
        "created_at: $now, next_due: $now})",
        {"n": n, "now": clock.now()},
    )


def totals(client: Jochi) -> tuple[int, int]:
    """Recalls counted, and touches that wait."""
    row = client.database.run(
        "CALL () { MATCH (m:Curated) RETURN coalesce(sum(m.recall_count), 0) AS counted } "
        "CALL () { MATCH (a:JochiAccess) RETURN count(a) AS waiting } RETURN counted, waiting",
        write=False,
    )[0]
    return int(row["counted"]), int(row["waiting"])


def environment(uri: str, user: str, password: str) -> dict[str, str]:
    return {**os.environ, "T_URI": uri, "T_USER": user, "T_PASSWORD": password}


def _touch_at_random(uri: str, user: str, password: str, seed: int, enough: Any, answers: Any) -> None:
    dice = Random(seed)
    sent: dict[str, int] = {}
    with neo4j.GraphDatabase.driver(uri, auth=(user, password), notifications_min_severity="OFF") as driver:
        client = Jochi(driver)
        while not enough.wait(0.05):  # so many a second, or the counting would never catch up
            keys = [f"default/m{dice.randrange(1000)}" for _ in range(dice.randrange(1, 200))]
            used = dice.random() < 0.7
            client.touch(keys, used=used, agent=f"agent-{seed}")
            for key in keys:
                sent[key] = sent.get(key, 0) + 1
    answers.put(sent)


def changing_runs(engine: Jochi) -> int:
    return len([run for run in engine.history("fold_accesses", limit=500) if run["changed"]])


def test_ten_processes_touch_the_same_thousand_memories_while_the_engine_runs(
    engine: Jochi, arm: Callable[[], None], server: Any
) -> None:
    remember(engine, 1000)
    engine.database.run("MATCH (j:JochiJob {name: 'fold_accesses'}) SET j.every_s = 1, j.every = duration('PT1S')")
    engine.apply()
    arm()
    context = multiprocessing.get_context("spawn")
    answers, enough = context.Queue(), context.Event()
    many = [
        context.Process(target=_touch_at_random, args=(server.uri, server.user, server.password, seed, enough, answers))
        for seed in range(10)
    ]
    for process in many:
        process.start()
    # They go on until the engine has folded at least twice beside them.
    try:
        within(120, lambda: changing_runs(engine) > 1, "touches are folded while others are touching")
    finally:
        enough.set()
    sent: dict[str, int] = {}
    for _ in many:
        for key, n in answers.get(timeout=240).items():
            sent[key] = sent.get(key, 0) + n
    for process in many:
        process.join(60)
        assert process.exitcode == 0
    within(60, lambda: totals(engine)[1] == 0, "every touch is folded")
    rows = engine.database.run("MATCH (m:Curated) WHERE m.recall_count > 0 RETURN m.key AS key, m.recall_count AS n")
    assert {row["key"]: row["n"] for row in rows} == sent
    assert [run["error"] for run in engine.history("fold_accesses", limit=500) if run.get("error")] == []


def test_a_client_killed_between_calls_repeats_its_batches_and_nothing_counts_twice(
    engine: Jochi, arm: Callable[[], None], server: Any
) -> None:
    remember(engine, 50)
    engine.database.run("MATCH (j:JochiJob {name: 'fold_accesses'}) SET j.every_s = 1, j.every = duration('PT1S')")
    arm()
    env = environment(server.uri, server.user, server.password)
    done, calls, dice = 0, 24, Random(7)
    while done < calls:
        # Each time it starts with the last batch that was acknowledged: a client can't know better.
        sender = subprocess.Popen(
            [sys.executable, "-c", SENDER, str(max(0, done - 1)), str(calls)],
            env=env,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert sender.stdout is not None
        with sender.stdout:
            for _ in range(dice.randrange(3, 8)):
                line = sender.stdout.readline()
                if not line:
                    break
                done = max(done, int(line) + 1)
            time.sleep(dice.random() * 0.05)
            sender.send_signal(signal.SIGKILL)
        sender.wait(30)
    within(60, lambda: totals(engine)[1] == 0, "every touch is folded")
    assert totals(engine) == (calls * 1000, 0)


@pytest.fixture(scope="module")
def local(request: pytest.FixtureRequest) -> Iterator[LocalServer]:
    with module_server(request, "accesses") as made:
        yield made


@pytest.mark.timeout(600)
def test_a_server_killed_while_it_folds_loses_nothing_and_counts_nothing_twice(
    local: LocalServer, tmp_path: Path
) -> None:
    file = tmp_path / "p.toml"
    file.write_text(
        '[policy]\nname = "p"\nextends = "default"\n[scheduler]\npump_every = "1s"\nwatch_every = "2s"\nlease = "20s"\n'
        '[accesses]\nbatch_records = 500\n[jobs.fold_accesses]\nevery = "1s"\nbatch_size = 20\nmax_batches = 4\n'
    )
    policy = load_policy(file)
    running = local.running()
    auth = (running.user, running.password.get_secret_value())
    sent = 0
    for round_ in range(3):
        running = local.running() if round_ == 0 else local.start()
        with neo4j.GraphDatabase.driver(running.uri, auth=auth, notifications_min_severity="OFF") as driver:
            client = Jochi(driver, policy=policy)
            if round_ == 0:
                client.install()
                remember(client, 100)
            counted, waiting = totals(client)
            assert counted + waiting == sent, "before anything new"
            for number in range(4):
                keys = [f"default/m{i}" for i in range(100)] * 20
                done = client.touch(keys, batch=f"{round_}-{number}")
                again = client.touch(keys, batch=f"{round_}-{number}")
                assert (done.touched, again.touched) == (len(keys), 0)
                sent += len(keys)
            if round_ < 2:
                start = totals(client)[0]
                within(60, lambda: totals(client)[0] > start, "it folds")  # noqa: B023
                time.sleep(Random(round_).random())
                local.kill()
                continue
            within(120, lambda: totals(client)[1] == 0, "every touch is folded")  # noqa: B023
            assert totals(client) == (sent, 0)
            rows = client.database.run("MATCH (m:Curated) RETURN DISTINCT m.recall_count AS n")
            assert [row["n"] for row in rows] == [sent // 100]
