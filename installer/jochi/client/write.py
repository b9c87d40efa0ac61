"""Verbs that write memories: remember, fact slots, enrolment of nodes that exist."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import partial
from typing import Any, Literal, overload

from jochi import clock
from jochi.client.base import Base
from jochi.forgetting.retrieval import Embed
from jochi.use import slots
from jochi.use.recall import recall
from jochi.use.slots import SlotResult, Validity
from jochi.write import remembering
from jochi.write.enrolling import DisenrolResult, EnrolmentPlan, EnrolResult, disenrol, enrol, plan_enrolment
from jochi.write.remembering import Memory, RememberResult
from jochi.write.replacement import ReplaceResult, replace_statement


class WriteVerbs(Base):
    def remember(
        self,
        memories: Iterable[Memory | Mapping[str, Any]] | Memory | Mapping[str, Any],
        *,
        agent: str | None = None,
        now: datetime | None = None,
        batch_size: int = remembering.BATCH_SIZE,
        on_refused: Literal["report", "raise"] = "report",
        on_result: Callable[[remembering.Result], None] | None = None,
    ) -> RememberResult:
        """Writes memories of any kind with their relationships; what is known already is reinforced, not doubled.

        One memory or any number, also a generator: it is read batch by batch. A mapping has the fields of `Memory`; text
        under a name of a moment (`…_at`, `…_until`, `is_moment`) may be ISO 8601. Each memory is judged by itself: one that
        is refused takes no other with it (reason codes: docs/reference/remember.md). Facts get into their slots at once.
        ``agent`` is who remembers; a ``now`` further ahead than the policy's `content.date_ahead` is a `UsageError`.
        ``on_refused`` `raise` stops after the batch (of 1 to 5,000 memories, one transaction) that holds a refused one, with
        `SomeRefused`. `RememberInterrupted` if the server goes away.
        """
        return remembering.remember(
            self.engine,
            memories,
            now=self._at(now, "remember", "now"),
            agent=agent,
            batch_size=batch_size,
            on_refused=on_refused,
            on_result=on_result,
        )

    @overload
    def supersede(self, keys: Iterable[str], *, now: datetime | None = None) -> list[SlotResult]: ...
    @overload
    def supersede(
        self,
        keys: str,
        new: str,
        *,
        scope: str = "default",
        key: str | None = None,
        statement: str | None = None,
        embed: Embed | None = None,
        dry_run: bool = False,
        now: datetime | None = None,
    ) -> ReplaceResult: ...
    def supersede(
        self,
        keys: Iterable[str],
        new: str | None = None,
        *,
        scope: str = "default",
        key: str | None = None,
        statement: str | None = None,
        embed: Embed | None = None,
        dry_run: bool = False,
        now: datetime | None = None,
    ) -> list[SlotResult] | ReplaceResult:
        """Puts facts that exist (`scope/id`, any number) into their slots: one value of a subject's attribute holds at a time.

        `remember` and the models do so by themselves; this is for facts that were written otherwise or before. In the order of
        ``keys``; one that belongs in no slot says why. Can be repeated.

        With ``new`` the first argument is what is said until now, in the words of the memories (`lives in Lyon`) or in others
        (`Ann's home`): in all memories of ``scope`` that state it this one statement goes and ``new``, a sentence, is said in its
        place; what they say besides stays. In other words it acts only on what is meant without doubt (`[forgetting] sure` and
        `margin`), else `ReplaceResult.candidates` has the list: name one by ``key``, and where it says more than is meant its
        ``statement`` or one of its `parts`. ``embed`` makes a text a vector of the policy's model and orders them by meaning, too.
        ``dry_run`` writes nothing. `undo` of `ReplaceResult.run` takes it back.
        docs/reference/forgetting.md.
        """
        at = self._at(now, "supersede", "now")
        if new is None:
            return slots.supersede(self.engine, keys, now=at)
        return replace_statement(
            self.engine,
            self.policy.policy,
            str(keys),
            new,
            scope=scope,
            now=at,
            recall=partial(recall, self.engine),
            key=key,
            statement=statement,
            embed=embed,
            dry_run=dry_run,
        )

    async def supersede_async(
        self,
        old: str,
        new: str,
        *,
        scope: str = "default",
        key: str | None = None,
        statement: str | None = None,
        embed: Embed | None = None,
        dry_run: bool = False,
        now: datetime | None = None,
    ) -> ReplaceResult:
        """`supersede(old, new)` for a program with an event loop: it waits for the database in a thread."""
        return await asyncio.to_thread(
            self.supersede,
            old,
            new,
            scope=scope,
            key=key,
            statement=statement,
            embed=embed,
            dry_run=dry_run,
            now=now,
        )

    def history_of(self, scope: str, subject: str, attribute: str, at: datetime | None = None) -> list[Validity]:
        """What held of a subject's attribute and when, oldest first; with ``at`` only what held then. Writes nothing."""
        return slots.history(self.engine, scope, subject, attribute, at=at)

    def plan_enrolment(
        self, label: str, *, generate_ids: bool = False, on_progress: Callable[[int], None] | None = None
    ) -> EnrolmentPlan:
        """What `enrol` would do with the nodes of ``label``, and what would be due at once. Writes nothing."""
        return plan_enrolment(self.engine, label, now=clock.now(), generate_ids=generate_ids, on_progress=on_progress)

    def enrol(
        self,
        label: str,
        *,
        generate_ids: bool = False,
        page: int = 2_000,
        on_progress: Callable[[EnrolResult], None] | None = None,
    ) -> EnrolResult:
        """Makes memories of the nodes of ``label`` that can be, ``page`` of them in a transaction; run it again at will."""
        return enrol(self.engine, label, now=clock.now(), generate_ids=generate_ids, page=page, on_progress=on_progress)

    def disenrol(
        self,
        label: str,
        *,
        keep_tombstones: bool = False,
        on_progress: Callable[[DisenrolResult], None] | None = None,
    ) -> DisenrolResult:
        """Takes back what enrolment added to the nodes of ``label``; brings pruned ones back first."""
        return disenrol(self.engine, label, keep_tombstones=keep_tombstones, on_progress=on_progress)
