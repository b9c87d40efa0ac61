"""The verbs of `Jochi.heartbeat`: tasks are written, claimed, loaded and reported (seed 001, Lazy Loading for Heartbeat)."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import neo4j

from jochi.database.engine import Engine
from jochi.database.questions import FileQuestion
from jochi.database.server_clock import ServerClock
from jochi.errors import JochiError, Refused, UsageError
from jochi.files import read_text, real_file, replace_text, until_quiet
from jochi.graph.catalogue import LONGEST_NAME
from jochi.graph.driver_values import read_as, zoned
from jochi.heartbeat import file as files
from jochi.heartbeat.schedules import next_due
from jochi.text.content_properties import content_properties
from jochi.text.tokens import TokenCounter, best_counter
from jochi.write.record import DEFAULT_SCOPE, key_of
from jochi.write.remembering.screening import RowScreen

QUICK_TOKENS = 100
"""A task whose definition has fewer is quick: it stands in the file whole (seed 001, Lazy Loading for Heartbeat)."""
LEASE = timedelta(minutes=10)
PAGE = 2_000
_PENDING = 1_000
"""Ids of changed tasks that a registry keeps; of more, the newest."""
_TRIES = 5
_SOME_DAY = datetime(2026, 1, 1, tzinfo=timezone.utc)
_QUICK_AT_START = 50
_NONE_YET = -1
"""The revision that no task has."""


def definition_hash(definition: str) -> str:
    """The hash by which a definition is the same, character by character."""
    return hashlib.sha256(definition.encode()).hexdigest()


class StaleClaim(Refused):
    """Another agent has the task by now, or its claim was never this one: what is reported counts nothing."""


@dataclass(frozen=True)
class Task:
    """A task without its definition. ``schedule`` None: it is never due. ``next_due`` is in UTC; None: it is paused.

    ``wrong``: of which properties an app wrote something of another form, in words; these are told as if they weren't there.
    """

    id: str
    task_name: str
    schedule: str | None
    time_zone: str | None
    next_due: datetime | None
    is_active: bool
    quick: bool
    definition_tokens: int | None
    definition_hash: str | None
    content_hash: str | None
    revision: int
    scheduled_at: datetime | None = None
    execution_count: int = 0
    error_count: int = 0
    last_executed: datetime | None = None
    last_error: str | None = None
    claimed_by: str | None = None
    claimed_until: datetime | None = None
    last_definition_load: datetime | None = None
    wrong: tuple[str, ...] = ()

    @property
    def problem(self) -> str | None:
        """What a person has to mend; None: nothing."""
        wrong = list(self.wrong)
        if self.schedule is not None:
            try:
                next_due(self.schedule, self.time_zone or "UTC", after=_SOME_DAY, since=_SOME_DAY)
            except UsageError as error:
                wrong.append(error.what)
        return "; ".join(wrong) or None


@dataclass(frozen=True)
class Claim:
    """A task that is this agent's until ``until``; ``token`` is what it reports with."""

    task: Task
    token: str
    until: datetime


@dataclass(frozen=True)
class NewTask:
    """A task to be written. What is None stays as it is, of a task that is there."""

    id: str
    definition: str | None = None
    schedule: str | None = None
    time_zone: str = "UTC"
    task_name: str | None = None


@dataclass(frozen=True)
class ReportResult:
    """``repeated``: this was reported before and counted nothing. ``next_due`` None: it is paused."""

    next_due: datetime | None
    repeated: bool = False


@dataclass(frozen=True)
class SessionStart:
    """What a session begins with. ``quick``: tasks with their definitions; ``pending``: ids that changed since the last sync."""

    quick: Sequence[tuple[Task, str]]
    pending: Sequence[str]
    definitions_hash: str | None
    last_sync: datetime | None


@dataclass(frozen=True)
class SyncResult:
    """``definitions_hash``: of all definitions of the scope; ``rewritten``: the file said something else before."""

    path: str
    definitions_hash: str
    rewritten: bool


@dataclass
class Heartbeat:
    """Tasks of one database. Keeps what it loaded: a session has one of it. ``now`` is the server's clock unless it is given."""

    engine: Engine
    counter: TokenCounter = field(default_factory=best_counter)
    _loaded: dict[str, tuple[int, str]] = field(default_factory=dict, init=False, repr=False)
    """By key: the task's revision, and its definition then."""

    def add(self, task: NewTask, *, scope: str = DEFAULT_SCOPE, now: datetime | None = None) -> str:
        """Writes one task, or what is given of one that is there; `added`, `changed` or `unchanged`. See `add_all`."""
        return self.add_all([task], scope=scope, now=now)[task.id]

    def add_all(
        self,
        tasks: Sequence[NewTask],
        *,
        scope: str = DEFAULT_SCOPE,
        only_new: bool = False,
        now: datetime | None = None,
    ) -> dict[str, str]:
        """Writes tasks; by id what became of each: `added`, `changed`, `unchanged`, or with ``only_new`` `lost`: it is there
        already, and nothing was written.

        One with a schedule is active and first due at its next moment; without one it is never due. One that a person paused
        stays so. `UsageError` for what can't be written, `Refused` for what was forgotten or whose id is another memory's: then
        none of up to 2,000 is written.
        """
        at = self._at(now)
        rows = [self._row(task, scope, at) | ({"revision": _NONE_YET} if only_new else {}) for task in tasks]
        if len({row["id"] for row in rows}) < len(rows):
            raise UsageError("two tasks have the same id", fix="name each once")
        outcomes: dict[str, str] = {}
        for start in range(0, len(rows), PAGE):
            outcomes |= self._store(rows[start : start + PAGE], scope, at)
        return outcomes

    def pause(self, id: str, *, scope: str = DEFAULT_SCOPE, now: datetime | None = None) -> str:
        """Stops a task being due until it is resumed; `changed` or `unchanged`. A claim that is under way can still be reported."""
        return self._store([{"id": id, "is_active": False}], scope, self._at(now))[id]

    def resume(self, id: str, *, scope: str = DEFAULT_SCOPE, now: datetime | None = None) -> str:
        """Lets a paused task be due again, at its next moment from now on; `changed` or `unchanged`."""
        at = self._at(now)
        for _ in range(_TRIES):
            task = self.task(id, scope=scope)
            due = self._next(task, at)
            if due is None:
                raise UsageError(
                    f"{id} has no schedule" + (f": {task.problem}" if task.problem else ""),
                    where=key_of(scope, id),
                    fix="`jochi heartbeat add` gives it one",
                )
            row = {"id": id, "is_active": True, "revision": task.revision, "next_due": due}
            if (outcome := self._store([row], scope, at)[id]) != "lost":
                return outcome
        raise self._busy(id, scope)

    def task(self, id: str, *, scope: str = DEFAULT_SCOPE) -> Task:
        """One task, without its definition. `UsageError` if there is none."""
        tasks = self._listed(key=key_of(scope, id), limit=1)
        return self._known(tasks[0] if tasks else None, id, scope)

    def ls(self, *, scope: str = DEFAULT_SCOPE) -> Iterator[Task]:
        """All tasks of the scope by id, a page at a time, without their definitions."""
        return self._ls(scope, None)

    def _ls(self, scope: str, open: bool | None) -> Iterator[Task]:
        """Those that a file may show: ``open``: what is SENSITIVE, too. None: all."""
        after = key_of(scope, "")
        while True:
            tasks = self._listed(scope=scope, after=after, limit=PAGE, open=open)
            yield from (read_as(Task, entry) for entry in tasks)
            if len(tasks) < PAGE:
                return
            after = key_of(scope, tasks[-1]["id"])

    def _listed(self, **asked: Any) -> list[dict[str, Any]]:
        given = {"key": None, "scope": None, "after": None, "open": None, **asked}
        tasks: list[dict[str, Any]] = self.engine.call("heartbeat/list", given, write=False)["tasks"]
        return tasks

    def start(
        self, *, scope: str = DEFAULT_SCOPE, limit: int = _QUICK_AT_START, include_sensitive: bool = False
    ) -> SessionStart:
        """What a session begins with: the first ``limit`` quick tasks. It costs the same however many tasks there are.

        Tasks whose `access_tier` is PRIVATE aren't among them, and SENSITIVE ones only with ``include_sensitive``.
        """
        row = self._start(scope, limit, include_sensitive)
        registry = row["registry"] or {}
        quick = [(read_as(Task, entry["task"]), entry["content"]) for entry in row["quick"]]
        for task, definition in quick:
            self._loaded[key_of(scope, task.id)] = task.revision, definition
        return read_as(
            SessionStart,
            {},
            quick=quick,
            pending=registry.get("pending_changes") or [],
            definitions_hash=registry.get("task_definitions_hash"),
            last_sync=registry.get("last_sync"),
        )

    def due(
        self,
        agent: str,
        *,
        scope: str = DEFAULT_SCOPE,
        lease: timedelta = LEASE,
        limit: int = 10,
        now: datetime | None = None,
    ) -> list[Claim]:
        """Claims up to ``limit`` tasks that are due, the longest due first, for ``agent`` and the time of ``lease``.

        Each due moment is claimed by one agent alone. Who reports nothing before the lease ends has lost the claim: the task counts
        as failed and is due again. One that was due several times while nobody came is due once.
        """
        if not agent.strip() or len(agent) > 200:
            raise UsageError("an agent's name has 1 to 200 characters", where="heartbeat due")
        if lease <= timedelta(0) or limit < 1:
            raise UsageError("a lease takes time, and a limit is 1 or more", where="heartbeat due")
        at, token = self._at(now), uuid.uuid4().hex
        try:
            until = at + lease
        except OverflowError:
            raise UsageError(
                "the lease ends after the year 9999", where="heartbeat due", fix="give minutes or hours"
            ) from None
        row = self.engine.call(
            "heartbeat/claim",
            {"now": at, "scope": scope, "agent": agent, "until": until, "limit": limit, "token": token},
        )
        tasks = [read_as(Task, entry) for entry in row["tasks"]]
        for task in tasks:
            self._drop_if_other(task, scope)
        return [Claim(task, token, until) for task in tasks]

    def load(self, id: str, *, scope: str = DEFAULT_SCOPE, fresh: bool = False, now: datetime | None = None) -> str:
        """The whole definition. What this session has isn't read again, unless a claim showed that it changed, or ``fresh``."""
        key = key_of(scope, id)
        loaded = None if fresh else self._loaded.get(key)
        if loaded is None:
            row = self.engine.call("heartbeat/load", {"now": self._at(now), "key": key})
            task = self._known(row["task"], id, scope)
            if row["content"] is None:
                raise JochiError(
                    "its definition is no text", where=key, fix="`jochi heartbeat add ID --definition …` gives it one"
                )
            self._loaded[key] = loaded = task.revision, row["content"]
        return loaded[1]

    def done(self, id: str, token: str, *, scope: str = DEFAULT_SCOPE, now: datetime | None = None) -> ReportResult:
        """Reports that a claimed task ran. `StaleClaim` where another claim has taken over."""
        return self._finish(id, token, None, scope, now)

    def failed(
        self, id: str, token: str, error: str, *, scope: str = DEFAULT_SCOPE, now: datetime | None = None
    ) -> ReportResult:
        """Reports that a claimed task failed: it is due again after a pause that doubles with each failure in a row.

        The policy's `work.retry_min` and `work.retry_max` say how long. Of ``error`` 500 characters are kept, on the task alone.
        """
        return self._finish(id, token, error or "no reason given", scope, now)

    def sync(
        self,
        path: Path,
        *,
        scope: str = DEFAULT_SCOPE,
        max_tokens: int = files.MAX_TOKENS,
        overwrite: bool = False,
        include_sensitive: bool = False,
        now: datetime | None = None,
    ) -> SyncResult:
        """Brings the file up to date, whole or not at all, and only if it would say something else; takes nothing from it.

        Reads all tasks of the scope, but not their definitions: so it sees what was changed, pruned or forgotten by whatever way.
        Tasks whose `access_tier` is PRIVATE aren't in it, and SENSITIVE ones only with ``include_sensitive``.

        `Refused` for a file that Jochi didn't write, that somebody changed since or that is another scope's, unless ``overwrite``.
        """

        def may_replace(text: str) -> None:
            if text and not overwrite:
                mark = files.read_mark(text)
                if mark is None or mark.edited:
                    raise Refused(
                        "Jochi didn't write this file" if mark is None else "somebody has edited this file",
                        where=str(path),
                        fix="`jochi heartbeat migrate` takes a file of your own in; --overwrite replaces this one and loses what "
                        "it says. (A box that is ticked here ends no task: `jochi heartbeat done` reports one, `pause` stops it)",
                    )
                files.require_scope(mark, scope, str(path))

        question = FileQuestion(
            self.engine.database, "heartbeat", path, scope, include_sensitive=include_sensitive, now=self._at(now)
        )
        with question.answered_or_asked():
            return self.replace(path, may_replace, scope, max_tokens, overwrite, include_sensitive, now)

    def replace(
        self,
        path: Path,
        may_replace: Callable[[str], None],
        scope: str,
        max_tokens: int,
        overwrite: bool = True,
        include_sensitive: bool = False,
        now: datetime | None = None,
    ) -> SyncResult:
        """`sync`, where ``may_replace`` raises if the text that is there must stay ('': there is none)."""
        at, real = self._at(now), real_file(path)

        def once() -> SyncResult:
            text = read_text(real) or ""
            may_replace(text)
            changes = (self._start(scope, 0, include_sensitive)["registry"] or {}).get("task_changes", 0)
            digest, entries, active = self._entries(scope, max_tokens, include_sensitive)
            new = files.render(
                scope, entries, active=active, definitions=digest, max_tokens=max_tokens, counter=self.counter, now=at
            )
            rewritten = overwrite or not files.says_the_same(text, new)
            if rewritten:
                replace_text(real, text, new)
            self.engine.call("heartbeat/synced", {"now": at, "scope": scope, "hash": digest, "changes": changes})
            return SyncResult(str(path), digest, rewritten)

        return until_quiet(path, once)

    def _start(self, scope: str, limit: int, open: bool) -> dict[str, Any]:
        return self.engine.call("heartbeat/start", {"scope": scope, "limit": limit, "open": open}, write=False)

    def _entries(self, scope: str, max_tokens: int, open: bool) -> tuple[str, list[files.Entry], int]:
        """The hash of all definitions, as many tasks as the file could name, quick ones first, and how many are active."""
        quick = self.start(scope=scope, limit=max_tokens // files.LEAST_TOKENS, include_sensitive=open).quick
        whole = {task.id for task, _ in quick}
        others: list[files.Entry] = []
        active, digest = 0, hashlib.sha256()
        for task in self._ls(scope, open):
            said = (
                task.id,
                task.task_name,
                task.schedule,
                task.time_zone,
                task.is_active,
                task.definition_hash,
                task.content_hash,
            )
            digest.update(json.dumps(said).encode() + b"\n")
            active += task.is_active
            if task.is_active and task.id not in whole and len(others) < max_tokens:
                others.append(files.Entry(task.id, last_executed=task.last_executed))
        shown = [
            files.Entry(task.id, f"{task.task_name} ({task.schedule}, {task.time_zone})", text, task.last_executed)
            for task, text in quick
        ]
        return digest.hexdigest()[:32], shown + others, active

    def _finish(self, id: str, token: str, error: str | None, scope: str, now: datetime | None) -> ReportResult:
        at, key = self._at(now), key_of(scope, id)
        for _ in range(_TRIES):
            task = self.task(id, scope=scope)
            row = self.engine.call(
                "heartbeat/finish",
                {
                    "now": at,
                    "key": key,
                    "token": token,
                    "error": error,
                    "next_due": self._next(task, at),
                    "revision": task.revision,
                },
            )
            if row["outcome"] == "stale":
                has = (
                    f"{row['claimed_by']} has it until {row['claimed_until']}" if row["claimed_by"] else "nobody has it"
                )
                raise StaleClaim(
                    f"this is not the last claim of {id} ({has}): nothing was counted",
                    where=key,
                    fix="leave it to that agent, or claim it anew with `jochi heartbeat due`",
                )
            if row["outcome"] == "gone":
                break
            if row["outcome"] != "changed":
                return read_as(ReportResult, row, repeated=row["outcome"] == "repeated")
        raise self._busy(id, scope)

    def _next(self, task: Task, at: datetime) -> datetime | None:
        """After ``at`` and after what it was due for, if the clocks differ. None also where a schedule of an app can't be read."""
        if task.schedule is None or task.scheduled_at is None:
            return None
        after = max(at, task.next_due) if task.next_due else at
        try:
            return next_due(task.schedule, task.time_zone or "UTC", after=after, since=task.scheduled_at)
        except UsageError:
            return None

    def _row(self, task: NewTask, scope: str, at: datetime) -> dict[str, Any]:
        if not task.id.strip() or len(task.id) > LONGEST_NAME:
            raise UsageError(f"the id of a task has 1 to {LONGEST_NAME:,} characters", where=f"task {task.id[:50]!r}")
        row: dict[str, Any] = {"id": task.id, "task_name": task.task_name}
        if task.schedule is not None:
            due = next_due(task.schedule, task.time_zone, after=at, since=at)
            row |= {"schedule": task.schedule, "time_zone": task.time_zone, "next_due": due}
        if task.definition is not None:
            if not task.definition.strip():
                raise UsageError("the definition is empty", where=f"task {task.id!r}", fix="say what is to be done")
            tokens = self.counter.count(task.definition)
            row |= {
                "content": task.definition,
                "private_kinds": None,
                **content_properties(task.definition),
                "token_count": tokens,
                "token_counter": self.counter.name,
                "quick": tokens < QUICK_TOKENS,
                "definition_hash": definition_hash(task.definition),
            }
        return row

    def _store(self, rows: Sequence[dict[str, Any]], scope: str, at: datetime) -> dict[str, str]:
        """What became of each row. Those that say something are compared with what was forgotten first."""
        if not scope.strip() or "/" in scope or len(scope) > LONGEST_NAME:
            raise UsageError(
                f"{scope[:50]!r} can't be a scope", fix=f"1 to {LONGEST_NAME:,} characters without a slash"
            )
        said = [
            {
                "scope": scope,
                "id": row["id"],
                "content": row.get("content"),
                "properties": {"task_name": row.get("task_name")},
            }
            for row in rows
        ]
        screen = RowScreen(self.engine)
        for _ in range(_TRIES):
            allowed, refused = screen.pass_on(list(enumerate(said)))
            if refused:
                raise Refused(str(refused[0].detail), where=refused[0].key)
            stamps = {row.get("forgotten_as_of") for _, row in allowed}
            parameters = {
                "now": at,
                "scope": scope,
                "tasks": rows,
                "forgotten_as_of": stamps.pop(),
                "most_pending": _PENDING,
            }
            outcomes = self.engine.database.transaction(partial(self._stored, parameters, scope))
            if outcomes is not None:
                return outcomes
            screen.refresh()
        raise self._busy(rows[0]["id"], scope)

    def _stored(self, parameters: dict[str, Any], scope: str, tx: neo4j.ManagedTransaction) -> dict[str, str] | None:
        """By id what became of it; None where more was forgotten meanwhile. What raises here takes all back."""
        row = self.engine.call_in(tx, self.engine.text("heartbeat/store"), parameters) or {}
        if row["problem"] == "forgetting_changed":
            return None
        taken = [row["id"] for row in row["results"] if row["outcome"] == "id_taken"]
        if taken or row["problem"] == "registry_taken":
            raise Refused(
                "the id is that of a memory of another kind",
                where=key_of(scope, taken[0] if taken else "heartbeat_registry"),
                fix="take another id, or another scope"
                if taken
                else "take another scope, or give that memory another id",
            )
        for result in row["results"]:
            if result["outcome"] == "unknown":
                raise self._unknown(result["id"], scope)
        return {result["id"]: result["outcome"] for result in row["results"]}

    def _known(self, row: dict[str, Any] | None, id: str, scope: str) -> Task:
        if row is None:
            self._loaded.pop(key_of(scope, id), None)
            raise self._unknown(id, scope)
        return read_as(Task, row)

    def _drop_if_other(self, task: Task, scope: str) -> None:
        key = key_of(scope, task.id)
        if self._loaded.get(key, (task.revision,))[0] != task.revision:
            self._loaded.pop(key, None)

    def _at(self, now: datetime | None) -> datetime:
        return self._clock.now() if now is None else zoned(now, "now", where="heartbeat")

    @cached_property
    def _clock(self) -> ServerClock:
        return ServerClock(self.engine.database)

    @staticmethod
    def _unknown(id: str, scope: str) -> UsageError:
        return UsageError(
            f"there is no task {id!r}",
            where=f"scope {scope}",
            fix="`jochi heartbeat ls` lists them; a new one needs a schedule and a definition",
        )

    @staticmethod
    def _busy(id: str, scope: str) -> JochiError:
        return JochiError("it is changed again and again meanwhile", where=key_of(scope, id), fix="try again")
