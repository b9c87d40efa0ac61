"""Takes merges back, to the end: of a memory with many relationships the call leaves copies, which further calls take away."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from jochi import clock
from jochi.database.database import Row
from jochi.database.engine import Engine, OtherVersion
from jochi.database.statements import statement
from jochi.errors import Refused
from jochi.graph.driver_values import read_as
from jochi.schema.constraints import app_constraints
from jochi.undo.results import UnmergeResult
from jochi.undo.violations import Violation, find_violations, row_by_row

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
) -> list[UnmergeResult]:
    """What became of each of ``keys``, in their order. ``run``: the run it belongs to; None: one of its own.

    ``hold``: what comes back is held (policy, `rails.hold`), so that no other pair has it merged again. ``audits``: ids of the
    records of the merges that are meant; None: of each key the newest.
    """
    own = run or f"unmerge/{uuid.uuid4()}"
    given = {"now": now, "dry_run": dry_run, "run": own, "hold": hold, "audits": audits}
    found: dict[str, UnmergeResult] = {}
    going = list(dict.fromkeys(keys))
    while going:
        more: list[str] = []
        for part, rows in row_by_row(engine.database, going, lambda some: _call(engine, given, some)):
            if isinstance(rows, Violation):
                [row] = _call(engine, {**given, "dry_run": True}, part)
                rows = [{**row, **rows.columns, "relationships": 0, "changed": [], "more": False}]
            for row in rows:
                found[row["key"]] = _with(found.get(row["key"]), row)
                more += [row["key"]] if row["more"] else []
        going = more
    if dry_run and app_constraints(engine.database):
        pending = [key for key, each in found.items() if each.outcome == "would_unmerge"]
        for key, why in find_violations(engine, "memory/unmerge", given, pending, "keys").items():
            found[key] = replace(found[key], relationships=0, changed=(), **why.columns)
    return [found[key] for key in dict.fromkeys(keys) if key in found]


def _call(engine: Engine, given: Mapping[str, Any], keys: Sequence[str]) -> list[Row]:
    results: list[Row] = engine.call("memory/unmerge", {**given, "keys": keys})["results"]
    return results


def _with(before: UnmergeResult | None, row: Row) -> UnmergeResult:
    """What was known of a memory, and what this call did for it."""
    each = read_as(UnmergeResult, row)
    if before is None:
        return replace(each, changed=tuple(sorted(set(each.changed))))
    return replace(
        before,
        relationships=before.relationships + each.relationships,
        changed=tuple(sorted({*before.changed, *each.changed})),
    )


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
