"""A real server for every test that speaks of the database (DESIGN §12).

`JOCHI_TEST_URI` (with JOCHI_TEST_USER, JOCHI_TEST_PASSWORD) names a server to use; its database is WIPED (with
JOCHI_TEST_KEEP the engine that it has is upgraded instead, which takes seconds). Else Docker with
testcontainers where there is an engine; else the local server of the extra [server], in a folder of its own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import neo4j
import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers
from tests.duplicate_pairs import Pairs
from tests.faults.support import APPS_CONSTRAINTS, INSTALL
from tests.scheduling import pytest_collection_modifyitems as pytest_collection_modifyitems
from tests.scheduling import pytest_xdist_make_scheduler as pytest_xdist_make_scheduler

from jochi import Jochi, clock
from jochi.curate.plan import Plan
from jochi.database.database import Database
from jochi.jobs.rearm import rearm_line
from jochi.policy import LoadedPolicy, load_policy

# No deadline: how long an example takes is the machine's to say.
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("search", derandomize=False, deadline=None)
if os.environ.get("JOCHI_SEARCH"):
    settings.load_profile("search")
else:
    settings.load_profile("same")
    # Hypothesis also draws constants that it finds in the modules imported by then: other examples for each selection of tests, and
    # after each change anywhere. It has no setting for that.
    assert callable(providers._get_local_constants)
    providers._get_local_constants = lambda: providers._local_constants
"""Examples are the same in every run, so that a change is judged by what it changed; `make search` looks for others."""

LOCOMO = Path(os.environ.get("JOCHI_LOCOMO", Path(__file__).parents[2] / "shared/data/locomo/locomo10.json"))
TEST_POLICY = Path(__file__).with_name("policy.toml")
VALUES_OFF = "[classification]\nclassifying = false\n"
"""What the tests' policy says of values."""

KEEP = bool(os.environ.get("JOCHI_TEST_KEEP"))
"""Install over what a given server has, instead of from nothing: what is the same is neither checked nor planned again."""

SETTINGS = {
    "dbms.cypher.statistics_divergence_threshold": "1.0",
    "dbms.cypher.min_replan_interval": "1h",
    "server.memory.query_cache.per_db_cache_num_entries": "5000",
}
"""What the shared server has over `jochi`'s defaults. Every test empties and fills the store, so the server would plan the big
statements anew every ten seconds (a threshold of 1.0 alone is still reached from 0), which is two thirds of a run; a store in
use changes that much once. And the tests' own statements would
push the engine's out of the cache, which has 1,000 places; each is planned anew then, for up to two seconds. Servers that a test
starts for itself (the faults, the two-server story) keep the defaults."""


@dataclass(frozen=True)
class TestServer:
    """The server that the tests share."""

    __test__ = False

    uri: str
    user: str
    password: str

    def driver(self, **settings: Any) -> neo4j.Driver:
        """A driver on it; the caller closes it."""
        auth = (self.user, self.password)
        return neo4j.GraphDatabase.driver(self.uri, auth=auth, notifications_min_severity="OFF", **settings)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestServer]:
    """One server for the whole session."""
    given = os.environ.get("JOCHI_TEST_URI")
    if given:
        yield TestServer(given, os.environ.get("JOCHI_TEST_USER", "neo4j"), os.environ.get("JOCHI_TEST_PASSWORD", ""))
    elif _docker_answers():
        yield from _in_docker()
    else:
        yield from _local(tmp_path_factory.mktemp("jochi"))


def _docker_answers() -> bool:
    if "DOCKER_HOST" not in os.environ and not Path("/var/run/docker.sock").exists():
        return False
    try:
        import docker

        docker.from_env().ping()
    except Exception:  # no engine or no rights: both mean the same here
        return False
    return True


def _in_docker() -> Iterator[TestServer]:
    from testcontainers.community.neo4j import Neo4jContainer

    container = (
        Neo4jContainer("neo4j:5.26", password="jochi-tests")
        .with_env("NEO4J_PLUGINS", '["apoc"]')
        .with_env("NEO4J_db_lock_acquisition_timeout", "5s")
        .with_env("NEO4J_apoc_jobs_scheduled_num__threads", "4")
        .with_env("NEO4J_apoc_initializer_neo4j_01", rearm_line())
    )
    for name, value in SETTINGS.items():  # as the image wants them: dots become _, and _ becomes __
        container = container.with_env("NEO4J_" + name.replace("_", "__").replace(".", "_"), value)
    with container:
        yield TestServer(container.get_connection_url(), "neo4j", "jochi-tests")


def _local(home: Path) -> Iterator[TestServer]:
    from jochi.localserver import LocalServer

    local = LocalServer("tests", home=home)
    running = local.start(settings=SETTINGS)
    try:
        yield TestServer(running.uri, running.user, running.password.get_secret_value())
    finally:
        local.reset()


@pytest.fixture(scope="session")
def empty_server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestServer]:
    """The server of the tests that begin with an empty database. Local ones have it for themselves: after each of them the other
    would plan all of the engine anew. Where a server is given, or made in Docker, it is the same one."""
    if os.environ.get("JOCHI_TEST_URI") or _docker_answers():
        yield request.getfixturevalue("server")
    else:
        yield from _local(tmp_path_factory.mktemp("jochi-empty"))


@pytest.fixture(scope="session")
def empty_driver(empty_server: TestServer) -> Iterator[neo4j.Driver]:
    """One driver for the whole session."""
    with empty_server.driver() as made:
        yield made


@pytest.fixture(scope="session")
def driver(server: TestServer) -> Iterator[neo4j.Driver]:
    """One driver for the whole session."""
    with server.driver() as made:
        yield made
        disarm(Database(made))


class _Installed:
    """Which policy is installed in the shared database at the moment, None after a test that started from nothing; and its jobs."""

    server: TestServer | None = None
    sha256: str | None = None
    jobs: ClassVar[list[dict[str, Any]]] = []


def start_anew(database: Database, jobs: list[dict[str, Any]]) -> bool:
    """Takes out what tests left, but not what install made, and takes our repeat jobs off the server's list; every job becomes as
    install left it. One statement, because it stands before each test. False if nothing is installed."""
    rows = database.autocommit(
        "CALL () { CALL apoc.periodic.list() YIELD name WITH name WHERE name STARTS WITH 'jochi.' "
        "CALL apoc.periodic.cancel(name) YIELD name AS cancelled RETURN count(*) AS cancelled } "
        "CALL () { MATCH (n) WHERE NOT n:JochiProcedure AND NOT (n:JochiPolicy AND n.current) AND NOT n:JochiPump "
        "AND NOT (n:JochiJob AND n.name IN $names) AND NOT n:__Neo4jMigration RETURN n } "
        "CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS "
        "WITH count(*) AS done "
        "CALL () { MATCH (p:JochiPump) SET p.enabled = true, p.guard = null, p.applied_at = null, "
        "p.installed_at = datetime.realtime(), p.last_tick = datetime.realtime(), p.installing_until = null, p.armed = false, "
        "p.mode = null, p.mode_since = null, p.mode_pinned = null, p.mode_rate = null, p.mode_at = null } "
        "CALL () { UNWIND $jobs AS job MERGE (j:JochiJob {name: job.name}) SET j = job, j.next_start = datetime.realtime() } "
        "RETURN EXISTS { (:JochiPolicy) } AS installed",
        {"jobs": jobs, "names": [job["name"] for job in jobs]},
    )
    return bool(rows[0]["installed"])


def wipe_memories(database: Database) -> None:
    """The same within a test."""
    start_anew(database, _Installed.jobs)


def make_tokens(database: Database, policy: LoadedPolicy) -> None:
    """The labels and property names that the procedures read. A statement that names one nobody used yet is planned anew as soon
    as it is there: three seconds, and in tests nearly each one is the first to use something."""
    rows = database.run("MATCH (p:JochiProcedure) RETURN [p.body, p.select, p.act] AS texts", write=False)
    bodies = " ".join(text for row in rows for text in row["texts"] if text)
    for procedure, names in (
        ("db.createLabel", {*policy.policy.labels()}),
        ("db.createProperty", {*re.findall(r"\.([a-z]\w*)", bodies)}),
    ):
        database.run(f"UNWIND $names AS name CALL {procedure}(name) RETURN count(*)", {"names": sorted(names)})


def wipe_everything(database: Database) -> None:
    """An empty database without schema."""
    database.autocommit("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS")
    for what, found in (
        ("CONSTRAINT", "SHOW CONSTRAINTS YIELD name RETURN name"),
        ("INDEX", "SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' RETURN name"),
    ):
        names = [row["name"] for row in database.run(found, write=False)]

        def drop(tx: neo4j.ManagedTransaction, what: str = what, names: list[str] = names) -> None:
            for name in names:
                tx.run(f"DROP {what} `{name}` IF EXISTS")

        database.transaction(drop)


def disarm(database: Database) -> None:
    """Takes every repeat job of ours off the server's list."""
    database.autocommit(
        "CALL apoc.periodic.list() YIELD name WITH name WHERE name STARTS WITH 'jochi.' "
        "CALL apoc.periodic.cancel(name) YIELD name AS cancelled RETURN count(*)"
    )


@pytest.fixture
def database(empty_driver: neo4j.Driver, empty_server: TestServer) -> Iterator[Database]:
    """An empty database: no nodes, no schema, no jobs."""
    made = Database(empty_driver)
    disarm(made)
    wipe_everything(made)
    if empty_server is _Installed.server:
        _Installed.sha256 = None
    yield made
    disarm(made)


@pytest.fixture(scope="session")
def test_policy() -> LoadedPolicy:
    """The shipped policy with short intervals (tests/policy.toml)."""
    return load_policy(TEST_POLICY)


PolicyWith = Callable[[str], LoadedPolicy]


@pytest.fixture(scope="session")
def policy_with(tmp_path_factory: pytest.TempPathFactory) -> PolicyWith:
    """The tests' policy with more tables, as TOML. One that extends the shipped policy has another full-text index (the tests'
    kinds name their contents otherwise), and after each change of an index the server plans everything anew."""
    folder = tmp_path_factory.mktemp("policies")

    def made(tables: str) -> LoadedPolicy:
        file = folder / "policy.toml"
        ours = TEST_POLICY.read_text()
        if VALUES_OFF.splitlines()[0] in tables:  # TOML has each table once
            ours = ours.replace(VALUES_OFF, "")
        file.write_text(f"{ours}\n{tables}\n", encoding="utf-8")
        return load_policy(file)

    return made


@pytest.fixture(scope="session")
def rules_alone(policy_with: PolicyWith) -> LoadedPolicy:
    """The tests' policy without what the value score does to TTLs and tiers: for tests of single rules by hand."""
    return policy_with("[value]\nover_ttl = false")


@pytest.fixture(scope="session")
def relative(policy_with: PolicyWith) -> LoadedPolicy:
    """The tests' policy with the other bands of the value score."""
    return policy_with('[value]\nprofile = "relative"')


@pytest.fixture(scope="session")
def destructive_only(policy_with: PolicyWith) -> LoadedPolicy:
    """The tests' policy, with nothing on record but what is destructive."""
    return policy_with('[audit]\nlevel = "destructive"')


@pytest.fixture(scope="session", autouse=True)
def without_explain() -> Iterator[Callable[..., None]]:
    """Installs don't EXPLAIN what they store: that is half a minute of planning, of which no plan is used."""
    explain_all = INSTALL.explain_all
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(INSTALL, "explain_all", lambda *_: None)
        yield explain_all


@pytest.fixture
def explained(jochi: Jochi, monkeypatch: pytest.MonkeyPatch, without_explain: Callable[..., None]) -> None:
    """Installs do, in this test; the one that it begins with is behind it."""
    monkeypatch.setattr(INSTALL, "explain_all", without_explain)


@pytest.fixture
def install_once(driver: neo4j.Driver, server: TestServer) -> Callable[[LoadedPolicy], Jochi]:
    """Installs a policy (not armed, not applied) unless just that one is installed, and empties the database of memories."""
    made = Database(driver)
    _Installed.server = server

    def ready(policy: LoadedPolicy) -> Jochi:
        client = Jochi(driver, policy=policy)
        same = _Installed.sha256 == policy.sha256
        if not start_anew(made, _Installed.jobs if same else []):
            _Installed.sha256 = None  # at the beginning, and where a test uninstalled it
        if _Installed.sha256 != policy.sha256:
            if _Installed.sha256 is None and not KEEP:
                wipe_everything(made)
            # Tests change the policy often. Over another it is installed as on any server: what is the same keeps its plans.
            client.install(arm=False)
            _Installed.sha256 = policy.sha256
            make_tokens(made, policy)
            for name, what in APPS_CONSTRAINTS.items():
                made.autocommit(f"CREATE CONSTRAINT {name} IF NOT EXISTS {what}")
            rows = made.run("MATCH (j:JochiJob) RETURN properties(j) AS job", write=False)
            _Installed.jobs = [row["job"] for row in rows]
            start_anew(made, _Installed.jobs)
        return client

    return ready


def say_go(client: Jochi) -> None:
    """`client.apply()` where nothing is stored: the plan of that is known, and needn't be made."""
    pump = client.engine.state().pump
    assert pump
    client.apply(Plan(clock.now(), pump["policy_sha256"], [], [], {}, 0))


@pytest.fixture
def jochi(install_once: Callable[[LoadedPolicy], Jochi], test_policy: LoadedPolicy) -> Jochi:
    """The engine installed with the tests' policy; no memories, not armed, nobody has said go."""
    return install_once(test_policy)


@pytest.fixture
def pairs(jochi: Jochi) -> Pairs:
    """Near duplicates to be written and found; none yet."""
    return Pairs(jochi)


@pytest.fixture
def pair(pairs: Pairs) -> tuple[str, str]:
    """Keys of one that waits for a judge."""
    keys = pairs.add("a", 1.0), pairs.add("b", 0.97)
    pairs.find()
    return keys


@pytest.fixture(scope="session")
def read_only_database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """An empty database that takes no writes, on a local server of its own."""
    from jochi.localserver import LocalServer

    local = LocalServer("read-only", home=tmp_path_factory.mktemp("read-only"))
    local.start()  # a server makes its first store only where it may write
    local.stop()
    running = local.start(settings={"server.databases.default_to_read_only": "true"})
    try:
        made = running.database()
        with made.driver:
            yield made
    finally:
        local.reset()
