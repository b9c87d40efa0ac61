"""Memories with made vectors for the tests of near duplicates, and a look at the flags between them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any

from jochi import Jochi
from jochi.jobs.runner import run_job
from jochi.text.content import content_hash
from jochi_workers.guard import Ruling
from jochi_workers.judge import JudgeHandler
from jochi_workers.queue import FinishResult, Queue

NOON = datetime(2026, 6, 1, 12, tzinfo=timezone.utc)
LATER = NOON + timedelta(hours=1)


def at_cosine(cosine: float, dimensions: int, other: int = 1) -> list[float]:
    """A vector whose cosine with the first unit vector is ``cosine``; the rest of it lies along the ``other`` one."""
    vector = [0.0] * dimensions
    vector[0], vector[other] = cosine, math.sqrt(1 - cosine * cosine)
    return vector


@dataclass(frozen=True)
class Looked:
    """What all runs of the job did together."""

    selected: int
    changed: int
    tally: dict[str, int]


@dataclass
class Pairs:
    """Writes memories as remember and the worker leave them, runs the job, reads flags."""

    client: Jochi
    made: int = field(default=0, init=False)

    @property
    def dimensions(self) -> int:
        return self.client.policy.policy.embedding.dimensions

    def add(
        self,
        id: str,
        vector: Sequence[float] | float | None = None,
        content: str | None = None,
        *,
        kind: str = "Belief",
        scope: str = "s",
        due: datetime | None = NOON,
        **more: Any,
    ) -> str:
        """A memory; ``vector`` may be a cosine with the first unit vector. Its key."""
        said = content or f"Text of {id} in {scope}"
        hashed = content_hash(said)
        row: dict[str, Any] = {
            "key": f"{scope}/{id}",
            "scope": scope,
            "id": id,
            "content": said,
            "content_hash": hashed,
            "created_at": NOON,
            "next_due": LATER + timedelta(days=100),
            "similar_due": due,
            "tier": "HOT",
        }
        if vector is not None:
            self.made += 1
            full = at_cosine(vector, self.dimensions) if isinstance(vector, float) else list(vector)
            model = self.client.policy.policy.embedding.model
            row |= {"embedding": full, "embedding_model": model, "embedding_hash": hashed}
        self.client.database.run(f"CREATE (m:Curated:{kind}) SET m = $row", {"row": row | more})
        return f"{scope}/{id}"

    def fill(self, many: int) -> None:
        """So many memories that are like nothing and that nobody looks at: with hundreds, a scope is searched by its index."""
        model = self.client.policy.policy.embedding.model
        rows = [
            {"key": f"s/x{i}", "id": f"x{i}", "content": f"x{i}", "hash": content_hash(f"x{i}"), "at": i + 2}
            for i in range(many)
        ]
        self.client.database.run(
            "UNWIND $rows AS row CREATE (m:Curated:Belief {key: row.key, scope: 's', id: row.id, content: row.content, "
            "tier: 'HOT', content_hash: row.hash, embedding_hash: row.hash, embedding_model: $model, created_at: $now, "
            "next_due: $due, embedding: [n IN range(0, $dimensions - 1) | CASE n WHEN row.at THEN 1.0 ELSE 0.0 END]})",
            {
                "rows": rows,
                "model": model,
                "now": NOON,
                "due": LATER + timedelta(days=100),
                "dimensions": self.dimensions,
            },
        )

    def change(self, key: str, **values: Any) -> None:
        """Changes a memory and has it looked at again."""
        said = {"content_hash": content_hash(values["content"])} if "content" in values else {}
        self.client.database.run(
            "MATCH (m:Curated {key: $key}) SET m += $values",
            {"key": key, "values": {"similar_due": NOON, **said, **values}},
        )

    def find(self, now: datetime = NOON) -> Looked:
        """The job, drained; it must not fail."""
        runs = run_job(self.client.engine, "find_duplicates", now=now, drain=True)
        assert all(run.error is None and not run.quarantined for run in runs), [run.error for run in runs]
        tally: Counter[str] = Counter()
        for run in runs:
            tally.update(run.tally)
        return Looked(sum(run.selected for run in runs), sum(run.changed for run in runs), dict(tally))

    def flags(self) -> dict[tuple[str, str], dict[str, Any]]:
        """The flags, by their keys."""
        rows = self.client.database.run(
            "MATCH (a)-[r:SIMILAR_TO]->(b) RETURN a.key AS a, b.key AS b, properties(r) AS p ORDER BY a, b", write=False
        )
        found = {(row["a"], row["b"]): dict(row["p"]) for row in rows}
        assert len(found) == len(rows), "two flags of one pair"
        assert all(a < b for a, b in found)
        return found

    def flag(self, a: str, b: str) -> dict[str, Any]:
        return self.flags()[(a, b) if a < b else (b, a)]

    def queue(self, at: datetime = NOON, guard: str = "g 01") -> Queue:
        return Queue(self.client.engine, "judge", clock=lambda: at, guard=guard)

    def judge(self, ruling: Ruling, at: datetime = NOON, guard: str = "g 01") -> FinishResult:
        """What a worker does with all that waits, with a guard that always says the same."""
        queue = self.queue(at, guard)
        batch = queue.lease(1000)
        outcome = JudgeHandler(lambda *_, **__: ruling).handle(batch.rows)
        assert not outcome.failed
        return queue.finish(batch, outcome.done)
