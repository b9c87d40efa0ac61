"""`repair`: makes the record in the database fit the files, and never runs one (as neo4j-migrations' repair)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import neo4j

from jochi import clock
from jochi.database.database import Database
from jochi.database.statements import schema_folder, statement
from jochi.errors import Refused
from jochi.schema.migrations import chain as chains
from jochi.schema.migrations.choosing import choose
from jochi.schema.migrations.files import Folder, read_folder
from jochi.schema.migrations.lock import HeldLock, Locked, describe, held
from jochi.schema.migrations.repair_plan import RepairPlan, plan_repair
from jochi.schema.migrations.results import ChainName, OnProgress, Progress, RepairOutcome, RepairResult, Step
from jochi.schema.migrations.server_errors import explaining
from jochi.users import operating_system_user


def planned_repair(
    database: Database, folder: Path | None = None, *, chain: ChainName | str | None = None
) -> RepairResult:
    """What `repair` would do now. Takes no lock and writes nothing. Raises as `repair` does."""
    files = read_folder(folder or schema_folder())
    with explaining(database):
        name = choose(database, files, chain)
        rows = database.run(statement("migrations/chain"), {"migration_target": name.migration_target}, write=False)
    return _result(database, files, name, plan_repair(files, rows, f"database {database.name}"), RepairOutcome.PLANNED)


def repair(
    database: Database,
    folder: Path | None = None,
    *,
    agreed: RepairResult | None = None,
    wait_for_lock_seconds: float = 30,
    break_lock: bool = False,
    chain: ChainName | str | None = None,
    on_progress: OnProgress | None = None,
    now: Callable[[], datetime] = clock.now,
) -> RepairResult:
    """Makes the chain fit the files of ``folder`` (default: Jochi's schema), in one transaction, under the lock.

    Rewrites what a changed file recorded, removes records without a file and surplus ones, records files that stand
    before the last applied one, and puts the line in order. It never runs a file: what an inserted or changed file
    would create may be missing. Files behind the chain's end stay pending.

    ``agreed``: the plan that a person saw; if the chain has changed since, nothing is done. Raises `Refused` (a foreign
    chain, one of a newer jochi, another plan than the agreed one, the lock held by somebody else), `MigrationFailed`,
    `ConnectionFailed`, `UsageError` (a faulty folder).
    """
    files = read_folder(folder or schema_folder())
    tell = on_progress or (lambda progress: None)
    with explaining(database):
        if not planned_repair(database, folder, chain=chain).steps and not break_lock:
            return planned_repair(database, folder, chain=chain)
        with held(
            database,
            now=now,
            wait_seconds=wait_for_lock_seconds,
            break_lock=break_lock,
            on_waiting=lambda lock: tell(Progress(step=Step.WAITING, message=describe(lock))),
        ) as lock:
            tell(Progress(step=Step.LOCKED))
            name = choose(database, files, chain)
            plan = rewrite_chain(database, files, name, lock, now=now, tell=tell, agreed=agreed)
            tell(Progress(step=Step.RECORDED))
        if plan.steps:
            # After the repair: where a version stood twice, the constraint could not be made before.
            chains.ensure_constraints(database)
    result = _result(database, files, name, plan, RepairOutcome.REPAIRED)
    return result.model_copy(update={"messages": lock.messages})


def rewrite_chain(
    database: Database,
    files: Folder,
    name: ChainName,
    lock: HeldLock,
    *,
    now: Callable[[], datetime],
    tell: OnProgress,
    agreed: RepairResult | None = None,
) -> RepairPlan:
    """Makes the chain fit ``files`` in one transaction, under ``lock``; what was done. See `repair`."""
    where = f"database {database.name}"
    by = {"by": operating_system_user(), "connected_as": chains.connected_as(database)}

    def work(tx: neo4j.ManagedTransaction) -> RepairPlan:
        def run(file: str, **parameters: Any) -> list[dict[str, Any]]:
            return [dict(row) for row in tx.run(statement(f"migrations/{file}"), parameters)]

        if not run("lock_keep", lock_id=lock.id):
            raise Locked.lost(where)
        plan = plan_repair(files, run("chain", migration_target=name.migration_target), where)
        if agreed is not None and tuple(plan.steps) != agreed.steps:
            raise Refused(
                "the chain is not as it was when the repair was planned; nothing was changed",
                where=where,
                fix="look at `jochi engine migrations repair --dry-run` again",
            )
        if not plan.steps:
            return plan
        run("repair_change", rows=plan.change)
        ids = dict(plan.ids)
        for row in run("repair_insert", rows=plan.insert, migration_target=name.migration_target):
            ids[row["version"]] = row["id"]
        links = [{"id": ids[version], "previous": previous and ids[previous]} for version, previous in plan.link]
        run("repair_link", links=links, now=now(), **by)
        # Last: when a record was applied stands on the relationship that leads to it, maybe from one that goes.
        run("repair_remove", ids=plan.remove)
        tell(Progress(step=Step.RUNNING))
        return plan

    return database.transaction(work)


def _result(
    database: Database, files: Folder, name: ChainName, plan: RepairPlan, outcome: RepairOutcome
) -> RepairResult:
    return RepairResult(
        database=database.name,
        outcome=outcome if plan.steps else RepairOutcome.NOTHING_TO_DO,
        chain=name,
        steps=tuple(plan.steps),
        pending=tuple(plan.pending),
        warnings=files.warnings,
    )
