"""Forgetting while others write, while transactions are terminated, and two at once (issue 8, part 8)."""

from __future__ import annotations

import random
import threading
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from neo4j.exceptions import ClientError, Neo4jError
from tests.conftest import TestServer

from jochi import Jochi
from jochi.errors import JochiError
from jochi.forgetting import VARIABLE, Request

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, tzinfo=timezone.utc)
PHRASE = Request(phrase="0170 5551", scope="default", clauses=False)


@pytest.fixture
def engine(jochi: Jochi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Jochi:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "forget.key"))
    jochi.apply()
    return jochi


def row(id: str, **more: Any) -> dict[str, Any]:
    return {"kind": "MemoryEntry", "id": id, "content": f"{id}: call 0170 5551 at once", **more}


def live(client: Jochi) -> set[str]:
    return {each["key"] for each in client.database.run("MATCH (m:Curated) RETURN m.key AS key", write=False)}


@pytest.mark.timeout(300)
def test_who_remembers_meanwhile_can_not_bring_it_back(engine: Jochi, server: TestServer) -> None:
    """Four clients write it without end. Once forget has returned none of them has it, and none gets it in."""
    engine.remember([row(f"old{i}") for i in range(50)], on_refused="raise")
    begun, enough = threading.Barrier(5), threading.Event()
    written = [0] * 4
    refused = [0] * 4
    wrong: list[BaseException] = []

    def write(which: int) -> None:
        try:
            with server.driver() as driver:
                client = Jochi(driver)
                begun.wait()
                n = 0
                while not enough.is_set():
                    told = client.remember([row(f"w{which}-{n}-{i}") for i in range(5)])
                    written[which] += told.written
                    refused[which] += told.refused
                    n += 1
                    enough.wait(0.1)  # the one that forgets gets a turn, too
        except BaseException as error:
            wrong.append(error)
            begun.abort()

    threads = [threading.Thread(target=write, args=(which,)) for which in range(4)]
    for thread in threads:
        thread.start()
    begun.wait()
    while sum(written) < 20 and not wrong:
        time.sleep(0.01)
    try:
        done = engine.forget(PHRASE, verify=True)
        assert live(engine) == set()
        before = sum(refused)
        while sum(refused) < before + 40 and not wrong:
            time.sleep(0.01)
    finally:
        enough.set()
        for thread in threads:
            thread.join()
    assert wrong == []
    assert live(engine) == set()
    assert (done.left, done.elsewhere) == ((), 0)
    assert done.counts["memories"] == 50 + sum(written)


@pytest.mark.timeout(300)
def test_terminated_at_any_point_it_is_asked_again_and_ends_clean(engine: Jochi, server: TestServer) -> None:
    engine.remember(
        [row(f"m{i}", relationships=[{"type": "NEXT", "to": f"m{i - 1}"}] if i else []) for i in range(400)],
        on_refused="raise",
    )
    engine.database.run(
        "UNWIND range(0, 39) AS i CREATE (:CurationAudit {id: 'r/' + i, run: 'r', action: 'demote', rule: 'x', "
        "at: $now, property: 'tier', n: 10, keys: [j IN range(0, 9) | 'default/m' + (10 * i + j)], "
        "before: [j IN range(0, 9) | 'HOT'], after: [j IN range(0, 9) | 'WARM']})",
        {"now": NOW},
    )
    stop = threading.Event()
    dice = random.Random(5)
    hit = 0

    def terminate() -> None:
        nonlocal hit
        with server.driver() as driver, driver.session() as session:
            while not stop.is_set():
                ids = session.run(
                    "SHOW TRANSACTIONS YIELD transactionId, currentQuery WHERE currentQuery CONTAINS 'Deletes memories for good' "
                    "OR currentQuery CONTAINS 'Seals values' OR currentQuery CONTAINS 'Takes what was forgotten' "
                    "RETURN transactionId AS id"
                ).value("id")
                if ids and dice.random() < 0.6:
                    session.run("TERMINATE TRANSACTIONS $ids YIELD message RETURN count(*)", ids=ids).consume()
                    hit += 1
                time.sleep(dice.random() / 50)

    killer = threading.Thread(target=terminate)
    killer.start()
    try:
        with server.driver() as driver, driver.session() as session, session.begin_transaction() as holder:
            # On a quick machine it is over before it can be seen: the first one waits, with its locks, for somebody else.
            holder.run("MATCH (m:Curated {key: 'default/m399'}) SET m.held_here = true").consume()
            with pytest.raises((Neo4jError, JochiError)):
                engine.forget(PHRASE, now=NOW, wait=0.1)
            holder.rollback()
        for _ in range(12):
            try:
                engine.forget(PHRASE, now=NOW, wait=0.1)
                break
            except (Neo4jError, JochiError):
                pass
    finally:
        stop.set()
        killer.join()
    assert hit > 0
    # What was cut off left its keys; the next one, later, ends it.
    done = engine.forget(PHRASE, now=NOW + timedelta(minutes=11), verify=True)
    assert (live(engine), done.left) == (set(), ())
    rows = engine.database.run("MATCH (a:CurationAudit) UNWIND a.keys AS key RETURN DISTINCT key")
    assert rows == [{"key": "forgotten"}]
    assert engine.database.run("MATCH (f:JochiForgetting) WHERE f.id <> 'gate' RETURN count(f) AS n") == [{"n": 0}]
    assert engine.receipts().broken_at is None


@pytest.mark.timeout(300)
def test_two_at_once_both_end_and_their_receipts_are_one_chain(engine: Jochi, server: TestServer) -> None:
    engine.remember(
        [row(f"m{i}") for i in range(60)] + [row(f"x{i}", content=f"{i}: x@acme.io writes") for i in range(60)]
    )
    engine.forget(Request(phrase="never said", scope="default"))  # the key is there
    wrong: list[BaseException] = []

    def ask(request: Request) -> None:
        try:
            with server.driver() as driver:
                Jochi(driver).forget(request, verify=True)
        except BaseException as error:
            wrong.append(error)

    requests = [PHRASE, Request(phrase="x@acme.io", scope="default"), PHRASE]
    threads = [threading.Thread(target=ask, args=(request,)) for request in requests]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    chain = engine.receipts()
    assert ([receipt.number for receipt in chain.receipts], chain.broken_at) == ([1, 2, 3, 4], None)
    assert live(engine) == set()
    assert sum(receipt.body["counts"].get("memories", 0) for receipt in chain.receipts) == 120


@pytest.mark.timeout(300)
def test_a_hub_goes_while_eight_write_to_it(engine: Jochi, server: TestServer) -> None:
    """A relationship that is made between the last look and the deletion fails no forgetting, and who makes it is told."""
    engine.remember([row("hub")], on_refused="raise")
    fill = "MATCH (h:Curated {key: 'default/hub'}) UNWIND range(1, 2500) AS i CREATE (h)<-[:PART_OF]-(:Leaf {i: i})"
    for _ in range(8):
        engine.database.run(fill)
    enough = threading.Event()
    written = [0] * 8
    wrong: list[BaseException] = []
    hang = "MATCH (h:Curated {key: 'default/hub'}) CREATE (h)-[:SEEN]->(:Ping) RETURN count(*) AS n"

    def write(which: int) -> None:
        try:
            with server.driver() as driver, driver.session() as session:
                while not enough.is_set():
                    try:
                        if not session.run(hang).single(strict=True)["n"]:
                            return
                        written[which] += 1
                    except ClientError as error:
                        # It met the deletion.
                        if error.code != "Neo.ClientError.Statement.EntityNotFound":
                            raise
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=write, args=(which,)) for which in range(8)]
    for thread in threads:
        thread.start()
    while min(written) < 3 and not wrong:
        time.sleep(0.01)
    try:
        done = engine.forget(Request(keys=("default/hub",)))
    finally:
        enough.set()
        for thread in threads:
            thread.join()
    assert wrong == []
    assert done.counts["relationships"] >= 20_000
    assert live(engine) == set()
    assert engine.database.run("MATCH (:Leaf)-[r]-() RETURN count(r) AS n")[0]["n"] == 0
