"""LoCoMo turn by turn, by its dates, without a model (seed 003): `python -m tests.exit_criteria.observing [--data FILE]`.

Each conversation is one stream of turns, a minute apart within its sessions, whose borders nobody is told. Signals by class; facts
by category; of the observations that people wrote the share that a fact of the same turn covers; boxes against the borders.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from tests.conftest import LOCOMO
from tests.own_server import own_server

from jochi import Jochi, Turn
from jochi.graph.driver_values import to_python
from jochi.jobs.runner import run_job
from jochi.policy import load_policy
from jochi.text.tokens import Estimate
from jochi_workers import embeddings
from jochi_workers.derive import derivation
from jochi_workers.derive.derivation import Offline
from jochi_workers.derive.extract.names import words
from jochi_workers.derive.handler import Derive
from jochi_workers.prepare import Prepare
from jochi_workers.worker import Worker

POLICY = """[policy]
name = "observing"
extends = "default"
[derive.learn]
per_cycle = 100_000
per_day = 100_000
per_minute = 100_000
"""
MINUTE = timedelta(minutes=1)
COSINE = 0.8


def conversations(data: Path) -> Iterator[tuple[str, list[tuple[int, Turn]], list[tuple[str, set[str]]]]]:
    """Scope, turns with the number of their session, and observations with the turns that they rest on."""
    for sample in json.loads(data.read_text()):
        talk, turns, n = sample["conversation"], [], 1
        while f"session_{n}" in talk:
            began = datetime.strptime(talk[f"session_{n}_date_time"], "%I:%M %p on %d %B, %Y").replace(
                tzinfo=timezone.utc
            )
            turns += [
                (
                    n,
                    Turn(
                        each["text"], "talk", sample["sample_id"], each["speaker"], began + at * MINUTE, each["dia_id"]
                    ),
                )
                for at, each in enumerate(talk[f"session_{n}"])
                if each["text"].strip()
            ]
            n += 1
        seen = []
        for session in sample["observation"].values():
            for said in session.values():
                for text, evidence in said:
                    ids = evidence if isinstance(evidence, list) else [evidence]
                    seen.append((text, {one.strip() for each in ids for one in str(each).split(",")}))
        yield sample["sample_id"], turns, seen


def observed(client: Jochi, data: Path) -> dict[str, Any]:
    """Signals, and what time cost."""
    signals: Counter[str] = Counter()
    started, n = perf_counter(), 0
    for _, turns, _ in conversations(data):
        last = 0
        for session, turn in turns:
            assert turn.at is not None
            if session != last:  # time passes: what waits is due
                run_job(client.engine, "flush_buffers", now=turn.at, drain=True)
                last = session
            signals[client.observe(turn, now=turn.at).signal] += 1
            n += 1
    for scope, _, _ in conversations(data):
        client.flush(scope=scope)
    return {
        "turns": n,
        "seconds observing": round(perf_counter() - started, 1),
        **{f"signal {k}": v for k, v in signals.items()},
    }


def learned(client: Jochi) -> dict[str, Any]:
    counter, learn = Estimate(), derivation("learn")
    started = perf_counter()
    worker = Worker(client.engine, [Prepare(counter), Derive(learn, Offline(learn, counter), counter)])
    worker.run(once=True)
    assert not worker.progress["learn"].failed, worker.progress["learn"].reasons
    run_job(client.engine, "settle_slots", now=datetime.now(timezone.utc), drain=True)
    run_job(client.engine, "flush_buffers", now=datetime.now(timezone.utc) + timedelta(days=1), drain=True)
    rows = client.database.run(
        "MATCH (f:Curated:Fact) RETURN f.category AS category, f.memory_kind AS kind, f.confidence_tier AS tier, "
        "f.status AS status, f.verification_state AS v, f.state AS state",
        write=False,
    )
    why = client.database.run("MATCH (b:Curated:TurnBatch) RETURN b.flush_reason AS why", write=False)
    figures: dict[str, Any] = {
        "seconds learning": round(perf_counter() - started, 1),
        "extractions": worker.progress["learn"].done,
    }
    figures |= {f"batches, {name}": n for name, n in Counter(row["why"] for row in why).items()}
    figures |= {
        "facts": len(rows),
        **{f"facts, {name}": n for name, n in Counter(row["category"] for row in rows).most_common()},
    }
    figures |= {f"facts, {name}": n for name, n in Counter(row["kind"] for row in rows).items()}
    figures |= {f"facts, {name}": n for name, n in Counter(row["tier"] for row in rows).items()}
    figures["facts in slots"] = sum(row["status"] is not None for row in rows)
    figures["facts superseded in slots"] = sum(row["status"] == "superseded" for row in rows)
    figures["notes reconsolidated"] = sum(row["state"] == "superseded" for row in rows)
    figures["facts disputed"] = sum(row["v"] == "disputed" for row in rows)
    return figures


def covered(client: Jochi, data: Path, provider: Any) -> dict[str, Any]:
    """Of the observations the share that a fact of the same turn says: by cosine, or by its slot (its value and subject)."""
    rows = client.database.run(
        "MATCH (f:Curated:Fact) RETURN f.scope AS scope, f.message_ids AS ids, f.content AS text, "
        "f.subject AS subject, f.value AS value",
        write=False,
    )
    by_turn: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        for id in row["ids"]:
            by_turn.setdefault((row["scope"], id), []).append(row)
    seen = [(scope, text, ids) for scope, _, all_of_them in conversations(data) for text, ids in all_of_them]
    texts = list(dict.fromkeys([row["text"] for row in rows] + [text for _, text, _ in seen]))
    vectors = {}
    for at in range(0, len(texts), 200):
        for text, made in zip(texts[at : at + 200], provider.embed(texts[at : at + 200]), strict=True):
            vectors[text] = np.array(made.vector) / (np.linalg.norm(made.vector) or 1)
    counts: Counter[str] = Counter()
    for scope, text, ids in seen:
        there = [fact for id in ids for fact in by_turn.get((scope, id), [])]
        told = set(words(text))
        near = max((float(vectors[text] @ vectors[fact["text"]]) for fact in there), default=-1.0)
        slot = any(
            fact["value"] and set(words(fact["value"])) <= told and set(words(fact["subject"])) <= told
            for fact in there
        )
        counts.update(
            fact=bool(there), cosine=near >= COSINE, near=near >= 0.7, slot=slot, either=near >= COSINE or slot
        )
    shares = {
        f"observations, {name}": f"{counts[name]} ({100 * counts[name] / len(seen):.1f} %)"
        for name in ("fact", "cosine", "near", "slot", "either")
    }
    return {"observations": len(seen), **shares}


def boxed(client: Jochi, data: Path) -> dict[str, Any]:
    """Where a new box begins against where a session does: the first turn of its first batch, within five turns."""
    rows = to_python(
        client.database.run(
            "MATCH (b:Curated:MemoryBox)<-[:IN_BOX]-(f:Fact) MATCH (m:Curated:TurnBatch {key: f.derived_for}) "
            "WITH b, m ORDER BY m.started_at WITH b, collect(m)[0] AS first "
            "RETURN b.scope AS scope, first.message_ids AS ids, b.seal_reason AS reason, b.trace_id AS trace "
            "ORDER BY first.started_at",
            write=False,
        )
    )
    found = wanted = hit = kept = 0
    for scope, turns, _ in conversations(data):
        place = {turn.id: n for n, (_, turn) in enumerate(turns)}
        borders = [n for n in range(1, len(turns)) if turns[n][0] != turns[n - 1][0]]
        # What was said in a batch before its first fact is the batch's.
        starts = sorted(place[row["ids"][0]] for row in rows if row["scope"] == scope)[1:]
        batch = 5
        wanted, found = wanted + len(borders), found + len(starts)
        hit += sum(any(abs(start - border) < batch for start in starts) for border in borders)
        kept += sum(any(abs(start - border) < batch for border in borders) for start in starts)
    reasons = Counter(row["reason"] for row in rows)
    traces = Counter((row["scope"], row["trace"]) for row in rows)
    return {
        "boxes": len(rows),
        **{f"boxes, {name}": n for name, n in reasons.items()},
        "traces": len(traces),
        "traces of several boxes": sum(n > 1 for n in traces.values()),
        "borders of sessions": wanted,
        "precision of boxes' beginnings": round(kept / found, 3) if found else None,
        "recall of borders": round(hit / wanted, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=LOCOMO)
    data = parser.parse_args().data
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "policy.toml"
        file.write_text(POLICY)
        policy = load_policy(file)
    with own_server("observing", policy=policy) as client:
        client.apply()
        provider = embeddings.provider("minilm", model=None)
        for part in (observed(client, data), learned(client), covered(client, data, provider), boxed(client, data)):
            for name, value in part.items():
                print(f"{name}: {value}", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
