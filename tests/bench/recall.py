"""Recall at 10^5 memories in 100 scopes of very different size: how quick, and how many of the true nearest are found."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from datetime import datetime, timezone

import numpy as np
import psutil
from rich.table import Table
from tests.bench.store import FAR, settle, wipe
from tests.own_server import own_server
from tests.recall_data import Corpus, Vectors, corpus, zipf_sizes

from jochi import Jochi
from jochi.schema import indexes

MEMORIES = 100_000
SCOPES = 100
K = 10
FOUND = 0.95
"""Share of a scope's true nearest that recall must find."""
PAGE = 2_000
CLASSES = ((0, 100), (100, 1_000), (1_000, 3_000), (3_000, 10_000), (10_000, MEMORIES))
WORDS = (
    "deploy",
    "invoice",
    "berlin",
    "summer",
    "garden",
    "meeting",
    "build",
    "green",
    "train",
    "coffee",
    "review",
    "ticket",
    "river",
    "piano",
    "budget",
)

_CREATE = """
UNWIND $rows AS row
CREATE (:Curated:Belief {
  key: row.scope + '/' + row.id, scope: row.scope, id: row.id, content: row.content, state: 'active', tier: 'WARM',
  access_count: 0, created_at: $created, next_due: $created + duration({days: $far}), token_count: 10, confidence: 0.8,
  embedding_model: $model, embedding: row.vector
})
"""


CHECKPOINTS = "20s"
# A bulk load leaves the index in fifty segments, each of which is searched. A checkpoint (a server makes one every quarter of an
# hour) merges them, and from the next write on the server reads what was merged.
_ONE_MORE = """
CREATE (m:Curated:Belief {key: 'one/more', scope: 'one', id: 'more', embedding: $vector})
"""
_ONE_LESS = "MATCH (m:Curated {key: 'one/more'}) DETACH DELETE m"


@dataclass(frozen=True)
class Asked:
    """One recall: the scope's size, milliseconds, the share of the true ten, how it was found."""

    size: int
    took: float
    share: float
    by: str


def load(client: Jochi, made: Corpus) -> None:
    """Puts a corpus into the store and waits for the indexes."""
    wipe(client.database)
    policy = client.policy.policy
    for start in range(0, len(made.vectors), PAGE):
        rows = [
            {
                "id": f"m{i}",
                "scope": f"s{made.scope_of[i]}",
                "vector": made.vectors[i].tolist(),
                "content": f"{WORDS[i % len(WORDS)]} and {WORDS[i * 7 % 13]}: number {i} went well",
            }
            for i in range(start, min(start + PAGE, len(made.vectors)))
        ]
        parameters = {
            "created": datetime(2026, 1, 1, tzinfo=timezone.utc),
            "far": FAR.days,
            "model": policy.embedding.model,
        }
        client.database.run(_CREATE, {"rows": rows, **parameters})
    indexes.await_built(client.database, indexes.recall_indexes(policy))


def let_the_index_be_merged(client: Jochi, vector: Vectors) -> float:
    """As in a database that is in use, and not right after a bulk load; returns seconds."""
    began = time.monotonic()
    time.sleep(int(CHECKPOINTS.removesuffix("s")))
    settle()
    client.database.run(_ONE_MORE, {"vector": vector.tolist()})
    client.database.run(_ONE_LESS)
    return time.monotonic() - began


def ask(client: Jochi, made: Corpus, scope: int, query: Vectors, text: str | None = None) -> Asked:
    """One recall, compared with brute force."""
    wanted = made.nearest(scope, query, K)
    vector = query.tolist()
    started = time.perf_counter()
    found = client.recall(text, vector=vector, scope=f"s{scope}", k=K)
    took = (time.perf_counter() - started) * 1000
    best = sorted((hit for hit in found if hit.vector_rank), key=lambda hit: hit.vector_rank or 0)
    return Asked(len(made.rows(scope)), took, len(set(wanted) & {hit.key for hit in best}) / K, str(found.vector_by))


def questions(made: Corpus, rounds: int, seed: int) -> list[tuple[int, Vectors]]:
    """(scope, query): every scope ``rounds`` times, half about what it holds, half about what anybody holds."""
    dice = np.random.default_rng(seed)
    asked: list[tuple[int, Vectors]] = []
    for _ in range(rounds):
        for scope in range(SCOPES):
            own = dice.random() < 0.5
            row = int(dice.choice(made.rows(scope)) if own else dice.integers(len(made.vectors)))
            asked.append((scope, made.question(row, dice)))
    return asked


def quantile(values: list[float], share: float) -> float:
    """The value that ``share`` of them don't exceed."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def measure(client: Jochi, table: Table, rounds: int = 3) -> float:
    """Adds recall's rows to the table, of a warm server. Returns the share of the true nearest that it found."""
    made = corpus(zipf_sizes(MEMORIES, SCOPES), client.policy.policy.embedding.dimensions)
    load(client, made)
    merging = let_the_index_be_merged(client, made.vectors[0])
    for scope, query in questions(made, 12, seed=1):  # until the compiler of the JVM has done with it
        ask(client, made, scope, query)
    asked = [ask(client, made, scope, query) for scope, query in questions(made, rounds, seed=2)]
    took = [one.took for one in asked]
    table.add_row("recall p50, a query vector, 10^5 memories", f"{statistics.median(took):.1f} ms", "")
    table.add_row("recall p95, the same", f"{quantile(took, 0.95):.1f} ms", "≤ 20 ms")
    table.add_row("  before that the server merged its index for", f"{merging:.0f} s", "")
    found = statistics.mean(one.share for one in asked)
    table.add_row("recall@10 against brute force", f"{found:.3f}", f"≥ {FOUND}")
    for low, high in CLASSES:
        part = [one for one in asked if low <= one.size < high]
        took = [one.took for one in part]
        figures = (
            f"recall@10 {statistics.mean(one.share for one in part):.3f}, best {min(took):.1f}, "
            f"p50 {statistics.median(took):.1f}, p95 {quantile(took, 0.95):.1f} ms, {_ways(part)}"
        )
        table.add_row(f"  scopes of {low:,} to {high:,}", figures, "")
    both = [
        ask(client, made, scope, query, "deploy invoice review").took for scope, query in questions(made, 1, seed=3)
    ]
    both = both[len(both) // 3 :]
    table.add_row(
        "recall p50/p95, words and vector", f"{statistics.median(both):.1f} / {quantile(both, 0.95):.1f} ms", ""
    )
    busy = psutil.getloadavg()[0] / (psutil.cpu_count() or 1)
    table.add_row("  load of this machine meanwhile", f"{busy:.1f} a core", "< 1, else the times say little")
    return found


def _ways(part: list[Asked]) -> str:
    return ", ".join(f"{by} {sum(one.by == by for one in part)}×" for by in sorted({one.by for one in part}))


def add_rows(table: Table) -> float:
    """On a server of its own that makes checkpoints often. Returns what `measure` does."""
    with own_server("bench-recall", settings={"db.checkpoint.interval.time": CHECKPOINTS}) as client:
        return measure(client, table)


def check(found: float) -> None:
    """Times depend on the machine, what is found doesn't: ends with 1 where too little is."""
    if found < FOUND:
        raise SystemExit(f"recall finds {found:.3f} of the true nearest; {FOUND} are wanted")


if __name__ == "__main__":
    from rich.console import Console

    figures = Table("what", "figure", "wanted")
    found = add_rows(figures)
    Console(width=150).print(figures)
    check(found)
