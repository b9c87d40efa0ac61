"""Work for every job and every changing call at once, for tests that interrupt it (issue 8, "must hold").

Each memory says of itself what it was made as (``made_tier``, ``made_state`` …, properties that no engine knows), so that
`tests.faults.whole` can tell from the records alone what it must be now.
"""

from __future__ import annotations

import itertools
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from random import Random
from typing import Any

import neo4j
from neo4j.exceptions import DriverError, Neo4jError

from jochi import Jochi
from jochi.database.statements import statement
from jochi.errors import ConnectionFailed, JochiError, Refused, UsageError
from jochi.forgetting import Request
from jochi.policy import LoadedPolicy
from jochi.text.content import content_hash
from jochi.use.edges import Edge
from jochi.write import importing
from jochi_workers.guard import Ruling
from jochi_workers.handler import Result
from jochi_workers.judge import JudgeHandler
from jochi_workers.queue import Queue

NOW = datetime(2026, 6, 15, 12, tzinfo=timezone.utc)
DAY = timedelta(days=1)
_FAR = NOW + 3650 * DAY
TIES = 6
"""Relationships with a ``rid`` of each twin."""
FLOOR = 12
"""So many of a kind in a scope the breaker lets through, in a day and in a run."""
REST = "The door is green."
"""What is left of a memory whose other sentence was forgotten."""

_MADE = """
UNWIND $rows AS row
CREATE (m:Curated)
SET m:$(row.labels), m = row.held, m.id = row.id, m.scope = row.scope, m.key = row.scope + '/' + row.id,
    m.made_tier = row.held.tier, m.made_state = row.held.state, m.made_needs_consolidation = row.held.needs_consolidation
WITH m, row
UNWIND CASE WHEN row.ties = 0 THEN [] ELSE range(1, row.ties) END AS j
MERGE (t:Thing {name: m.scope + '|' + (j % 5)})
CREATE (m)-[:ABOUT {rid: m.key + '|' + j}]->(t)
"""
_PAIRED = """
MATCH (a:Curated {key: $scope + '/twin1'}) MATCH (b:Curated {key: $scope + '/twin2'})
CREATE (a)-[:SIMILAR_TO {score: 0.99, same_text: true, found_at: $now, seen_at: $now, start_hash: a.content_hash,
  end_hash: b.content_hash, verdict: 'merge', reasons: [], guard: 'same text', merge_due: $now}]->(b)
WITH count(*) AS paired
MATCH (a:Curated {key: $scope + '/concept'}) MATCH (b:Curated {key: $scope + '/idea'})
CREATE (a)-[:RELATED_TO {state: 'active', salience: 0.5, created_at: $long_ago, next_due: $now - duration('P1D'), eid: $scope}]->(b)
CREATE (b)-[:RELATED_TO {state: 'active', salience: 0.5, created_at: $now, reinforced: $scope}]->(a)
MERGE (s:JochiScope {name: $scope})
SET s.first_edge_use_at = $long_ago, s.first_access_at = $long_ago
CREATE (:JochiScopeChange {scope: $scope, at: $now})
CREATE (:Ticket {ticket_no: $scope + '-1', customer: $scope, body: 'printer', opened: $now.epochMillis, done: true})
"""


@dataclass(frozen=True)
class Order:
    """A request to forget. ``keys`` are what it takes, or whose clause it cuts (``cut``).

    ``said``: what nobody says any more once it is done; None where somebody else may. ``held``: of the keys those that a rail
    held, once it is done.
    """

    request: Request
    keys: frozenset[str]
    said: str | None
    cut: bool = False
    held: frozenset[str] = frozenset()


def _named(error: Neo4jError) -> str:
    """The server's code; where a procedure of APOC hid it, what ended that."""
    hidden = (error.message or "").partition("Caused by: ")[2].partition(":")[0]
    return f"{error.code}: {hidden}" if hidden else error.code or "?"


def partner(key: str) -> str:
    """The other one of a pair that may be merged; else the same."""
    pairs = {"twin1": "twin2", "twin2": "twin1", "near1": "near2", "near2": "near1"}
    scope, id = key.split("/", 1)
    return f"{scope}/{pairs.get(id, id)}"


def sentence(key: str) -> str:
    """What a memory that `Work` made says."""
    scope, id = key.split("/", 1)
    return {
        "twin1": f"twin of {scope}",
        "twin2": f"twin of {scope}",
        "near1": f"near 1 of {scope}",
        "near2": f"near 2 of {scope}",
        "told": f"{REST} The code of {scope} is out.",
    }.get(id, f"{id} of {scope}")


class Work:
    """One client that does all there is to do, in an order of its own, until it is told to stop.

    What fails is counted by its kind in ``failed``, and what was done in ``done``. ``touched``: touches that were acknowledged,
    by key; ``turned``: an agent's writes that were, by key; ``said``: memories that were; ``forgotten``: requests to forget that
    were, ``receipts``: hashes of their receipts. Without ``forgets`` nothing is forgotten. ``before``: what others have brought to
    its end.
    """

    _numbers = itertools.count(1)

    def __init__(
        self,
        connect: Callable[[], neo4j.Driver],
        policy: LoadedPolicy,
        seed: int,
        stop: threading.Event,
        *,
        forgets: bool = True,
        before: Counter[str] | None = None,
    ) -> None:
        self._connect = connect
        self._policy = policy
        self._dice = Random(seed)
        self._stop = stop
        self.done: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self.touched: Counter[str] = Counter()
        self.turned: Counter[str] = Counter()
        self.said: set[str] = set()
        self.forgotten: list[Order] = []
        self.receipts: set[str] = set()
        self._forgets = forgets
        self._before = before or Counter()
        self._orders: list[Order] = []
        self._unsure: list[tuple[str, list[str]]] = []

    def run(self) -> None:
        """Works until it is told to stop; connections that break are made anew."""
        with self._connect() as driver:
            self.client = Jochi(driver, policy=self._policy)
            chores = self._chores()
            deck = [name for name, (_chore, weight) in chores.items() for _ in range(weight)]
            ahead: list[str] = []
            while not self._stop.is_set():
                if not ahead:
                    # What nobody has brought to its end yet comes once more, and first.
                    wanting = [name for name in chores if not (self.done[name] or self._before[name])]
                    ahead = [
                        *self._dice.sample(deck, len(deck)),
                        *self._dice.sample(wanting, len(wanting)),
                        "make",
                        "make",
                    ]
                name = ahead.pop()
                try:
                    chores[name][0]()
                except (ConnectionFailed, DriverError):
                    self.failed["connection"] += 1
                    self._stop.wait(0.02)
                except Neo4jError as error:
                    self.failed[_named(error)] += 1
                except JochiError as error:
                    cause = error.__cause__
                    self.failed[
                        _named(cause) if isinstance(cause, Neo4jError) else f"{type(error).__name__}: {error}"[:99]
                    ] += 1
                else:
                    self.done[name] += 1

    def do(self, client: Jochi, *names: str) -> None:
        """Just these, one after the other."""
        self.client = client
        chores = self._chores()
        for name in names:
            chores[name][0]()

    def each_once(self) -> set[str]:
        """Does everything twice; returns its names. A statement that was never planned would be ended in its planning, again and
        again."""
        with self._connect() as driver:
            self.client = Jochi(driver, policy=self._policy)
            chores = self._chores()
            for _turn in range(2):
                self._make()
                for chore, _weight in chores.values():
                    chore()
            return set(chores)

    def _chores(self) -> dict[str, tuple[Callable[[], object], int]]:
        """What there is to do by its name, and how often."""
        busy = {"curate_due", "merge_duplicates", "enforce_budgets", "decay_edges", "hygiene", "fold_accesses"}
        jobs = sorted(self._policy.policy.jobs)
        return {
            **{f"job {job}": (lambda job=job: self._job(job), 3 if job in busy else 1) for job in jobs},  # type: ignore[misc]
            "make": (self._make, 8),
            "claimed run": (self._claimed, 3),
            "undo": (self._undo, 8),
            "restore": (self._restore, 4),
            "unmerge": (self._unmerge, 4),
            "decompress": (self._decompress, 2),
            "remember": (self._remember, 3),
            "import": (self._import, 2),
            "touch": (self._touch, 3),
            "lock": (self._lock, 3),
            "queue prepare": (lambda: self._queue("prepare"), 1),
            "queue embed": (lambda: self._queue("embed"), 1),
            "queue judge": (lambda: self._queue("judge"), 1),
            "queue compress": (lambda: self._queue("compress"), 4),
            "reinforce": (self._reinforce, 1),
            "supersede": (self._supersede, 1),
            "enrol": (self._enrol, 1),
            "decide": (self._decide, 1),
            "plan": (self._plan, 4),
            "approve": (self._approve, 4),
            **({"forget": (self._forget, 3)} if self._forgets else {}),
        }

    def _now(self) -> datetime:
        """A moment that no other work has, so that every record can be told from every other."""
        return NOW + timedelta(milliseconds=next(self._numbers))

    def _some(self, text: str, **given: Any) -> list[Any]:
        """Of what a statement returns as `v`, a few at random."""
        found = [row["v"] for row in self.client.database.run(text, given, write=False)]
        return self._dice.sample(found, min(len(found), self._dice.randint(1, 3)))

    def _make(self) -> None:
        now, scope = self._now(), f"s{next(self._numbers)}"
        rows: list[dict[str, Any]] = []

        def add(id: str, labels: Sequence[str], *, ties: int = 0, **held: Any) -> None:
            base = {"created_at": NOW - 40 * DAY, "content": sentence(f"{scope}/{id}"), "next_due": now}
            rows.append({"id": id, "scope": scope, "labels": labels, "ties": ties, "held": base | held})

        for i in range(3):
            add(
                f"read{i}",
                ["Notification"],
                ties=2,
                read=True,
                priority="low",
                tier="HOT",
                pinned=True if i == 2 else None,
            )
            add(f"idle{i}", ["MemoryEntry"], tier="HOT", last_accessed_at=NOW - 30 * DAY, access_count=1)
            add(
                f"heavy{i}",
                ["MemoryEntry"],
                tier="HOT",
                token_count=5_000,
                next_due=_FAR,
                last_accessed_at=NOW - i * DAY,
            )
            add(
                f"reflection{i}",
                ["Reflection"],
                consolidated=False,
                tier="ARCHIVE",
                needs_consolidation=[None, False, "perhaps"][i],
            )
        for i, state in enumerate((None, "done")):
            add(f"task{i}", ["Task"], status="completed", completed_at=NOW - 20 * DAY, tier="WARM", state=state)
        for i in (1, 2):
            hash = content_hash(f"twin of {scope}")
            held = {"content_hash": hash, "created_at": NOW - (40 + i) * DAY}
            add(f"twin{i}", ["MemoryEntry"], ties=TIES, next_due=_FAR, tier="HOT", access_count=i, **held)
            vector = [1.0, i / 40] + [0.0] * (self._policy.policy.embedding.dimensions - 2)
            model = self._policy.policy.embedding.model
            near = {"content_hash": content_hash(f"near {i} of {scope}"), "similar_due": now}
            add(f"near{i}", ["Belief"], next_due=_FAR, embedding=vector, embedding_model=model,
                embedding_hash=near["content_hash"], tier="HOT", confidence=0.9, confidence_at=NOW, **near)  # fmt: skip
        add(
            "concept",
            ["Concept"],
            state="archived",
            archived_at=NOW - DAY,
            salience=0.2,
            salience_at=NOW - DAY,
            tier="HOT",
            next_due=_FAR,
        )
        add("idea", ["Concept"], tier="HOT", next_due=_FAR)
        add("told", ["MemoryEntry"], tier="HOT", last_accessed_at=NOW - 30 * DAY, access_count=1)
        add("odd", ["MemoryEntry"], tier="LUKEWARM", token_count=-5, next_due=_FAR)
        add("orphan", ["CompressedContext"], next_due=_FAR, tier="HOT")
        add(
            "long",
            ["CompressedContext"],
            next_due=_FAR,
            tier="ARCHIVE",
            token_count=90_000,
            content_hash=f"h{scope}",
            created_at=NOW - 3 * DAY,
        )
        self.client.database.transaction(lambda tx: self._make_in(tx, rows, scope, now))
        self.said.update(f"{scope}/{row['id']}" for row in rows)

    @staticmethod
    def _make_in(tx: neo4j.ManagedTransaction, rows: list[dict[str, Any]], scope: str, now: datetime) -> None:
        tx.run(_MADE, rows=rows).consume()
        tx.run(_PAIRED, scope=scope, now=now, long_ago=NOW - 3000 * DAY).consume()

    def _job(self, job: str) -> None:
        """A batch as the pump does it, the job locked; its lease and its pauses after failures aren't what this is about."""
        engine, now = self.client.engine, self._now()
        # Few are purged, and late: of what is purged nothing can be undone.
        purges = job == "purge_tombstones"
        now += (31 * DAY) if purges else timedelta(0)
        limit = 2 if purges else self._dice.choice((5, 20, 100))

        def batch(tx: neo4j.ManagedTransaction) -> None:
            locked = "MATCH (j:JochiJob {name: $job}) REMOVE j.claim_lock RETURN properties(j) AS job"
            held = tx.run(locked, job=job).single(strict=True).data()
            select, act = (engine.text(held["job"]["procedure"], section) for section in ("select", "act"))
            found = engine.call_in(tx, select, {"now": now, "limit": limit, "skip": [], **held})
            assert found is not None, job
            engine.call_in(
                tx, act, {"now": now, "keys": found["keys"], "run": f"{job}/{uuid.uuid4()}", "policy": "p", **held}
            )

        self.client.database.transaction(batch)

    def _claimed(self) -> None:
        jobs = ("curate_due", "merge_duplicates", "decay_edges", "settle_slots", "find_duplicates", "fold_accesses")
        self.client.run(self._dice.choice(jobs), now=self._now())

    def _undo(self) -> None:
        runs = self._some(
            "MATCH (a:CurationAudit) WHERE a.undone_by IS NULL AND NOT a.action IN ['protect', 'purge'] RETURN DISTINCT a.run AS v"
        )
        for run in runs[:1]:
            self.client.undo(run, now=self._now(), force=self._dice.random() < 0.3)

    def _restore(self) -> None:
        if keys := self._some("MATCH (t:Tombstone) WHERE t.merged_into IS NULL RETURN t.key AS v"):
            self.client.restore(keys)

    def _unmerge(self) -> None:
        if keys := self._some("MATCH (t:Tombstone) WHERE t.merged_into IS NOT NULL RETURN t.key AS v"):
            self.client.unmerge(keys, now=self._now())

    def _decompress(self) -> None:
        if keys := self._some("MATCH (m:Curated) WHERE m.compressed_at IS NOT NULL RETURN m.key AS v"):
            self.client.decompress(keys, now=self._now())

    def _remember(self) -> None:
        scope = f"r{next(self._numbers)}"
        held = {"confidence": 0.9, "made_tier": "HOT"}
        rows = [
            {"kind": "Belief", "id": f"b{i}", "scope": scope, "content": f"belief {i} of {scope}", "properties": held}
            for i in range(4)
        ]
        self.client.remember(rows, now=self._now(), agent="ada")
        self.said.update(f"{scope}/b{i}" for i in range(4))

    def _import(self) -> None:
        scope = f"i{next(self._numbers)}"
        held = {"created_at": NOW, "made_tier": "HOT"}
        records = [
            importing.MemoryRecord("MemoryEntry", f"e{i}", scope, held | {"content": f"entry {i} of {scope}"})
            for i in range(4)
        ]
        importing.write(self.client.database, records, now=self._now())
        self.said.update(f"{scope}/e{i}" for i in range(4))

    def _touch(self) -> None:
        """What was interrupted is sent again with the name of its batch, until it is known to have arrived."""
        if self._dice.random() < 0.5:
            keys = self._some("MATCH (m:Concept) WHERE m.state = 'archived' RETURN m.key AS v")
        else:
            keys = self._some("MATCH (m:Curated) WHERE m.id STARTS WITH 'heavy' RETURN m.key AS v")
        if keys:
            self._unsure.append((str(uuid.uuid4()), keys))
        self.send_again()

    def send_again(self, client: Jochi | None = None) -> None:
        """Sends touches of which nobody knows whether they arrived."""
        self.client = client or self.client
        while self._unsure:
            batch, keys = self._unsure[0]
            self.client.touch(keys, agent="ada", batch=batch, now=NOW)
            self.touched.update(keys)
            del self._unsure[0]

    def _lock(self) -> None:
        """An agent takes a memory, writes a text of its own, and gives it back."""
        for key in self._some("MATCH (m:Curated) WHERE m.id STARTS WITH 'idle' RETURN m.key AS v")[:1]:
            asked = {"key": key, "labels": ["MemoryEntry"], "agent": str(uuid.uuid4())}
            [row] = self.client.database.run(statement("models/lock"), {**asked, "now": NOW, "expired": NOW - DAY})
            if row["outcome"] == "locked":
                written = self.client.database.run(
                    "MATCH (m:Curated {key: $key}) SET m.turns = coalesce(m.turns, 0) + 1 RETURN m.key AS key",
                    asked,
                )
                self.turned.update(row["key"] for row in written)
                self.client.database.run(statement("models/unlock"), {**asked, "now": NOW, "locked_at": NOW})

    def _queue(self, name: Any) -> None:
        now = self._now()
        queue = Queue(self.client.engine, name, clock=lambda: now)
        batch = queue.lease(4)
        if not batch.rows:
            return
        if name == "judge":
            done = JudgeHandler(lambda _left, _right, **_: Ruling("veto", ("number",))).handle(batch.rows).done
            queue.finish(batch, done)
            return
        settings = self._policy.policy.embedding
        results: list[Result] = []
        for row in batch.rows[:-1] if len(batch.rows) > 1 else batch.rows:
            values: dict[str, Any] = {
                "content_hash": content_hash(row["content"]),
                "token_count": 9,
                "token_counter": "work",
            }
            if name == "embed":
                vector = [self._dice.random() for _ in range(settings.dimensions)]
                values = {
                    "embedding": vector,
                    "embedding_model": settings.model,
                    "embedding_hash": values["content_hash"],
                    "embedding_unknown": 0.0,
                }
            if name == "compress":
                summary = {"summary": "short", "summary_hash": content_hash("short"), "provider": "work", "model": None}
                values = {**summary, "token_count": 1, "token_counter": "work", "used_in": 0, "used_out": 0}
            results.append(Result(row["key"], values))
        queue.finish(batch, results)
        if len(batch.rows) > 1 and self._dice.random() < 0.5:
            queue.release(batch, [batch.rows[-1]["key"]])

    def _reinforce(self) -> None:
        for scope in self._some("MATCH ()-[r:RELATED_TO]->() WHERE r.reinforced IS NOT NULL RETURN r.reinforced AS v"):
            self.client.reinforce([Edge(f"{scope}/idea", "RELATED_TO", f"{scope}/concept")], now=NOW)

    def _supersede(self) -> None:
        scope = f"f{next(self._numbers)}"
        said = [
            {"subject": "Ann", "attribute": "city", "value": city, "valid_from": NOW + day * DAY, "made_tier": "HOT"}
            for city, day in (("Rome", -9), ("Oslo", -5), ("Rome", -1), ("Bonn", 0))
        ]
        facts = [{"kind": "Fact", "id": f"city{i}", "scope": scope, "properties": held} for i, held in enumerate(said)]
        self.client.remember(facts, now=self._now())
        self.client.supersede([f"{scope}/city{i}" for i in range(4)], now=self._now())

    def _enrol(self) -> None:
        self.client.enrol("Ticket")

    def _decide(self) -> None:
        for key in self._some("MATCH (m:Belief) WHERE m.id = 'near1' RETURN m.key AS v"):
            self.client.decide_duplicates([(key, key[:-1] + "2")], "rejected", by="ada")

    def _plan(self) -> None:
        """Applies a plan that was kept, or goes on with one that was cut off; where there is none, keeps one and leaves some out.

        One of the two at a time: what takes long is interrupted each time.
        """
        now = self._now()
        left = self._some("MATCH (p:JochiPlan) WHERE p.state IN ['saved', 'applying'] RETURN p.id AS v")
        if left:
            self.client.apply_plan(left[0], now=now)
            return
        saved = self.client.save_plan(self.client.plan(now))
        named = "MATCH (x:JochiPlanPart {plan: $plan}) WHERE x.n >= 0 UNWIND x.keys AS v RETURN v"
        if keys := self._some(named, plan=saved.id):
            self.client.exclude(saved.id, keys, now=now)

    def _approve(self) -> None:
        """Lets runs go on that the breaker stopped; where there is none, has more to prune than it lets through.

        One of the two at a time: what takes long is interrupted each time.
        """
        now = self._now()
        runs = self._some("MATCH (j:JochiJob) WHERE j.stopped_run IS NOT NULL RETURN j.stopped_run AS v")
        if not runs:
            self._make_many(now)
            # Where somebody else has the job, that run is the one that is stopped.
            with suppress(Refused):
                self.client.run("curate_due", now=now)
        for run in runs:
            try:
                self.client.approve_run(run, now=now)
            except UsageError as error:
                # Another client was, or the driver sent again what had arrived.
                if "approved already" not in str(error) and "somebody was faster" not in str(error):
                    raise

    def _make_many(self, now: datetime) -> None:
        """More of one kind that is due to be pruned than the breaker lets through in one scope."""
        scope = f"b{next(self._numbers)}"
        rows = [
            {
                "id": f"many{i}",
                "scope": scope,
                "labels": ["Notification"],
                "ties": 0,
                "held": {
                    "content": f"many{i} of {scope}",
                    "created_at": NOW - 40 * DAY,
                    "next_due": now - DAY,
                    "read": True,
                    "priority": "low",
                    "tier": "HOT",
                },
            }
            for i in range(FLOOR + 3)
        ]
        self.client.database.transaction(lambda tx: tx.run(_MADE, rows=rows).consume())
        self.said.update(f"{scope}/many{i}" for i in range(FLOOR + 3))

    def _forget(self) -> None:
        """Has something forgotten, in one of the forms that there are. What is interrupted is asked again in the end."""
        form = self._dice.choice(("keys", "keys", "hash", "phrase", "phrase", "clause", "clause", "scope"))
        order = self._order(form)
        if order is not None:
            self._orders.append(order)
            # Of those that come ten minutes later each finishes what was cut off before it, or is still under way.
            self._ask(order, self._now() + timedelta(minutes=self._dice.choice((0, 0, 15))))

    def _order(self, form: str) -> Order | None:
        wanted = {
            "hash": "m.id IN ['twin1', 'twin2', 'near1', 'near2']",
            "clause": "m.id = 'told'",
            # A summary stands in its place: of a phrase only the copies of what it was go.
            "phrase": "NOT m.id IN ['told', 'long']",
        }.get(form, "true")
        found = self._some(
            f"MATCH (m) WHERE (m:Curated OR m:Tombstone) AND m.made_tier IS NOT NULL AND m.scope STARTS WITH 's' AND {wanted} "
            "RETURN m.key AS v"
        )
        if not found:
            return None
        key = found[0]
        scope, id = key.split("/", 1)
        said = sentence(key)
        alike = frozenset({key, partner(key)} if id.startswith("twin") else {key})
        if form == "keys":
            alone = [one for one in found if not one.split("/", 1)[1].startswith(("twin", "told"))]
            return Order(Request(keys=tuple(found)), frozenset(found), sentence(alone[0]) if alone else None)
        if form == "hash":
            return Order(Request(hash=content_hash(said), scope=scope), alike, said)
        if form == "phrase":
            return Order(Request(phrase=said, scope=scope), alike, said)
        if form == "clause":
            return Order(Request(phrase=f"code of {scope}", scope=scope), alike, f"code of {scope}", cut=True)
        ids = self.client.database.run(
            "MATCH (m) WHERE (m:Curated OR m:Tombstone) AND m.key STARTS WITH $prefix RETURN collect(DISTINCT m.key) AS keys",
            {"prefix": f"{scope}/"},
            write=False,
        )
        return Order(Request(scope=scope), frozenset(ids[0]["keys"]), f"of {scope}")

    def _ask(self, order: Order, now: datetime) -> None:
        done = self.client.forget(order.request, now=now, wait=2.0, verify=self._dice.random() < 0.3)
        self.receipts.add(done.receipt.hash)
        keys, gone = order.keys, sum(done.counts.get(name, 0) for name in ("memories", "tombstones"))
        if order.request.form in ("phrase", "hash") and gone < len(keys):
            # By its words only what is there is found. Of what was purged before there are records, which don't say them.
            purged = "MATCH (a:CurationAudit {action: 'purge'}) WHERE a.key IN $keys RETURN collect(a.key) AS keys"
            keys -= frozenset(self.client.database.run(purged, {"keys": sorted(keys)}, write=False)[0]["keys"])
        self.forgotten.append(replace(order, keys=keys, held=frozenset(done.held)))
        self._orders.remove(order)

    def ask_again(self, client: Jochi) -> None:
        """Asks again for what was to be forgotten and may not have been, late enough to finish what was cut off."""
        self.client = client
        for order in list(self._orders):
            self._ask(order, NOW + DAY)
