"""`Jochi`: every verb of the engine as a method with a typed result. The command line is thin over it.

>>> from neo4j import GraphDatabase
>>> from jochi import Jochi
>>> with GraphDatabase.driver(uri, auth=(user, password)) as driver:  # doctest: +SKIP
...     print(Jochi(driver).plan().prunes)
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, get_args

import neo4j

from jochi import clock, forgetting
from jochi.curate import saved_plans
from jochi.curate.budgets import BudgetPlan, plan_budgets
from jochi.curate.duplicates import (
    Decided,
    Decision,
    DuplicateCounts,
    DuplicatePairs,
    PairStanding,
    PairToDecide,
    count_pairs,
    decide_pairs,
    list_pairs,
)
from jochi.curate.explain import Explanation
from jochi.curate.plan import Applied, Plan, due
from jochi.curate.saved_plans import Excluded, PlanApplied, PlannedMemory, SavedPlan
from jochi.curate.score import Improvable, Scored, improvable, scores
from jochi.database.database import Database
from jochi.database.engine import NOT_INSTALLED, Engine
from jochi.database.server_clock import ServerClock
from jochi.errors import Refused, UsageError
from jochi.graph.driver_values import read_as, to_python, zoned
from jochi.install.install import InstallResult, install
from jochi.install.uninstall import UninstallResult, uninstall
from jochi.jobs.arming import armed_jobs, ensure_jobs
from jochi.jobs.results import JobState, Mode, ModeName, Switch
from jochi.jobs.runner import Run, no_such_job, run_job
from jochi.jobs.runs import AuditSize, RunSummary
from jochi.operate.approvals import Approved, approve_run
from jochi.operate.results import Hygiene, Status, TierReport
from jochi.policy import LoadedPolicy, load_policy, stored_policy
from jochi.schema.migrations import ChainName
from jochi.undo import undo
from jochi.undo.results import Decompressed, Restored, Unmerged
from jochi.undo.undo import Undone
from jochi.undo.unmerge import take_merges_back
from jochi.use import accesses, slots
from jochi.use.accesses import Touched
from jochi.use.edges import Edge, EdgeReport, Reinforced, reinforce
from jochi.use.edges import salience as edge_standings
from jochi.use.recall import Recalled, recall
from jochi.use.salience import Standing
from jochi.use.slots import Placed, Stretch
from jochi.users import operating_system_user
from jochi.write import remembering
from jochi.write.enrolling import Enrolled, EnrolmentPlan, Released, disenrol, enrol, plan_enrolment
from jochi.write.remembering import Memory, Remembered

_PAGE = 10_000
"""Keys that one read of a plan looks at."""


class Jochi:
    """Memory curation in one database.

    ``policy`` is what install stores and what the database is compared with; without one it is the policy that the database
    has, or on a fresh one the shipped policy. So an upgrade never puts a custom policy back to the default.
    """

    def __init__(self, driver: neo4j.Driver, database: str = "neo4j", *, policy: LoadedPolicy | None = None) -> None:
        self.database = Database(driver, database)
        self.engine = Engine(self.database)
        self._policy = policy

    @property
    def policy(self) -> LoadedPolicy:
        """The policy that was given, else the installed one, else the shipped one."""
        if self._policy is None:
            stored = self.engine.state().policy_text
            self._policy = load_policy() if stored is None else stored_policy(stored)
        return self._policy

    # -- install ---------------------------------------------------------------------------------------------------

    def install(
        self,
        *,
        arm: bool = True,
        chain: ChainName | str | None = None,
        pin: bool | None = None,
        on_progress: Callable[[str], None] | None = None,
    ) -> InstallResult:
        """Installs or upgrades the engine. Idempotent; see `jochi.install`. ``arm=False``: jobs are run from outside only.

        ``chain='jochi'`` records the migrations beside those of an application that uses neo4j-migrations in this database.
        ``pin``: the result has apoc.conf's line with a hash of everything installed.
        """
        result = install(self.database, self.policy, arm=arm, chain=chain, pin=pin, on_progress=on_progress)
        self.engine.refresh()
        return result

    def uninstall(self, *, on_progress: Callable[[str], None] | None = None) -> UninstallResult:
        """Brings tombstones back and leaves no object of Jochi's. Can be stopped and run again."""
        result = uninstall(self.database, on_progress=on_progress)
        self.engine.refresh()
        return result

    def ensure_jobs(self) -> list[str]:
        """Arms the pump and the watch where they are missing; returns what was armed."""
        return ensure_jobs(self.engine)

    def armed(self) -> list[str]:
        """Which of the two repeat jobs are on the server's list."""
        return armed_jobs(self.engine)

    # -- look ------------------------------------------------------------------------------------------------------

    def status(self) -> Status:
        """Pump, guard, queue, tombstones, kill switches, the breaker."""
        return Status.from_row(self._read("report/status", now=clock.now(), pump=self.engine.pump))

    def tiers(self) -> TierReport:
        """Memories and tokens by kind and tier. Reads every memory."""
        return TierReport.from_row(self._read("report/tiers"))

    def pruned(self, since: datetime | None = None) -> list[dict[str, Any]]:
        """What was done to memories and why: {action, kind, rule, n}."""
        if since is not None:
            zoned(since, "since", where="pruned")
        return list(self._read("report/pruned", since=since)["actions"])

    def hygiene(self) -> Hygiene:
        """What the last walk of the job `hygiene` repaired, and what it leaves to a person."""
        return Hygiene.from_row(self._read("report/hygiene"))

    def plan(self, at: datetime | None = None) -> Plan:
        """What would be pruned at ``at`` (default: now), by rule and kind, with samples; edges and merges that are due.
        Writes nothing.

        Memories that hang on nothing are found by their keys, page by page: that reads every memory once.
        """
        when = _at(at, "plan")
        state = self.engine.state()
        sha256, samples = self._policy_sha256(), int((state.policy_data or {}).get("plan_samples", 0))
        edges = {found.type: found.due for found in self.edges(when, samples=0).types if found.due}
        merges = self._read("curate/plan_merges", now=when, scope=None, kind=None)["merges"]
        return Plan.of(when, sha256, due(self.engine, when), self._orphans(when), merges, edges, samples)

    def save_plan(self, plan: Plan | None = None) -> SavedPlan:
        """Keeps a plan (default: that of now) with every memory it names, until it expires (policy, `limits.plan_keep`).

        Reads every memory once, in pages of 2,000, each a transaction that writes two nodes at most.
        """
        return saved_plans.save(self.engine, plan or self.plan(), by=operating_system_user())

    def plans(self, *, limit: int = 20) -> list[SavedPlan]:
        """The plans that are kept, newest first, without their groups."""
        return saved_plans.plans(self.engine, limit=limit)

    def show_plan(self, plan: str, *, samples: int = 2) -> SavedPlan:
        """One plan: what it names by action, rule and kind, and what became of it. `UsageError` if there is none (any more)."""
        return saved_plans.show(self.engine, plan, samples=samples)

    def planned(self, plan: str, *, skip: int = 0, limit: int = 100, drifted: bool = False) -> list[PlannedMemory]:
        """A page of the memories that a plan names; ``drifted``: only those that were not done as planned."""
        return saved_plans.memories(self.engine, plan, skip=skip, limit=limit, drifted=drifted)

    def plan_budgets(self, scope: str | None = None, *, most: int = 100) -> BudgetPlan:
        """What the token budgets would move now, in one scope or in all (which reads every memory), and what is pinned above them.

        Names the first ``most`` moves and overflows; the counts are complete. Writes nothing.
        """
        return plan_budgets(self.engine, scope, most)

    def edges(self, at: datetime | None = None, *, samples: int = 5) -> EdgeReport:
        """The edges of the policy's types: how many there are, how many wait for a charge at ``at``, and some of them."""
        return read_as(EdgeReport, self._read("report/edges", now=_at(at, "edges"), samples=samples))

    def duplicates(
        self,
        *,
        scope: str | None = None,
        kind: str | None = None,
        verdict: PairStanding | None = None,
        reason: str | None = None,
        limit: int = 20,
    ) -> DuplicatePairs:
        """Pairs of memories that are near each other, the nearest first, with both texts; each filter that is given must hold.

        ``verdict``: where they stand; without one all but those that are merged. Reads every flag. `UsageError` for a verdict or
        limit (1 to 10,000) that can't be.
        """
        return list_pairs(self.engine, scope=scope, kind=kind, verdict=verdict, reason=reason, limit=limit)

    def count_duplicates(self, *, scope: str | None = None, kind: str | None = None) -> DuplicateCounts:
        """How many such pairs there are, by where they stand and why. Reads every flag."""
        return count_pairs(self.engine, self._server_now(), scope=scope, kind=kind)

    def explain(self, memory: str, *, scope: str = "default", at: datetime | None = None) -> Explanation:
        """Every rule and rail for one memory; ``memory`` is `scope/id`, or an id in ``scope``."""
        key = memory if "/" in memory else f"{scope}/{memory}"
        when = _at(at, "explain")
        found = Explanation.from_row(key, when, self._read("curate/explain", now=when, key=key))
        return found.with_orphan(self._read("curate/explain_orphan", now=when, key=key))

    def score(self, keys: Iterable[str], *, at: datetime | None = None) -> list[Scored]:
        """What memories (`scope/id`, any number) are worth, term by term, sorted by key.

        Keys that no live memory has are left out. ``at``: default now; one for all, in reads of 2,000. Writes nothing.
        Raises `UsageError`.
        """
        return scores(self.engine, keys, at=_at(at, "score"))

    def improvable(self, scope: str | None = None) -> Iterator[Improvable]:
        """Memories to which their score's band wants something added, by key; None: of all scopes. Reads all keys, page by page.

        A worker adds tokens and embeddings by itself. What gets its keywords or confidence leaves the list at its next look.
        """
        return improvable(self.engine, scope)

    # -- use -------------------------------------------------------------------------------------------------------

    def touch(
        self,
        keys: Iterable[str],
        *,
        used: bool = True,
        agent: str | None = None,
        batch: str | None = None,
        now: datetime | None = None,
    ) -> Touched:
        """Reports that memories (`scope/id`, any number) were used, or with ``used=False`` that they were only recalled.

        ``agent`` says by whom. The same ``batch`` (text of your own, with the same keys) sent again counts nothing, so a call
        whose answer got lost can be repeated. ``now`` is when it happened (default: now). The job `fold_accesses` counts
        them seconds later; until then they protect their memories. Raises `UsageError`.
        """
        return accesses.touch(self.engine, keys, now=_at(now, "touch", "now"), used=used, agent=agent, batch=batch)

    def salience(self, keys: Iterable[str], *, at: datetime | None = None) -> list[Standing]:
        """Where the salience of memories (`scope/id`) stands, sorted by key; `Standing.at` gives it for any later time.

        Memories of kinds without salience, and keys that no live memory has, are left out. ``at``: default now. Writes nothing.
        """
        row = self._read("memory/salience", now=_at(at, "salience"), keys=list(keys))
        return [Standing.from_entry(entry) for entry in to_python(row["memories"])]

    def reinforce(self, edges: Iterable[Edge], *, batch: str | None = None, now: datetime | None = None) -> Reinforced:
        """Reports that edges between memories were observed again, or used: each gets surer or more present, and time counts anew.

        What time had taken by then is charged first. An edge that is named twice was observed twice; nothing is created.
        The same ``batch`` (text of your own, with the same edges) sent again changes nothing. ``now`` is when they were observed
        (default: now); late news add the same. Raises `UsageError`.
        """
        return reinforce(self.engine, edges, now=_at(now, "reinforce", "now"), batch=batch)

    def edge_salience(self, edges: Iterable[Edge], *, at: datetime | None = None) -> list[Standing | None]:
        """Where the salience of edges stands, in their order, of parallel ones the most present; `Standing.at` for any time.

        None where no such edge joins live memories, or its type has no salience. ``at``: default now. Writes nothing.
        """
        return edge_standings(self.engine, edges, at=_at(at, "edge_salience"))

    # -- recall ----------------------------------------------------------------------------------------------------

    def recall(
        self,
        text: str | None = None,
        *,
        vector: Sequence[float] | None = None,
        scope: str = "default",
        k: int = 10,
        kinds: Sequence[str] | None = None,
        tiers: Sequence[str] | None = None,
        include_archived: bool = False,
        include_superseded: bool = False,
        since: datetime | None = None,
        until: datetime | None = None,
        min_score: float | None = None,
        hops: int = 0,
    ) -> Recalled:
        """The ``k`` memories of ``scope`` that fit best by words (``text``), by meaning (``vector``), or by both.

        ``vector`` is as long as the policy says and made by its model. ``since`` ≤ created_at < ``until``; ``min_score`` is a raw
        cosine. Never a tombstone; archived ones, and facts that don't hold (any more), on request. Writes nothing: `touch` reports
        what was used. `UsageError` for a request that makes no sense (a vector of another length, NaN, k out of range).

        ``hops`` follows the edges of the policy's types from the hits on, so many steps: up to ``k`` more memories are in
        `Recalled.reached`, each with the way to it and every edge's confidence.
        """
        return recall(
            self.engine,
            text,
            vector=vector,
            scope=scope,
            k=k,
            kinds=kinds,
            tiers=tiers,
            include_archived=include_archived,
            include_superseded=include_superseded,
            since=since,
            until=until,
            min_score=min_score,
            hops=hops,
        )

    # -- decide ----------------------------------------------------------------------------------------------------

    def apply(self, plan: Plan | None = None) -> Applied:
        """Says go: destructive jobs run from now on, and the breaker lets through what the plan counted."""
        agreed = plan or self.plan()
        row = self.engine.call(
            "curate/apply",
            {
                "now": clock.now(),
                "pump": self.engine.pump,
                "policy_sha256": agreed.policy_sha256,
                "plan": f"plan-{uuid.uuid4()}",
                "at": agreed.at,
                "quotas": [quota.__dict__ for quota in agreed.quotas],
                "by": operating_system_user(),
            },
        )
        if not row["applied"]:
            raise Refused(row["reason"], where=f"database {self.database.name}", fix="look at `jochi plan` again")
        return Applied(agreed.prunes, agreed.at)

    def exclude(self, plan: str, keys: Sequence[str], *, now: datetime | None = None) -> list[Excluded]:
        """Leaves memories (`scope/id`) out of a saved plan, and holds them for 30 days (policy, `rails.hold`) against the jobs.

        Raises `UsageError` where there is no such plan, `Refused` once it is being applied.
        """
        return saved_plans.exclude(self.engine, plan, keys, now=_at(now, "exclude", "now"), policy=self._policy_label())

    def apply_plan(
        self, plan: str, *, now: datetime | None = None, on_page: Callable[[int], None] | None = None
    ) -> PlanApplied:
        """Does what a saved plan names, and nothing else: the go for these memories only (`apply` is the go for the policy).

        Each is locked and judged again at ``now`` (default: now), by the same rules and rails; what isn't due any more by the
        same rule stays, and `planned(…, drifted=True)` says why. 500 memories a transaction; one that was cut off goes on when it
        is called again. `Refused` where it was applied, has expired, or was made under another policy.
        """
        who = operating_system_user()
        return saved_plans.apply(self.engine, plan, now=_at(now, "apply_plan", "now"), by=who, on_page=on_page)

    def approve(self) -> str | None:
        """Opens the gap guard; returns what it said, or None if it was open."""
        row = self.engine.call(
            "curate/approve", {"now": self._server_now(), "pump": self.engine.pump, "by": operating_system_user()}
        )
        was: str | None = row["was"]
        return was

    def approve_run(self, run: str, *, now: datetime | None = None) -> Approved:
        """Lets the job of a run go on that the circuit breaker stopped.

        The breaker lets through, of the kinds and scopes that stopped it, as many memories as are due at ``now`` (default: now).

        On record with who and when. `UsageError` for a run that is unknown, wasn't stopped or was approved already.
        """
        when = self._now(now, "approve_run")
        return approve_run(self.engine, run, now=when, by=operating_system_user(), orphans=self._orphans)

    def restore(self, keys: Sequence[str], *, audit: str | None = None, now: datetime | None = None) -> list[Restored]:
        """Brings pruned memories (`scope/id`) back; ``audit`` names one of several tombstones of a key."""
        if not keys:
            raise UsageError("no memory named", fix="give one or more keys such as default/m1")
        when = self._now(now, "restore")
        row = self.engine.call(
            "memory/restore",
            {"now": when, "keys": list(keys), "audit": audit, "run": f"restore/{uuid.uuid4()}"},
        )
        restored = [Restored(entry["key"], entry["outcome"], entry["duplicate_of"]) for entry in row["results"]]
        slotted = [{"key": entry["key"]} for entry in row["results"] if entry.get("slotted")]
        slots.settle(self.engine, slotted, now=when)
        return restored

    def decide_duplicates(
        self, pairs: Iterable[PairToDecide | Sequence[str]], decision: Decision, *, by: str | None = None
    ) -> list[Decided]:
        """Says of near duplicates that they may merge ('approved') or never do ('rejected'), whatever was judged.

        ``pairs``: two keys each, or `PairToDecide`, which has the hashes that were seen; results come in their order.
        Remembered for as long as both contents stay what they are. `UsageError` for what is no pair.
        """
        who = by or operating_system_user()
        return decide_pairs(self.engine, pairs, decision, now=self._server_now(), by=who)

    def undo(
        self,
        target: str | datetime,
        *,
        dry_run: bool = False,
        force: bool = False,
        now: datetime | None = None,
        on_page: Callable[[int], None] | None = None,
    ) -> Undone:
        """Takes back what a run did (``target``: its id), or all that the engine did since a moment (an aware datetime).

        Newest first. What changed since stays as it is and is named, unless ``force``. What goes back is held for 30 days (policy,
        `rails.hold`). ``dry_run`` writes nothing and names every action. An undo is a run itself and can be undone; one that
        was cut off goes on when it is called again (docs/reference/audit-and-undo.md).
        """
        return undo.undo(
            self.engine,
            target,
            now=self._now(now, "undo"),
            by=operating_system_user(),
            dry_run=dry_run,
            force=force,
            on_page=on_page,
        )

    def unmerge(self, keys: Sequence[str], *, dry_run: bool = False, now: datetime | None = None) -> list[Unmerged]:
        """Takes merges back: ``keys`` (`scope/id`) name memories that were merged away (docs/reference/merge.md).

        Both become what they were; what has changed since stays as it is and is named. ``dry_run`` writes nothing. Of a chain
        take the last merge back first, or the earlier one gets back only what is still where that merge left it.
        """
        if not keys:
            raise UsageError("no memory named", fix="give one or more keys such as default/m1")
        return take_merges_back(self.engine, keys, now=self._now(now, "unmerge"), dry_run=dry_run)

    def decompress(
        self, keys: Sequence[str], *, dry_run: bool = False, now: datetime | None = None
    ) -> list[Decompressed]:
        """Brings back the contents that compression took (docs/reference/compression.md). One that was written since stays."""
        if not keys:
            raise UsageError("no memory named", fix="give one or more keys such as default/m1")
        row = self.engine.call(
            "memory/decompress",
            {
                "now": self._now(now, "decompress"),
                "keys": list(keys),
                "audits": None,
                "dry_run": dry_run,
                "run": f"decompress/{uuid.uuid4()}",
            },
        )
        return [
            Decompressed(each["key"], each["outcome"], each["tokens"], tuple(each["changed"]))
            for each in row["results"]
        ]

    # -- memories --------------------------------------------------------------------------------------------------

    def plan_forgetting(self, request: forgetting.Request) -> forgetting.ForgettingPlan:
        """What `forget` would take now, and what would be left of memories that are only cut. Writes nothing."""
        return forgetting.plan_forgetting(self.engine, self.policy.policy, request)

    def forget(
        self,
        request: forgetting.Request,
        *,
        verify: bool = False,
        now: datetime | None = None,
        wait: float = forgetting.WAIT,
        on_page: Callable[[int], None] | None = None,
    ) -> forgetting.Forgotten:
        """Forgets for good: the memories of ``request`` with all that was made of them and all that the engine keeps of them.

        What is forgotten is sealed by a keyed hash first, so that `remember`, import and workers don't learn it again; the key
        stays on this machine (`jochi.forgetting.key_file`). Of the rails only agent_identity, agent_key, migration,
        system_config and a hold stop it (`Forgotten.held`). ``verify``: look through the whole store afterwards. ``wait``:
        seconds for transactions that began before, whose writes were compared with less. Can't be undone; cut off, it
        goes on when the same is asked again. docs/reference/forgetting.md.
        """
        when = self._now(now, "forget")
        return forgetting.forget(
            self.engine,
            self.policy.policy,
            request,
            now=when,
            by=operating_system_user(),
            verify=verify,
            wait=wait,
            on_page=on_page,
        )

    def verify_forgotten(self, request: forgetting.Request) -> list[forgetting.Mention]:
        """Where the whole store says it, word for word. Reads everything; writes nothing."""
        return forgetting.verify(self.engine, request)

    def allow_again(self, request: forgetting.Request) -> int:
        """Lets a phrase, a scope, a content or keys be learned again; returns how many seals were taken off."""
        return forgetting.lift(self.engine, request)

    def receipts(self) -> forgetting.Chain:
        """The receipts of what was forgotten, each compared with its hash and the one before."""
        return forgetting.read_chain(self.database)

    def remember(
        self,
        memories: Iterable[Memory | Mapping[str, Any]] | Memory | Mapping[str, Any],
        *,
        agent: str | None = None,
        now: datetime | None = None,
        batch_size: int = remembering.BATCH_SIZE,
        on_refused: Literal["report", "raise"] = "report",
        on_result: Callable[[remembering.Result], None] | None = None,
    ) -> Remembered:
        """Writes memories of any kind with their relationships; what is known already is reinforced, not doubled.

        One memory or any number, also a generator: it is read batch by batch. A mapping has the fields of `Memory`; text
        under a name of a moment (`…_at`, `…_until`, `is_moment`) may be ISO 8601. Each memory is judged by itself: one that
        is refused takes no other with it (reason codes: docs/reference/remember.md). Facts get into their slots at once.
        ``agent`` is who remembers; a ``now`` further ahead than the policy's `content.date_ahead` is a `UsageError`.
        ``on_refused`` `raise` stops after the batch (of 1 to 5,000 memories, one transaction) that holds a refused one, with
        `SomeRefused`. `RememberInterrupted` if the server goes away.
        """
        return remembering.remember(
            self.engine,
            memories,
            now=_at(now, "remember", "now"),
            agent=agent,
            batch_size=batch_size,
            on_refused=on_refused,
            on_result=on_result,
        )

    # -- slots ----------------------------------------------------------------------------------------------------

    def supersede(self, keys: Iterable[str], *, now: datetime | None = None) -> list[Placed]:
        """Puts facts that exist (`scope/id`, any number) into their slots: one value of a subject's attribute holds at a time.

        `remember` and the models do so by themselves; this is for facts that were written otherwise or before. In the order of
        ``keys``; one that belongs in no slot says why. Can be repeated.
        """
        return slots.supersede(self.engine, keys, now=_at(now, "supersede", "now"))

    def history_of(self, scope: str, subject: str, attribute: str, at: datetime | None = None) -> list[Stretch]:
        """What held of a subject's attribute and when, oldest first; with ``at`` only what held then. Writes nothing."""
        return slots.history(self.engine, scope, subject, attribute, at=at)

    # -- enrol -----------------------------------------------------------------------------------------------------

    def plan_enrolment(
        self, label: str, *, generate_ids: bool = False, on_progress: Callable[[int], None] | None = None
    ) -> EnrolmentPlan:
        """What `enrol` would do with the nodes of ``label``, and what would be due at once. Writes nothing."""
        return plan_enrolment(self.engine, label, now=clock.now(), generate_ids=generate_ids, on_progress=on_progress)

    def enrol(
        self,
        label: str,
        *,
        generate_ids: bool = False,
        page: int = 2_000,
        on_progress: Callable[[Enrolled], None] | None = None,
    ) -> Enrolled:
        """Makes memories of the nodes of ``label`` that can be, ``page`` of them in a transaction; run it again at will."""
        return enrol(self.engine, label, now=clock.now(), generate_ids=generate_ids, page=page, on_progress=on_progress)

    def disenrol(
        self,
        label: str,
        *,
        keep_tombstones: bool = False,
        on_progress: Callable[[Released], None] | None = None,
    ) -> Released:
        """Takes back what enrolment added to the nodes of ``label``; brings pruned ones back first."""
        return disenrol(self.engine, label, keep_tombstones=keep_tombstones, on_progress=on_progress)

    # -- jobs ------------------------------------------------------------------------------------------------------

    def jobs(self) -> list[JobState]:
        """Every job: desired state, what it last did, when it starts next, what it waits for."""
        row = self._read("jobs/list", clock=self._server_now(), pump=self.engine.pump)
        return [JobState.from_row(entry) for entry in row["jobs"]]

    def history(self, job: str | None = None, *, limit: int = 20, changed_only: bool = False) -> list[dict[str, Any]]:
        """The last runs, newest first, as the properties of their nodes; `UsageError` where there is no such job."""
        runs = list(self._read("jobs/history", job=job, limit=limit, changed_only=changed_only)["runs"])
        # A job that another policy took away may still have runs.
        if job is not None and not runs and job not in (jobs := sorted(each.name for each in self.jobs())):
            raise no_such_job(job, jobs)
        return runs

    def runs(
        self, run: str | None = None, *, limit: int = 20, samples: int = 5, changed_only: bool = False
    ) -> list[RunSummary]:
        """What runs of curation and undos did, newest first; with ``run`` that one, and what it did by action and rule.

        ``changed_only``: without those that found nothing to do.
        """
        rows = self._read("report/runs", run=run, changed_only=changed_only, limit=limit, samples=samples)["runs"]
        return [RunSummary.from_row(row) for row in rows]

    def audit_size(self, *, samples: int = 1_000) -> AuditSize:
        """How much is on record against the data, estimated from samples."""
        return AuditSize(**to_python(self._read("report/audit", samples=samples)))

    def run(self, job: str, *, drain: bool = False, now: datetime | None = None) -> list[Run]:
        """Runs a job from here: the same texts, leases and rails as in the database."""
        if now is not None:
            zoned(now, "now", where="run")
        return run_job(self.engine, job, now=now, drain=drain)

    def pause(self, switch: Switch) -> None:
        """Pauses a job, a kind, a scope or everything; a run in progress ends after its batch."""
        row = self.engine.call("jobs/pause", {**self._switch(switch), "by": operating_system_user()})
        if not row["paused"]:
            known = sorted(self.policy.policy.labels()) if switch.what == "kind" else [job.name for job in self.jobs()]
            raise UsageError(f"there is no {switch.what} {switch.name!r}", fix=f"there are: {', '.join(known)}")

    def resume(self, switch: Switch) -> bool:
        """Takes a pause back; False if there was none."""
        return bool(self.engine.call("jobs/resume", self._switch(switch))["resumed"])

    def mode(self) -> Mode:
        """How busy the engine is, and why."""
        pump = self.status().pump
        if pump is None:
            raise Refused("jochi is not installed", where=f"database {self.database.name}", fix=NOT_INSTALLED)
        return Mode.from_pump(pump)

    def pin_mode(self, mode: ModeName | None) -> Mode:
        """Keeps the engine in ``mode`` whatever applications do; None lets it choose again, at the job's next look."""
        asked = {"clock": self._server_now(), "pump": self.engine.pump, "mode": mode, "by": operating_system_user()}
        row = self.engine.call("scheduler/pin_mode", asked)
        if row["pinned"] is None:
            raise UsageError(f"there is no mode {mode!r}", fix=f"there are: {', '.join(get_args(ModeName))}")
        return self.mode()

    # -- inner -----------------------------------------------------------------------------------------------------

    def _switch(self, switch: Switch) -> dict[str, Any]:
        return {"what": switch.what, "name": switch.name, "clock": self._server_now(), "pump": self.engine.pump}

    def _now(self, now: datetime | None, where: str) -> datetime:
        return self._server_now() if now is None else zoned(now, "now", where=where)

    def _server_now(self) -> datetime:
        return ServerClock(self.database).now()

    def _orphans(self, now: datetime) -> Iterator[Mapping[str, Any]]:
        after: str | None = ""
        while after is not None:
            page = self._read("curate/plan_orphans", now=now, after=after, limit=_PAGE)
            if page["enabled"]:
                yield from page["found"]
            after = page["last"] if page["enabled"] else None

    def _read(self, name: str, **parameters: Any) -> dict[str, Any]:
        return self.engine.call(name, parameters, write=False)

    def _policy_sha256(self) -> str:
        return str(self._installed_pump()["policy_sha256"])

    def _policy_label(self) -> str:
        return str(self._installed_pump()["policy"])

    def _installed_pump(self) -> Mapping[str, Any]:
        pump = self.engine.state().pump
        if pump is None:
            raise Refused("jochi is not installed", where=f"database {self.database.name}", fix=NOT_INSTALLED)
        return pump


def _at(moment: datetime | None, where: str, name: str = "at") -> datetime:
    return clock.now() if moment is None else zoned(moment, name, where=where)
