"""A pinned re-arming line runs, with the server's rights, what was installed and nothing else (DESIGN §5).

A server of its own; the tests run in order and share it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import neo4j
import pytest
from tests.faults.support import job_of, keys, pump_of, remember, set_job, within, write_policy
from tests.own_server import module_server

from jochi import Jochi
from jochi.jobs.rearm import rearm_key, rearm_line
from jochi.localserver import LocalServer
from jochi.operate.check import Level
from jochi.operate.doctor import examine

pytestmark = pytest.mark.server

POLICY = """
[scheduler]
pump_every = "1s"
watch_every = "1s"
tick_mark = "1s"
lease = "5s"
[jobs.curate_due]
every = "1s"
"""
INTRUDER = "CREATE (:Intruder)\n"


@pytest.fixture(scope="module")
def local(request: pytest.FixtureRequest) -> Iterator[LocalServer]:
    with module_server(request, "pinned", settings={rearm_key(): ""}) as made:
        yield made


@pytest.fixture(scope="module")
def client(local: LocalServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jochi]:
    running = local.running()
    auth = (running.user, running.password.get_secret_value())
    with neo4j.GraphDatabase.driver(running.uri, auth=auth, notifications_min_severity="OFF") as driver:
        yield Jochi(driver, policy=write_policy(tmp_path_factory.mktemp("policy"), POLICY))


@pytest.fixture(scope="module")
def line(client: Jochi) -> str:
    """The value of apoc.conf's line."""
    printed = client.install(pin=True).pin_line
    assert printed is not None
    key, value = printed.split("=", 1)
    assert key == rearm_key()
    client.apply()
    return value


def restart(local: LocalServer, line: str) -> None:
    local.stop()
    local.start(settings={rearm_key(): line})


def intruders(client: Jochi) -> int:
    return int(client.database.run("MATCH (n:Intruder) RETURN count(n) AS n")[0]["n"])


def edit(client: Jochi, property_name: str, *, name: str | None = None) -> None:
    """Somebody who may write the graph puts text of his own into the engine."""
    label, key = ("JochiProcedure", name) if name else ("JochiPump", client.engine.pump)
    client.database.run(
        f"MATCH (n:{label} {{name: $key}}) SET n.{property_name} = $intruder + n.{property_name}",
        {"key": key, "intruder": INTRUDER + "WITH count(*) AS intruders\n"},
    )


def refused(client: Jochi, job: str) -> bool:
    """Its last run stands there as failed, for the pin's reason."""
    return any("pin in apoc.conf" in (run.get("error") or "") for run in client.history(job, limit=1))


def test_what_was_installed_runs_after_a_restart(client: Jochi, local: LocalServer, line: str) -> None:
    assert line != rearm_line()
    assert "$pin" not in line
    restart(local, line)
    before = remember(client.database, 5)
    within(30, lambda: keys(client.database, "Tombstone") == set(before), "the pinned pump prunes")
    found = {check.name: check for check in examine(client, probe=False).checks}
    assert found["restart"].level is Level.OK


def test_an_edited_procedure_is_not_run(client: Jochi, line: str) -> None:
    edit(client, "act", name="curate/curate_due")
    more = remember(client.database, 5, name="more")
    within(30, lambda: refused(client, "curate_due"), "refused")
    edit(client, "select", name="jobs/prune_runs")
    # Due for so long that its turn comes before that of a job of every second.
    set_job(client, "prune_runs", next_start=job_of(client, "curate_due")["started_at"] - timedelta(hours=1))
    within(30, lambda: refused(client, "prune_runs"), "refused as well")
    assert intruders(client) == 0
    assert keys(client.database, "Curated") >= set(more)
    # A client's own arming has no pin: it runs what is there, with the client's rights. Install puts it right.
    client.install()
    assert not [run for run in client.history(limit=50) if run.get("quarantined")]
    within(60, lambda: not keys(client.database, "Curated"), "they are pruned after the install")


@pytest.mark.parametrize("what", ["a stage", "a stage that isn't handed on", "the policy", "no policy"])
def test_an_edited_stage_or_policy_is_not_run(client: Jochi, local: LocalServer, line: str, what: str) -> None:
    restart(local, line)  # the install before armed it with the client's rights, without a pin
    if "stage" in what:
        edit(client, "body", name="curate/breaker")
    if what == "a stage that isn't handed on":  # the job's own list of what it runs, which nothing covers
        client.database.run("MATCH (x:JochiProcedure {name: 'curate/curate_due'}) SET x.stages = []")
    if what == "the policy":
        client.database.run(
            "MATCH (p:JochiPolicy) SET p.compiled = replace(p.compiled, '\"grace_s\": ', '\"grace_s\": -')"
        )
    if what == "no policy":
        client.database.run("MATCH (p:JochiPolicy) SET p.current = false")
    more = remember(client.database, 5, name=what)
    within(30, lambda: client.history("curate_due", limit=1)[0].get("error") is not None, "refused")
    assert what == "a stage that isn't handed on" or "pin in apoc" in client.history("curate_due", limit=1)[0]["error"]
    assert intruders(client) == 0
    assert keys(client.database, "Curated") >= set(more)
    client.install()
    client.database.run("MATCH (m:Curated) SET m.quarantined_until = null, m.next_due = datetime()")
    within(60, lambda: not keys(client.database, "Curated"), "they are pruned after the install")


@pytest.mark.parametrize("part", ["body", "tick", "step", "manifest"])
def test_an_edited_pump_is_not_armed(client: Jochi, local: LocalServer, line: str, part: str) -> None:
    edit(client, part)
    restart(local, line)
    within(20, lambda: pump_of(client).get("pin_refused_at") is not None, "the line refuses it")
    within(20, lambda: client.armed() == [client.engine.watch], "the watch is whole and armed")
    # The pinned watch finds the pump missing again and again, and doesn't arm it either.
    mark = pump_of(client).get("rearmed_at")
    for _look in range(3):
        client.engine.call("scheduler/tick", {"clock": client._server_now(), "pump": client.engine.pump})
    assert client.armed() == [client.engine.watch]
    assert (pump_of(client).get("rearmed_at"), intruders(client)) == (mark, 0)
    found = {check.name: check for check in examine(client, probe=False).checks}
    assert found["restart"].level is Level.FAIL
    assert found["pump texts"].level is Level.FAIL
    assert client.install().pin_line == f"{rearm_key()}={line}"
    client.apply()


def test_a_node_with_another_role_is_no_way_round(client: Jochi, local: LocalServer, line: str) -> None:
    client.database.run(
        "MATCH (p:JochiPump {name: $pump}) UNWIND ['guest', null, 'watch'] AS role "
        "CREATE (x:JochiPump) "
        "SET x = p {.*, name: 'jochi.pump.' + coalesce(role, 'none'), role: role, body: $intruder}",
        {"pump": client.engine.pump, "intruder": INTRUDER + "RETURN 1"},
    )
    restart(local, line)
    within(20, lambda: len(client.armed()) == 2, "pump and watch are armed")
    within(20, lambda: pump_of(client)["last_tick"] > pump_of(client)["server_started_at"], "the pump ticks")
    assert intruders(client) == 0
    names = client.database.run("CALL apoc.periodic.list() YIELD name RETURN collect(name) AS names")[0]["names"]
    assert sorted(names) == sorted([client.engine.pump, client.engine.watch])
    client.database.run("MATCH (p:JochiPump) WHERE NOT p.name IN $ours DELETE p", {"ours": names})


def test_another_policy_has_another_line(client: Jochi, local: LocalServer, line: str, tmp_path: Path) -> None:
    other = Jochi(
        client.database.driver, policy=write_policy(tmp_path, POLICY + "budget = '3s'\n[rails]\ngrace = '48h'\n")
    )
    printed = other.install().pin_line  # it stays pinned without being asked again
    assert printed is not None
    assert printed != f"{rearm_key()}={line}"
    other.apply()
    restart(local, line)
    within(20, lambda: pump_of(client).get("pin_refused_at") is not None, "the old line doesn't fit any more")
    assert other.armed() == []
    restart(local, printed.split("=", 1)[1])
    within(20, lambda: len(other.armed()) == 2, "the new one does")
    assert other.install(pin=False).pin_line is None
