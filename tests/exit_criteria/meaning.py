"""LoCoMo before and after episodes to meaning (seed 002, Memory Consolidation): how large the live graph is, whether what people
ask about is still within reach, and what a library would put together.

`python -m tests.exit_criteria.meaning [--data locomo10.json] [--samples 10]`. The clusters are compared where scikit-learn is
installed, which Jochi doesn't need: of pairs of sessions that are the evidence of one question the share that lands in one
cluster, where as many of all pairs do.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from itertools import combinations
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from tests.conftest import LOCOMO
from tests.exit_criteria.stories import _TURN, sessions
from tests.own_server import own_server

from jochi import Jochi
from jochi.jobs.runner import run_job
from jochi.policy import load_policy
from jochi.text.tokens import Estimate
from jochi.write.ingesting import Fault, read
from jochi_workers import embeddings
from jochi_workers.derive import derivation
from jochi_workers.derive.derivation import Offline
from jochi_workers.derive.handler import Derive
from jochi_workers.prepare import Prepare
from jochi_workers.worker import Worker

POLICY = '[policy]\nname = "meaning"\nextends = "default"\n' + "".join(
    f"[derive.{name}]\nderiving = true\nper_cycle = 10_000\nper_day = 10_000\n"
    for name in ("process", "extract", "meaning")
)
HANDED = 10
"""So many summaries or insights are handed over for a question."""
Pair = tuple[str, int, int]
"""Scope and two sessions."""


def evidence(data: Path, scopes: Iterable[str]) -> Iterator[tuple[str, str, list[int]]]:
    """Scope, question and the sessions of its evidence."""
    for sample in json.loads(data.read_text()):
        if sample["sample_id"] in scopes:
            for each in sample["qa"]:
                found = sorted({int(n) for said in each.get("evidence", []) for n in _TURN.findall(said)})
                if found:
                    yield sample["sample_id"], each["question"], found


def work(client: Jochi, *names: str) -> None:
    counter = Estimate()
    makers = [Derive(one, Offline(one, counter), counter) for one in map(derivation, names)]
    Worker(client.engine, [Prepare(counter), *makers]).run(once=True)


def sizes(client: Jochi) -> dict[str, int]:
    """The live graph: what recall finds unasked. Its memories by label, relationships between them, tokens."""
    rows = client.database.run(
        "MATCH (m:Curated) WHERE m.tombstone IS NULL AND coalesce(m.state <> 'archived', true) "
        "WITH head([l IN labels(m) WHERE l <> 'Curated']) AS label, m, COUNT { (m)-->(o:Curated) "
        "WHERE o.tombstone IS NULL AND coalesce(o.state <> 'archived', true) } AS links "
        "RETURN label, count(m) AS n, sum(coalesce(m.token_count, 0)) AS tokens, sum(links) AS links ORDER BY label",
        write=False,
    )
    found = {f"{row['label']}": row["n"] for row in rows}
    for name in ("n", "links", "tokens"):
        found[{"n": "memories", "links": "relationships"}.get(name, name)] = sum(row[name] for row in rows)
    text = [row for row in rows if row["label"] in ("Source", "SourceSummary")]
    return {**found, "tokens of sources and summaries": sum(row["tokens"] for row in text)}


def clusters(client: Jochi, by_source: Mapping[str, int]) -> list[tuple[str, str, set[int]]]:
    """Of each insight its key, its scope and its sessions."""
    rows = client.database.run(
        "MATCH (n:Curated:Note {added_by: 'meaning'})-[:DERIVED_FROM]->(s:Curated:Source) "
        "RETURN n.key AS key, n.scope AS scope, collect(s.key) AS sources",
        write=False,
    )
    return [(row["key"], row["scope"], {by_source[key] for key in row["sources"]}) for row in rows]


def together(found: Iterable[tuple[str, Iterable[int]]]) -> set[Pair]:
    """The pairs of sessions that some cluster has."""
    return {(scope, *pair) for scope, members in found for pair in combinations(sorted(set(members)), 2)}


class Told:
    """What a library sees of the sources of one scope: vector, things mentioned and day of each, in one order."""

    def __init__(self, rows: Sequence[Mapping[str, Any]], vectors: Sequence[Any]) -> None:
        import numpy as np

        self.sessions = [row["session"] for row in rows]
        matrix = np.array([vector / np.linalg.norm(vector) for vector in map(np.asarray, vectors)])
        things = [set(row["things"]) for row in rows]
        self.by_vector = np.clip(1 - matrix @ matrix.T, 0, 2)
        self.by_things = np.array([[1 - len(a & b) / max(1, len(a | b)) for b in things] for a in things])
        days = np.array([row["at"].timestamp() / 86_400 for row in rows])
        self.by_time = np.minimum(abs(days[:, None] - days[None, :]) / 30, 1)


def compared(told: Mapping[str, Told], asked: set[Pair], ours: set[Pair]) -> list[tuple[str, float, float]]:
    """Name, share of all pairs that are together, share of the evidence's pairs that are."""
    import numpy as np
    from sklearn.cluster import HDBSCAN, AgglomerativeClustering

    everything = together((scope, each.sessions) for scope, each in told.items())
    asked = asked & everything

    def line(name: str, found: set[Pair]) -> tuple[str, float, float]:
        return name, 100 * len(found & everything) / len(everything), 100 * len(found & asked) / len(asked)

    def pairs(labels: Mapping[str, Any]) -> set[Pair]:
        return together(
            (scope, [s for s, label in zip(told[scope].sessions, of, strict=True) if label == each])
            for scope, of in labels.items()
            for each in set(of) - {-1}
        )

    distances = {
        "meaning": lambda one: one.by_vector / one.by_vector.max(),
        "things": lambda one: one.by_things,
        "time": lambda one: one.by_time,
        "meaning, things and time": lambda one: (one.by_vector / one.by_vector.max() + one.by_things + one.by_time) / 3,
    }
    lines = [line("Jochi", ours)]
    for name, distance in distances.items():
        best: tuple[float, set[Pair]] = (1e9, set())
        for cut in np.linspace(0.02, 1.0, 99):
            model = AgglomerativeClustering(
                n_clusters=None, metric="precomputed", linkage="average", distance_threshold=cut
            )
            found = pairs({scope: model.fit_predict(distance(one)) for scope, one in told.items()})
            best = min(best, (abs(len(found) - len(ours)), found), key=lambda each: each[0])
        lines.append(line(f"agglomerative, by {name}", best[1]))
    for name, distance in distances.items():
        for size in (2, 3):
            model = HDBSCAN(min_cluster_size=size, metric="precomputed", copy=True)
            lines.append(
                line(
                    f"HDBSCAN of {size}, by {name}",
                    pairs({scope: model.fit_predict(distance(one)) for scope, one in told.items()}),
                )
            )
    return lines


def hits(texts: Sequence[str], members: Sequence[set[int]], vectors: Any, question: Any) -> set[int]:
    """The sessions beneath the best of these for a question."""
    import numpy as np

    best = np.argsort(vectors @ question)[::-1][:HANDED]
    return {session for at in best for session in members[at]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=LOCOMO)
    parser.add_argument("--samples", type=int, default=10)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        policy = Path(folder) / "policy.toml"
        policy.write_text(POLICY)
        loaded = load_policy(policy)
    console, now = Console(), datetime.now(timezone.utc)
    by_scope: dict[str, list[Any]] = {}
    for piece in read(given.data, format="locomo"):
        if not isinstance(piece, Fault):
            by_scope.setdefault(str(piece[0].id).partition("/")[0], []).append(piece)
    scopes = list(by_scope)[: given.samples]
    with own_server("meaning", policy=loaded) as client:
        client.apply()
        for scope in scopes:
            client.ingest(by_scope[scope], scope=scope, now=now - timedelta(days=200))
        work(client, "process", "extract")
        before, by_source = sizes(client), sessions(client)
        rows = client.database.run(
            "MATCH (s:Curated:Source)-[:SUMMARIZED_TO]->(o:Curated) "
            "RETURN s.key AS key, s.scope AS scope, o.content AS said, s.started_at AS at, "
            "COLLECT { MATCH (s)-[:mentions]->(t) RETURN t.key } AS things ORDER BY key",
            write=False,
        )
        for job in ("count_mentions", "find_meaning"):
            run_job(client.engine, job, now=now + timedelta(days=1), drain=True)
        work(client, "meaning")
        after, found = sizes(client), clusters(client, by_source)
        archived = client.database.run("MATCH (s:Source {state: 'archived'}) RETURN s.key AS key", write=False)
        beneath = {each.key for key, _, _ in found for each in client.originals(key, limit=1_000).originals}
        insights = client.database.run(
            "MATCH (n:Curated:Note {added_by: 'meaning'}) RETURN n.key AS key, n.content AS said", write=False
        )
    table = Table("live", "before", "after", "smaller by")
    for name in sorted(before.keys() | after.keys()):
        was, is_now = before.get(name, 0), after.get(name, 0)
        table.add_row(name, f"{was:,}", f"{is_now:,}", f"{100 - 100 * is_now / was:.1f} %" if was else "")
    console.print(table)
    lost = {row["key"] for row in archived} - beneath
    console.print(f"archived: {len(archived)} of {len(by_source)} sources; beneath no insight: {len(lost)}")

    import numpy as np

    asked = list(evidence(given.data, scopes))
    provider = embeddings.provider("minilm")

    def embed(texts: Sequence[str]) -> Any:
        made = np.array([each.vector for each in provider.embed(list(texts))])
        return made / np.linalg.norm(made, axis=1, keepdims=True)

    vectors, of_insights, questions = (
        embed([row["said"] for row in rows]),
        embed([row["said"] for row in insights]),
        embed([q for _, q, _ in asked]),
    )
    members = {key: (scope, of) for key, scope, of in found}
    reached = {"summaries": 0, "insights": 0}
    for (scope, _, wanted), question in zip(asked, questions, strict=True):
        mine = [n for n, row in enumerate(rows) if row["scope"] == scope]
        theirs = [n for n, row in enumerate(insights) if members[row["key"]][0] == scope]
        reached["summaries"] += set(wanted) <= hits(
            [], [{by_source[rows[n]["key"]]} for n in mine], vectors[mine], question
        )
        reached["insights"] += set(wanted) <= hits(
            [], [members[insights[n]["key"]][1] for n in theirs], of_insights[theirs], question
        )
    for name, n in reached.items():
        console.print(
            f"all evidence beneath the best {HANDED} {name}: {100 * n / len(asked):.1f} % of {len(asked):,} questions"
        )
    try:
        import sklearn  # noqa: F401
    except ImportError:
        console.print("clusters of a library: scikit-learn is not installed")
        return
    told = {
        scope: Told(
            [{**row, "session": by_source[row["key"]]} for row in rows if row["scope"] == scope],
            vectors[[n for n, row in enumerate(rows) if row["scope"] == scope]],
        )
        for scope in scopes
    }
    pairs = together((scope, wanted) for scope, _, wanted in asked)
    compared_table = Table("clusters", "pairs together", "pairs of one question's evidence together", "lift")
    for name, share, theirs_share in compared(told, pairs, together((scope, of) for _, scope, of in found)):
        compared_table.add_row(
            name, f"{share:.1f} %", f"{theirs_share:.1f} %", f"{theirs_share / share:.2f}" if share else ""
        )
    console.print(compared_table)


if __name__ == "__main__":
    main()
