"""Verbs for conversations as they go on (seed 003, Write Path)."""

from __future__ import annotations

import asyncio
from datetime import datetime
from functools import cached_property

from jochi.client.base import Base
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
