"""Vectors of apps that can't be compared: passed over by what compares, found by words, named by doctor. No worker runs."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.duplicate_pairs import NOON, Pairs

from jochi import Jochi
from jochi.jobs.runner import run_job
from jochi.operate.checks_memories import check_hygiene
from jochi.write import enrolling
from jochi.write.importing import import_files

pytestmark = pytest.mark.server


def unusable(dimensions: int) -> dict[str, Any]:
    """By name, what a memory has as its embedding."""
    return {
        "short": [1.0] * (dimensions - 1),
        "long": [1.0] * (dimensions + 1),
        "empty": [],
        "zeros": [0.0] * dimensions,
        "whole_zeros": [0] * dimensions,
        "nan": [float("nan")] + [1.0] * (dimensions - 1),
        "infinite": [float("inf")] * dimensions,
        "huge": [1e200] * dimensions,
        "text": "[0.1, 0.2]",
        "texts": ["0.1"] * dimensions,
        "flags": [True] * dimensions,
        "number": 0.5,
    }


def written(pairs: Pairs) -> dict[str, Any]:
    """Two that are near each other, one of integers that is as good, and all that can't be compared."""
    odd = unusable(pairs.dimensions)
    pairs.add("good", 1.0)
    pairs.add("near", 0.97)
    pairs.add("whole", 1.0)
    pairs.change("s/whole", embedding=[1] + [0] * (pairs.dimensions - 1))
    for name, value in odd.items():
        pairs.add(name, 1.0)
        pairs.change(f"s/{name}", embedding=value)
    return odd


def test_nothing_fails_and_what_can_be_compared_is(applied: Jochi, pairs: Pairs) -> None:
    odd = written(pairs)
    pairs.find()
    near = {("s/good", "s/near"), ("s/good", "s/whole"), ("s/near", "s/whole")}
    assert set(pairs.flags()) == near
    unit = [1.0] + [0.0] * (pairs.dimensions - 1)
    for k in (3, 50):
        assert {hit.key for hit in applied.recall(vector=unit, scope="s", k=k)} == {
            key for pair in near for key in pair
        }
    both = {hit.key for hit in applied.recall("text", vector=unit, scope="s", k=50)}
    assert both >= {f"s/{name}" for name in odd}
    for job in ("curate_due", "merge_duplicates", "hygiene"):
        runs = run_job(applied.engine, job, now=NOON + timedelta(hours=1), drain=True)
        assert [(run.error, run.quarantined) for run in runs if run.error or run.quarantined] == [], job
    (fault,) = [fault for fault in applied.hygiene().reported if fault.name == "vector_unusable"]
    assert fault.n == len(odd)
    assert f"{len(odd)} vector_unusable (such as s/" in check_hygiene(applied.hygiene()).found


def test_writers_are_told_row_by_row(jochi: Jochi, pairs: Pairs, tmp_path: Path) -> None:
    odd = unusable(pairs.dimensions)
    named = {"embedding_model": pairs.client.policy.policy.embedding.model}
    rows = [
        {"kind": "Note", "id": name, "content": f"Text of {name}", "embedding": value, **named}
        for name, value in odd.items()
    ]
    rows.append(
        {"kind": "Note", "id": "good", "content": "Text", "embedding": [1] + [0] * (pairs.dimensions - 1), **named}
    )
    done = jochi.remember(rows, now=NOON)
    assert {refusal.key for refusal in done.refusals} == {f"default/{name}" for name in odd}
    assert done.written == 1
    file = tmp_path / "memories.jsonl"
    file.write_text("".join(json.dumps({**row, "scope": "file"}) + "\n" for row in rows), encoding="utf-8")
    imported = import_files(jochi.database, [file], now=NOON)
    assert imported.written + imported.bad_count == len(rows)
    # The length is the policy's to say, which an import doesn't ask: such a one is written, and is told of by the walk of hygiene.
    told = {rows[bad.line - 1]["id"] for bad in imported.bad_lines}
    assert told == {"empty", "nan", "infinite", "text", "texts", "flags", "number"}
    pairs.find()
    assert {hit.key for hit in jochi.recall(vector=rows[-1]["embedding"], scope="file", k=50)} == {"file/good"}


def test_nodes_with_such_a_property_are_enrolled_and_keep_it(applied: Jochi, pairs: Pairs) -> None:
    odd = unusable(pairs.dimensions)
    rows = [
        {"ticket_no": name, "customer": "acme", "body": name, "opened": 1_780_000_000_000, "embedding": value}
        for name, value in odd.items()
    ]
    applied.database.run("UNWIND $rows AS row CREATE (t:Ticket) SET t = row", {"rows": rows})
    assert enrolling.enrol(applied.engine, "Ticket", now=NOON).enrolled == len(odd)
    for job in ("curate_due", "find_duplicates", "hygiene"):
        runs = run_job(applied.engine, job, now=NOON, drain=True)
        assert [run.error for run in runs if run.error] == [], job
    assert applied.disenrol("Ticket").released == len(odd)
    stored = applied.database.run("MATCH (t:Ticket) RETURN t.ticket_no AS name, t.embedding AS value")
    assert {row["name"]: repr(row["value"]) for row in stored} == {name: repr(value) for name, value in odd.items()}
