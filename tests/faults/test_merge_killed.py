"""Kill -9 of the server while it merges: after the restart nothing is lost and nothing is half, and it goes on."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from neo4j.exceptions import DriverError, Neo4jError
from tests.faults.support import within
from tests.faults.test_merge import NOW, PAIRS, fill, whole
from tests.own_server import module_server

from jochi import Jochi
from jochi.localserver import LocalServer

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def local(request: pytest.FixtureRequest) -> Iterator[LocalServer]:
    with module_server(request, "mergekill") as made:
        yield made


def merge_on(client: Jochi, text: str, run: str) -> None:
    """The job's statement for one pair after the other, until the server is gone."""
    for i in range(PAIRS):
        try:
            with client.database.driver.session() as session:
                given = {"now": NOW, "keys": [f"s/a{i}"], "run": f"{run}/{i}", "policy": "p", "job": {}}
                session.run(text, client.engine.given(text, given)).consume()
        except (DriverError, Neo4jError):
            return


def merged(client: Jochi) -> int:
    return int(client.database.run("MATCH (t:Tombstone) RETURN count(t) AS n", write=False)[0]["n"])


@pytest.mark.timeout(900)
def test_the_server_is_killed_while_it_merges(local: LocalServer) -> None:
    with local.running().driver() as driver:
        client = Jochi(driver)
        client.install(arm=False)
        fill(client)
        text = client.engine.text("dedup/merge_duplicates", "act")
    done = 0
    for turn in range(3):
        with local.running().driver() as driver, local.running().driver() as other:
            client, watching = Jochi(driver), Jochi(other)
            worker = threading.Thread(target=merge_on, args=(client, text, f"k{turn}"))
            worker.start()
            within(60, lambda at=done, look=watching: merged(look) > at, "something is merged")
            time.sleep(0.01 + turn * 0.013)
            local.kill()
            worker.join()
        local.start()
        with local.running().driver() as driver:
            client = Jochi(driver)
            done = whole(client)
            lost = "MATCH (s:CurationSnapshot) WHERE NOT ()-[:KEEPS]->(s) RETURN count(s) AS n"
            assert client.database.run(lost) == [{"n": 0}]
    assert done > 0
    with local.running().driver() as driver:
        client = Jochi(driver)
        merge_on(client, text, "end")
        assert whole(client) == PAIRS
        keys = [row["key"] for row in client.database.run("MATCH (t:Tombstone) RETURN t.key AS key")]
        assert {r.outcome for r in client.unmerge(keys)} == {"unmerged"}
        assert whole(client) == 0
