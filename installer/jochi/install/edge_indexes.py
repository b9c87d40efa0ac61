"""The due queues of edges: one range index for each relationship type of `[edges]`, made and dropped as the policy says.

A range index is on one type, so they can't be migrations. Any range index on `next_due` of a type will do, whoever made it;
dropped are only those with Jochi's name (docs/reference/edges.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from jochi.database import Database
from jochi.errors import Refused
from jochi.install.indexes import IndexChange, await_online, create, drop
from jochi.operate.check import Check, fail, ok, warn
from jochi.policy import Policy
from jochi.rendering.procedure import render_for_label
from jochi.resources import statement

PREFIX = "curated_edge_due_"
_PAGE = 5_000

Rows = Iterable[Mapping[str, Any]]


def wanted_types(policy: Policy) -> list[str]:
    """The types that need an index."""
    return [entry.type for entry in policy.edges.types]


def read_rows(database: Database) -> list[dict[str, Any]]:
    """What there is, as `install/show_edge_indexes` returns it."""
    return database.run(statement("install/show_edge_indexes"), {"prefix": PREFIX}, write=False)


def require_no_foreign(database: Database) -> None:
    """Raises `Refused` where an index has one of Jochi's names and isn't one of these. Changes nothing."""
    for row in read_rows(database):
        if row["name"].startswith(PREFIX) and not _serves(row, row["name"].removeprefix(PREFIX)):
            raise Refused(
                f"there is an index {row['name']} already, and it isn't Jochi's",
                where=f"database {database.name}",
                fix="drop it or make it again under another name, then run `jochi install` again",
            )


def reconcile(
    database: Database, policy: Policy, *, on_progress: Callable[[str], None] | None = None
) -> list[IndexChange]:
    """Makes the indexes that ``policy`` asks for, builds failed ones anew, drops those of types it has no more.

    Returns what was changed, when all of them are ONLINE: an empty one is at once, one over a million relationships takes seconds.
    """
    say = on_progress or (lambda _message: None)
    require_no_foreign(database)
    wanted, changes = wanted_types(policy), []
    for row in read_rows(database):
        ours, type_ = row["name"].startswith(PREFIX), (row["labels"] or [""])[0]
        if ours and type_ not in wanted:
            drop(database, row["name"])
            changes.append(IndexChange(row["name"], "dropped", f"edges.types has no {type_} any more"))
        elif ours and row["state"] == "FAILED":
            drop(database, row["name"])
            changes.append(IndexChange(row["name"], "rebuilt", f"it had failed: {row['failure']}"))
    there = {type_ for row in read_rows(database) for type_ in wanted if _serves(row, type_)}
    for type_ in wanted:
        if type_ in there:
            continue
        name = PREFIX + type_
        say(f"making the index {name}")
        create(database, render_for_label("_indexes/edge_due", type_), f"{name} on -[:{type_}]-")
        if not any(change.name == name for change in changes):
            changes.append(IndexChange(name, "created", f"-[:{type_}]-(next_due)"))
    await_online(database, lambda: _those_of(database, wanted), on_progress=on_progress)
    return changes


def remove(database: Database) -> None:
    """Takes `next_due` off all edges, a page at a time, and drops Jochi's indexes. For uninstall."""
    for row in read_rows(database):
        if not (row["name"].startswith(PREFIX) and _serves(row, row["name"].removeprefix(PREFIX))):
            continue
        forget = render_for_label("_indexes/edge_forget", row["labels"][0])
        while database.run(forget, {"limit": _PAGE})[0]["forgotten"]:
            pass
        drop(database, row["name"])


def check(policy: Policy, rows: Rows) -> Check:
    """The doctor's check; ``rows`` as `read_rows` gives them."""
    wanted = wanted_types(policy)
    state = {type_: row for row in rows for type_ in wanted if _serves(row, type_)}
    missing = [type_ for type_ in wanted if type_ not in state]
    if missing:
        return fail("edge indexes", f"gone for: {', '.join(missing)}", "run `jochi install`")
    failed = [type_ for type_ in wanted if state[type_]["state"] == "FAILED"]
    if failed:
        return fail(
            "edge indexes", f"FAILED for: {', '.join(failed)}", "run `jochi install`: it builds Jochi's own again"
        )
    filling = [type_ for type_ in wanted if state[type_]["state"] != "ONLINE"]
    if filling:
        return warn("edge indexes", f"POPULATING for: {', '.join(filling)}", "wait: decay_edges is slow until then")
    return ok("edge indexes", f"ONLINE for: {', '.join(wanted)}" if wanted else "the policy declares no edges")


def _serves(row: Mapping[str, Any], type_: str) -> bool:
    form = (row["type"], row["entity"], row["labels"], row["properties"])
    return form == ("RANGE", "RELATIONSHIP", [type_], ["next_due"])


def _those_of(database: Database, wanted: list[str]) -> list[tuple[str, Mapping[str, Any]]]:
    serving = [(type_, row) for row in read_rows(database) for type_ in wanted if _serves(row, type_)]
    return [(f"{row['name']} on -[:{type_}]-", row) for type_, row in serving]
