"""A worker that ends, or loses its database, in any phase of any derivation: the next one goes on from there, and nothing is
there twice (DESIGN §13; seed 002, Idempotency & Error Handling; docs/reference/work.md)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, TypeVar

import neo4j
import pytest
from tests.all_derivations import DERIVING
from tests.conftest import PolicyWith
from tests.tally import examples

from jochi import Jochi
from jochi.database.database import Database
from jochi.database.engine import Engine
from jochi.errors import ConnectionFailed
from jochi.forgetting import VARIABLE
from jochi.graph.driver_values import to_python
from jochi.jobs.runner import run_job
from jochi.text.tokens import Estimate
from jochi.write.ingesting import Message, Piece, Source
from jochi_workers import queue, worker
from jochi_workers.derive import derivation
from jochi_workers.derive.derivation import OfflineMaker
from jochi_workers.derive.extract import ExtractionOutput, Relation, Subpoint, Thing
from jochi_workers.derive.handler import DeriveHandler
from jochi_workers.handler import Row
from jochi_workers.models import Reply
from jochi_workers.prepare import PrepareHandler
from jochi_workers.resolve import ResolveHandler
from jochi_workers.worker import Worker

pytestmark = pytest.mark.server

T = TypeVar("T")
BEGIN = datetime(2026, 1, 7, 12, tzinfo=timezone.utc)
"""Noon of the first day of a window."""
NOW = BEGIN + timedelta(days=75)
DAYS = (0, 1, 2, 3, 4, 5, 30, 31, 32, 33, 34)
"""On which there is a source: two storylines and a theme."""
DERIVED = ("process", "extract", "storylines", "macros", "describe", "meaning")
CHAIN = ("prepare", "resolve", *DERIVED)


class Killed(BaseException):
    """The worker's process is gone."""


class Breaking(Database):
    """The database of a worker that meets ``how`` once in each derivation of `CHAIN`; ``hit`` says in which it has.

    ``leased``: killed after it leased work. ``made``: killed when the store has run, before it is committed. ``terminated``: the
    server ends that transaction. ``cut``: the connection breaks there. ``stored``: killed when it is committed. ``unheard``: it is
    committed, and the connection breaks before the worker hears of it.
    """

    def __init__(self, driver: neo4j.Driver, how: str, hit: set[str]) -> None:
        super().__init__(driver)
        self.how = how
        self.hit = hit
        self.texts: dict[str, tuple[str, str]] = {}
        self._dead = False

    def transaction(self, work: Callable[[neo4j.ManagedTransaction], T], *, write: bool = True) -> T:
        if self._dead:
            raise Killed
        stored: list[str] = []
        leased: list[str] = []

        def watched(tx: neo4j.ManagedTransaction) -> T:
            done = work(_Watched(tx, self.texts, leased, stored))  # type: ignore[arg-type]
            if self.how in ("made", "terminated", "cut") and self._meets(stored):
                self._fail()
            return done

        done = super().transaction(watched, write=write)
        met = leased if self.how == "leased" else stored if self.how in ("stored", "unheard") else []
        if self._meets(met):
            self._fail()
        return done

    def _meets(self, names: list[str]) -> bool:
        new = set(names) - self.hit
        self.hit |= new
        return bool(new)

    def _fail(self) -> None:
        if self.how == "terminated":
            with self.driver.session(database="system") as other:
                # No job is armed here, and no other client is at work: it is the one.
                found = other.run("SHOW TRANSACTIONS YIELD transactionId AS id, database WHERE database = 'neo4j'")
                [id] = found.value("id")
                said = other.run("TERMINATE TRANSACTIONS $id YIELD message RETURN message", id=id).value("message")
                assert said == ["Transaction terminated."]
        elif self.how in ("cut", "unheard"):
            raise ConnectionFailed("the connection broke")
        else:
            self._dead = True
            raise Killed


class _Watched:
    """A transaction that notes of which derivation the inputs were read, or outputs stored."""

    def __init__(
        self,
        tx: neo4j.ManagedTransaction,
        texts: Mapping[str, tuple[str, str]],
        leased: list[str],
        stored: list[str],
    ) -> None:
        self._tx = tx
        self._texts = texts
        self._seen = {"inputs": leased, "store": stored}

    def run(self, text: str, *given: Any) -> neo4j.Result:
        result = self._tx.run(text, *given)
        if text in self._texts:
            name, step = self._texts[text]
            self._seen[step].append(given[0]["in"].get("derivation", name))  # one text serves several derivations
        return result


class Told(OfflineMaker):
    """Finds in a source who is spoken of: whom its sentences begin with, and Berlin."""

    def __init__(self) -> None:
        super().__init__(derivation("extract"), Estimate())

    def make(self, row: Row) -> Reply[Any]:
        text = row["inputs"][0]["content"].partition("] ")[2]
        said = [f"{each.strip()}." for each in text.split(".") if each.strip()]
        who = "Anna Smith" if said[0].startswith("Anna Smith") else "Anna"
        points = tuple(Subpoint(text=text, lifetime="forever") for text in said)
        return Reply(
            ExtractionOutput(
                things=(
                    Thing(kind="Person", name=who, confidence=9.0, subpoints=points),
                    Thing(kind="Entity", name="Berlin", confidence=8.0, subpoints=points),
                ),
                relations=(Relation(of=who, to="Berlin", type="painted_in", note=said[0]),),
            ),
            0,
            0,
        )


@pytest.fixture(scope="session")
def whole_chain(policy_with: PolicyWith) -> Any:
    return policy_with(DERIVING)


class Chain:
    """From raw sources to what they come to, one scope and one clock; ``how``: what workers meet, once in each derivation."""

    def __init__(self, client: Jochi, how: str | None) -> None:
        self.client = client
        self.now = NOW
        self.how = how
        self.hit: set[str] = set()
        self.ended = 0

    def work(self) -> None:
        """Everything that is due. A worker that was killed is followed by another one, once its leases have run out."""
        while True:
            engine = self.client.engine
            if self.how is not None:
                database = Breaking(self.client.database.driver, self.how, self.hit)
                engine = Engine(database)
                database.texts = {
                    engine.text(of if engine.has(of := f"derive/{name}/{step}") else f"derive/{step}"): (name, step)
                    for name in CHAIN
                    for step in ("inputs", "store")
                }
            makers = [Told() if name == "extract" else OfflineMaker(derivation(name), Estimate()) for name in DERIVED]
            handlers = [
                DeriveHandler(derivation(name), maker, Estimate()) for name, maker in zip(DERIVED, makers, strict=True)
            ]
            one = Worker(engine, [PrepareHandler(Estimate()), ResolveHandler(), *handlers])
            try:
                one.run(once=True)
            except Killed:
                self.ended += 1
                self.now += self.client.policy.policy.work.lease + timedelta(seconds=1)
                continue
            assert not any(progress.failed for progress in one.progress.values()), one.progress
            return

    def run(self) -> None:
        self.client.ingest(_told(), now=self.now)
        self.work()
        self._job("count_mentions")
        # Somebody has used what was found.
        self._set("MATCH (n:Curated) WHERE n:Person OR n:Entity SET n.state = 'active', n.last_accessed_at = $now")
        # When it was noted says which note is the newest, and a lost lease makes that later.
        self._set("MATCH (n:Note)-[:ADDED_IN]->(s:Source) SET n.date_added = s.started_at")
        self._job("promote_storylines")
        self._job("consolidate")
        self.work()
        self._job("promote_macros")
        self.work()
        # A week later nobody needs the words any more.
        self.now = NOW + timedelta(days=9)
        self._set("MATCH (s:Curated:Source) SET s.salience = 0.1, s.salience_at = $now")
        self._job("find_meaning")
        self.work()

    def _job(self, name: str) -> None:
        run_job(self.client.engine, name, now=self.now, drain=True)

    def _set(self, text: str) -> None:
        self.client.database.run(text, {"now": self.now})

    def graph(self) -> Counter[str]:
        """All there is, and how often, without clocks, tokens and ids of runs, and how often a lease was lost."""
        nodes = self.client.database.run(
            "MATCH (n) WHERE NOT n:JochiProcedure AND NOT n:JochiPolicy AND NOT n:JochiPump AND NOT n:JochiJob "
            "AND NOT n:JochiJobRun AND NOT n:JochiDerivation AND NOT n:JochiSpent AND NOT n:JochiScopeChange "
            "AND NOT n:__Neo4jMigration "
            "RETURN labels(n) AS labels, "
            "CASE WHEN n:JochiWork THEN n {.id, .lease, ready: n.ready IS NOT NULL, .due} ELSE properties(n) END AS stored",
            write=False,
        )
        links = self.client.database.run(
            "MATCH (a)-[r]->(b) WHERE (a:Curated OR a:Tombstone OR a:CurationAudit) "
            "RETURN coalesce(a.key, a.id) AS a, type(r) AS type, coalesce(b.key, b.id) AS b, properties(r) AS stored",
            write=False,
        )
        done = self.client.database.run(
            "MATCH (s:JochiSpent) WHERE s.span = 'day' RETURN s.derivation AS name, sum(s.done) AS done", write=False
        )
        runs = self.client.database.run(
            "MATCH (r:JochiJobRun) WHERE r.job IN $names RETURN r.job AS name, sum(r.selected) AS selected",
            {"names": list(CHAIN)},
            write=False,
        )
        return Counter(map(_plain, [*nodes, *links, *done, *runs]))


_TOKEN = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z")


def _plain(value: Any) -> str:
    return repr(_without_clock(to_python(value)))


def _without_clock(value: Any) -> Any:
    if isinstance(value, Mapping):
        return sorted((name, _without_clock(each)) for name, each in value.items())
    if isinstance(value, list):
        return [_without_clock(each) for each in value]
    if isinstance(value, datetime):
        return value if value < NOW else "later"
    if isinstance(value, float):  # salience falls while a lease runs out
        return round(value, 2)
    return _TOKEN.sub("…", value) if isinstance(value, str) else value


def _told() -> Iterator[Piece]:
    for day in DAYS:
        who = "Anna Smith" if day == 5 else "Anna"
        text = " ".join(f"{who} {did} in Berlin on day {day}." for did in ("painted a door", "sang", "baked bread"))
        yield Source("text-note", id=f"note{day}"), Message(None, BEGIN + timedelta(days=day), None, text, text)


def test_killed_anywhere_the_graph_is_the_same(
    install_once: Any, whole_chain: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "forget.key"))
    monkeypatch.setattr(worker, "_RECONNECT_MIN", 0.001)

    def chain(how: str | None) -> Chain:
        made = Chain(install_once(whole_chain), how)
        monkeypatch.setattr(queue, "_server_clock", lambda _engine: lambda: made.now)
        made.run()
        return made

    undisturbed = chain(None).graph()
    # Not committed, after which a worker goes on one by one; and committed, of which it doesn't hear.
    ways = (("terminated", 0), ("unheard", 0), ("stored", 8), ("made", 8), ("leased", 8), ("cut", 0))
    for how, kills in ways[: examples(2, len(ways))]:
        disturbed = chain(how)
        assert (disturbed.hit, disturbed.ended) == (set(CHAIN), kills), how
        graph = disturbed.graph()
        assert (graph - undisturbed, undisturbed - graph) == ({}, {}), how
