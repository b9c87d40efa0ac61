"""Takes merges back, to the end: of a memory with many relationships the call leaves copies, which further calls take away."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from jochi import clock
from jochi.database.engine import Engine, OtherVersion
from jochi.database.statements import statement
from jochi.errors import Refused
from jochi.undo.results import Unmerged

_MERGES = 500


def take_merges_back(
    engine: Engine,
    keys: Sequence[str],
    *,
    now: datetime,
    dry_run: bool = False,
    run: str | None = None,
    hold: bool = False,
    audits: Sequence[str] | None = None,
) -> list[Unmerged]:
    """What became of each of ``keys``, in their order. ``run``: the run it belongs to; None: one of its own.

    ``hold``: what comes back is held (policy, `rails.hold`), so that no other pair has it merged again. ``audits``: ids of the
    records of the merges that are meant; None: of each key the newest.
    """
    own = run or f"unmerge/{uuid.uuid4()}"
    given = {"now": now, "dry_run": dry_run, "run": own, "hold": hold, "audits": audits}
    found: dict[str, Unmerged] = {}
    going = list(dict.fromkeys(keys))
    while going:
        row = engine.call("memory/unmerge", {**given, "keys": going})
        for each in row["results"]:
            before = found.get(each["key"], Unmerged(each["key"], each["into"], each["outcome"]))
            found[each["key"]] = replace(
                before,
                relationships=before.relationships + each["relationships"],
                changed=tuple(sorted({*before.changed, *each["changed"]})),
            )
        going = [each["key"] for each in row["results"] if each["more"]]
    return [found[key] for key in dict.fromkeys(keys) if key in found]


def take_all_merges_back(engine: Engine, label: str | None = None) -> tuple[int, list[str]]:
    """Of all memories, or of the enrolled nodes with ``label``: how many were taken back, and the keys of those that can't be.

    The last of a chain first, each memory in a transaction of its own; what can't be taken back is passed over.
    """
    done = 0
    skip: list[str] = []
    given = {"limit": _MERGES, "skip": skip, "label": label}
    while keys := engine.database.run(statement("install/merged_page"), given)[0]["keys"]:
        for key in keys:
            try:
                results = take_merges_back(engine, [key], now=clock.now())
            except OtherVersion:
                raise
            except Refused:
                # A database whose procedures went in an earlier try: all there was to take back has been.
                return done, [*skip, *keys[keys.index(key) :]]
            if any(result.outcome == "unmerged" for result in results):
                done += 1
            else:
                skip.append(key)
    return done, skip
