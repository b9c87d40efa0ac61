"""`apply`: run what is pending, one file at a time, and record each."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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
    tell = on_progress or (lambda progress: None)
    run = _Run(database, files, placeholders or {}, index_seconds, tell, now)
    with explaining(database):
        name, comparison = _compare_or_refuse(database, files, chain)
        if not comparison.to_run and not break_lock and read_lock(database) is None:
            return run.result(name, [], ())
        # A missing placeholder must show before the first file runs, not between two.
        for file in comparison.to_run:
            run.filled(file)
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
                done = run.bring_to_today(comparison, name, lock)
            else:
                done = run.run_all(comparison, lock, name.migration_target)
    return run.result(name, done, lock.messages)


def planned(database: Database, folder: Path | None = None, *, chain: ChainName | str | None = None) -> list[str]:
    """The names of the files that `apply` would run now. Takes no lock and writes nothing; refuses what `apply` does."""
    with explaining(database):
        _, comparison = _compare_or_refuse(database, read_folder(folder or schema_folder()), chain)
    return [file.source for file in comparison.to_run]


def _compare_or_refuse(
    database: Database, files: Folder, chain: ChainName | str | None
) -> tuple[ChainName, Comparison]:
    name = choose(database, files, chain)
    comparison = compare(files, chains.read_chain(database, name.migration_target), name)
    if comparison.outcome not in (Outcome.VALID, Outcome.INCOMPLETE_DATABASE):
        raise Refused("\n".join(comparison.messages), where=f"database {database.name}")
    return name, comparison


@dataclass(frozen=True)
class _Run:
    """What one run of `apply` works with."""

    database: Database
    files: Folder
    values: Mapping[str, str]
    index_seconds: int
    tell: OnProgress
    now: Callable[[], datetime]

    def result(self, chain: ChainName, done: Sequence[AppliedNow], messages: tuple[str, ...]) -> ApplyResult:
        return ApplyResult(
            database=self.database.name,
            chain=chain,
            outcome=ApplyOutcome.APPLIED if done else ApplyOutcome.NOTHING_TO_DO,
            applied=tuple(done),
            messages=messages,
            warnings=self.files.warnings,
        )

    def bring_to_today(self, comparison: Comparison, name: ChainName, lock: HeldLock) -> list[AppliedNow]:
        """A database of before the first release. The record comes last: cut off before it, all this is done once more."""
        drop_objects(self.database, earlier_objects())
        done = [self.run_file(file) for file in comparison.to_run]
        rewrite_chain(self.database, self.files, name, lock, now=self.now, tell=self.tell)
        return done

    def run_all(self, comparison: Comparison, lock: HeldLock, migration_target: str | None) -> list[AppliedNow]:
        """Runs each file and records it."""
        done: list[AppliedNow] = []
        if not comparison.to_run:
            return done
        chains.ensure_constraints(self.database)
        chain = chains.read_chain(self.database, migration_target)
        applied = {entry.version for entry in chain.applied}
        previous = chain.last_version
        for file in comparison.to_run:
            repetition = file.version in applied
            try:
                ran = self.run_file(file)
                recorded = chains.record(
                    self.database,
                    file,
                    lock=lock,
                    previous=previous,
                    repetition=repetition,
                    milliseconds=ran.milliseconds,
                    now=self.now(),
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
            done.append(ran)
            self.tell(Progress(step=Step.RECORDED, source=file.source))
        return done

    def run_file(self, file: MigrationFile) -> AppliedNow:
        """Runs a file's statements in one transaction, as neo4j-migrations does; one each if one commits by itself."""
        self.tell(Progress(step=Step.RUNNING, source=file.source))
        started = time.monotonic()
        texts = self.filled(file)
        database = self.database
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
        expect_built(database, file, self.index_seconds)
        milliseconds = int((time.monotonic() - started) * 1000)
        self.tell(Progress(step=Step.DONE, source=file.source))
        return AppliedNow(version=file.version, source=file.source, statements=len(texts), milliseconds=milliseconds)

    def filled(self, file: MigrationFile) -> list[str]:
        """The file's statements with values in the place of placeholders."""
        return [
            file_text.fill(text, self.values, f"{file.path}, statement {number}")
            for number, text in enumerate(file.executable, start=1)
        ]
