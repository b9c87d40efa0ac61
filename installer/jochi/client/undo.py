"""Verbs that take back what was done: restore, undo, unmerge, decompress."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from datetime import datetime

from jochi.client.base import Base
from jochi.database.database import Row
from jochi.graph.driver_values import keys_of, read_as
from jochi.undo import undo
from jochi.undo.decompress import take_compressions_back
from jochi.undo.results import DecompressResult, RestoreResult, UnmergeResult
from jochi.undo.undo import UndoResult
from jochi.undo.unmerge import take_merges_back
from jochi.undo.violations import Violation, row_by_row
from jochi.use import slots
from jochi.users import operating_system_user


class UndoVerbs(Base):
    def restore(
        self, keys: Sequence[str], *, audit: str | None = None, now: datetime | None = None
    ) -> list[RestoreResult]:
        """Brings pruned memories (`scope/id`) back; ``audit`` names one of several tombstones of a key.

        One that a constraint of an application forbids stays pruned and is named with it; the others come back.
        """
        named = keys_of(keys, where="restore")
        when = self._now(now, "restore")
        parameters = {"now": when, "audit": audit, "run": f"restore/{uuid.uuid4()}"}
        found: list[RestoreResult] = []

        def call(keys: list[str]) -> list[Row]:
            results: list[Row] = self.engine.call("memory/restore", {**parameters, "keys": keys})["results"]
            return results

        for part, results in row_by_row(self.database, list(dict.fromkeys(named)), call):
            rows = [{"key": part[0], **results.columns}] if isinstance(results, Violation) else results
            slots.settle(self.engine, [{"key": row["key"]} for row in rows if row.get("slotted")], now=when)
            found += [read_as(RestoreResult, row) for row in rows]
        return found

    def undo(
        self,
        target: str | datetime,
        *,
        dry_run: bool = False,
        force: bool = False,
        now: datetime | None = None,
        on_page: Callable[[int], None] | None = None,
    ) -> UndoResult:
        """Takes back what a run did (``target``: its id), or all that the engine did since a moment (an aware datetime).

        Newest first. What changed since stays as it is and is named, unless ``force``. What goes back is held for 30 days (policy,
        `rails.hold`). ``dry_run`` writes nothing and names every action. An undo is a run itself and can be undone; one that
        was cut off goes on when it is called again (docs/reference/audit-and-undo.md).
        """
        return undo.undo(
            self.engine,
            target,
            now=self._now(now, "undo"),
            by=operating_system_user(),
            dry_run=dry_run,
            force=force,
            on_page=on_page,
        )

    def unmerge(
        self, keys: Sequence[str], *, dry_run: bool = False, now: datetime | None = None
    ) -> list[UnmergeResult]:
        """Takes merges back: ``keys`` (`scope/id`) name memories that were merged away (docs/reference/merge.md).

        Both become what they were; what has changed since stays as it is and is named. ``dry_run`` writes nothing. Of a chain
        take the last merge back first, or the earlier one gets back only what is still where that merge left it.
        """
        named = keys_of(keys, where="unmerge")
        return take_merges_back(self.engine, named, now=self._now(now, "unmerge"), dry_run=dry_run)

    def decompress(
        self, keys: Sequence[str], *, dry_run: bool = False, now: datetime | None = None
    ) -> list[DecompressResult]:
        """Brings back the contents that compression took (docs/reference/compression.md). One that was written since stays."""
        named = keys_of(keys, where="decompress")
        parameters = {"now": self._now(now, "decompress"), "audits": None, "dry_run": dry_run}
        return take_compressions_back(self.engine, named, {**parameters, "run": f"decompress/{uuid.uuid4()}"})
