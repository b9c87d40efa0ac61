"""Verbs of what agents have: conversations as they go on (seed 003, Write Path), items under namespaces and keys, tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path

from jochi.client.base import Base, on_engine
from jochi.heartbeat import Heartbeat
from jochi.heartbeat.file import MAX_TOKENS
from jochi.heartbeat.migration import MigrationResult, migrate
from jochi.store import Items
from jochi.store.items import KIND
from jochi.use.doubts import DecidedDoubts, DoubtDecision, decide_doubts, list_doubts
from jochi.users import operating_system_user
from jochi.write import observing
from jochi.write.observing import Observer, ObserveResult, Turn


class ObserveVerbs(Base):
    @cached_property
    def _observer(self) -> Observer:
        return Observer(self.engine, self.policy.policy.observe)

    def observe(self, turn: Turn | str, *, now: datetime | None = None) -> ObserveResult:
        """Buffers one turn of a conversation, by one statement and without a model; workers learn facts from it later.

        A turn that is worth it (a preference, a correction, a decision …) is handed on at once, others when five of the session are
        there or after 15 minutes (`[observe]`): the job `flush_buffers`, every ten seconds, makes the memory that workers read. The
        same turn again, by its id or else by speaker, moment and text, is known. A text alone is a turn of the session `default`.
        Raises `Refused` for what was forgotten on request.
        """
        one = Turn(turn) if isinstance(turn, str) else turn
        return self._observer.observe(one, now=self._at(now, "observe", "now"))

    async def observe_async(self, turn: Turn | str, *, now: datetime | None = None) -> ObserveResult:
        """`observe` for a program with an event loop: it waits for the database in a thread."""
        return await asyncio.to_thread(self.observe, turn, now=now)

    def flush(self, session: str | None = None, *, scope: str = "default", now: datetime | None = None) -> list[str]:
        """Has what is buffered of a session (None: of all in the scope) learned from now, and ends its box; keys of the batches."""
        return observing.flush(self.engine, session, scope=scope, now=self._at(now, "flush", "now"))

    doubts = on_engine(list_doubts)

    def decide_doubts(
        self, pairs: Iterable[Sequence[str]], decision: DoubtDecision, *, by: str | None = None
    ) -> DecidedDoubts:
        """Says of statements that may be replaced (``pairs`` of keys: newer, older) that the newer one takes the older one's place
        ('replaces'), or that both hold ('both').

        Results come in their order; `undo` of `DecidedDoubts.run` takes it back. `UsageError` for what is no pair.
        """
        return decide_doubts(self.engine, pairs, decision, now=self._server_now(), by=by or operating_system_user())


class ItemVerbs(Base):
    def items(
        self,
        scope: str | None = None,
        *,
        kind: str = KIND,
        embed: Callable[[str], Sequence[float]] | None = None,
        agent: str | None = None,
    ) -> Items:
        """The store of items (`jochi.store.MemoryStore`): put, get, search, delete, namespaces.

        ``scope``: whose memories all items are; None: the first label of a namespace is the scope. ``embed`` makes a query a
        vector of the policy's model. docs/reference/langgraph.md.
        """
        return Items(self.engine, self.policy, scope, kind, embed, agent)


class HeartbeatVerbs(Base):
    @cached_property
    def heartbeat(self) -> Heartbeat:
        """Tasks of agents, with definitions in the graph: add, due, load, done, failed, sync and more.

        It keeps the definitions that it loaded for as long as it lives.
        """
        return Heartbeat(self.engine)

    def migrate_heartbeat(
        self,
        path: Path,
        *,
        scope: str = "default",
        time_zone: str = "UTC",
        max_tokens: int = MAX_TOKENS,
        dry_run: bool = False,
    ) -> MigrationResult:
        """Takes the tasks of a HEARTBEAT.md that people wrote into the graph and puts the small file in its place.

        The old one is kept as `.pre-migration`. With ``dry_run`` it only says what would become of what.
        """
        return migrate(self.heartbeat, path, scope=scope, time_zone=time_zone, max_tokens=max_tokens, dry_run=dry_run)
