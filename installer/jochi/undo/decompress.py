"""Brings contents back that a compression took (docs/reference/compression.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jochi.database.engine import Engine
from jochi.graph.driver_values import read_as
from jochi.schema.constraints import app_constraints
from jochi.undo.results import DecompressResult
from jochi.undo.violations import Violation, find_violations, row_by_row


def take_compressions_back(engine: Engine, keys: Sequence[str], given: Mapping[str, Any]) -> list[DecompressResult]:
    """What became of each of ``keys``.

    ``given``: now, run, dry_run, and audits, ids of the records that are meant; None: of each key the newest.
    """
    wanted_keys = list(dict.fromkeys(keys))
    forbidden: dict[str, Violation] = {}
    if given["dry_run"] and app_constraints(engine.database):
        forbidden = find_violations(engine, "memory/decompress", given, wanted_keys, "keys")
    found: list[DecompressResult] = []

    def call(some: list[str]) -> list[DecompressResult]:
        results = engine.call("memory/decompress", {**given, "keys": some})["results"]
        return [read_as(DecompressResult, row) for row in results]

    for part, results in row_by_row(engine.database, wanted_keys, call):
        found += [DecompressResult(part[0], **results.columns)] if isinstance(results, Violation) else results
    return [
        DecompressResult(each.key, **forbidden[each.key].columns) if each.key in forbidden else each for each in found
    ]
