"""The milestone: the database works by itself, is killed in the middle of a batch, comes back and goes on by itself.

A server of its own with a short lock time-out; the tests run in order and share it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import neo4j
import pytest
from tests.faults.support import expect_whole, job_of, keys, pump_of, remember, set_job, within, write_policy
from tests.own_server import module_server

from jochi import Jochi
from jochi.jobs.results import Switch
from jochi.localserver import LocalServer

pytestmark = pytest.mark.server

POLICY = """
[scheduler]
pump_every = "1s"
watch_every = "2s"
tick_mark = "1s"
lease = "10min"
[jobs.curate_due]
every = "1s"
batch_size = 20
max_batches = 2
"""


@pytest.fixture(scope="module")
def local(request: pytest.FixtureRequest) -> Iterator[LocalServer]:
    with module_server(request, "restart", settings={"db.lock.acquisition.timeout": "2s"}) as made:
        yield made


@pytest.fixture(scope="module")
def client(local: LocalServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jochi]:
    """Installed and armed on a store where nobody ever took a lock of ours."""
    running = local.running()
    auth = (running.user, running.password.get_secret_value())
    with neo4j.GraphDatabase.driver(running.uri, auth=auth, notifications_min_severity="OFF") as driver:
        made = Jochi(driver, policy=write_policy(tmp_path_factory.mktemp("policy"), POLICY))
        made.install()
        yield made


def blocked(client: Jochi) -> bool:
    rows = client.database.run("SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN status")
    return bool(rows)


def test_on_a_fresh_store_our_locks_are_locks(client: Jochi) -> None:
    """`REMOVE m.curation_lock` locks nothing where the database has never seen that property key."""
    (key,) = remember(client.database, 1, unread=True)
    for text in (
        "MATCH (m:Curated {key: 'default/m1'}) REMOVE m.curation_lock",
        "MATCH (m:JochiJob {name: 'prune_runs'}) REMOVE m.claim_lock",
        "MATCH (m:JochiPump {name: 'jochi.watch.neo4j'}) REMOVE m.arm_lock",
        "MATCH (m:JochiPump {name: 'jochi.watch.neo4j'}) REMOVE m.lock",
    ):
        with client.database.driver.session() as one, one.begin_transaction() as holder:
            holder.run(text).consume()
            match = text[: text.index(" REMOVE")]
            with pytest.raises(neo4j.exceptions.Neo4jError, match="lock"):
                client.database.autocommit(f"{match} SET m.seen = true")
    client.database.run("MATCH (m:Curated {key: $key}) DELETE m", {"key": key})


def test_three_runs_kill_restart_three_more(client: Jochi, local: LocalServer) -> None:
    everything = remember(client.database, 400)
    client.apply()

    def changed() -> int:
        return sum(1 for run in client.history("curate_due", limit=200) if run["changed"] > 0)

    within(60, lambda: changed() >= 3, "three runs that changed something")
    with client.database.driver.session() as session:
        # An agent holds a memory of the next batch: the pump stands in the middle of it when the power goes.
        agent = session.begin_transaction()
        agent.run("MATCH (m:Curated) SET m.seen = true").consume()
        within(20, lambda: blocked(client) and job_of(client, "curate_due")["run_open"], "a batch is under way")
        local.kill()
        # The agent's own connection has died with the server; ended here, so that its session closes cleanly.
        with suppress(neo4j.exceptions.ServiceUnavailable):
            agent.close()
    killed = local.start(settings={"db.lock.acquisition.timeout": "2s"})
    assert not killed.already_running
    before = changed()
    assert keys(client.database, "Curated"), "there is work left"
    cut = [run["id"] for run in client.history("curate_due", limit=200) if run["status"] == "running"]

    # Nobody arms anything here, and the dead pump's lease would last ten minutes.
    within(60, lambda: changed() >= before + 3, "three more runs")
    within(60, lambda: keys(client.database, "Tombstone") == set(everything), "everything is pruned")
    within(10, lambda: not job_of(client, "curate_due")["run_open"])
    status = {run["id"]: run["status"] for run in client.history("curate_due", limit=200)}
    assert len(cut) == 1
    assert status[cut[0]] == "crashed"
    assert list(status.values()).count("crashed") == job_of(client, "curate_due")["crashes"] == 1
    assert "running" not in status.values()
    assert set(client.armed()) == {client.engine.pump, client.engine.watch}
    assert pump_of(client).get("guard") is None
    expect_whole(client.database)


def test_an_agent_that_holds_a_due_memory_keeps_only_that_one_waiting(client: Jochi) -> None:
    client.database.run("MATCH (n) WHERE n:Tombstone OR n:CurationAudit OR n:JochiQuota DETACH DELETE n")
    client.pause(Switch("all"))
    everything = set(remember(client.database, 60, name="held"))
    client.apply()
    held = "default/held30"
    with client.database.driver.session() as session:
        agent = session.begin_transaction()
        agent.run("MATCH (m:Curated {key: $key}) SET m.read = false, m.note = 'mine'", {"key": held}).consume()
        client.resume(Switch("all"))
        within(60, lambda: keys(client.database, "Tombstone") == everything - {held}, "the others are pruned")
        agent.commit()
    aside = {key for run in client.history("curate_due", limit=200) for key in run.get("quarantined") or []}
    assert aside == {held}
    row = client.database.run("MATCH (m:Curated {key: $key}) RETURN m.note AS note, m.read AS read", {"key": held})
    assert row == [{"note": "mine", "read": False}]
    # Passed over for five minutes because it could not be marked; then it is looked at, and kept: it is unread now.
    set_job(client, "curate_due", skip=[], skip_until=None, next_start=job_of(client, "curate_due")["started_at"])
    within(15, lambda: keys(client.database, "Curated", "m.curation_action = 'KEEP'") == {held}, "it is judged anew")
    expect_whole(client.database)
