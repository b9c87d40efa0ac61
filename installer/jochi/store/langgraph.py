"""LangGraph's long-term store over `jochi.store.Items` (extra [langgraph]; docs/reference/langgraph.md)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jochi.errors import UsageError
from jochi.extras import extra_named
from jochi.store.items import KIND, Item

with extra_named():
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
        validate_op_namespace,
    )
    from langgraph.store.base import Item as StoredItem

if TYPE_CHECKING:
    from jochi.client import Jochi

_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda value, other: bool(value == other),
    "$ne": lambda value, other: bool(value != other),
    "$gt": lambda value, other: float(value) > float(other),
    "$gte": lambda value, other: float(value) >= float(other),
    "$lt": lambda value, other: float(value) < float(other),
    "$lte": lambda value, other: float(value) <= float(other),
}


class JochiStore(BaseStore):
    """A `BaseStore` whose items are memories that the database curates. Arguments as `Jochi.items` has them.

    Its async methods run the sync ones in a thread.
    """

    supports_ttl = True

    def __init__(
        self,
        client: Jochi,
        *,
        scope: str | None = None,
        kind: str = KIND,
        embed: Callable[[str], Sequence[float]] | None = None,
        agent: str | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        self.items = client.items(scope, kind=kind, embed=embed, agent=agent)
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Reads first, then writes; of two writes of one item the last."""
        operations = list(ops)
        for op in operations:
            validate_op_namespace(op)
        results = [None if isinstance(op, PutOp) else self._read(op) for op in operations]
        puts = {(op.namespace, op.key): op for op in operations if isinstance(op, PutOp)}.values()
        self.items.put_all((op.namespace, op.key, op.value, op.ttl) for op in puts if op.value is not None)
        for op in puts:
            if op.value is None:
                self.items.delete(op.namespace, op.key)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """As `batch`, in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _read(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            item = self.items.get(op.namespace, op.key, refresh_ttl=op.refresh_ttl)
            return None if item is None else StoredItem(**_fields(item))
        if isinstance(op, SearchOp):
            found = self.items.search(
                op.namespace_prefix,
                query=op.query,
                where=_where(op.filter) if op.filter else None,
                limit=op.limit,
                offset=op.offset,
                refresh_ttl=op.refresh_ttl,
            )
            return [SearchItem(**_fields(item), score=item.score) for item in found]
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        raise UsageError(f"{op!r} is no operation of a store", where="batch")

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        conditions = op.match_conditions or ()
        known = next(
            (each.path[:1] for each in conditions if each.match_type == "prefix" and each.path[:1] != ("*",)), ()
        )
        found = [each for each in self.items.namespaces(known) if all(_matches(one, each) for one in conditions)]
        cut = sorted({each if op.max_depth is None else each[: op.max_depth] for each in found})
        return cut[op.offset : op.offset + op.limit]


def _fields(item: Item) -> dict[str, Any]:
    return {name: getattr(item, name) for name in ("namespace", "key", "value", "created_at", "updated_at")}


def _matches(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    path = condition.path
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[-len(path) :]
    return len(part) == len(path) and all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))


def _where(conditions: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], bool]:
    return lambda value: all(_fits(value.get(name), wanted) for name, wanted in conditions.items())


def _fits(value: Any, wanted: Any) -> bool:
    """As LangGraph's stores compare: a mapping with operators, part of a mapping, lists item by item, else equal."""
    if isinstance(wanted, Mapping):
        if any(name.startswith("$") for name in wanted):
            return all(_compared(value, name, other) for name, other in wanted.items())
        return isinstance(value, Mapping) and all(_fits(value.get(name), other) for name, other in wanted.items())
    if isinstance(wanted, list | tuple):
        return (
            isinstance(value, list | tuple)
            and len(value) == len(wanted)
            and all(_fits(one, other) for one, other in zip(value, wanted, strict=True))
        )
    return bool(value == wanted)


def _compared(value: Any, operator: str, other: Any) -> bool:
    if operator not in _COMPARED:
        raise UsageError(
            f"{operator} is no operator of a filter", where="search", fix=f"give one of {', '.join(_COMPARED)}"
        )
    return _COMPARED[operator](value, other)
