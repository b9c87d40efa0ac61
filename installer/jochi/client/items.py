"""Items of agents: values under namespaces and keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jochi.client.base import Base
from jochi.store import Items
from jochi.store.items import KIND


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
