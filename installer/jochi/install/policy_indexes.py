"""Indexes whose form the policy decides: the vector index (its dimension) and the full-text index (its properties).

They can't be migrations, which never change. Install compares what is there with what the policy wants and makes, changes
or drops; changing is dropping and making again, and meanwhile recall does without (see docs/reference/recall.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from jochi.database import Database
from jochi.errors import Refused
from jochi.install.indexes import WAIT_SECONDS, IndexChange, await_online, create, drop
from jochi.operate.check import Check, fail, ok, warn
from jochi.policy import Policy
from jochi.rendering.procedure import render_statement
from jochi.resources import statement

VECTOR_INDEX = "vector_index_Curated_embedding"
TEXT_INDEX = "curated_text"
LABEL = "Curated"


@dataclass(frozen=True)
class PolicyIndex:
    """One index as the policy wants it. ``config`` holds what is compared and handed to the server, in its own words."""

    name: str
    type: str
    properties: tuple[str, ...]
    config: Mapping[str, Any]
    command: str
    """The statement that makes it; its one parameter is $options."""

    @property
    def form(self) -> str:
        """For people: what the index is on."""
        dimension = self.config.get("vector.dimensions")
        return f":{LABEL}({', '.join(self.properties)})" + (f", {dimension} dimensions" if dimension else "")

    def is_ours(self, row: Mapping[str, Any]) -> bool:
        """Whether ``row`` is an index that some policy of Jochi's could have made."""
        return (
            row["type"] == self.type
            and row["entity"] == "NODE"
            and row["labels"] == [LABEL]
            and row["constraint"] is None
            and (row["properties"] == list(self.properties) or self.type == "FULLTEXT")
        )

    def is_right(self, row: Mapping[str, Any]) -> bool:
        """Whether ``row`` is as wanted; what the policy doesn't speak of (quantization …) is the DBA's."""
        have = row["options"]["indexConfig"]
        return row["properties"] == list(self.properties) and all(
            _same(have.get(key), value) for key, value in self.config.items()
        )


def wanted_indexes(policy: Policy) -> list[PolicyIndex]:
    """The indexes that ``policy`` asks for."""
    text = PolicyIndex(
        TEXT_INDEX,
        "FULLTEXT",
        (*policy.content_names(), "scope"),
        # Said outright: the server's default analyzer is a setting of its own.
        {"fulltext.analyzer": "standard-no-stop-words", "fulltext.eventually_consistent": False},
        render_statement("_indexes/curated_text", policy),
    )
    if not policy.embedding.enabled:
        return [text]
    vector = PolicyIndex(
        VECTOR_INDEX,
        "VECTOR",
        ("embedding",),
        {"vector.dimensions": policy.embedding.dimensions, "vector.similarity_function": "cosine"},
        statement("install/create_vector_index"),
    )
    return [vector, text]


def require_no_foreign(database: Database) -> None:
    """Raises `Refused` where an index of one of the names isn't Jochi's. Changes nothing."""
    for name, row in _read(database).items():
        if not _could_be_ours(name, row):
            raise Refused(
                f"there is an index {name} already, on {_form(row)}: it isn't Jochi's",
                where=f"database {database.name}",
                fix="drop it or make it again under another name, then run `jochi install` again",
            )


def reconcile(
    database: Database, policy: Policy, *, on_progress: Callable[[str], None] | None = None
) -> list[IndexChange]:
    """Makes the indexes as ``policy`` wants them; returns what was changed. They are built in the background: `await_built`.

    Nothing is touched before all of it is checked: `Refused` where an index of one of the names isn't Jochi's,
    `JochiError` where the server won't make one.
    """
    say = on_progress or (lambda _message: None)
    require_no_foreign(database)
    wanted = {index.name: index for index in wanted_indexes(policy)}
    there = _read(database)
    changes: list[IndexChange] = []
    if VECTOR_INDEX in there and VECTOR_INDEX not in wanted:
        drop(database, VECTOR_INDEX)
        changes.append(IndexChange(VECTOR_INDEX, "dropped", "embedding.enabled = false"))
    for index in wanted.values():
        row = there.get(index.name)
        if row is not None and row["state"] != "FAILED" and index.is_right(row):
            continue
        if row is None:
            changes.append(IndexChange(index.name, "created", index.form))
        else:
            failed = row["state"] == "FAILED"
            why = f"it had failed: {row['failure']}" if failed else f"{_form(row)} → {index.form}"
            changes.append(IndexChange(index.name, "rebuilt" if failed else "changed", why))
            drop(database, index.name)
        say(f"making the index {index.name}")
        options = {"indexConfig": dict(index.config)}
        create(database, index.command, f"{index.name} on {index.form}", {"options": options})
    return changes


def await_built(
    database: Database,
    policy: Policy,
    *,
    on_progress: Callable[[str], None] | None = None,
    wait_seconds: float = WAIT_SECONDS,
) -> None:
    """Waits until the indexes of ``policy`` are ONLINE, and says how far they are.

    `JochiError` where one can't be built, or isn't within ``wait_seconds``: it goes on building, and install can be repeated.
    """
    names = [index.name for index in wanted_indexes(policy)]

    def look() -> list[tuple[str, Mapping[str, Any] | None]]:
        there = _read(database)
        return [(name, there.get(name)) for name in names]

    await_online(database, look, on_progress=on_progress, wait_seconds=wait_seconds)


def remove(database: Database) -> list[str]:
    """Drops those of the indexes that are Jochi's; returns their names. For uninstall."""
    mine = [name for name, row in _read(database).items() if _could_be_ours(name, row)]
    for name in mine:
        drop(database, name)
    return mine


def check(policy: Policy, rows: Iterable[Mapping[str, Any]]) -> Check:
    """The doctor's check; ``rows`` as `install/show_named_indexes` returns them."""
    there = {row["name"]: row for row in rows}
    wanted = {index.name: index for index in wanted_indexes(policy)}
    foreign = [name for name, row in there.items() if not _could_be_ours(name, row)]
    if foreign:
        on = [f"{name} is on {_form(there[name])}" for name in foreign]
        return fail(
            "recall indexes",
            f"not Jochi's: {', '.join(on)}",
            "drop or rename it, then run `jochi install`",
        )
    missing = [name for name in wanted if name not in there]
    if missing:
        return fail("recall indexes", f"gone: {', '.join(missing)}", "run `jochi install`")
    failed = [name for name in wanted if there[name]["state"] == "FAILED"]
    if failed:
        reasons = [f"{name}: {there[name]['failure']}" for name in failed]
        return fail(
            "recall indexes",
            f"FAILED: {', '.join(reasons)}",
            "run `jochi install`: it builds them again",
        )
    wrong = [
        f"{name} is on {_form(there[name])}, the policy says {index.form}"
        for name, index in wanted.items()
        if not index.is_right(there[name])
    ]
    wrong += [f"{name} is there, the policy has embeddings switched off" for name in there if name not in wanted]
    if wrong:
        return fail("recall indexes", "; ".join(wrong), "run `jochi install`: the policy is the source")
    filling = [f"{name} {there[name]['percent']:.0f} %" for name in wanted if there[name]["state"] != "ONLINE"]
    if filling:
        return warn(
            "recall indexes", f"POPULATING: {', '.join(filling)}", "wait: recall by meaning is slow and by words off"
        )
    online = [f"{name} on {index.form}" for name, index in wanted.items()]
    return ok("recall indexes", f"ONLINE: {'; '.join(online)}")


def read_rows(database: Database) -> list[dict[str, Any]]:
    """The rows for `check`."""
    return database.run(statement("install/show_named_indexes"), {"names": [VECTOR_INDEX, TEXT_INDEX]}, write=False)


def _read(database: Database) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in read_rows(database)}


def _could_be_ours(name: str, row: Mapping[str, Any]) -> bool:
    kind, properties = ("VECTOR", ("embedding",)) if name == VECTOR_INDEX else ("FULLTEXT", ())
    return PolicyIndex(name, kind, properties, {}, "").is_ours(row)


def _form(row: Mapping[str, Any]) -> str:
    dimension = row["options"]["indexConfig"].get("vector.dimensions")
    on = f":{'|'.join(row['labels'] or [])}({', '.join(row['properties'] or [])})"
    kind = "" if row["type"] in ("VECTOR", "FULLTEXT") else f" ({row['type']})"
    return on + (f", {dimension} dimensions" if dimension else "") + kind


def _same(have: Any, want: Any) -> bool:
    return have.lower() == want.lower() if isinstance(have, str) and isinstance(want, str) else bool(have == want)
