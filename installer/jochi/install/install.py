"""`jochi install`: migrations, then procedures, policy, jobs and pump in one transaction, then the arming.

Idempotent. Nothing is armed before every rendered statement has passed EXPLAIN, here or on a server of this version. An upgrade
checks before it stores, so a template that doesn't compile leaves the old version in place and running. A first install on a
version that nobody tried stores first: when it is stopped, the next one checks what is left, and arms then.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import neo4j
from neo4j.exceptions import ClientError, DatabaseError

from jochi.compile.policy_data import policy_data
from jochi.compile.registry import ProcedureStatus, Status, compare
from jochi.compile.rendering import Procedure, render_all, render_statement
from jochi.database.database import Database, in_one_map
from jochi.database.engine import Engine
from jochi.database.server_clock import ServerClock
from jochi.database.server_facts import NEEDED_FOR_PIN, ServerFacts, read_facts
from jochi.database.statements import statement
from jochi.errors import JochiError, Refused, UsageError
from jochi.graph.catalogue import EARLIER
from jochi.install.checked import hash_of, known_to_compile, samples_of_apoc
from jochi.install.holding import held_pump
from jochi.install.preflight import jobs_obstacle, require_no_newer, require_suitable_server
from jochi.jobs.arming import ensure_jobs, take_off_list
from jochi.jobs.rearm import pinned_rearm_line, rearm_key
from jochi.policy import LoadedPolicy
from jochi.schema import indexes, migrations
from jochi.schema.indexes import IndexChange
from jochi.version import __version__

_AT_ONCE = 4
"""Statements that are planned at the same time."""

_MARKED_AT_ONCE = 8
"""Procedures that have passed until that is written down."""


class RepeatJobs(Protocol):
    """What has the names of a database's two repeat jobs; an `Engine` does."""

    @property
    def pump(self) -> str: ...

    @property
    def watch(self) -> str: ...


_APOC_CALL = re.compile(r"\bCALL (apoc\.[\w.]+)")
_PARAMETER = re.compile(r"\$([A-Za-z_]\w*)")


@dataclass(frozen=True)
class InstallResult:
    """What install did. ``obstacle`` says why nothing was armed, where that is so."""

    facts: ServerFacts
    migrations_applied: list[str]
    """Versions."""
    procedures: list[ProcedureStatus] = field(repr=False)
    """As they were found, before install put them right."""
    verdict_changed: bool
    needs_apply: bool
    armed: list[str] = field(default_factory=list)
    obstacle: str | None = None
    pin_line: str | None = None
    """What belongs into apoc.conf (`key=value`) where the engine is pinned: another one after each change."""
    chain: migrations.ChainName = migrations.ChainName.DEFAULT
    """Where the migrations are recorded."""
    indexes: list[IndexChange] = field(default_factory=list)
    """What was changed of the indexes that the policy decides."""
    settings_added: tuple[str, ...] = ()
    """Keys that the stored policy lacked: they are as in the shipped one (`LoadedPolicy.added`)."""
    settings_dropped: tuple[str, ...] = ()
    """Keys of the stored policy that this version doesn't have, each with what to write now (`LoadedPolicy.dropped`)."""
    procedures_removed: list[str] = field(default_factory=list)
    """What an earlier version installed and this one no longer has."""


def _require_derivations(policy: LoadedPolicy, procedures: Mapping[str, Procedure]) -> None:
    """Each `[derive.<name>]` is one whose output is a memory: it has both bodies, and isn't wanted in a way of its own."""
    made = {name.split("/")[1] for name in procedures if name.startswith("derive/") and name.endswith("/inputs")}
    known = sorted(name for name in made if f"derive/{name}/want" not in procedures)
    if unknown := sorted(policy.policy.derive.keys() - set(known)):
        raise UsageError(
            f"there is no derivation {', '.join(unknown)}",
            where=f"derive.{unknown[0]} of the policy",
            fix=f"there are: {', '.join(known)}",
        )


def install(
    database: Database,
    policy: LoadedPolicy,
    *,
    arm: bool = True,
    pin: bool | None = None,
    chain: migrations.ChainName | str | None = None,
    on_progress: Callable[[str], None] | None = None,
    wait_seconds: float = 60,
    templates: Path | None = None,
) -> InstallResult:
    """Installs or upgrades the engine; what is there already and right is left alone.

    ``arm=False`` leaves the jobs to `jochi jobs run --due` from outside. ``pin``: the re-arming line of apoc.conf is to name the
    hash of everything installed (None: as it was). ``chain``: see `jochi.schema.migrations.apply`.
    ``wait_seconds`` is how long to wait for runs in progress and for another installer. Raises `Refused` where the server
    doesn't suit or a foreign migration chain is in the way, `JochiError` where a statement doesn't compile.
    """
    say = on_progress or (lambda _message: None)
    engine = Engine(database)
    say("reading what the server can do")
    facts = read_facts(database)
    require_suitable_server(database, facts)
    if pin and facts.aura:
        raise Refused(
            "Aura has no apoc.conf, where the line with the pin would stand",
            where=f"database {database.name}",
            fix="leave --pin out: there the jobs run with the rights of the user who arms them, not with the server's",
        )
    if pin:
        _require_hashing(database, facts)
    indexes.require_no_foreign(database)
    state = engine.state()
    require_no_newer(database, state.pump)
    say("rendering the procedures")
    procedures = render_checked(policy, facts, templates)
    if state.pump is not None:
        say("pausing the pump")
    with held_pump(engine, wait_seconds) if state.pump is not None else nullcontext():
        say("applying migrations")
        applied = migrations.apply(database, chain=chain, wait_for_lock_seconds=wait_seconds)
        if engine.other_version() is not None:
            say("bringing records and memories of an earlier version to this one")
            database.autocommit(statement("install/renew_records"))
            database.autocommit(statement("install/drop_earlier_work"), {"names": EARLIER})
        # Before the statements that ask them: planned without their index, they would read every relationship of a type.
        changes = indexes.reconcile(database, policy.policy, on_progress=say)
        indexes.await_built(database, indexes.edge_indexes(policy.policy), on_progress=say)
        found = compare(procedures, engine.procedures().values())
        unchecked = _unchecked(found, procedures, facts)
        gone = of_earlier_versions(found)
        obstacle = jobs_obstacle(facts)
        arm = arm and obstacle is None

        def store(*, unchecked: Mapping[str, Procedure], armed: bool) -> tuple[bool, bool]:
            say("storing procedures, policy and jobs")
            rows = [
                {**procedure_row(each, procedures), "checked_on": None if each.name in unchecked else facts.signature}
                for each in procedures.values()
            ]
            return _store(database, engine, policy, procedures, rows, armed=armed, pin=pin, gone=gone)

        if state.pump is None and not known_to_compile(facts):
            store(unchecked=unchecked, armed=False)
        say("checking every statement on this server")
        explain_all(database, unchecked, facts, _marking(database, facts, say))
        changed, pinned = store(unchecked={}, armed=arm)
    engine.refresh()
    armed: list[str] = []
    if arm:
        say("arming the pump and the watch")
        armed = ensure_jobs(engine, replace=True)
    elif "apoc.periodic.cancel" in facts.callable:
        take_off_list(engine)
    # Last, and with the pump at work: building can take minutes, and nothing but recall depends on it.
    indexes.await_built(database, indexes.recall_indexes(policy.policy), on_progress=say)
    after = engine.state().pump or {}
    return InstallResult(
        facts,
        [entry.version for entry in applied.applied],
        found,
        changed,
        after.get("applied_at") is None,
        armed,
        obstacle,
        f"{rearm_key(database.name)}={pinned_rearm_line(manifest(engine, policy, procedures))}" if pinned else None,
        applied.chain,
        changes,
        policy.added,
        policy.dropped,
        gone,
    )


def render_checked(policy: LoadedPolicy, facts: ServerFacts, templates: Path | None = None) -> dict[str, Procedure]:
    """Every procedure for this server; `Refused` or `UsageError` where the policy names jobs or derivations that aren't there."""
    procedures = render_all(policy.policy, facts, templates)
    _require_procedures_of_jobs(policy, procedures)
    _require_derivations(policy, procedures)
    return procedures


def of_earlier_versions(found: list[ProcedureStatus]) -> list[str]:
    """What an earlier version installed and this one no longer has. What else isn't shipped stays until `procedures prune`."""
    return [
        row.name
        for row in found
        if row.status is Status.PRUNE and row.installed is not None and row.installed.version not in (None, __version__)
    ]


OnPassed = Callable[[list[Procedure], int, int], None]
"""Is given procedures whose sections have passed, how many sections have, and of how many."""


def explain_all(
    database: Database, procedures: dict[str, Procedure], facts: ServerFacts, on_passed: OnPassed | None = None
) -> None:
    """EXPLAINs every section on the server as doIt runs it, which is stricter than a driver; `JochiError` names the procedure.

    What is known to compile here is left out (`jochi.install.checked`), and what calls an APOC procedure that this server doesn't
    have: only the database itself would run it. Some at a time: planning is what such an install waits for, and each statement
    takes one core.
    """
    texts = [text for each in procedures.values() for text in each.sections.values() if can_be_explained(text, facts)]
    known = known_to_compile(facts) - samples_of_apoc(texts, facts)
    sections = [
        (procedure.name, section, text)
        for procedure in procedures.values()
        for section, text in procedure.sections.items()
        if hash_of(text) not in known and can_be_explained(text, facts)
    ]
    left = Counter(name for name, _section, _text in sections)
    whole: list[Procedure] = []
    for done, name in enumerate(explain_each(database, sections), 1):
        left[name] -= 1
        if not left[name]:
            whole.append(procedures[name])
        if on_passed is not None and len(whole) >= _MARKED_AT_ONCE:
            on_passed(whole, done, len(sections))
            whole = []


def explain_each(database: Database, sections: list[tuple[str, str, str]], prefix: str = "") -> Iterator[str]:
    """EXPLAINs each (procedure, section, text), with ``prefix`` in front where it has none of its own; yields the procedure's name
    when it has passed."""
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="jochi-explain") as pool:
        asked = [pool.submit(_explain, database, *section, prefix) for section in sections]
        try:
            for answer, (name, _section, _text) in zip(asked, sections, strict=True):
                answer.result()
                yield name
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _marking(database: Database, facts: ServerFacts, say: Callable[[str], None]) -> OnPassed:
    """Tells how far it is, and marks what has passed where it is stored: an install that is stopped needn't begin anew."""

    def passed(procedures: list[Procedure], done: int, of: int) -> None:
        say(f"checking every statement on this server: {done} of {of}")
        rows = [{"name": each.name, "sha256": each.sha256} for each in procedures]
        database.run(statement("install/mark_checked"), {"procedures": rows, "checked_on": facts.signature})

    return passed


def can_be_explained(text: str, facts: ServerFacts) -> bool:
    """Whether the APOC procedures that it calls may be called here."""
    return set(_APOC_CALL.findall(text)) <= facts.callable


def _explain(database: Database, name: str, section: str, text: str, prefix: str) -> None:
    try:
        database.autocommit("EXPLAIN " + ("" if text.startswith("CYPHER ") else prefix) + as_doit_runs_it(text))
    except (ClientError, DatabaseError) as error:
        raise JochiError(
            f"the section {section} doesn't compile on this server: {error.message}",
            where=f"procedure {name}",
            fix="nothing was armed, and a version before still runs; mend the template or the policy, then install again",
        ) from None


def _require_hashing(database: Database, facts: ServerFacts) -> None:
    if NEEDED_FOR_PIN not in facts.callable:
        raise Refused(
            f"the function {NEEDED_FOR_PIN} can't be called here, and a pin needs it",
            where=f"database {database.name}",
            fix="allow it in dbms.security.procedures.allowlist (or put apoc-core into the plugins folder) and restart",
        )


def _unchecked(
    found: list[ProcedureStatus], procedures: dict[str, Procedure], facts: ServerFacts
) -> dict[str, Procedure]:
    """What has not passed EXPLAIN on this server yet: planning all of it takes seconds."""
    checked = {
        row.name
        for row in found
        if row.status is Status.INSTALLED and row.installed and row.installed.checked_on == facts.signature
    }
    return {name: procedure for name, procedure in procedures.items() if name not in checked}


def as_doit_runs_it(text: str) -> str:
    """``text`` with its parameters as variables in front, which is what apoc.cypher.doIt makes of it (Cypher.java).

    A body that names a variable like one of its parameters runs from a driver and fails in the database.
    """
    names = sorted({*_PARAMETER.findall(text)})
    if not names or text.startswith("CYPHER "):
        return text
    return "WITH " + ", ".join(f"${name} AS {name}" for name in names) + "\n" + text


def _require_procedures_of_jobs(policy: LoadedPolicy, procedures: dict[str, Procedure]) -> None:
    for name, job in policy.policy.jobs.items():
        procedure = procedures.get(job.procedure)
        if procedure is None or procedure.kind != "job":
            known = ", ".join(sorted(p.name for p in procedures.values() if p.kind == "job"))
            raise Refused(
                f"jobs.{name}.procedure: {job.procedure!r} is not a job's procedure",
                where=str(policy.path),
                fix=f"there are: {known}",
            )


def _store(
    database: Database,
    engine: Engine,
    policy: LoadedPolicy,
    procedures: dict[str, Procedure],
    rows: list[dict[str, Any]],
    *,
    armed: bool,
    pin: bool | None,
    gone: list[str],
) -> tuple[bool, bool]:
    """Everything in one transaction: another client sees the old engine or the new one.

    ``rows``: the procedures as `install/store_procedures` takes them. Returns whether verdicts changed, and whether the engine
    is pinned.
    """
    now = ServerClock(database).now()

    def work(tx: neo4j.ManagedTransaction) -> tuple[bool, bool]:
        def run(file: str, **parameters: Any) -> dict[str, Any]:
            return dict(tx.run(statement(file), parameters).single(strict=True))

        run(
            "install/store_policy",
            sha256=policy.sha256,
            name=policy.policy.policy.name,
            text=policy.text,
            compiled=compiled(policy),
            clock=now,
            off=[name for name, each in policy.policy.derive.items() if not each.deriving],
        )
        run("install/store_procedures", procedures=rows, version=__version__, clock=now)
        tx.run(statement("install/delete_procedures"), {"names": gone}).consume()
        run("install/store_jobs", jobs=job_rows(policy), clock=now)
        tx.run(render_statement("_jobs/start_slots", policy.policy), in_one_map({"clock": now})).single(strict=True)
        stored = run(
            "install/store_pumps",
            pumps=pump_rows(engine, policy, procedures),
            pump=engine.pump,
            watch=engine.watch,
            armed=armed,
            pinned=pin,
            version=__version__,
            policy=policy.label,
            policy_sha256=policy.sha256,
            verdict_sha256=policy.verdict_sha256,
            clock=now,
        )
        return bool(stored["verdict_changed"]), bool(stored["pinned"])

    return database.transaction(work)


def procedure_row(procedure: Procedure, procedures: dict[str, Procedure]) -> dict[str, Any]:
    """``procedure`` as `install/store_procedures` takes it, without where it was checked."""
    sections = {name: procedure.sections.get(name) for name in ("select", "act", "body")}
    return {
        "name": procedure.name,
        "kind": procedure.kind,
        "sha256": procedure.sha256,
        "template_sha256": procedure.template_sha256,
        "about": procedure.about,
        "stages": _stages_of(procedure, procedures),
        **sections,
    }


def _stages_of(procedure: Procedure, procedures: dict[str, Procedure]) -> list[str]:
    """The stages that it runs, and those that these run in their turn."""
    found: set[str] = set()
    left = procedure.calls
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += procedures[name].calls
    return sorted(found)


def job_rows(policy: LoadedPolicy) -> list[dict[str, Any]]:
    """The policy's jobs as `install/store_jobs` takes them; the doctor compares the stored ones with these.

    A job has either ``every_s`` or the four ``slot_…``; the others are null.
    """
    zone = policy.policy.policy.time_zone
    return [
        {
            "name": name,
            "procedure": job.procedure,
            "every_s": int(job.every.total_seconds()) if job.every else None,
            "slot_days": list(job.at.days) if job.at else None,
            "slot_hour": job.at.hour if job.at else None,
            "slot_minute": job.at.minute if job.at else None,
            "slot_zone": zone if job.at else None,
            "budget_ms": int(job.budget.total_seconds() * 1000),
            "batch_size": job.batch_size,
            "max_batches": job.max_batches,
            "priority": job.priority,
            "destructive": job.destructive,
            "adaptive": job.adaptive,
            "enabled": job.enabled,
            "parameters": {f"p_{key}": value for key, value in job.parameters.items()},
        }
        for name, job in policy.policy.jobs.items()
    ]


PUMP_TEXTS = (
    "tick",
    "arm",
    "claim",
    "step",
    "begin",
    "account",
    "fail",
    "isolate",
    "put_aside",
    "close",
)
"""Steps of the scheduler whose texts the pump's node carries, as parameters of its repeat job."""


def pump_rows(engine: RepeatJobs, policy: LoadedPolicy, procedures: dict[str, Procedure]) -> list[dict[str, Any]]:
    """Pump and watch as `install/store_pumps` takes them; the doctor compares the stored ones with these."""
    covered = manifest(engine, policy, procedures)
    return [{**row, "texts": {**row["texts"], "manifest": covered}} for row in _pumps(engine, policy, procedures)]


def manifest(engine: RepeatJobs, policy: LoadedPolicy, procedures: dict[str, Procedure]) -> str:
    """`part sha256;part sha256;…`, sorted, of all that the database runs by itself: what a pin is the hash of (DESIGN §5)."""
    texts = {
        f"{pump['role']}.{part}": text
        for pump in _pumps(engine, policy, procedures)
        for part, text in {"body": pump["body"], **pump["texts"]}.items()
    }
    for name, procedure in procedures.items():
        texts |= {f"{name}.{section}": text for section, text in procedure.sections.items()}
    texts["policy.compiled"] = compiled(policy)
    return ";" + "".join(f"{part} {hashlib.sha256(text.encode()).hexdigest()};" for part, text in sorted(texts.items()))


def compiled(policy: LoadedPolicy) -> str:
    """The policy as bodies read it, as it is stored."""
    return json.dumps(policy_data(policy.policy), ensure_ascii=False)


def _pumps(engine: RepeatJobs, policy: LoadedPolicy, procedures: dict[str, Procedure]) -> list[dict[str, Any]]:
    def body(step: str) -> str:
        return procedures[f"scheduler/{step}"].sections["body"]

    scheduler = policy.policy.scheduler
    return [
        {
            "name": engine.pump,
            "role": "pump",
            "body": body("pump"),
            "every_s": int(scheduler.pump_every.total_seconds()),
            "texts": {step: body(step) for step in PUMP_TEXTS},
        },
        {
            "name": engine.watch,
            "role": "watch",
            "body": body("watch"),
            "every_s": int(scheduler.watch_every.total_seconds()),
            "texts": {"arm": body("arm")},
        },
    ]


def status_of_procedures(database: Database, policy: LoadedPolicy) -> list[ProcedureStatus]:
    """`procedures ls`: what is installed against what this version and ``policy`` render for this server."""
    wanted = render_all(policy.policy, read_facts(database))
    return compare(wanted, Engine(database).procedures().values())


def prune_procedures(database: Database, policy: LoadedPolicy) -> list[str]:
    """Removes procedures that this version no longer has; returns their names."""
    names = [row.name for row in status_of_procedures(database, policy) if row.status is Status.PRUNE]
    if names:
        database.run(statement("install/delete_procedures"), {"names": names})
    return names
