"""LoCoMo before and after episodes to meaning (seed 002, Memory Consolidation): how large the live graph is, and
whether what people ask about is still within reach.

`python -m tests.exit_criteria.meaning [--data locomo10.json] [--samples 10]`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from tests.conftest import LOCOMO, SETTINGS
from tests.exit_criteria.stories import _TURN, sessions
from tests.own_server import own_server

from jochi import Jochi
from jochi.jobs.runner import run_job
from jochi.policy import load_policy
from jochi.text.tokens import Estimate
from jochi.write.ingesting import Fault, read
from jochi_workers import embeddings
from jochi_workers.derive import derivation
from jochi_workers.derive.derivation import OfflineMaker
from jochi_workers.derive.handler import DeriveHandler
from jochi_workers.prepare import PrepareHandler
from jochi_workers.worker import Worker

POLICY = '[policy]\nname = "meaning"\nextends = "default"\n' + "".join(
    f"[derive.{name}]\nderiving = true\nper_cycle = 10_000\nper_day = 10_000\n"
    for name in ("process", "extract", "meaning")
)
HANDED = 10
"""So many summaries or insights are handed over for a question."""


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
    makers = [DeriveHandler(one, OfflineMaker(one, counter), counter) for one in map(derivation, names)]
    Worker(client.engine, [PrepareHandler(counter), *makers]).run(once=True)


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
    with own_server("meaning", settings=SETTINGS, policy=loaded) as client:
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


if __name__ == "__main__":
    main()
