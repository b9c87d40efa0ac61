"""1,000 new memories against 10^5 embedded ones in 100 scopes of very different size: how long each takes to find its near
duplicates and have them judged, and how many of the true ones are found."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import numpy as np
import psutil
from rich.table import Table
from tests.bench.recall import CHECKPOINTS, MEMORIES, SCOPES, let_the_index_be_merged, load
from tests.bench.store import FAR
from tests.duplicate_pairs import NOON
from tests.own_server import own_server
from tests.recall_data import Corpus, Vectors, corpus, zipf_sizes

from jochi import Jochi
from jochi.jobs.runner import run_job
from jochi_workers.judge import JudgeHandler
from jochi_workers.worker import Worker

NEW = 1_000
WARM = 3
SERVER = "bench-duplicates"
TWINS = 0.3
"""Share of the new ones that are near something old (cosine about 0.97)."""
FOUND = 0.99
MOST_MS = 10.0

_CREATE = """
UNWIND $rows AS row
CREATE (:Curated:Belief {
  key: row.scope + '/' + row.id, scope: row.scope, id: row.id, content: row.content, content_hash: 'v1:' + row.id,
  state: 'active', tier: 'WARM',
  created_at: $now, next_due: $far, token_count: 10, confidence: 0.8, embedding_model: $model, embedding: row.vector,
  embedding_hash: 'v1:' + row.id, similar_due: $now
})
"""


def new_ones(made: Corpus, seed: int, n: int = NEW) -> tuple[Vectors, np.ndarray[Any, Any]]:
    """Vectors and scopes of new memories; scopes as often as they are large."""
    dice = np.random.default_rng(seed)
    rows = dice.integers(0, len(made.vectors), n)
    noise = dice.normal(size=(n, made.vectors.shape[1])) / np.sqrt(made.vectors.shape[1])
    far = np.where(dice.random(n) < TWINS, 0.25, 1.2)[:, None]
    vectors = made.vectors[rows] + far * noise
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True), made.scope_of[rows]


def add(client: Jochi, vectors: Vectors, scopes: np.ndarray[Any, Any], name: str) -> None:
    """Writes them, due to look for their duplicates."""
    rows = [
        {
            "id": f"{name}{i}",
            "scope": f"s{scopes[i]}",
            "vector": vectors[i].tolist(),
            "content": f"{name} number {i} went well",
        }
        for i in range(len(vectors))
    ]
    asked = {"rows": rows, "now": NOON, "far": NOON + FAR, "model": client.policy.policy.embedding.model}
    client.database.run(_CREATE, asked)


def measure(client: Jochi, table: Table) -> float:
    """Adds the rows to the table; returns the share of the true pairs that were found."""
    policy = client.policy.policy
    made = corpus(zipf_sizes(MEMORIES, SCOPES), policy.embedding.dimensions)
    load(client, made)
    client.database.run("MATCH (m:Curated) SET m.content_hash = 'v1:' + m.key")
    loaded = [_look(client, made, warm) for warm in range(WARM)][-1]
    let_the_index_be_merged(client, made.vectors[0])
    for warm in range(WARM):
        _look(client, made, WARM + warm)
    vectors, scopes = new_ones(made, 1)
    add(client, vectors, scopes, "new")
    processor, began = _server_processor(), time.perf_counter()
    runs = run_job(client.engine, "find_duplicates", now=NOON + timedelta(seconds=1), drain=True)
    took = time.perf_counter() - began
    worked = _server_processor() - processor
    assert sum(run.selected for run in runs) == NEW
    assert not any(run.error for run in runs)
    worker = Worker(client.engine, [JudgeHandler()])
    judged = time.perf_counter()
    worker.run(once=True)
    judging = time.perf_counter() - judged
    found, wanted = _found(client, made, vectors, scopes, policy.duplicates.flag)
    each = (took + judging) * 1000 / NEW
    table.add_row("near duplicates, a new memory among 10^5, all in", f"{each:.1f} ms", f"≤ {MOST_MS:.0f} ms")
    pairs = worker.progress["judge"].done
    table.add_row(
        "  finding, of that", f"{took * 1000 / NEW:.1f} ms; judging {pairs} pairs {judging * 1000 / NEW:.1f} ms", ""
    )
    table.add_row("  pairs against brute force", f"{found} of {wanted}", f"≥ {FOUND}")
    table.add_row("  finding, right after the bulk load, before a checkpoint", f"{loaded:.1f} ms", "")
    table.add_row("  finding, time of the server's processors", f"{worked * 1000 / NEW:.1f} ms a memory", "")
    busy = psutil.getloadavg()[0] / (psutil.cpu_count() or 1)
    table.add_row("  load of this machine meanwhile", f"{busy:.1f} a core", "< 1, else the times say little")
    return found / wanted


def _look(client: Jochi, made: Corpus, warm: int) -> float:
    """300 more that nobody counts; returns milliseconds each."""
    add(client, *new_ones(made, warm + 10, 300), f"warm{warm}-")
    began = time.perf_counter()
    run_job(client.engine, "find_duplicates", now=NOON, drain=True)
    return (time.perf_counter() - began) * 1000 / 300


def _server_processor() -> float:
    """Seconds that the benchmark's server has worked."""
    servers = [p for p in psutil.process_iter(["cmdline"]) if any(SERVER in part for part in p.info["cmdline"] or ())]
    return sum(p.cpu_times().user + p.cpu_times().system for p in servers if p.name() == "java")


def _found(client: Jochi, made: Corpus, vectors: Vectors, scopes: np.ndarray[Any, Any], flag: float) -> tuple[int, int]:
    """How many of the pairs of a new one with an old one there are, of all that brute force finds."""
    rows = client.database.run(
        "MATCH (a:Curated)-[r:SIMILAR_TO]-(b:Curated) WHERE a.id STARTS WITH 'new' AND b.id STARTS WITH 'm' "
        "RETURN a.id AS a, b.key AS b",
        write=False,
    )
    flagged = {(row["a"], row["b"]) for row in rows}
    wanted = set()
    for i, vector in enumerate(vectors):
        own = made.rows(int(scopes[i]))
        wanted |= {(f"new{i}", made.key(int(row))) for row in own[made.vectors[own] @ vector >= flag]}
    return len(flagged & wanted), len(wanted)


def add_rows(table: Table) -> float:
    """On a server of its own that makes checkpoints often. Returns what `measure` does."""
    with own_server(SERVER, settings={"db.checkpoint.interval.time": CHECKPOINTS}) as client:
        return measure(client, table)


def check(found: float) -> None:
    """Times depend on the machine, what is found doesn't: ends with 1 where too little is."""
    if found < FOUND:
        raise SystemExit(f"{found:.3f} of the true pairs were found; {FOUND} are wanted")


if __name__ == "__main__":
    from rich.console import Console

    figures = Table("what", "figure", "wanted")
    share = add_rows(figures)
    Console(width=150).print(figures)
    check(share)
