"""Takes merges back, to the end: of a memory with many relationships the call leaves copies, which further calls take away."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from jochi.engine import Engine
from jochi.operate.results import Unmerged


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
    given = {
        "now": now,
        "dry_run": dry_run,
        "run": run or f"unmerge/{uuid.uuid4()}",
        "hold": hold,
        "audits": audits,
    }
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
