"""Verbs for pairs of near duplicates, and what a person decides of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from jochi.client.base import Base, on_engine
from jochi.curate.duplicates import (
    Decided,
    Decision,
    DuplicateCounts,
    PairToDecide,
    count_pairs,
    decide_pairs,
    list_pairs,
)
from jochi.users import operating_system_user


class DuplicateVerbs(Base):
    duplicates = on_engine(list_pairs)

    def count_duplicates(self, *, scope: str | None = None, kind: str | None = None) -> DuplicateCounts:
        """How many such pairs there are, by where they stand and why. Reads every flag."""
        return count_pairs(self.engine, self._server_now(), scope=scope, kind=kind)

    def decide_duplicates(
        self, pairs: Iterable[PairToDecide | Sequence[str]], decision: Decision, *, by: str | None = None
    ) -> list[Decided]:
        """Says of near duplicates that they may merge ('approved') or never do ('rejected'), whatever was judged.

        ``pairs``: two keys each, or `PairToDecide`, which has the hashes that were seen; results come in their order.
        Remembered for as long as both contents stay what they are. `UsageError` for what is no pair.
        """
        who = by or operating_system_user()
        return decide_pairs(self.engine, pairs, decision, now=self._server_now(), by=who)
