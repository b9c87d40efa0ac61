"""Indexes whose form the policy decides: what recall asks (by meaning and by words), and one a type of relationship that fades.

They can't be migrations, which never change. Install compares what is there with what the policy wants and makes, changes
or drops; changing is dropping and making again, and meanwhile recall does without (docs/reference/recall.md).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from neo4j.exceptions import Neo4jError

from jochi.compile.rendering import render_for_label, render_statement
from jochi.database.database import Database
from jochi.database.statements import statement
from jochi.errors import JochiError, Refused
from jochi.graph.catalogue import ON_EDGES
from jochi.policy import Policy

VECTOR_INDEX = "vector_index_Curated_embedding"
TEXT_INDEX = "curated_text"
EDGE_PREFIX = "curated_edge_due_"

WAIT_SECONDS = 600.0
_LOOK_EVERY = 0.2

Row = Mapping[str, Any]
Say = Callable[[str], None]


@dataclass(frozen=True)
class Index:
    """One index as the policy wants it. ``config`` holds what is compared and handed to the server, in its own words."""

    name: str
    type: str
    entity: str
    label: str
    properties: tuple[str, ...]
    command: str = field(repr=False)
    """The statement that makes it; its one parameter is $options."""
    config: Mapping[str, Any] = field(default_factory=dict)

    def find(self, rows: Iterable[Row]) -> Row | None:
        """The index of its name, or another that serves as well: a range index is not asked by its name, so a DBA's own will do."""
        of_name = {row["name"]: row for row in rows if row["name"] == self.name or self._serves(row)}
        return of_name.get(self.name) or next(iter(of_name.values()), None)

    def is_right(self, row: Row) -> bool:
        """Whether ``row`` is as wanted; what the policy doesn't speak of (quantization …) is the DBA's."""
        have = row["options"]["indexConfig"]
        return row["properties"] == list(self.properties) and all(
            _same(have.get(key), value) for key, value in self.config.items()
        )

    def _serves(self, row: Row) -> bool:
        return self.type == "RANGE" and _form(row) == (self.type, self.entity, [self.label], list(self.properties))

    def __str__(self) -> str:
        row = {"labels": [self.label], "properties": self.properties, "options": {"indexConfig": self.config}}
        return told({"type": self.type, "entity": self.entity, **row})


@dataclass(frozen=True)
class IndexChange:
    """What install did to one index: ``done`` is created, changed, dropped or rebuilt; ``why`` says what was different."""

    name: str
    done: str
    why: str


def recall_indexes(policy: Policy) -> list[Index]:
    """The vector index (its dimension is the policy's) and the full-text index (its properties are)."""
    text = Index(
        TEXT_INDEX,
        "FULLTEXT",
        "NODE",
        "Curated",
        (*policy.content_names(), "scope"),
        render_statement("_indexes/curated_text", policy),
        # Said outright: the server's default analyzer is a setting of its own.
        {"fulltext.analyzer": "standard-no-stop-words", "fulltext.eventually_consistent": False},
    )
    if not policy.embedding.enabled:
        return [text]
    config = {"vector.dimensions": policy.embedding.dimensions, "vector.similarity_function": "cosine"}
    command = statement("install/create_vector_index")
    return [Index(VECTOR_INDEX, "VECTOR", "NODE", "Curated", ("embedding",), command, config), text]


def edge_indexes(policy: Policy) -> list[Index]:
    """The due queues of edges: a range index is on one type of relationship (docs/reference/edges.md)."""
    types = [entry.type for entry in policy.edges.types]
    command = "_indexes/edge_due"
    return [
        Index(EDGE_PREFIX + type, "RANGE", "RELATIONSHIP", type, ("next_due",), render_for_label(command, type))
        for type in types
    ]


def wanted_indexes(policy: Policy) -> list[Index]:
    """All indexes that ``policy`` asks for."""
    return [*recall_indexes(policy), *edge_indexes(policy)]


def read(database: Database) -> list[dict[str, Any]]:
    """What there is under Jochi's names or serves like it, as `install/show_indexes` returns it."""
    named = {"names": [VECTOR_INDEX, TEXT_INDEX], "prefix": EDGE_PREFIX}
    return database.run(statement("install/show_indexes"), named, write=False)


def require_no_foreign(database: Database) -> None:
    """Raises `Refused` where an index of one of the names isn't Jochi's. Changes nothing."""
    for row in read(database):
        if is_foreign(row):
            raise Refused(
                f"there is an index {row['name']} already, on {told(row)}: it isn't Jochi's",
                where=f"database {database.name}",
                fix="drop it or make it again under another name, then run `jochi install` again",
            )


def reconcile(database: Database, policy: Policy, *, on_progress: Say | None = None) -> list[IndexChange]:
    """Makes the indexes as ``policy`` wants them; returns what was changed. They are built in the background: `await_built`.

    Nothing is touched before all of it is checked: `Refused` where an index of one of the names isn't Jochi's,
    `JochiError` where the server won't make one.
    """
    changes = planned_changes(database, policy)
    wanted = {index.name: index for index in wanted_indexes(policy)}
    for change in changes:
        if change.done != "dropped" and on_progress is not None:
            on_progress(f"making the index {change.name}")
        if change.done != "created":
            _drop(database, change.name)
        if change.done != "dropped":
            _create(database, wanted[change.name])
    return changes


def planned_changes(database: Database, policy: Policy) -> list[IndexChange]:
    """What `reconcile` would do now. Writes nothing; raises `Refused` as it does."""
    require_no_foreign(database)
    rows, wanted = read(database), wanted_indexes(policy)
    names = {index.name for index in wanted}
    changes = [
        IndexChange(row["name"], "dropped", "the policy doesn't ask for it any more")
        for row in rows
        if is_ours(row) and row["name"] not in names
    ]
    for index in wanted:
        row = index.find(rows)
        if row is None:
            changes.append(IndexChange(index.name, "created", str(index)))
        elif row["name"] != index.name:
            continue
        elif row["state"] == "FAILED":
            changes.append(IndexChange(index.name, "rebuilt", f"it had failed: {row['failure']}"))
        elif not index.is_right(row):
            changes.append(IndexChange(index.name, "changed", f"{told(row)} → {index}"))
    return changes


def await_built(
    database: Database,
    indexes: Sequence[Index],
    *,
    on_progress: Say | None = None,
    wait_seconds: float = WAIT_SECONDS,
) -> None:
    """Waits until ``indexes`` are ONLINE, and says how far they are.

    `JochiError` where one can't be built, or isn't within ``wait_seconds``: it goes on building, and install can be repeated.
    """
    until = time.monotonic() + wait_seconds
    while True:
        rows, waiting = read(database), []
        for index in indexes:
            row = index.find(rows)
            if row is not None and row["state"] == "FAILED":
                raise JochiError(
                    f"the index can't be built: {row['failure']}",
                    where=f"index {row['name']} on {index}",
                    fix="remove the cause (or the index, if it isn't Jochi's) and run `jochi install` again",
                )
            if row is None or row["state"] != "ONLINE":
                waiting.append(f"{index.name} {row['percent'] if row else 0:.0f} %")
        if not waiting:
            return
        if on_progress is not None:
            on_progress(f"building {', '.join(waiting)}")
        if time.monotonic() > until:
            raise JochiError(
                f"not built within {wait_seconds:.0f} s: {', '.join(waiting)}",
                where=f"database {database.name}",
                fix="it goes on building by itself; `jochi doctor` shows when it is ONLINE",
            )
        time.sleep(_LOOK_EVERY)


def remove(database: Database) -> list[str]:
    """Drops those of the indexes that are Jochi's and takes what the engine keeps on edges off them; returns their names."""
    mine = [row for row in read(database) if is_ours(row)]
    for row in mine:
        if row["entity"] == "RELATIONSHIP":
            database.autocommit(render_for_label("_indexes/edge_forget", row["labels"][0]), {"names": ON_EDGES})
        _drop(database, row["name"])
    return [row["name"] for row in mine]


def _create(database: Database, index: Index) -> None:
    try:
        database.run(index.command, {"options": {"indexConfig": dict(index.config)}})
    except Neo4jError as error:
        if (error.code or "").endswith(("EquivalentSchemaRuleAlreadyExists", "IndexAlreadyExists")):
            return  # another install made it between the server's look and its writing; `await_built` sees whether it is right
        raise JochiError(
            f"the server won't make it: {error.message}",
            where=f"index {index.name} on {index}",
            fix="remove the cause and run `jochi install` again",
        ) from error


def _drop(database: Database, name: str) -> None:
    database.run(statement("migrations/drop_index"), {"name": name})


def is_ours(row: Row) -> bool:
    """Whether it has one of the names and some policy of Jochi's could have made it."""
    type, entity, labels, properties = _form(row)
    on = {
        VECTOR_INDEX: ("VECTOR", "NODE", ["Curated"], ["embedding"]),
        TEXT_INDEX: ("FULLTEXT", "NODE", ["Curated"], properties),
    }.get(row["name"], ("RANGE", "RELATIONSHIP", [row["name"].removeprefix(EDGE_PREFIX)], ["next_due"]))
    return row["constraint"] is None and _has_our_name(row) and (type, entity, labels, properties) == on


def is_foreign(row: Row) -> bool:
    return _has_our_name(row) and not is_ours(row)


def _has_our_name(row: Row) -> bool:
    return row["name"] in (VECTOR_INDEX, TEXT_INDEX) or row["name"].startswith(EDGE_PREFIX)


def _form(row: Row) -> tuple[str, str, list[str] | None, list[str] | None]:
    return row["type"], row["entity"], row["labels"], row["properties"]


def told(row: Row) -> str:
    """For people: what the index is on."""
    labels, properties = "|".join(row["labels"] or []), ", ".join(row["properties"] or [])
    on = f"-[:{labels}]-({properties})" if row["entity"] == "RELATIONSHIP" else f":{labels}({properties})"
    dimension = row["options"]["indexConfig"].get("vector.dimensions")
    kind = f" ({row['type']})" if row["entity"] == "NODE" and row["type"] not in ("VECTOR", "FULLTEXT") else ""
    return on + (f", {dimension} dimensions" if dimension else "") + kind


def _same(have: Any, want: Any) -> bool:
    return have.lower() == want.lower() if isinstance(have, str) and isinstance(want, str) else bool(have == want)
