"""Many remember the same at the same moment, while the engine works; and the server goes away in between."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import datetime, timezone
from typing import Any

import neo4j
import pytest
from tests.conftest import TestServer
from tests.faults.cable import Cable
from tests.together import all_at_once

from jochi import Jochi
from jochi.write.remembering import RememberInterrupted, sending

NOW = datetime(2026, 6, 1, 12, tzinfo=timezone.utc)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("same_ids", [True, False], ids=["same ids", "ids of their own"])
def test_ten_processes_remember_and_touch_the_same_while_ticks_run(
    jochi: Jochi, server: TestServer, same_ids: bool
) -> None:
    all_at_once(jochi, server, processes=10, memories=1_000, same_ids=same_ids)


def test_two_writers_of_one_id_with_different_contents(jochi: Jochi, server: TestServer) -> None:
    """One of them writes it, the other is told: never a constraint, never one over the other."""
    contents = ["the first opinion", "another opinion"]
    done: list[Any] = [None, None]

    def write(which: int) -> None:
        with server.driver() as driver:
            client = Jochi(driver)
            rows = [{"kind": "Belief", "id": f"m{i}", "content": f"{contents[which]} {i}"} for i in range(300)]
            start.wait()
            done[which] = client.remember(rows if which else rows[::-1], now=NOW, batch_size=100)

    start = threading.Barrier(2)
    threads = [threading.Thread(target=write, args=(which,)) for which in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert done[0].written + done[1].written == 300
    assert done[0].refused + done[1].refused == 300
    assert {r.reason for d in done for r in d.refusals} == {"id_taken"}
    assert jochi.database.run("MATCH (m:Belief) RETURN count(m) AS n")[0]["n"] == 300


def test_the_plain_statement_waits_instead_of_meeting_a_constraint(jochi: Jochi, server: TestServer) -> None:
    """Any driver: while one transaction has written the same id or content and isn't over, another waits for it."""
    text = jochi.engine.text("memory/remember")
    known = {"kind": "Belief", "id": "a", "content": "x", "content_hash": "v2:" + "1" * 64}
    others = [
        {"kind": "Belief", "id": "a", "content": "y", "content_hash": "v2:" + "2" * 64},
        {"kind": "Belief", "id": "b", "content": "x", "content_hash": "v2:" + "1" * 64},
        {"kind": "Task", "id": "a"},
    ]
    found: list[Any] = []

    def write(memories: list[dict[str, Any]]) -> None:
        found.append(jochi.engine.call("memory/remember", {"now": NOW, "agent": None, "memories": memories}))

    with server.driver() as driver, driver.session() as session, session.begin_transaction() as tx:
        tx.run(text, jochi.engine.given(text, {"now": NOW, "agent": None, "memories": [known]})).consume()
        waiting = [threading.Thread(target=write, args=([row],)) for row in others]
        for thread in waiting:
            thread.start()
        waiting[0].join(timeout=1)
        assert found == []
        tx.commit()
        for thread in waiting:
            thread.join()

    outcomes = Counter((r["outcome"], r["reason"]) for row in found for r in row["results"])
    assert outcomes == {("refused", "id_taken"): 2, ("reinforced", None): 1}


@pytest.mark.parametrize("cut_after", [1, 3])
def test_the_server_goes_away_in_the_middle(
    jochi: Jochi, server: TestServer, monkeypatch: pytest.MonkeyPatch, cut_after: int
) -> None:
    host, port = server.uri.removeprefix("bolt://").split(":")
    cable = Cable(host, int(port))
    rows = [
        {
            "kind": "Belief",
            "id": f"m{i}",
            "content": f"note {i}",
            "relationships": [{"type": "NEXT", "to": f"m{i ^ 1}"}],
        }
        for i in range(1_000)
    ]
    sent = 0
    real = sending._send

    def cutting(*given: Any) -> Any:
        nonlocal sent
        sent += 1
        if sent == cut_after + 1:
            threading.Timer(0.01, cable.cut).start()
        return real(*given)

    monkeypatch.setattr(sending, "_send", cutting)
    uri = f"bolt://127.0.0.1:{cable.port}"
    with (
        neo4j.GraphDatabase.driver(uri, auth=(server.user, server.password), max_transaction_retry_time=0.5) as driver,
        pytest.raises(RememberInterrupted) as caught,
    ):
        Jochi(driver).remember(rows, now=NOW, batch_size=100)

    told = caught.value
    assert (told.exit_code, told.remembered.written) == (4, cut_after * 100)
    stored = jochi.database.run("MATCH (m:Curated) RETURN count(m) AS n")[0]["n"]
    assert stored in (told.remembered.written, told.remembered.written + 100)
    assert jochi.database.run("MATCH (m:Curated) WHERE NOT m:Belief RETURN count(m) AS n")[0]["n"] == 0
    linked = jochi.database.run("MATCH ()-[r:NEXT]->() RETURN count(r) AS n")[0]["n"]
    assert linked == stored

    monkeypatch.undo()
    done = jochi.remember(rows, now=NOW)
    assert (done.written, done.reinforced, done.refused) == (1_000 - stored, stored, 0)
    assert jochi.database.run("MATCH (m:Belief) RETURN count(m) AS n")[0]["n"] == 1_000
    assert jochi.database.run("MATCH ()-[r:NEXT]->() RETURN count(r) AS n")[0]["n"] == 1_000
