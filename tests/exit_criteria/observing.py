"""LoCoMo turn by turn through a server, by its dates, without a model (seed 003).

`python -m tests.exit_criteria.observing [--data FILE] [--first N]`. Each conversation is one session of its own scope, a minute a
turn within its sessions, whose borders nobody is told. Signals by class; facts by category; of the observations that people wrote
the share that a fact of the same turn covers; boxes against the borders.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
from tests.conftest import LOCOMO
from tests.own_server import own_server

from jochi import Jochi, Turn
from jochi.graph.driver_values import to_python
from jochi.text.tokens import Estimate
from jochi.write.observing.signals import scan
from jochi_workers import embeddings
from jochi_workers.derive import derivation
from jochi_workers.derive.derivation import OfflineMaker
from jochi_workers.derive.extract.names import words
from jochi_workers.derive.handler import DeriveHandler
from jochi_workers.prepare import PrepareHandler
from jochi_workers.queue import Queue
from jochi_workers.worker import Worker

LEARN = derivation("learn")
BATCH, COSINE = 5, 0.8
MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
LAG = 5 * MINUTE
"""So long after there is something to learn a worker learns it: of all that there is by then, in one transaction."""
Talk = tuple[str, list[tuple[int, Turn]], list[tuple[str, set[str]]]]
"""Scope, turns with the number of their session, and observations with the turns that they rest on."""


def conversations(data: Path) -> Iterator[Talk]:
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


class Played:
    """Turns handed to a server as they were said: the job `flush_buffers` runs whenever it has something to do, a worker looks
    ``LAG`` after there is something to learn, all on the clock of the turns."""

    def __init__(self, client: Jochi) -> None:
        self.client = client
        self.signals: Counter[str] = Counter()
        self.waiting: datetime | None = None
        counter = Estimate()
        self.worker = InTheirTime(
            client.engine, [PrepareHandler(counter), DeriveHandler(LEARN, OfflineMaker(LEARN, counter), counter)]
        )

    def play(self, turns: Iterable[Turn]) -> None:
        now = datetime.min.replace(tzinfo=timezone.utc)
        for turn in turns:
            assert turn.at is not None
            now = turn.at
            self.until(now)
            self.signals[self.client.observe(turn, now=now).signal] += 1
        self.until(now + DAY)
        self.client.run("settle_slots", drain=True, now=now + DAY)
        assert not self.worker.progress["learn"].failed, self.worker.progress["learn"].reasons

    def until(self, end: datetime) -> None:
        """What is done by itself before then."""
        while True:
            [row] = rows(self.client, "MATCH (b:JochiBuffer) RETURN min(b.due) AS due, min(b.box_due) AS box_due")
            learns = None if self.waiting is None else self.waiting + LAG
            now = min((at for at in (row["due"], row["box_due"], learns) if at is not None), default=end)
            if now >= end:
                return
            if now == learns:
                self.worker.at, self.waiting = now, None
                self.worker.run(once=True)
            else:
                for run in self.client.run("flush_buffers", drain=True, now=now):
                    assert run.status == "ok", run
                    if run.tally.get("handed_on"):
                        self.waiting = self.waiting or now


class InTheirTime(Worker):
    """A worker whose clock stands at ``at``."""

    at: datetime

    def _queue(self, handler: Any) -> Queue:
        return self._queues.setdefault(
            handler.name, Queue(self.engine, handler.name, clock=lambda: self.at, asks=getattr(handler, "asks", None))
        )


def rows(client: Jochi, cypher: str) -> list[dict[str, Any]]:
    return [dict(to_python(row)) for row in client.database.run(cypher, write=False)]


def facts_of(client: Jochi) -> list[dict[str, Any]]:
    return [row["f"] for row in rows(client, "MATCH (f:Curated:Fact) RETURN properties(f) AS f")]


def counted(client: Jochi, facts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What was learned from, and what was learned."""
    batches = rows(
        client, "MATCH (b:Curated:TurnBatch) RETURN b.flush_reason AS reason, b.learned_at IS NOT NULL AS learned"
    )
    [artifacts] = rows(client, "MATCH (a:Curated:Artifact) RETURN count(a) AS n")
    found = Counter(f"batches, {batch['reason']}" for batch in batches)
    for fact in facts:
        found.update(f"facts, {fact[name]}" for name in ("category", "memory_kind", "confidence_tier"))
        found.update(
            {
                "facts in slots": fact.get("value") is not None,
                "facts, superseded": "superseded" in (fact.get("status"), fact["state"]),
                "facts, disputed": fact["verification_state"] == "disputed",
            }
        )
    found.update({"facts": len(facts), "verbatim artifacts": artifacts["n"]})
    return {"extractions": sum(batch["learned"] for batch in batches), **dict(sorted(found.items()))}


def covered(facts: Sequence[dict[str, Any]], talks: Sequence[Talk], provider: Any) -> dict[str, Any]:
    """Of the observations the share that a fact of the same turn says: by cosine, or by its slot (its value and subject)."""
    by_turn: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in facts:
        for id in row["message_ids"]:
            by_turn.setdefault((row["scope"], id), []).append(row)
    seen = [(scope, text, ids) for scope, _, all_of_them in talks for text, ids in all_of_them]
    texts = list(dict.fromkeys([row["content"] for row in facts] + [text for _, text, _ in seen]))
    vectors = {}
    for at in range(0, len(texts), 200):
        for text, made in zip(texts[at : at + 200], provider.embed(texts[at : at + 200]), strict=True):
            vectors[text] = np.array(made.vector) / (np.linalg.norm(made.vector) or 1)
    counts: Counter[str] = Counter()
    for scope, text, ids in seen:
        there = [fact for id in ids for fact in by_turn.get((scope, id), [])]
        told = set(words(text))
        near = max((float(vectors[text] @ vectors[fact["content"]]) for fact in there), default=-1.0)
        slot = any(
            fact.get("value") and set(words(fact["value"])) <= told and set(words(fact["subject"])) <= told
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


def against_borders(client: Jochi, talks: Sequence[Talk]) -> dict[str, Any]:
    """Where a new box begins against where a session does: the first turn of its first batch, within a batch."""
    boxes = rows(
        client,
        "MATCH (b:Curated:MemoryBox)-[:IN_TRACE]->(t:Curated:Trace) "
        "MATCH (first:Curated:TurnBatch {key: b.scope + '/' + substring(b.id, size('box:'))}) "
        "RETURN b.scope AS scope, b.seal_reason AS reason, t.key AS trace, first.message_ids[0] AS turn",
    )
    found = wanted = hit = kept = 0
    for scope, turns, _ in talks:
        place = {turn.id: n for n, (_, turn) in enumerate(turns)}
        borders = [n for n in range(1, len(turns)) if turns[n][0] != turns[n - 1][0]]
        starts = sorted(place[box["turn"]] for box in boxes if box["scope"] == scope)[1:]
        wanted, found = wanted + len(borders), found + len(starts)
        hit += sum(any(abs(start - border) < BATCH for start in starts) for border in borders)
        kept += sum(any(abs(start - border) < BATCH for border in borders) for start in starts)
    traces = Counter(box["trace"] for box in boxes)
    return {
        "boxes": len(boxes),
        **{f"boxes, {name}": n for name, n in Counter(box["reason"] for box in boxes).items()},
        "traces": len(traces),
        "traces of several boxes": sum(n > 1 for n in traces.values()),
        "borders of sessions": wanted,
        "precision of boxes' beginnings": round(kept / found, 3) if found else None,
        "recall of borders": round(hit / wanted, 3),
    }


def scanned(turns: Sequence[Turn]) -> dict[str, str]:
    """Milliseconds of a turn's scan."""
    scan("warm")
    took = []
    for turn in turns:
        began = time.perf_counter()
        scan(turn.text)
        took.append(1000 * (time.perf_counter() - began))
    return {"scan, p99": f"{statistics.quantiles(took, n=100)[98]:.2f} ms"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=LOCOMO)
    parser.add_argument("--first", type=int, help="of the conversations only so many")
    given = parser.parse_args()
    talks = list(conversations(given.data))[: given.first]
    turns = sorted((turn for _, said, _ in talks for _, turn in said), key=lambda turn: (turn.at, turn.scope))
    with own_server("observing") as client:
        client.apply()
        began, played = time.monotonic(), Played(client)
        played.play(turns)
        facts = facts_of(client)
        figures: dict[str, Any] = {
            "turns": len(turns),
            "seconds": round(time.monotonic() - began),
            **{f"signal {name}": n for name, n in played.signals.items()},
            **scanned(turns),
            **counted(client, facts),
            **against_borders(client, talks),
            **covered(facts, talks, embeddings.provider("minilm", model=None)),
        }
    for name, value in figures.items():
        print(f"{name}: {value}", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
