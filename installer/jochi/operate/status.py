"""`jochi status`: the engine at a glance. It reads; every part but the tiers costs the same whatever is stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from neo4j.exceptions import Neo4jError

from jochi import clock
from jochi.compile.registry import Status as Word
from jochi.compile.registry import is_up_to_date
from jochi.database.server_clock import ServerClock
from jochi.database.server_facts import ServerFacts, read_facts
from jochi.database.statements import statement
from jochi.errors import ConnectionFailed, JochiError
from jochi.graph.driver_values import to_python
from jochi.jobs.arming import job_faults
from jochi.jobs.results import JobState, Mode
from jochi.operate.check import Check
from jochi.operate.checks_server import check_standstill
from jochi.operate.inbox import Inbox, Item, inbox
from jochi.operate.pump import check_pump
from jochi.operate.restart import ApocConfAt, restart_of, unread
from jochi.operate.results import Accesses, Hygiene, Status
from jochi.operate.waiting import Paused, Waiting, switches, waiting
from jochi.operate.work import Backlog
from jochi.operate.work import status as work_left
from jochi.schema import migrations
from jochi.schema.migrations import State
from jochi.use import sources
from jochi.version import __version__

if TYPE_CHECKING:
    from jochi.client.jobs import JobVerbs

T = TypeVar("T")

MOST_MEMORIES = 1_000_000
"""How many memories are looked at for scopes that never reported an access, where memories are read at all."""

MOST_QUARANTINED = 1_000
"""Keys that are looked up, newest failure first."""

MOST_OVERFLOWS = 20
"""Tiers of scopes that are named as above their budget."""

MOST_FILES = 20
"""Files that stand still, the oldest."""

MOST_CHANGES = 4
"""Runs that changed something, the newest."""

_TIERS = ("HOT", "WARM", "COLD", "ARCHIVE")


@dataclass(frozen=True)
class Versions:
    """``installed``: the jochi that installed what is in the database; None where nothing is."""

    jochi: str
    installed: str | None
    policy: str | None
    server: str
    edition: str
    apoc: str | None


@dataclass(frozen=True)
class Chain:
    """The migrations: the outcome of `jochi engine migrations validate`, and how many are applied and pending."""

    outcome: str
    applied: int
    pending: int
    messages: list[str]


@dataclass(frozen=True)
class Tripped:
    """The circuit breaker of one kind in one scope, and since when it holds memories back."""

    scope: str
    kind: str
    since: datetime


@dataclass(frozen=True)
class Quarantined:
    """A memory put aside after a failure, until when, and the last error of the run that put it aside."""

    key: str
    until: datetime
    failures: int | None
    tombstone: bool
    job: str
    run: str
    error: str | None


@dataclass(frozen=True)
class Tier:
    """One tier against its budget, which is per scope. ``over``: scopes above it; ``uncounted``: memories without tokens."""

    tier: str
    budget: int | None
    n: int
    tokens: int
    uncounted: int
    scopes: int
    over: int
    most: int


@dataclass(frozen=True)
class Overflowing:
    """What is pinned in a tier of a scope weighs ``held`` tokens, ``above`` more than its budget; found ``at`` the last look."""

    scope: str
    tier: str
    budget: int
    held: int
    above: int
    at: datetime


@dataclass(frozen=True)
class Budgets:
    """Scopes above a budget by what is pinned (``overflows`` names the largest); scopes whose changes wait for a run."""

    overflowing: int
    overflows: list[Overflowing]
    waiting: int


@dataclass(frozen=True)
class Overview:
    """Everything `jochi status` shows. Where Jochi isn't installed only ``versions`` and ``migrations`` say anything.

    A part that can't be read is empty or None, and ``notes`` says why.
    """

    database: str
    at: datetime
    installed: bool
    versions: Versions
    migrations: Chain | None
    procedures: dict[str, int] = field(default_factory=dict)
    not_installed: dict[str, str] = field(default_factory=dict)
    """Procedures whose status word is not INSTALLED."""
    pump: Check | None = None
    restart: Check | None = None
    engine: Status | None = None
    jobs: list[JobState] = field(default_factory=list)
    waiting: list[Waiting] = field(default_factory=list)
    paused: list[Paused] = field(default_factory=list)
    tripped: list[Tripped] = field(default_factory=list)
    quarantined: list[Quarantined] = field(default_factory=list)
    tiers: list[Tier] | None = None
    """None: not asked for, or not readable."""
    accesses: Accesses | None = None
    hygiene: Hygiene | None = None
    budgets: Budgets | None = None
    """None: the tiers weren't asked for, or aren't readable."""
    notes: list[str] = field(default_factory=list)
    mode: Mode | None = None
    work: Mapping[str, Backlog] = field(default_factory=dict)
    """What is left for workers, by derivation."""
    sources: list[sources.Unfinished] = field(default_factory=list)
    """Raw sources that workers gave up on, or that have waited for more than a day."""
    changes: list[dict[str, Any]] = field(default_factory=list)
    """The last runs that changed something, as the properties of their nodes, newest first."""
    inbox: Inbox | None = None
    """What waits for a person, counted: `jochi inbox` has the rest. None where that can't be read."""
    files: list[Item] = field(default_factory=list)
    """Files of contexts, heartbeats and mirrors that stand still, the oldest."""


def overview(client: JobVerbs, *, tiers: bool = True, apoc_conf_at: ApocConfAt = unread) -> Overview:
    """Reads everything. ``tiers=False`` leaves out the one part that reads every memory; ``apoc_conf_at`` as for `examine`.

    Raises `ConnectionFailed` where no server answers; a part that can't be read becomes a note.
    """
    notes: list[str] = []

    def part(name: str, read: Callable[[], T]) -> T | None:
        try:
            return read()
        except ConnectionFailed:
            raise
        except JochiError as error:
            notes.append(f"{name}: {error.what}" + (f" ({error.fix})" if error.fix else ""))
        except Neo4jError as error:
            notes.append(f"{name}: {error.message} (`jochi doctor` looks for the cause)")
        return None

    database = client.database
    at = clock.now()
    facts = read_facts(database)
    pump = to_python(client.engine.state().pump)
    versions = Versions(
        __version__,
        pump and pump["version"],
        pump and pump["policy"],
        facts.version,
        facts.edition,
        facts.apoc,
    )
    chain = part("migrations", lambda: _chain(client))
    if pump is None:
        return Overview(database.name, at, False, versions, chain, notes=notes)
    if (refused := client.engine.other_version()) is not None:
        fix = refused.fix or ""
        return Overview(
            database.name, at, True, versions, chain, notes=[*notes, f"jobs and memories: {refused.what} ({fix})"]
        )
    words = part("procedures", lambda: _words(client, facts)) or {}
    asked = {"now": at, "pump": client.engine.pump, "most": MOST_QUARANTINED}
    glance = part("engine", lambda: client.engine.call("report/status", asked, write=False))
    engine = Status.from_row(glance) if glance else None
    jobs = part("jobs", client.jobs) or []
    seen: Mapping[str, Any] = (engine.pump if engine else None) or {}
    weighed = part("tiers", lambda: _tiers(client)) if tiers else None
    can_list = "apoc.periodic.list" in facts.callable
    return Overview(
        database.name,
        at,
        True,
        versions,
        chain,
        dict(Counter(word.value for word in words.values())),
        {name: word.value for name, word in words.items() if word is not Word.INSTALLED},
        part("pump", lambda: check_standstill(facts, database.name) or _pump(client, seen, can_list=can_list))
        if seen
        else None,
        part("restart", lambda: restart_of(database, facts, seen, _started_at(client), apoc_conf_at)) if seen else None,
        engine,
        jobs,
        waiting(seen, jobs),
        switches(seen, jobs, engine.pauses if engine else []),
        [Tripped(**entry) for entry in engine.tripped] if engine else [],
        [Quarantined(**to_python(entry)) for entry in glance["quarantined"]] if glance else [],
        weighed[0] if weighed else None,
        part("accesses", lambda: _accesses(client, look=tiers)),
        Hygiene.from_row(glance["hygiene"]) if glance else None,
        weighed[1] if weighed else None,
        notes,
        Mode.from_pump(seen) if seen else None,
        part("work", lambda: work_left(client.engine)) or {},
        part("sources", lambda: sources.unfinished(client.engine)) or [],
        part("runs", lambda: to_python(client.history(limit=MOST_CHANGES, changed_only=True))) or [],
        part("inbox", lambda: inbox(client, limit=0, apoc_conf_at=apoc_conf_at, facts=facts)),
        part("files", lambda: list(inbox(client, limit=MOST_FILES, kinds=["edit"]).items)) or [],
    )


def _chain(client: JobVerbs) -> Chain:
    found = migrations.listing(client.database)
    states = Counter(row.state for row in found.migrations)
    return Chain(found.outcome.value, states[State.APPLIED], states[State.PENDING], list(found.messages))


def _words(client: JobVerbs, facts: ServerFacts) -> dict[str, Word]:
    """What `procedures ls` says of each. Rendering all templates takes a second and more, so that is done only where it decides."""
    there = client.engine.procedures()
    pump = client.engine.state().pump or {}
    known = pump["version"] == __version__ and pump["policy_sha256"] == client.policy.sha256
    if known and is_up_to_date(there, facts.signature):
        return dict.fromkeys(there, Word.INSTALLED)
    from jochi.install.install import status_of_procedures

    return {row.name: row.status for row in status_of_procedures(client.database, client.policy)}


def _pump(client: JobVerbs, pump: Mapping[str, Any], *, can_list: bool) -> Check:
    """By the server's clock, which is the one that the tick was written by."""
    faults = job_faults(client.engine) if can_list else None
    now = ServerClock(client.database).now()
    return check_pump(pump, faults, now, client.policy.policy.scheduler.stall_after)


def _started_at(client: JobVerbs) -> datetime | None:
    try:
        started: datetime = to_python(client.database.run(statement("server/started_at"))[0]["started_at"])
    except Neo4jError:
        return None
    return started


def _tiers(client: JobVerbs) -> tuple[list[Tier], Budgets]:
    asked = {"kinds": False, "samples": MOST_OVERFLOWS}
    found = to_python(client.engine.call("report/tiers", asked, write=False))
    rows = [Tier(**entry) for entry in found["tiers"]]
    rows.sort(key=lambda row: (_TIERS.index(row.tier) if row.tier in _TIERS else len(_TIERS), row.tier))
    overflows = [Overflowing(**entry) for entry in found["overflows"]]
    return rows, Budgets(found["overflowing"], overflows, found["waiting"])


def _accesses(client: JobVerbs, *, look: bool) -> Accesses:
    asked = {"most": 0, "most_silent": MOST_MEMORIES if look else 0, "samples": 0}
    row = client.engine.call("report/unseen", asked, write=False)
    return Accesses.from_row(row, looked=look)
