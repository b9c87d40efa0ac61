"""`apply`: run what is pending, one file at a time, and record each."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

import neo4j
from neo4j.exceptions import Neo4jError

from jochi import clock
from jochi.database.database import Database
from jochi.database.statements import schema_folder
from jochi.errors import ConnectionFailed, Refused
from jochi.schema.migrations import chain as chains
from jochi.schema.migrations import file_text
from jochi.schema.migrations.building import drop_failed, expect_built
from jochi.schema.migrations.choosing import choose
from jochi.schema.migrations.comparing import Comparison, compare
from jochi.schema.migrations.earlier import earlier_objects
from jochi.schema.migrations.files import Folder, MigrationFile, read_folder
from jochi.schema.migrations.lock import HeldLock, Locked, describe, held, read_lock
from jochi.schema.migrations.removing import drop_objects
from jochi.schema.migrations.repairing import rewrite_chain
from jochi.schema.migrations.results import (
    AppliedNow,
    ApplyOutcome,
    ApplyResult,
    ChainName,
    OnProgress,
    Outcome,
    Progress,
    Step,
)
from jochi.schema.migrations.server_errors import explained, explaining


def apply(
    database: Database,
    folder: Path | None = None,
    *,
    wait_for_lock_seconds: float = 30,
    break_lock: bool = False,
    placeholders: Mapping[str, str] | None = None,
    index_seconds: int = 600,
    chain: ChainName | str | None = None,
    on_progress: OnProgress | None = None,
    now: Callable[[], datetime] = clock.now,
) -> ApplyResult:
    """Applies all pending migrations of ``folder`` (default: Jochi's schema) and records them.

    Safe to repeat, and to run twice at once: the second run waits up to ``wait_for_lock_seconds``. A run that was
    killed between applying and recording a file is finished by the next one, which runs that file again (every
    statement bears it). ``index_seconds`` is how long the indexes of a file may take to build. ``on_progress`` is told
    each step. ``chain``: where to record, if the database has no chain of Jochi's yet (see `choose`).

    Raises `Refused` (a foreign or newer chain, an edited file, the lock held by somebody else), `MigrationFailed`
    (the server rejects a statement), `ConnectionFailed`, `UsageError` (a faulty folder, a placeholder without value).
    """
    files = read_folder(folder or schema_folder())
    values = placeholders or {}
    tell = on_progress or (lambda progress: None)
    with explaining(database):
        name, comparison = _compare_or_refuse(database, files, chain)
        if not comparison.to_run and not break_lock and read_lock(database) is None:
            return _result(database, name, files, [], ())
        _fill_all(comparison, values)
        with held(
            database,
            now=now,
            wait_seconds=wait_for_lock_seconds,
            break_lock=break_lock,
            on_waiting=lambda lock: tell(Progress(step=Step.WAITING, message=describe(lock))),
        ) as lock:
            tell(Progress(step=Step.LOCKED))
            # Read again: somebody may have migrated while this run waited.
            name, comparison = _compare_or_refuse(database, files, chain)
            if comparison.earlier:
                return _bring_to_today(database, files, name, comparison, values, lock, index_seconds, tell, now)
            done = _run_all(
                database,
                comparison,
                values,
                lock,
                name.migration_target,
                index_seconds=index_seconds,
                tell=tell,
                now=now,
            )
    return _result(database, name, files, done, lock.messages)


def _result(
    database: Database, chain: ChainName, files: Folder, done: Sequence[AppliedNow], messages: tuple[str, ...]
) -> ApplyResult:
    return ApplyResult(
        database=database.name,
        chain=chain,
        outcome=ApplyOutcome.APPLIED if done else ApplyOutcome.NOTHING_TO_DO,
        applied=tuple(done),
        messages=messages,
        warnings=files.warnings,
    )


def planned(database: Database, folder: Path | None = None, *, chain: ChainName | str | None = None) -> list[str]:
    """The names of the files that `apply` would run now. Takes no lock and writes nothing; refuses what `apply` does."""
    with explaining(database):
        _, comparison = _compare_or_refuse(database, read_folder(folder or schema_folder()), chain)
    return [file.source for file in comparison.to_run]


def _bring_to_today(
    database: Database,
    files: Folder,
    name: ChainName,
    comparison: Comparison,
    values: Mapping[str, str],
    lock: HeldLock,
    index_seconds: int,
    tell: OnProgress,
    now: Callable[[], datetime],
) -> ApplyResult:
    """A database of before the first release. The record comes last: cut off before it, all this is done once more."""
    drop_objects(database, earlier_objects())
    done: list[AppliedNow] = []
    for file in comparison.to_run:
        tell(Progress(step=Step.RUNNING, source=file.source))
        started = time.monotonic()
        count = _run_file(database, file, _filled(file, values), index_seconds)
        milliseconds = int((time.monotonic() - started) * 1000)
        tell(Progress(step=Step.DONE, source=file.source))
        done.append(AppliedNow(version=file.version, source=file.source, statements=count, milliseconds=milliseconds))
    rewrite_chain(database, files, name, lock, now=now, tell=tell)
    return ApplyResult(
        database=database.name,
        chain=name,
        outcome=ApplyOutcome.APPLIED,
        applied=tuple(done),
        messages=lock.messages,
        warnings=files.warnings,
    )


def _compare_or_refuse(
    database: Database, files: Folder, chain: ChainName | str | None
) -> tuple[ChainName, Comparison]:
    name = choose(database, files, chain)
    comparison = compare(files, chains.read_chain(database, name.migration_target), name)
    if comparison.outcome not in (Outcome.VALID, Outcome.INCOMPLETE_DATABASE):
        raise Refused("\n".join(comparison.messages), where=f"database {database.name}")
    return name, comparison


def _fill_all(comparison: Comparison, values: Mapping[str, str]) -> None:
    """A missing placeholder must show before the first file runs, not between two."""
    for file in comparison.to_run:
        _filled(file, values)


def _filled(file: MigrationFile, values: Mapping[str, str]) -> list[str]:
    return [
        file_text.fill(text, values, f"{file.path}, statement {number}")
        for number, text in enumerate(file.executable, start=1)
    ]


def _run_all(
    database: Database,
    comparison: Comparison,
    values: Mapping[str, str],
    lock: HeldLock,
    migration_target: str | None,
    *,
    index_seconds: int,
    tell: OnProgress,
    now: Callable[[], datetime],
) -> list[AppliedNow]:
    done: list[AppliedNow] = []
    if not comparison.to_run:
        return done
    chains.ensure_constraints(database)
    chain = chains.read_chain(database, migration_target)
    applied = {entry.version for entry in chain.applied}
    previous = chain.last_version
    for file in comparison.to_run:
        tell(Progress(step=Step.RUNNING, source=file.source))
        repetition = file.version in applied
        try:
            started = time.monotonic()
            count = _run_file(database, file, _filled(file, values), index_seconds)
            milliseconds = int((time.monotonic() - started) * 1000)
            tell(Progress(step=Step.DONE, source=file.source))
            recorded = chains.record(
                database,
                file,
                lock=lock,
                previous=previous,
                repetition=repetition,
                milliseconds=milliseconds,
                now=now(),
                migration_target=migration_target,
            )
        except ConnectionFailed as error:
            raise ConnectionFailed(
                f"the connection was lost while this migration ran: {error.what}",
                where=str(file.path),
                fix="run the same command again: it goes on with this file, which may be applied and not yet recorded",
            ) from error
        if not recorded:
            raise Locked.lost(str(file.path))
        if not repetition:
            previous = file.version
        done.append(AppliedNow(version=file.version, source=file.source, statements=count, milliseconds=milliseconds))
        tell(Progress(step=Step.RECORDED, source=file.source))
    return done


def _run_file(database: Database, file: MigrationFile, texts: list[str], index_seconds: int) -> int:
    """Runs a file's statements in one transaction, as neo4j-migrations does; one each if one commits by itself."""
    at = 0

    def together(tx: neo4j.ManagedTransaction) -> None:
        nonlocal at
        for number, text in enumerate(texts, start=1):
            at = number
            tx.run(text).consume()

    drop_failed(database, file)
    try:
        if any(file_text.needs_own_transaction(text) for text in texts):
            for number, text in enumerate(texts, start=1):
                at = number
                run = database.autocommit if file_text.needs_own_transaction(text) else database.run
                run(text)
        elif texts:
            database.transaction(together)
    except Neo4jError as error:
        raise explained(error, database, f"{file.path}, statement {at} of {len(texts)}") from error
    expect_built(database, file, index_seconds)
    return len(texts)
