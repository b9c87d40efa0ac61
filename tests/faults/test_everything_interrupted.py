"""All jobs and calls at once, terminated, cut off and killed at random points: no change without its record, no record without its
change, no half-merge, no half-undo, and nothing stays held (issue 8, "must hold")."""

from __future__ import annotations

import os
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import neo4j
import pytest
from tests.conftest import SETTINGS, TEST_POLICY, TestServer
from tests.faults.cable import Cable
from tests.faults.everything import DAY, FLOOR, NOW, Order, Work
from tests.faults.support import within
from tests.faults.whole import faults
from tests.own_server import module_server

from jochi import Jochi
from jochi.database.database import Database
from jochi.errors import Refused
from jochi.forgetting import VARIABLE
from jochi.localserver import LocalServer
from jochi.policy import LoadedPolicy, load_policy

pytestmark = pytest.mark.server

HITS = int(os.environ.get("JOCHI_HITS", "1000"))
KILLS = int(os.environ.get("JOCHI_KILLS", "25"))
ROUND = 50
"""Hits between two looks at the whole graph."""
WORLD = 4
"""Rounds until a new world is made: looking takes longer the more there is."""
CLIENTS = 3
BEFORE_KILL = 25
"""Things done after a start before the server is killed again."""
LONGEST = 1_500.0
"""Seconds within which all hits must have happened."""
LEASE = 3.0
"""Seconds; of a job's run and of an undo."""

EXPECTED = {
    "connection",
    "Neo.ClientError.Procedure.ProcedureCallFailed: org.neo4j.graphdb.TransactionTerminatedException",
    "Neo.ClientError.Transaction.Terminated",
    "Neo.ClientError.Transaction.LockClientStopped",
    "Neo.TransientError.Transaction.Terminated",
    "Neo.TransientError.Transaction.LockClientStopped",
    "Neo.TransientError.Transaction.DeadlockDetected",
    "Neo.TransientError.Transaction.LockAcquisitionTimeout",
    "Neo.ClientError.Transaction.LockAcquisitionTimeout",
}
"""What work may meet that is interrupted or waits for other work, besides being refused. Anything else is a fault of ours."""


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> LoadedPolicy:
    """The tests' policy with short leases; records are kept, for they are what is looked at."""
    file = tmp_path_factory.mktemp("policies") / "interrupted.toml"
    text = TEST_POLICY.read_text().replace('lease = "20s"', f'lease = "{LEASE:.0f}s"')
    limits = f"\n[limits]\nbreaker_floor = {FLOOR}\nbreaker_run_floor = {FLOOR}\n"
    file.write_text(text + limits + "\n[audit]\nper_memory = 1000\n")
    return load_policy(file)


@pytest.fixture(autouse=True)
def key_of_forgetting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "forget.key"))


class Killer:
    """Ends transactions of others at random moments: terminates them, or cuts the cable that they came through."""

    def __init__(self, driver: neo4j.Driver, cables: list[Cable], seed: int) -> None:
        self._driver = driver
        self._cables = cables
        self._dice = random.Random(seed)
        self.hits: Counter[str] = Counter()

    def run(self, enough: Callable[[], bool]) -> None:
        """Goes on until there is enough."""
        with self._driver.session() as session:
            while not enough():
                time.sleep(self._dice.random() * 0.1)
                if self._dice.random() < 0.75:
                    self._terminate(session)
                else:
                    self._cut(session)

    @staticmethod
    def _running(session: neo4j.Session) -> list[neo4j.Record]:
        """Transactions that were seen at work: those of our clients, by their connections."""
        text = (
            "SHOW TRANSACTIONS YIELD transactionId AS id, clientAddress AS address, status, currentQuery AS query, database "
            "WHERE status = 'Running' AND database = 'neo4j' AND NOT query CONTAINS 'SHOW TRANSACTIONS' RETURN id, address"
        )
        return list(session.run(text))

    def _terminate(self, session: neo4j.Session) -> None:
        found = self._running(session)
        if found:
            one = self._dice.choice(found)["id"]
            said = session.run("TERMINATE TRANSACTIONS $id YIELD message RETURN message", id=one).value("message")
            self.hits["terminated"] += said == ["Transaction terminated."]

    def _cut(self, session: neo4j.Session) -> None:
        which = self._dice.randrange(len(self._cables))
        ours = self._cables[which].addresses()
        hit = sum(row["address"] in ours for row in self._running(session))
        if hit:
            self._cables[which] = self._cables[which].mended()
            self.hits["cut"] += hit


def impatient(uri: str, user: str, password: str) -> neo4j.Driver:
    """A driver that soon tells its caller that the connection is gone."""
    return neo4j.GraphDatabase.driver(
        uri, auth=(user, password), notifications_min_severity="OFF", max_transaction_retry_time=1.0
    )


def through(server: TestServer, cable: Cable) -> neo4j.Driver:
    return impatient(f"bolt://127.0.0.1:{cable.port}", server.user, server.password)


def straight(local: LocalServer) -> neo4j.Driver:
    running = local.running()
    return impatient(running.uri, running.user, running.password.get_secret_value())


@contextmanager
def at_work(
    connects: list[Callable[[], neo4j.Driver]], policy: LoadedPolicy, turn: int, before: Counter[str]
) -> Iterator[list[Work]]:
    """Clients that work for as long as the block runs. ``turn``: from 0; in every other world nothing is forgotten, for of what is
    the records can't be counted."""
    stop = threading.Event()
    forgets = turn // WORLD % 2 == 0
    works = [
        Work(connect, policy, turn * 100 + i, stop, forgets=forgets, before=before)
        for i, connect in enumerate(connects)
    ]
    broken: list[BaseException] = []

    def run(work: Work) -> None:
        try:
            work.run()
        except BaseException as error:
            broken.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    try:
        yield works
    finally:
        stop.set()
        for thread in threads:
            thread.join(120)
    assert [thread for thread in threads if thread.is_alive()] == [], "work hangs"
    if broken:
        raise broken[0]


class Story:
    """What all clients did since the world was made, and in all."""

    def __init__(self, chores: set[str]) -> None:
        self._chores = chores
        self.done: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self.forget()

    def forget(self) -> None:
        """A new world."""
        self.touched: Counter[str] = Counter()
        self.turned: Counter[str] = Counter()
        self.said: set[str] = set()
        self.forgotten: list[Order] = []
        self.receipts: set[str] = set()

    def ends(self, client: Jochi, works: list[Work]) -> dict[str, list[str]]:
        """Sends again what may not have arrived, and looks at the whole graph."""
        for work in works:
            work.send_again(client)
            work.ask_again(client)
            self.done += work.done
            self.failed += work.failed
            self.touched += work.touched
            self.turned += work.turned
            self.said |= work.said
            self.forgotten += work.forgotten
            self.receipts |= work.receipts
        return self.faults(client.database)

    def faults(self, database: Database) -> dict[str, list[str]]:
        """What is wrong with the whole graph."""
        return faults(database, self.touched, self.said, self.turned, self.forgotten, self.receipts)

    def wanting(self) -> set[str]:
        """What nobody has brought to its end yet, in all worlds."""
        return self._chores - set(self.done)

    def check(self) -> None:
        """What failed had a reason."""
        unexpected = {
            what: n for what, n in self.failed.items() if what not in EXPECTED and not what.startswith("Refused: ")
        }
        assert unexpected == {}


def clear(database: Database) -> None:
    """A new world: no memories, no records."""
    database.autocommit(
        "MATCH (n) WHERE NOT (n:JochiProcedure OR n:JochiPolicy OR n:JochiPump OR n:JochiJob OR n:__Neo4jMigration) "
        "CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 2000 ROWS"
    )
    database.run(
        "MATCH (j:JochiJob) SET j.cursor = null, j.walked_at = null, j.check_cursor = null, j.stopped_run = null"
    )


def nothing_is_held(database: Database) -> None:
    """Nobody holds a lock on anything, and no transaction of ours is left."""

    def others() -> list[object]:
        return database.autocommit(
            "SHOW TRANSACTIONS YIELD currentQuery AS q, database AS d "
            "WHERE d = 'neo4j' AND NOT q CONTAINS 'SHOW TRANSACTIONS' RETURN q"
        )

    within(15, lambda: others() == [], "all transactions end")
    # Whoever held a lock would make this fail after db.lock.acquisition.timeout.
    database.run("MATCH (n) REMOVE n.curation_lock")
    database.run("MATCH ()-[r]->() REMOVE r.curation_lock")


def nothing_hangs(client: Jochi) -> None:
    """Whatever was cut off in its middle gives way after its lease: each job runs, and each undo goes on and ends."""
    for row in client.database.run(
        "MATCH (j:JochiJob) WHERE j.stopped_run IS NOT NULL RETURN j.stopped_run AS run", write=False
    ):
        client.approve_run(row["run"], now=NOW)
    for job in sorted(client.policy.policy.jobs):
        within(LEASE + 12, lambda name=job: ran(client, name), f"{job} can be run")  # type: ignore[misc]
    open_undos = "MATCH (r:JochiJobRun {job: 'undo', status: 'running'}) RETURN r.target AS target"
    for row in client.database.run(open_undos, write=False):
        within(LEASE + 12, lambda target=row["target"]: undone(client, target), "an undo goes on")  # type: ignore[misc]
    assert client.database.run(open_undos, write=False) == []
    open_plans = "MATCH (p:JochiPlan {state: 'applying'}) RETURN p.id AS id"
    for row in client.database.run(open_plans, write=False):
        within(LEASE + 12, lambda plan=row["id"]: applied(client, plan), "a plan goes on")  # type: ignore[misc]
    assert client.database.run(open_plans, write=False) == []


def ran(client: Jochi, job: str) -> bool:
    try:
        runs = client.run(job, now=NOW)
    except Refused:
        return False
    assert [run.error for run in runs] == [None]
    return True


def undone(client: Jochi, target: str) -> bool:
    try:
        return client.undo(target, now=NOW).run is not None
    except Refused:
        return False


def applied(client: Jochi, plan: str) -> bool:
    try:
        client.apply_plan(plan, now=NOW + DAY)
    except Refused:
        return False
    return client.show_plan(plan).state == "applied"


DAMAGE: list[tuple[str, str]] = [
    ("undos_count_what_they_did", "MATCH (r:JochiJobRun {job: 'undo'}) SET r.changed = r.changed - 1"),
    ("changes_are_on_record", "MATCH (a:CurationAudit {action: 'archive'}) WITH a LIMIT 1 DETACH DELETE a"),
    (
        "undos_are_whole",
        "MATCH (t:Tombstone) WHERE t.merged_into IS NULL MATCH (a:CurationAudit {action: 'prune', key: t.key, at: t.deleted_at}) "
        "WITH a LIMIT 1 SET a.undone_by = 'undo/none'",
    ),
    (
        "the_dead_are_on_record",
        "MATCH (t:Tombstone) WHERE t.merged_into IS NULL MATCH (a:CurationAudit {action: 'prune', key: t.key, at: t.deleted_at}) "
        "WITH a LIMIT 1 DETACH DELETE a",
    ),
    (
        "what_comes_back_was_pruned",
        "MATCH (a:CurationAudit {action: 'restore'}) WITH a LIMIT 1 SET a.pruned_at = a.pruned_at - duration('P1D')",
    ),
    (
        "merges_are_whole",
        "MATCH (t:Tombstone) WHERE t.merged_into IS NOT NULL WITH t LIMIT 1 "
        "MATCH (m:Curated {key: t.merged_into}) REMOVE m.merged_from",
    ),
    ("relationships_are_there_once", "MATCH (m:MemoryEntry)-[r:ABOUT]->() WITH r LIMIT 1 DELETE r"),
    ("edges_are_on_record", "MATCH ()-[r:RELATED_TO {state: 'archived'}]->() WITH r LIMIT 1 SET r.state = 'active'"),
    ("contents_are_on_record", "MATCH (m:CompressedContext {content: 'short'}) WITH m LIMIT 1 SET m.content = 'long'"),
    ("memories_are_whole", "MATCH (m:Curated:Belief) WITH m LIMIT 1 REMOVE m.next_due"),
    (
        "plans_do_what_they_name",
        "MATCH (x:JochiPlanPart) UNWIND range(0, size(x.results) - 1) AS i "
        "WITH x, i WHERE x.results[i] = 'applied' AND x.keys[i] <> 'forgotten' "
        "WITH x, i LIMIT 1 SET x.excluded = x.excluded + x.keys[i]",
    ),
    ("what_was_forgotten_is_gone", "MATCH (m:Curated {key: $touched}) SET m.note = $forgotten"),
    ("forgetting_has_its_receipts", "MATCH (r:JochiReceipt {number: 1}) SET r.body = r.body + ' '"),
    ("no_receipt_is_lost", "MATCH (r:JochiReceipt {number: 1}) DELETE r"),
    (
        "the_breaker_waits_for_a_go",
        "MATCH (r:JochiJobRun) WHERE r.approved_at IS NOT NULL WITH r LIMIT 1 SET r.approved_by = null",
    ),
    ("touches_count_once", "MATCH (m:Curated {key: $touched}) SET m.access_count = coalesce(m.access_count, 0) + 1"),
    ("no_write_is_lost", "MATCH (m:Curated|Tombstone {key: $turned}) SET m.turns = m.turns - 1"),
    ("nothing_said_is_lost", "MATCH (m:Curated {key: $said}) DETACH DELETE m"),
]
"""For each check something that it is there to see; cumulative, so each must be what its check alone sees."""


def test_each_check_sees_what_it_is_for(
    patient: LoadedPolicy, install_once: Callable[[LoadedPolicy], Jochi], server: TestServer
) -> None:
    client = install_once(patient)
    client.apply()
    work = Work(server.driver, patient, 1, threading.Event())
    jobs = ["curate_due", "merge_duplicates", "decay_edges", "fold_accesses"] * 6
    work.do(
        client,
        *["make"] * 2,
        *(f"job {job}" for job in jobs),
        "queue compress",
        "restore",
        "remember",
        *["lock"] * 6,
        "make",
        *["plan"] * 2,
        *["approve"] * 2,
        *["make"] * 2,
        *["forget"] * 6,
    )
    before = client.database.run("MATCH (a:CurationAudit) RETURN collect(DISTINCT a.run) AS runs")[0]["runs"]
    work.do(client, "make", *["job curate_due"] * 6)
    [new] = client.database.run(
        "MATCH (a:CurationAudit) WHERE a.action <> 'protect' AND NOT a.run IN $before RETURN a.run AS run LIMIT 1",
        {"before": before},
    )
    assert client.undo(new["run"], now=NOW).counts["undone"] > 0
    gone = {key for order in work.forgotten for key in order.keys}
    [touched] = client.database.run(
        "MATCH (m:Curated {id: 'heavy0'}) WHERE NOT m.key IN $gone RETURN m.key AS key LIMIT 1", {"gone": list(gone)}
    )
    counts, said = Counter({touched["key"]: 0}), set(work.said)
    given = {
        "touched": touched["key"],
        "said": min(key for key in said if key.startswith("r")),
        "turned": min(work.turned.keys() - gone),
        "forgotten": next(order.said for order in work.forgotten if order.said and not order.held),
    }
    told = (counts, said, work.turned, work.forgotten, work.receipts)
    assert faults(client.database, *told) == {}
    seen: set[str] = set()
    for check, damage in DAMAGE:
        client.database.run(damage, given)
        found = set(faults(client.database, *told))
        assert check in found - seen, (check, found)
        seen |= found


@pytest.fixture
def cables(server: TestServer) -> Iterator[list[Cable]]:
    address = urlsplit(server.uri)
    made = [Cable(address.hostname or "localhost", address.port or 7687) for _ in range(CLIENTS)]
    yield made
    for cable in made:
        cable.cut()


@pytest.mark.timeout(2_400)
def test_terminated_and_cut_at_a_thousand_points(
    server: TestServer, patient: LoadedPolicy, install_once: Callable[[LoadedPolicy], Jochi], cables: list[Cable]
) -> None:
    client = install_once(patient)
    client.apply()
    story = Story(Work(server.driver, patient, 0, threading.Event()).each_once())
    deadline = time.monotonic() + LONGEST
    hits: Counter[str] = Counter()
    turn = 0
    # How much is done between two hits is a matter of luck and of the machine: it goes on until everything was.
    while hits.total() < HITS or story.wanting():
        if turn % WORLD == 0:
            clear(client.database)
            client.apply()
            story.forget()
        connects = [lambda i=i: through(server, cables[i]) for i in range(CLIENTS)]  # type: ignore[misc]
        with at_work(connects, patient, turn, story.done) as works, server.driver() as driver:
            killer = Killer(driver, cables, turn)
            most = min(ROUND, HITS - hits.total()) if hits.total() < HITS else ROUND
            killer.run(lambda: killer.hits.total() >= most or time.monotonic() > deadline)  # noqa: B023
        hits += killer.hits
        nothing_is_held(client.database)
        assert story.ends(client, works) == {}
        assert time.monotonic() < deadline, f"only {hits}, and nobody did {story.wanting()}"
        turn += 1
    nothing_hangs(client)
    assert faults(client.database, forgotten=story.forgotten, receipts=story.receipts) == {}
    story.check()
    assert hits["cut"] > HITS / 20, hits


@pytest.fixture(scope="module")
def local(request: pytest.FixtureRequest) -> Iterator[LocalServer]:
    with module_server(request, "everythingkill", settings=SETTINGS) as made:
        yield made


@pytest.mark.timeout(7_200)
def test_the_server_is_killed_in_the_middle_of_everything(local: LocalServer, patient: LoadedPolicy) -> None:
    with local.running().driver() as driver:
        client = Jochi(driver, policy=patient)
        client.install(arm=False)
        client.apply()
        story = Story(Work(local.running().driver, patient, 0, threading.Event()).each_once())
    dice = random.Random(25)
    interrupted = turn = 0
    while turn < KILLS or story.wanting():
        assert turn < 3 * KILLS, f"nobody did {story.wanting()}"
        with local.running().driver() as driver:
            if turn % WORLD == 0:
                clear(Database(driver))
                Jochi(driver, policy=patient).apply()
                story.forget()
        with at_work([lambda: straight(local)] * CLIENTS, patient, turn, story.done) as works:
            # After a start every statement is planned anew; then there is something to be in the middle of.
            within(60, lambda ours=works: sum(work.done.total() for work in ours) > BEFORE_KILL, "work is done")  # type: ignore[misc]
            time.sleep(dice.random())
            local.kill()
        interrupted += sum(work.failed["connection"] > 0 for work in works)
        local.start(settings=SETTINGS)
        with local.running().driver() as driver:
            assert story.ends(Jochi(driver, policy=patient), works) == {}, turn
        turn += 1
    assert interrupted >= KILLS
    with local.running().driver() as driver:
        client = Jochi(driver, policy=patient)
        nothing_is_held(client.database)
        nothing_hangs(client)
        assert faults(client.database, forgotten=story.forgotten, receipts=story.receipts) == {}
    story.check()
