"""Brings contents back that a compression took (docs/reference/compression.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jochi.database.engine import Engine
from jochi.graph.driver_values import read_as
from jochi.schema.constraints import app_constraints
from jochi.undo.forbidden import Forbidden, row_by_row, would_be_forbidden
from jochi.undo.results import Decompressed


def take_compressions_back(engine: Engine, keys: Sequence[str], given: Mapping[str, Any]) -> list[Decompressed]:
    """What became of each of ``keys``.

    ``given``: now, run, dry_run, and audits, ids of the records that are meant; None: of each key the newest.
    """
    asked = list(dict.fromkeys(keys))
    forbidden: dict[str, Forbidden] = {}
    if given["dry_run"] and app_constraints(engine.database):
        forbidden = would_be_forbidden(engine, "memory/decompress", given, asked, "keys")
    found: list[Decompressed] = []

    def call(some: list[str]) -> list[Decompressed]:
        results = engine.call("memory/decompress", {**given, "keys": some})["results"]
        return [read_as(Decompressed, row) for row in results]

    for part, results in row_by_row(engine.database, asked, call):
        found += [Decompressed(part[0], **results.columns)] if isinstance(results, Forbidden) else results
    return [Decompressed(each.key, **forbidden[each.key].columns) if each.key in forbidden else each for each in found]
