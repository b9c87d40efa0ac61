"""The handler that every worker has: content hashes, token counts, names of slots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jochi.text.content_properties import content_properties
from jochi.text.slot_names import slot_name_of
from jochi.text.tokens import ESTIMATE_COUNTER, EXACT_COUNTER, TokenCounter, best_counter
from jochi_workers.handler import Outcome, Row, one_by_one


class PrepareHandler:
    """Hashes content, names slots of facts, and counts tokens with ``counter`` (default: the best there is on this machine)."""

    name: str = "prepare"

    def __init__(self, counter: TokenCounter | None = None, *, stopping: Callable[[], bool] = lambda: False) -> None:
        self.counter = counter or best_counter()
        self._stopping = stopping

    @property
    def exact(self) -> bool:
        return self.counter.name != ESTIMATE_COUNTER

    def handle(self, rows: Sequence[Row]) -> Outcome:
        return one_by_one(rows, self._values, self._stopping)

    def _values(self, row: Row) -> dict[str, Any]:
        slot = slot_name_of(row["said"]) if row.get("said") else None
        values: dict[str, Any] = {"slot_name": slot.name, "slot_value": slot.value} if slot else {}
        if row["content"] is None:
            return values
        values |= content_properties(row["content"])
        if self._recount(row, changed=row["content_hash"] not in (None, values["content_hash"])):
            values |= {"token_count": self.counter.count(row["content"]), "token_counter": self.counter.name}
        return values

    @staticmethod
    def _recount(row: Row, *, changed: bool) -> bool:
        """Whether the stored count is missing, an estimate, or of another content. What the app counted itself stays."""
        counter = row["token_counter"]
        if row["content_hash"] is None and counter == EXACT_COUNTER:
            return True  # who took the hash away changed the content, maybe
        return changed or row["token_count"] is None or counter is None or str(counter).startswith("estimate:")
