"""`jochi doctor`: asks the server, the engine and the memories, and judges each answer by one small function.

Before an install it is the preflight. It writes nothing but the probes of `jochi.operate.probe` (background jobs that
sleep) and one node that it creates and deletes in the same transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from neo4j.exceptions import Neo4jError

from jochi import clock
from jochi.compile.registry import compare
from jochi.compile.rendering import render_all
from jochi.database.database import Database
from jochi.database.installed import REPEATED, InstalledProcedure
from jochi.database.server_clock import ServerClock
from jochi.database.server_facts import ServerFacts, read_facts, seconds_of
from jochi.database.statements import schema_folder, statement
from jochi.errors import ConnectionFailed, JochiError, NotWritable, Refused
from jochi.forgetting.checker import read_gate
from jochi.forgetting.forget_key import read_key
from jochi.graph.driver_values import to_python
from jochi.install.install import job_rows, pump_rows
from jochi.jobs.arming import job_faults
from jochi.operate import checks_engine, checks_indexes, checks_memories, checks_server, work
from jochi.operate.check import Check, Level, fail, unknown
from jochi.operate.inbox import inbox
from jochi.operate.privileges import Privileges
from jochi.operate.probe import try_threads
from jochi.operate.pump import check_pump
from jochi.operate.restart import ApocConfAt, restart_of, unread
from jochi.operate.rights import ROLES, Rights
from jochi.policy import LoadedPolicy, Policy, load_policy
from jochi.schema import indexes, migrations
from jochi.schema.constraints import app_constraints
from jochi.schema.migrations.file_text import without_comments
from jochi.schema.migrations.files import read_folder
from jochi.schema.migrations.schema_objects import created_by
from jochi.use.sources import unfinished
from jochi.version import __version__

if TYPE_CHECKING:
    from jochi.client import Jochi

T = TypeVar("T")

MOST_MEMORIES = 1_000_000
"""How many memories the doctor looks at, each once (about two seconds a million); there is no index for what is absent."""

SAMPLES = 4


@dataclass(frozen=True)
class Diagnosis:
    """All checks in a fixed order; ``installed`` says whether Jochi is there at all."""

    database: str
    at: datetime
    installed: bool
    checks: list[Check]

    @property
    def failed(self) -> list[Check]:
        """What makes the doctor end with exit code 5."""
        return [check for check in self.checks if check.level is Level.FAIL]

    def __getitem__(self, name: str) -> Check:
        """The check of that name; KeyError if it wasn't made."""
        for check in self.checks:
            if check.name == name:
                return check
        raise KeyError(name)


def examine(
    client: Jochi,
    *,
    probe: bool = True,
    most_memories: int = MOST_MEMORIES,
    apoc_conf_at: ApocConfAt = unread,
) -> Diagnosis:
    """Makes every check that can be made. ``probe=False`` leaves out the experiment with the scheduler's threads.

    ``apoc_conf_at`` reads the file of a server on this machine, such as `jochi.localserver.paths.apoc_conf_at`.

    Raises `ConnectionFailed` where no server answers; everything else that goes wrong is a check.
    """
    database = client.database
    facts = read_facts(database)
    installed = client.engine.procedures()
    stored = to_python(database.run(statement("report/stored_engine"), write=False)[0])
    pumps = {row["name"]: row for row in stored["pumps"]}
    pump = pumps.get(client.engine.pump)
    refusal, facts = _refusal(database, facts, pump)
    policy, policy_check = _policy(client)
    checks = _server_checks(
        database,
        facts,
        pump,
        policy,
        installed,
        refusal=refusal,
        probe=probe,
        bodies=[p["body"] for p in pumps.values()],
        apoc_conf_at=apoc_conf_at,
    )
    checks.append(checks_engine.check_installed(pump, __version__))
    if pump is not None:
        checks += _schema_checks(database)
        checks += policy_check
        if policy is not None:
            checks += _stored_checks(client, facts, installed, policy, stored["jobs"], pumps)
            wanted = policy.policy
            checks.append(
                _careful("policy indexes", lambda: checks_indexes.check_indexes(wanted, indexes.read(database)))
            )
            checks.append(_careful("constraints of apps", lambda: _app_constraints(client, wanted, most_memories)))
            checks.append(_pump(client, facts, pump, policy))
        checks.append(checks_engine.check_gate(pump))
    if pump is not None and client.engine.other_version() is None:
        checks.append(_careful("breaker", lambda: checks_engine.check_breaker(client.jobs())))
        checks.append(_careful("failures", lambda: checks_engine.check_failing(client.jobs())))
        checks += _memory_checks(client, most_memories)
        checks.append(_careful("accesses", lambda: _accesses(client, most_memories)))
        checks.append(_careful("forgetting", lambda: _forgetting(client)))
        checks.append(_careful("hygiene", lambda: checks_memories.check_hygiene(client.hygiene())))
        checks.append(_careful("duplicates", lambda: _duplicates(client)))
        if facts.apoc is not None or not pump.get("armed"):  # its text calls APOC: the check apoc has said so
            checks.append(_careful("derivations", lambda: _put_aside(client)))
        checks.append(_careful("tokens", checks_memories.check_tokens))
        checks.append(
            _careful("files", lambda: checks_memories.check_files(inbox(client, limit=SAMPLES, kinds=["edit"]).items))
        )
        checks.append(_careful("sources", lambda: checks_memories.check_sources(unfinished(client.engine))))
    return Diagnosis(database.name, clock.now(), pump is not None, checks)


def _policy(client: Jochi) -> tuple[LoadedPolicy | None, list[Check]]:
    """The policy, or the check that says why there is none to compare with."""
    try:
        return client.policy, [checks_engine.check_policy(client.policy)]
    except JochiError as error:
        return None, [fail("policy", error.what, error.fix or "name a policy file: --policy FILE")]


def _server_checks(
    database: Database,
    facts: ServerFacts,
    pump: Mapping[str, Any] | None,
    policy: LoadedPolicy | None,
    installed: Mapping[str, InstalledProcedure],
    *,
    refusal: str | None,
    probe: bool,
    bodies: list[str],
    apoc_conf_at: ApocConfAt,
) -> list[Check]:
    limits = {row["name"]: row["value"] for row in _rows(database, "server/time_limits") or []}
    budgets = {} if policy is None else {name: job.budget for name, job in policy.policy.jobs.items() if job.enabled}
    prefix = facts.language_prefix
    bare = [
        name
        for name, procedure in installed.items()
        if name in REPEATED and any(not text.startswith(prefix) for text in procedure.sections.values())
    ]
    roles = _rows(database, "server/roles")
    started = _rows(database, "server/started_at", write=True)
    checks = [
        checks_server.check_version(facts),
        checks_server.check_database(facts, database.name),
        checks_server.check_rights(refusal, facts.edition, roles[0]["roles"] if roles else None),
        _careful("privileges", lambda: _privileges(database, facts, policy, roles)),
        checks_server.check_apoc(facts, armed=bool(pump and pump.get("armed"))),
        checks_server.check_callable(facts),
        _threads(database, facts, bodies, probe=probe),
        checks_server.check_lock_timeout(seconds_of(limits.get("db.lock.acquisition.timeout"))),
        checks_server.check_transaction_timeout(seconds_of(limits.get("db.transaction.timeout")), budgets),
        checks_server.check_language(facts.default_language, prefix, bare),
        checks_server.check_clock(*_skew(database)),
        restart_of(database, facts, pump, to_python(started[0]["started_at"]) if started else None, apoc_conf_at),
    ]
    return [checks_server.as_on_aura(check) for check in checks] if facts.aura else checks


def _rows(database: Database, name: str, *, write: bool = False) -> list[dict[str, Any]] | None:
    """The rows of a statement, or None where the server doesn't let this user ask."""
    try:
        return database.run(statement(name), write=write)
    except Neo4jError:
        return None


def _refusal(database: Database, facts: ServerFacts, pump: Mapping[str, Any] | None) -> tuple[str | None, ServerFacts]:
    """Why nothing can be written, None if it can; and the facts, which don't know yet whether a follower was asked."""
    elsewhere = "see the check database"
    if facts.read_only or not facts.writer:
        return elsewhere, facts
    try:
        database.run(statement("server/may_write" if pump is None else "server/may_write_engine"))
    except Neo4jError as error:
        return error.message or str(error.code), facts
    except NotWritable:
        return elsewhere, replace(facts, writer=False)
    return None, facts


def _privileges(
    database: Database, facts: ServerFacts, policy: LoadedPolicy | None, roles: list[dict[str, Any]] | None
) -> Check:
    """Of the role of ours that the user has; without one, of `engine`: as this user the jobs run, once it arms them."""
    given = (roles[0]["roles"] or []) if roles else []
    role = next((role for role in ROLES if f"jochi_{role}" in given), "engine")
    if facts.edition == "community":
        return checks_server.check_privileges(facts.edition, role, None, ())
    rows = _rows(database, "server/privileges")
    commands = None if rows is None else [row["command"] for row in rows]
    wanted = Rights((policy or load_policy()).policy).statements(role, database=database.name)
    lacks = Privileges.of(commands or ()).lacks(Privileges.of(wanted))
    return checks_server.check_privileges(facts.edition, role, commands, [str(each) for each in lacks])


def _threads(database: Database, facts: ServerFacts, bodies: list[str], *, probe: bool) -> Check:
    if facts.apoc is None:
        return checks_server.check_threads(None, "there is no APOC", "see the check apoc")
    if not probe:
        return checks_server.check_threads(None, "not tried (--no-probe)", "leave --no-probe out")
    return checks_server.check_threads(*try_threads(database, bodies))


def _skew(database: Database) -> tuple[timedelta, timedelta]:
    before = clock.now()
    there: datetime = to_python(database.run(statement("server/clock"))[0]["clock"])
    half = (clock.now() - before) / 2
    return there - (before + half), half


def _schema_checks(database: Database) -> list[Check]:
    folder = read_folder(schema_folder())
    commands = [without_comments(command) for file in folder.files for command in file.executable]
    wanted = {
        made.name: " ".join(next(text for text in commands if f" {made.name} " in text).split())
        for made in created_by(*folder.files)
    }
    return [
        _careful("migrations", lambda: checks_engine.check_migrations(migrations.validate(database))),
        _careful(
            "indexes",
            lambda: checks_engine.check_indexes(
                wanted, {row["name"]: row["state"] for row in database.run(statement("report/indexes"), write=False)}
            ),
        ),
    ]


def _stored_checks(
    client: Jochi,
    facts: ServerFacts,
    installed: Mapping[str, InstalledProcedure],
    policy: LoadedPolicy,
    jobs: list[dict[str, Any]],
    pumps: Mapping[str, Mapping[str, Any]],
) -> list[Check]:
    procedures = render_all(policy.policy, facts)
    return [
        checks_engine.check_procedures(compare(procedures, installed.values())),
        checks_engine.check_pump_texts(pump_rows(client.engine, policy, procedures), pumps, facts.language_prefix),
        checks_engine.check_jobs(job_rows(policy), jobs),
    ]


def _pump(client: Jochi, facts: ServerFacts, pump: Mapping[str, Any], policy: LoadedPolicy) -> Check:
    """By the server's clock, which is the one that the tick was written by."""
    if (standstill := checks_server.check_standstill(facts, client.database.name)) is not None:
        return standstill
    if pump.get("armed") and "apoc.periodic.list" not in facts.callable:
        return unknown(
            "pump", "armed, but APOC's list of jobs can't be read", "see the checks apoc and procedures callable"
        )
    faults = job_faults(client.engine) if pump.get("armed") else None
    now = ServerClock(client.database).now()
    return check_pump(pump, faults, now, policy.policy.scheduler.stall_after)


def _memory_checks(client: Jochi, most: int) -> list[Check]:
    try:
        row = client.engine.call("report/unseen", {"most": most, "most_silent": 0, "samples": SAMPLES}, write=False)
    except Refused as error:
        return [unknown("memories", error.what, "run `jochi install`")]
    except Neo4jError as error:
        return [unknown("memories", f"could not be counted: {error.message}", "ask again when the server is less busy")]
    found = checks_memories.Unseen.from_row(row)
    return [
        checks_memories.check_visible(found),
        checks_memories.check_dated(found),
    ]


def _app_constraints(client: Jochi, policy: Policy, most: int) -> Check:
    """Whatever labels memories have go when one is pruned and come back with it, not only those of kinds."""
    found = app_constraints(client.database)
    labels = set(policy.labels())
    if any(not one.of_relationships for one in found):
        [row] = client.database.run(statement("report/labels_of_memories"), {"most": most}, write=False)
        labels |= set(row["labels"])
    return checks_indexes.check_app_constraints(found, labels)


def _accesses(client: Jochi, most: int) -> Check:
    row = client.engine.call("report/unseen", {"most": 0, "most_silent": most, "samples": SAMPLES}, write=False)
    return checks_memories.check_accesses(row["reporting"], row["silent"], row["some"], row["asked_of"])


def _put_aside(client: Jochi) -> Check:
    return checks_memories.check_put_aside({name: left.put_aside for name, left in work.status(client.engine).items()})


def _forgetting(client: Jochi) -> Check:
    gate, key = read_gate(client.database), read_key()
    return checks_memories.check_forgetting(gate.version, gate.key_id, None if key is None else key.id)


def _duplicates(client: Jochi) -> Check:
    """By the server's clock, which is the one that the queue goes by."""
    now = ServerClock(client.database).now()
    return checks_memories.check_duplicates(client.count_duplicates(), now)


def _careful(name: str, check: Callable[[], Check]) -> Check:
    """A check that asks the server; what goes wrong with asking is what it found."""
    try:
        return check()
    except ConnectionFailed:
        raise
    except JochiError as error:
        return fail(name, error.what, error.fix or "run `jochi install`")
    except Neo4jError as error:
        return fail(name, f"could not be checked: {error.message}", "run `jochi install`")
