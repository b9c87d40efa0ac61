"""Items are memories whose content is their value as JSON: `remember` writes them, edits on record change and end them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol, runtime_checkable

from jochi import clock
from jochi.database.engine import Engine
from jochi.errors import JochiError, Refused, UsageError
from jochi.graph.driver_values import to_python
from jochi.policy import LoadedPolicy
from jochi.use.recall import recall
from jochi.write import remembering
from jochi.write.scope_graph import DONE, GONE, ScopeGraph

KIND = "StoreItem"
MARK = "/item:"
"""What stands between the scope and the namespace in a key; other memories of a scope aren't items."""
_PAGE = 500
_FIRST = 20
"""Recall is asked for so many at first, and for four times as many while too few of them are asked for here."""

Namespace = tuple[str, ...]
Filter = Callable[[Mapping[str, Any]], bool]


@dataclass(frozen=True)
class Item:
    """A value under ``namespace`` and ``key``. ``score``: of a search by words or meaning (`Hit.score`), else None."""

    namespace: Namespace
    key: str
    value: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    score: float | None = None


@runtime_checkable
class MemoryStore(Protocol):
    """What an agent needs of a long-term memory, whatever framework it is built with."""

    def put(self, namespace: Namespace, key: str, value: Mapping[str, Any], *, ttl: float | None = None) -> None:
        """Keeps ``value`` (JSON) in place of what was there. ``ttl``: minutes after which it may be pruned."""

    def get(self, namespace: Namespace, key: str) -> Item | None:
        """What is there, if anything is."""

    def search(
        self,
        prefix: Namespace,
        *,
        query: str | None = None,
        where: Filter | None = None,
        limit: int = 10,
        offset: int = 0,
    ) -> list[Item]:
        """Items whose namespace begins with ``prefix``: with ``query`` the best first, else in the order of their keys."""

    def delete(self, namespace: Namespace, key: str) -> None:
        """Takes an item out. What isn't there is no error."""

    def namespaces(self, prefix: Namespace = ()) -> list[Namespace]:
        """The namespaces that hold items and begin with ``prefix``, sorted."""


@dataclass(frozen=True)
class Items:
    """The items of a database.

    ``scope``: whose memories all of them are; None: the first label of a namespace is the scope. ``kind``: a kind of the policy
    with ``unique_content = false``. ``embed`` makes a query a vector of the policy's model, so that `search` goes by meaning,
    too; a worker embeds the items. `UsageError` for a namespace, key or value that can't be kept, `Refused` for what a rail or
    a forgotten text holds back; then nothing of that item was changed.
    """

    engine: Engine
    policy: LoadedPolicy
    scope: str | None = None
    kind: str = KIND
    embed: Callable[[str], Sequence[float]] | None = None
    agent: str | None = None

    def put(self, namespace: Namespace, key: str, value: Mapping[str, Any], *, ttl: float | None = None) -> None:
        """See `MemoryStore`. Another value than before is an edit: on record, and undone like a run."""
        self.put_all([(namespace, key, value, ttl)])

    def put_all(self, items: Iterable[tuple[Namespace, str, Mapping[str, Any], float | None]]) -> None:
        """Many at once; of one namespace and key the last counts."""
        wanted = {self._key(space, key): (_json(value), _minutes(ttl)) for space, key, value, ttl in items}
        left = wanted
        for _ in range(remembering.TRIES):
            known = {row["key"]: row for row in self._look(list(left))}
            again = self._remember({key: left[key] for key in left if key not in known})
            for key, row in known.items():
                content, minutes = left[key]
                outcome = DONE if row["content"] == content else self._graph(key).change(key, content, None)
                if outcome == GONE:
                    again.append(key)
                    continue
                self._edited(key, outcome)
                if row["expired"] or (row["ttl_minutes"], minutes) != (None, None):
                    self._date([{"key": key, "refresh": False, "minutes": minutes}])
            if not again:
                return
            left = {key: wanted[key] for key in again}
        raise JochiError("others wrote the same items each time", where=", ".join(left), fix="put them again")

    def get(self, namespace: Namespace, key: str, *, refresh_ttl: bool = True) -> Item | None:
        """See `MemoryStore`. ``refresh_ttl``: its time to live begins anew."""
        rows = [row for row in self._look([self._key(namespace, key)]) if not row["expired"]]
        self._refresh(rows, refresh_ttl)
        return self._item(rows[0]) if rows else None

    def search(
        self,
        prefix: Namespace,
        *,
        query: str | None = None,
        where: Filter | None = None,
        limit: int = 10,
        offset: int = 0,
        refresh_ttl: bool = True,
    ) -> list[Item]:
        """See `MemoryStore`. With ``query`` as `Jochi.recall` ranks them, of each scope of its own."""
        if limit < 0 or offset < 0:
            raise UsageError(f"limit is {limit}, offset {offset}", where="search", fix="give numbers from 0")
        rows = self._ranked(prefix, query, where, offset + limit) if query else self._pages(prefix)
        found: list[dict[str, Any]] = []
        for row in rows:
            if where is None or where(_value(row["content"])):
                found.append(row)
            if len(found) >= offset + limit:
                break
        found = found[offset : offset + limit]
        self._refresh(found, refresh_ttl)
        return [self._item(row) for row in found]

    def delete(self, namespace: Namespace, key: str) -> None:
        """See `MemoryStore`. It expires now and is not found any more; the engine prunes it as it prunes others, on record.

        `Refused` where it is pinned, to be kept for ever, or locked by an agent.
        """
        name = self._key(namespace, key)
        if any(not row["expired"] for row in self._look([name])):
            self._edited(name, self._graph(name).strike(name, None))

    def namespaces(self, prefix: Namespace = ()) -> list[Namespace]:
        """See `MemoryStore`. Without a scope of its own and without ``prefix`` every key of the database is read."""
        scope = prefix[0] if self.scope is None and prefix else self.scope
        prefix_range = None if scope is None else _escaped(scope) + MARK
        row = self.engine.call(
            "items/namespaces", {"now": clock.now(), "prefix": prefix_range, "mark": MARK}, write=False
        )
        found = (self._namespace(each["scope"], each["path"]) for each in row["namespaces"])
        return sorted(namespace for namespace in found if namespace[: len(prefix)] == tuple(prefix))

    # -- reading ----------------------------------------------------------------------------------------------------

    def _look(self, keys: list[str]) -> list[dict[str, Any]]:
        return self._read(keys=keys)

    def _read(self, **asked: Any) -> list[dict[str, Any]]:
        given = {"now": clock.now(), "keys": [], "ranges": [], "after": "", "limit": _PAGE, **asked}
        return list(to_python(self.engine.call("items/look", given, write=False)["items"]))

    def _pages(self, prefix: Namespace) -> Iterator[dict[str, Any]]:
        scopes = [self._scope(prefix)] if prefix or self.scope is not None else self._scopes()
        for scope in scopes:
            after = ""
            # Each ends with a sign that has a next one: all keys that go on from here lie below that.
            ranges = [
                {"from": each, "below": each[:-1] + chr(ord(each[-1]) + 1)}
                for each in _prefixes(scope, self._rest(prefix))
            ]
            while True:
                page = self._read(ranges=ranges, after=after)
                yield from page
                if len(page) < _PAGE:
                    break
                after = page[-1]["key"]

    def _ranked(self, prefix: Namespace, query: str, where: Filter | None, wanted: int) -> list[dict[str, Any]]:
        """What recall finds, wider until there is enough of it."""
        scopes = [self._scope(prefix)] if prefix or self.scope is not None else self._scopes()
        vector = None if self.embed is None else list(self.embed(query))
        ranked: list[dict[str, Any]] = []
        for scope in scopes:
            starts = tuple(_prefixes(scope, self._rest(prefix)))
            k, most = max(_FIRST, wanted), self.policy.policy.recall.most
            while True:
                hits = recall(self.engine, query, vector=vector, scope=scope, k=min(k, most), kinds=[self.kind])
                scores = {hit.key: hit.score for hit in hits if hit.key.startswith(starts)}
                rows = [row for row in self._look(list(scores)) if not row["expired"]]
                matches = [row for row in rows if where is None or where(_value(row["content"]))]
                if len(matches) >= wanted or len(hits) < k or k >= most:
                    break
                k *= 4
            ranked += [{**row, "score": scores[row["key"]]} for row in rows]
        return sorted(ranked, key=lambda row: (-row["score"], row["key"]))

    def _scopes(self) -> list[str]:
        row = self.engine.call("items/namespaces", {"now": clock.now(), "prefix": None, "mark": MARK}, write=False)
        return sorted({each["scope"] for each in row["namespaces"]})

    def _refresh(self, rows: Iterable[Mapping[str, Any]], wanted: bool) -> None:
        if wanted:
            self._date([{"key": row["key"], "refresh": True} for row in rows if row["ttl_minutes"] is not None])

    def _item(self, row: Mapping[str, Any]) -> Item:
        scope, _, rest = row["key"].partition(MARK)
        path, _, key = rest.partition("/")
        return Item(
            self._namespace(scope, path),
            key,
            _value(row["content"]),
            row["created_at"],
            row["updated_at"],
            row.get("score"),
        )

    # -- writing ----------------------------------------------------------------------------------------------------

    def _remember(self, rows: Mapping[str, tuple[str, float | None]]) -> list[str]:
        """Writes new items; the keys of those that somebody else wrote meanwhile."""
        now, memories = clock.now(), []
        for key, (content, minutes) in rows.items():
            scope, _, name = key.partition("/")
            properties = {}
            if minutes is not None:
                properties = {"ttl_minutes": minutes, "expires_at": now + timedelta(minutes=minutes)}
            memory = {"kind": self.kind, "scope": scope, "id": name, "content": content, "properties": properties}
            memories.append(memory)
        done = remembering.remember(self.engine, memories, now=now, agent=self.agent)
        again = []
        for result in done.results:
            if result.outcome == "reinforced" and result.owner != result.key:
                raise Refused(
                    f"{result.owner} says the same, and of kind {self.kind} a content is there once",
                    where=str(result.key),
                    fix=f"leave the kind to be {KIND}, or set unique_content = false for it in the policy",
                )
            if result.outcome == "reinforced" or result.reason == "id_taken":
                again.append(str(result.key))
        if done.refused > sum(result.reason == "id_taken" for result in done.results):
            raise remembering.SomeRefused(done)
        return again

    def _graph(self, key: str) -> ScopeGraph:
        return ScopeGraph.of(
            self.engine,
            self.policy.policy,
            key.partition("/")[0],
            include_sensitive=False,
            max_tokens=None,
            now=clock.now(),
        )

    def _edited(self, key: str, outcome: str) -> None:
        if outcome != DONE:
            raise Refused(
                f"the item {outcome}", where=key, fix=f"`jochi explain {key}` says what holds it; change that first"
            )

    def _date(self, rows: list[dict[str, Any]]) -> None:
        if rows:
            self.engine.call("items/date", {"now": clock.now(), "items": rows})

    # -- names ------------------------------------------------------------------------------------------------------

    def _scope(self, namespace: Namespace) -> str:
        return _escaped(namespace[0] if self.scope is None else self.scope)

    def _rest(self, namespace: Namespace) -> Namespace:
        return tuple(namespace[1:] if self.scope is None else namespace)

    def _key(self, namespace: Namespace, key: str) -> str:
        if not namespace or not all(isinstance(label, str) and label and "." not in label for label in namespace):
            raise UsageError(
                f"{namespace!r} is no namespace",
                where="put",
                fix="give a tuple of texts that aren't empty and have no .",
            )
        if not isinstance(key, str) or not key:
            raise UsageError(f"{key!r} is no key", where="put", fix="give a text that isn't empty")
        return f"{self._scope(namespace)}{MARK}{'.'.join(map(_escaped, self._rest(namespace)))}/{key}"

    def _namespace(self, scope: str, path: str) -> Namespace:
        rest = tuple(_plain(label) for label in path.split(".")) if path else ()
        return rest if self.scope is not None else (_plain(scope), *rest)


def _prefixes(scope: str, rest: Namespace) -> list[str]:
    """What the keys under a namespace begin with: its own items, and those of namespaces beneath it."""
    path = scope + MARK + ".".join(map(_escaped, rest))
    return [f"{path}/", f"{path}."] if rest else [path]


def _escaped(label: str) -> str:
    return label.replace("%", "%25").replace("/", "%2F")


def _plain(label: str) -> str:
    return label.replace("%2F", "/").replace("%25", "%")


def _json(value: Mapping[str, Any]) -> str:
    try:
        if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
            raise TypeError("no mapping with texts as names")
        return json.dumps(dict(value), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(
            f"the value can't be kept as JSON: {error}", where="put", fix="give a mapping of JSON values"
        ) from None


def _value(content: str | None) -> dict[str, Any]:
    """What was put; of an item that forgetting cut, what it left."""
    try:
        value = json.loads(content or "")
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"content": content}


def _minutes(ttl: float | None) -> float | None:
    if ttl is None or (not isinstance(ttl, bool) and isinstance(ttl, int | float) and 0 <= ttl < float("inf")):
        return ttl
    raise UsageError(f"ttl is {ttl!r}", where="put", fix="give minutes as a number from 0, or None")
