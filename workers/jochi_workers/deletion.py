"""What somebody wrote again that was forgotten on request goes again, for good (docs/reference/forgetting.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from jochi.database.engine import Engine
from jochi.database.server_clock import ServerClock
from jochi.database.statements import statement
from jochi.forgetting.checker import Checker, Sealer, check_item, own_key, read_gate
from jochi_workers.handler import Row


class Deletion(NamedTuple):
    """Keys of what was deleted, and of what a rail holds."""

    deleted: frozenset[str] = frozenset()
    held: frozenset[str] = frozenset()


HELD = (
    "it was forgotten on request, and a hold or a rail keeps it: take that off, or allow it with `jochi forget --lift`"
)
"""Why what is held isn't worked: it fails, and is put aside in the end, so that somebody sees it."""


def delete_forgotten(engine: Engine, rows: Sequence[Row]) -> Deletion:
    """Deletes those of the leased memories that were forgotten.

    `Refused` where values were forgotten and the key isn't here: a worker without it would let everything pass.
    """
    gate = read_gate(engine.database)
    if gate.version == 0:
        return Deletion()
    key = own_key(engine.database, gate)
    if key is None:
        return Deletion()
    # What a memory says now is asked about, not what it said earlier.
    given = {"keys": [row["key"] for row in rows], "content_names": []}
    contents = {row["key"]: row["content"] for row in rows}
    found = engine.database.run(statement("forget/read"), given, write=False)[0]["found"]
    live = [row for row in found if not row["dead"]]
    items = [check_item(row["key"].partition("/")[0], row["key"], contents[row["key"]], row["stored"]) for row in live]
    verdicts, _ = Checker(engine.database, Sealer(key), gate).check(items)
    gone = [{"key": row["key"], "revision": row["revision"]} for row, out in zip(live, verdicts, strict=True) if out]
    deleted: set[str] = set()
    held: set[str] = set()
    now = ServerClock(engine.database).now()
    while gone:
        results = engine.call("memory/forget", {"now": now, "rows": gone, "remake": False})["results"]
        deleted |= {each["key"] for each in results if each["outcome"] == "forgotten"}
        held |= {each["key"] for each in results if each["outcome"] == "protected"}
        more = {each["key"] for each in results if each["outcome"] == "more"}
        gone = [{"key": each, "revision": None} for each in sorted(more)]
    return Deletion(frozenset(deleted), frozenset(held))
