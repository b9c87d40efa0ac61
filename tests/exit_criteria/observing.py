"""LoCoMo turn by turn, by its dates, without a model (seed 003): `python -m tests.exit_criteria.observing [--data FILE]`.

Each conversation is one stream of turns, a minute apart within its sessions, whose borders nobody is told. Signals by class; facts
by category; of the observations that people wrote the share that a fact of the same turn covers; boxes against the borders.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
from tests.conftest import LOCOMO
from tests.oracle.observing import Boxes, Buffers

from jochi import Turn
from jochi.policy import load_policy
from jochi.text.slot_names import slot_name_of
from jochi.text.tokens import Estimate
from jochi.write.ingesting.source import Message, clean
from jochi.write.ingesting.writing import line_of
from jochi.write.observing.signals import scan
from jochi_workers import embeddings
from jochi_workers.derive import derivation
from jochi_workers.derive.extract.names import words

LEARN, COUNTER = derivation("learn"), Estimate()
BATCH = 5
POLICY = load_policy().policy
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


def played(data: Path, figures: Counter[str]) -> tuple[list[dict[str, Any]], list[tuple[str, list[str], Boxes]]]:
    """Facts, and of each conversation its batches and boxes. Buffers and boxes are the oracle's, which the database's are compared
    with in tests/integration/test_observe.py; what is learned is made by the worker's own code."""
    facts: list[dict[str, Any]] = []
    talks: list[tuple[str, list[str], Boxes]] = []
    slots: dict[tuple[str, str], str] = {}
    for scope, turns, _ in conversations(data):
        buffers, boxes, by_id = Buffers(), Boxes(), {turn.id: turn for _, turn in turns}
        for _, turn in turns:
            assert turn.at is not None
            assert turn.id is not None
            buffers.job(turn.at)
            signal = scan(turn.text).signal
            figures[f"signal {signal}"] += 1
            buffers.observe("talk", turn.id, turn.at, signal == "high", turn.at)
        buffers.job(turn.at + 60 * MINUTE)
        starts: list[str] = []
        before: list[str] = []
        for n, (_, reason, ids) in enumerate(buffers.flushed):
            said = [by_id[id] for id in ids]
            lines = [line_of(Message(None, one.at, one.speaker, clean(one.text), one.text)) for one in said]
            row = _row(f"{scope}/talk:{n:06}", "\n".join(lines), ids, before, said[-1].at)
            output = LEARN.offline(row, COUNTER)
            assert not LEARN.faults(row, output, COUNTER), LEARN.faults(row, output, COUNTER)
            made = LEARN.made(row, output, COUNTER)  # type: ignore[misc]
            new = [each for each in made["memories"] if each["kind"] == "Fact"]
            figures["extractions"] += 1
            figures[f"batches, {reason}"] += 1
            figures["verbatim artifacts"] += len(made["memories"]) - len(new)
            for each in new:
                own = each["properties"]
                facts.append({"scope": scope, "text": each["content"], **own})
                for name in ("category", "memory_kind", "confidence_tier"):
                    figures[f"facts, {own[name]}"] += 1
                if slot := slot_name_of(own):
                    figures["facts in slots"] += 1
                    was = slots.get((scope, slot.name))
                    figures["slots whose value changed"] += was is not None and was != slot.value
                    slots[scope, slot.name] = slot.value
            count = len(boxes.all)
            boxes.add(made["topics"], [each["id"] for each in new], said[0].at, said[-1].at)  # type: ignore[arg-type]
            if len(boxes.all) > count:
                starts.append(ids[0])
            before = [*before, row["inputs"][0]["content"]][-20:]
        boxes.end("time_gap")
        talks.append((scope, starts, boxes))
    figures["facts"] = len(facts)
    return facts, talks


def _row(key: str, text: str, ids: list[str], before: list[str], at: datetime | None) -> dict[str, Any]:
    """As `derive/learn/inputs` hands it out, but for known facts."""
    policy = POLICY
    numbers, tiers = policy.derive["learn"].numbers, policy.facts.confidence_tiers
    return {
        **{
            "key": key,
            "scope": key.partition("/")[0],
            "inputs": [{"key": key, "content": text}],
            "turns": ids,
            "before": before,
        },
        **{
            "most": int(numbers["facts"]),
            "topics": policy.observe.topics,
            "context": policy.observe.context,
            "ended_at": at,
        },
        **{"tiers": [{"name": tier.name, "least": tier.from_} for tier in tiers], "known": []},
    }


def covered(facts: list[dict[str, Any]], data: Path, provider: Any) -> dict[str, Any]:
    """Of the observations the share that a fact of the same turn says: by cosine, or by its slot (its value and subject)."""
    rows = [{"ids": fact["message_ids"], "subject": None, "value": None, **fact} for fact in facts]
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


def against_borders(data: Path, talks: list[tuple[str, list[str], Boxes]]) -> dict[str, Any]:
    """Where a new box begins against where a session does: the first turn of its first batch, within a batch."""
    found = wanted = hit = kept = 0
    for (_, turns, _), (_, ids, _) in zip(conversations(data), talks, strict=True):
        place = {turn.id: n for n, (_, turn) in enumerate(turns)}
        borders = [n for n in range(1, len(turns)) if turns[n][0] != turns[n - 1][0]]
        starts = sorted(place[id] for id in ids)[1:]
        wanted, found = wanted + len(borders), found + len(starts)
        hit += sum(any(abs(start - border) < BATCH for start in starts) for border in borders)
        kept += sum(any(abs(start - border) < BATCH for border in borders) for start in starts)
    boxes = [(scope, box) for scope, _, all_of_them in talks for box in all_of_them.all]
    traces = Counter((scope, box.trace) for scope, box in boxes)
    return {
        "boxes": len(boxes),
        **{f"boxes, {name}": n for name, n in Counter(box.reason for _, box in boxes).items()},
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
    figures: Counter[str] = Counter()
    facts, talks = played(data, figures)
    provider = embeddings.provider("minilm", model=None)
    for part in (dict(sorted(figures.items())), covered(facts, data, provider), against_borders(data, talks)):
        for name, value in part.items():
            print(f"{name}: {value}", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
