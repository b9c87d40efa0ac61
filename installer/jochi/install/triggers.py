"""The optional APOC triggers of intake: installed, listed, measured and removed by us (DESIGN §4).

Two statements: `on_created` enrols new nodes after the app's commit, `on_changed` puts changed memories into the queue inside
it. APOC keeps triggers in the database `system` and every database reads them anew each `apoc.trigger.refresh` (60 s by default),
so what is stored and what runs are two questions.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from neo4j.exceptions import ClientError, Neo4jError

from jochi.database.database import Database
from jochi.database.engine import Engine
from jochi.database.server_facts import read_facts
from jochi.database.statements import statement
from jochi.errors import JochiError, Refused
from jochi.install.install import as_doit_runs_it
from jochi.policy import stored_policy

PHASES = {"on_created": "afterAsync", "on_changed": "before"}
"""By procedure `intake/<name>`: when APOC runs it."""

_RUNS = {"on_created": "enrol/write"}
"""What a trigger runs by apoc.cypher.doIt, which plans it only then."""

_SLOWEST_REFRESH = 90.0


@dataclass(frozen=True)
class TriggerStatus:
    """``status``: INSTALLED | OUTDATED (another text than this engine's) | MISSING | PAUSED | PRUNE (no kind wants it);
    ``running``: what this database runs by now is just that text."""

    name: str
    phase: str
    status: str
    running: bool


@dataclass(frozen=True)
class TriggerCost:
    """What the triggers add to one small commit, in milliseconds: medians over pairs of blocks, with and without them."""

    pairs: int
    commits: int
    without_ms: float
    with_ms: float
    added_ms: float
    added_low_ms: float
    added_high_ms: float
    """The smallest and the largest difference among the pairs."""


def install_triggers(engine: Engine) -> list[TriggerStatus]:
    """Installs what the installed policy wants, after EXPLAIN on this database. `Refused` where triggers are off or not allowed."""
    system = _system(engine)
    wanted = _wanted(engine)
    for procedure in (*(f"intake/{name}" for name in wanted), *(_RUNS[name] for name in wanted if name in _RUNS)):
        try:
            engine.database.autocommit("EXPLAIN " + as_doit_runs_it(engine.text(procedure)))
        except Neo4jError as error:
            raise JochiError(
                f"the trigger doesn't compile on this server: {error.message}",
                where=f"procedure {procedure}",
                fix="nothing was installed; run `jochi install` and try again",
            ) from None
    with _said(engine):
        for name, text in wanted.items():
            full = _full(engine, name)
            parameters = {"target": engine.database.name, "name": full, "text": text, "phase": PHASES[name]}
            system.autocommit(statement("intake/install_trigger"), parameters)
        for row in list_triggers(engine):
            if row.status == "PRUNE":
                _drop(engine, system, row.name)
    return list_triggers(engine)


def list_triggers(engine: Engine) -> list[TriggerStatus]:
    """Every trigger that this engine has or wants. `Refused` where triggers are off or not allowed."""
    wanted = {_full(engine, name): (PHASES[name], text) for name, text in _wanted(engine).items()}
    with _said(engine):
        stored = {row["name"]: row for row in _stored(engine)}
        loaded = {
            row["name"]: row
            for row in engine.database.run(statement("intake/loaded_triggers"), {"prefix": _prefix(engine)})
        }
    rows = []
    for name in sorted({*wanted, *stored}):
        phase, text = wanted.get(name, (str((stored.get(name) or {}).get("phase")), ""))
        there = stored.get(name)
        if there is None:
            status = "MISSING"
        elif name not in wanted:
            status = "PRUNE"
        elif there["text"] != text or there["phase"] != phase:
            status = "OUTDATED"
        else:
            status = "PAUSED" if there["paused"] else "INSTALLED"
        runs = loaded.get(name)
        running = runs is not None and there is not None and runs["text"] == there["text"] and not runs["paused"]
        rows.append(TriggerStatus(name, phase, status, running))
    return rows


def remove_triggers(engine: Engine) -> list[str]:
    """Drops all triggers of ours for this database; returns their names."""
    system = _system(engine)
    with _said(engine):
        names = [row["name"] for row in _stored(engine)]
        for name in names:
            _drop(engine, system, name)
    return names


def remove_triggers_if_any(engine: Engine) -> list[str]:
    """As `remove_triggers`; where triggers are off or not allowed there is nothing of ours to drop."""
    try:
        return remove_triggers(engine)
    except Refused:
        return []


def await_running(engine: Engine, wait_seconds: float = _SLOWEST_REFRESH) -> bool:
    """Waits until this database runs what is stored (it reads it every `apoc.trigger.refresh`); False if it doesn't in time."""
    return _until(lambda: all(row.running for row in list_triggers(engine) if row.status == "INSTALLED"), wait_seconds)


def measure_cost(
    engine: Engine,
    *,
    pairs: int = 3,
    commits: int = 300,
    wait_seconds: float = _SLOWEST_REFRESH,
    on_progress: Callable[[str], None] | None = None,
) -> TriggerCost:
    """Pauses and resumes the triggers in turn and times small commits of one node in between; needs installed triggers.

    Each switch waits until the database has read it, up to ``wait_seconds``. The triggers run again at the end, whatever
    happened. `Refused` where none is installed or a switch isn't read in time.
    """
    say = on_progress or (lambda _message: None)
    names = [row.name for row in list_triggers(engine) if row.status in ("INSTALLED", "PAUSED")]
    if not names:
        raise Refused("no trigger is installed", fix="`jochi engine intake install` first")
    with_ms, without_ms, added = [], [], []
    try:
        for pair in range(pairs):
            # First one, then the other: neither is always the one that runs on a warmer server.
            order = (False, True) if pair % 2 == 0 else (True, False)
            block: dict[bool, float] = {}
            for running in order:
                say(f"pair {pair + 1} of {pairs}, triggers {'on' if running else 'off'}")
                _switch(engine, names, running, wait_seconds)
                block[running] = _commits(engine.database, commits)
            with_ms.append(block[True])
            without_ms.append(block[False])
            added.append(block[True] - block[False])
    finally:
        _switch(engine, names, True, None)
        engine.database.run(statement("intake/probe_clear"))
    return TriggerCost(
        pairs,
        commits,
        statistics.median(without_ms),
        statistics.median(with_ms),
        statistics.median(added),
        min(added),
        max(added),
    )


def _commits(database: Database, n: int) -> float:
    """The median of ``n`` commits in milliseconds, after some that don't count."""
    text = statement("intake/probe_write")
    took = []
    with database.driver.session(database=database.name) as session:
        for i in range(n + n // 5):
            started = time.perf_counter()
            session.run(text, {"n": i}).consume()
            took.append((time.perf_counter() - started) * 1000)
    database.run(statement("intake/probe_clear"))
    return statistics.median(took[n // 5 :])


def _switch(engine: Engine, names: list[str], running: bool, wait_seconds: float | None) -> None:
    text = statement("intake/resume_trigger" if running else "intake/pause_trigger")
    system = _system(engine)
    for name in names:
        system.autocommit(text, {"target": engine.database.name, "name": name})

    def read() -> bool:
        states = {row.name: row.running for row in list_triggers(engine)}
        return all(states.get(name) is running for name in names)

    if wait_seconds is not None and not _until(read, wait_seconds):
        raise Refused(
            f"the database didn't read the switch within {wait_seconds:.0f} s",
            fix="wait longer (--wait), or set apoc.trigger.refresh lower",
        )


def _until(true: Callable[[], bool], wait_seconds: float) -> bool:
    deadline = time.monotonic() + wait_seconds
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.2)
    return True


def _wanted(engine: Engine) -> dict[str, str]:
    """The triggers that the installed policy has a use for: no kind with intake, none for new nodes."""
    names = list(PHASES)
    text = engine.state().policy_text
    if text is not None and not stored_policy(text).policy.intake_labels():
        names.remove("on_created")
    return {name: engine.text(f"intake/{name}") for name in names}


def _stored(engine: Engine) -> list[dict[str, Any]]:
    rows = _system(engine).autocommit(statement("intake/stored_triggers"), {"target": engine.database.name})
    ours = [row for row in rows if row["name"].startswith(_prefix(engine))]
    return [{**row, "phase": (row["selector"] or {}).get("phase")} for row in ours]


def _drop(engine: Engine, system: Database, name: str) -> None:
    system.autocommit(statement("intake/drop_trigger"), {"target": engine.database.name, "name": name})


def _system(engine: Engine) -> Database:
    return Database(engine.database.driver, "system")


def _prefix(engine: Engine) -> str:
    return f"jochi.intake.{engine.database.name}."


def _full(engine: Engine, name: str) -> str:
    return _prefix(engine) + name


@contextmanager
def _said(engine: Engine) -> Iterator[None]:
    """What a server without triggers, or without the right to them, says in words of ours."""
    where = f"database {engine.database.name}"
    beside = "; without triggers the job `intake` finds new nodes, and changes are seen at the memory's horizon"
    try:
        yield
    except Neo4jError as error:
        message = error.message or str(error)
        if "apoc.trigger.enabled" in message or "Triggers have not been enabled" in message:
            raise Refused(
                "triggers are switched off on this server",
                where=where,
                fix="set apoc.trigger.enabled=true in apoc.conf and restart the server" + beside,
            ) from None
        if isinstance(error, ClientError) and (
            "ProcedureNotFound" in (error.code or "") or "no procedure with the name" in message
        ):
            fix = "Aura has none" if read_facts(engine.database).aura else "install APOC Core"
            raise Refused("this server has no apoc.trigger procedures", where=where, fix=fix + beside) from None
        if "Forbidden" in (error.code or "") or "unrestricted" in message or "sandbox" in message:
            raise Refused(
                f"this user may not handle triggers: {message}",
                where=where,
                fix="allow apoc.trigger.* in dbms.security.procedures.unrestricted, and use an admin" + beside,
            ) from None
        raise
