"""A server as near to Aura as a local one comes: no line in apoc.conf, no triggers, no settings, Aura's list of APOC procedures.

What says "Aura" is the address that it advertises. Its users are all alike: Community knows no rights.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import neo4j
import pytest
from tests.faults.support import keys, pump_of, within, write_policy
from tests.own_server import module_server

from jochi import Jochi
from jochi.errors import Refused
from jochi.install import triggers
from jochi.jobs.rearm import rearm_key
from jochi.localserver import LocalServer, conf
from jochi.operate.check import Level
from jochi.operate.doctor import examine
from jochi.toml import beside

pytestmark = pytest.mark.server

POLICY = """
[scheduler]
pump_every = "1s"
watch_every = "2s"
tick_mark = "1s"
[jobs.intake]
every = "1s"
[kinds.Letter]
class = "60min"
intake = true
properties = { id = "number", content = "text" }
"""

HAS = [
    f"{space}.{name}" for space, names in beside(str(Path(__file__).parent), "aura_apoc.toml").items() for name in names
]
SETTINGS = {
    rearm_key(): "",
    "apoc.jobs.scheduled.num_threads": "",
    "db.lock.acquisition.timeout": "",
    "dbms.security.procedures.allowlist": ",".join(HAS),
    "server.bolt.advertised_address": "abcd1234.databases.neo4j.io:7687",
}
USER, PASSWORD, NEXT_PASSWORD = "memories", "correct-horse-1", "correct-horse-2"


@pytest.fixture(scope="module")
def local(request: pytest.FixtureRequest) -> Iterator[LocalServer]:
    """It listens on the loopback as all do, and only says that it has an address of Aura."""
    fixed = [key for key in conf._CONF["fixed"] if not "server.bolt.advertised_address".startswith(key)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(conf._CONF, "fixed", fixed)
        with module_server(request, "aura", settings=SETTINGS) as made:
            yield made


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("policy")
    write_policy(folder, POLICY)
    return folder


@pytest.fixture(scope="module")
def client(local: LocalServer, policy: Path) -> Iterator[Jochi]:
    """Installed by a user of its own, which the jobs run as from then on."""
    running = local.running()
    with running.driver() as owner:
        text = "CREATE USER memories SET PASSWORD $password CHANGE NOT REQUIRED"
        owner.execute_query(text, password=PASSWORD, database_="system")
    with neo4j.GraphDatabase.driver(running.uri, auth=(USER, PASSWORD), notifications_min_severity="OFF") as driver:
        made = Jochi(driver, policy=write_policy(policy, POLICY))
        result = made.install()
        assert (result.facts.aura, result.obstacle) == (True, None)
        assert result.armed == [made.engine.pump, made.engine.watch]
        yield made


def letter(client: Jochi, number: str) -> str:
    """Writes one as an app does that knows nothing of memories; the key that it will have."""
    client.database.run("CREATE (:Letter {number: $n, text: 'hello', created_at: datetime.realtime()})", {"n": number})
    return f"default/{number}"


def test_install_arms_and_the_job_takes_new_nodes_in(client: Jochi) -> None:
    key = letter(client, "first")
    within(40, lambda: key in keys(client.database, "Curated"), "the job intake takes it in, without triggers")
    with pytest.raises(Refused, match=r"no apoc\.trigger procedures") as caught:
        triggers.install_triggers(client.engine)
    assert caught.value.fix is not None
    assert caught.value.fix.startswith("Aura has none; without triggers the job `intake` finds new nodes")
    with pytest.raises(Refused, match=r"Aura has no apoc\.conf"):
        client.install(pin=True)


def test_the_doctor_asks_for_no_file_and_no_setting(client: Jochi) -> None:
    told = examine(client)
    assert [check.name for check in told.failed] == []
    for check in told.checks:
        if check.level is not Level.OK:
            for word in (".conf", "plugins", "allowlist", "restart the server", "trigger"):
                assert word not in (check.fix or ""), check
    assert "`jochi worker --arm`" in (told["restart"].fix or "")


def arming(local: LocalServer, tmp_path: Path, *more: str) -> list[str]:
    """`jochi worker --arm` as a person starts it."""
    password = tmp_path / "password"
    password.write_text(PASSWORD, encoding="utf-8")
    options = ["--uri", local.running().uri, "--user", USER, "--password-file", str(password)]
    return [sys.executable, "-m", "jochi", *options, "worker", "--arm", *more]


def test_after_a_restart_a_worker_arms_and_says_so_once(client: Jochi, local: LocalServer, tmp_path: Path) -> None:
    with subprocess.Popen(arming(local, tmp_path), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stderr is not None
        ready = worker.stderr.readline()
        local.stop()
        local.start(settings=SETTINGS)
        try:
            both = {client.engine.pump, client.engine.watch}
            within(60, lambda: set(client.armed()) == both, "the worker arms them")
            key = letter(client, "second")
            within(40, lambda: key in keys(client.database, "Curated"), "the database works again")
        finally:
            worker.terminate()
            out, err = worker.communicate(timeout=60)
    assert worker.returncode == 0, err
    # On a busy machine it may also say that a job was late.
    told = [re.sub(r"\d+", "", line) for line in err.splitlines() if ": armed again: " in line]
    assert told, err
    assert len(told) == len(set(told)), err
    assert "nothing else is done" in ready
    assert "prepare" not in out + err
    restart = examine(client, probe=False)["restart"]
    assert restart.level is Level.OK
    assert "a client armed the jobs again" in restart.found


def test_the_jobs_outlive_a_change_of_their_users_password(client: Jochi, local: LocalServer) -> None:
    with local.running().driver() as owner:
        owner.execute_query("ALTER USER memories SET PASSWORD $p", p=NEXT_PASSWORD, database_="system")
        try:
            before = pump_of(client)["last_tick"]
            within(20, lambda: pump_of(client)["last_tick"] > before, "the pump ticks on")
        finally:
            owner.execute_query(
                "ALTER USER memories SET PASSWORD $p CHANGE NOT REQUIRED", p=PASSWORD, database_="system"
            )


def test_where_nothing_is_to_be_armed_the_worker_says_so(client: Jochi, local: LocalServer, tmp_path: Path) -> None:
    client.database.run("MATCH (p:JochiPump) SET p.armed = false")
    ended = subprocess.run(arming(local, tmp_path, "--once"), capture_output=True, text=True, check=False)
    client.database.run("MATCH (p:JochiPump) SET p.armed = true")
    assert (ended.returncode, "are not to be armed" in ended.stderr) == (5, True), ended.stderr
