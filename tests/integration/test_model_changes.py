"""With a model: the request of `learn` shows what is known, and the answer says what each new statement changes of it (DESIGN §16;
docs/reference/observing.md). What is weighed of it: tests/unit/test_model_changes.py."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from tests.unit.stub_chat import Answer, Stub, stub_server

from jochi import Jochi, Turn
from jochi.graph.driver_values import to_python
from jochi.jobs.runner import run_job
from jochi.text.tokens import Estimate
from jochi_workers.derive import derivation
from jochi_workers.derive.derivation import ModelMaker
from jochi_workers.derive.handler import DeriveHandler
from jochi_workers.models import Model
from jochi_workers.prepare import PrepareHandler
from jochi_workers.queue import Queue
from jochi_workers.worker import Worker

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, tzinfo=timezone.utc)
LEARN = derivation("learn")


def run(client: Jochi, cypher: str, **given: Any) -> list[dict[str, Any]]:
    return [dict(to_python(row)) for row in client.database.run(cypher, given)]


def hear(client: Jochi, text: str, minutes: int) -> None:
    at = NOW + timedelta(minutes=minutes)
    client.observe(Turn(text, at=at, speaker="Ann", id=f"t{minutes}"), now=at)
    client.flush("default")
    run_job(client.engine, "flush_buffers", now=datetime.now(timezone.utc), drain=True)
    client.database.run("CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()")


def learn(client: Jochi, stub: Stub, *facts: dict[str, Any]) -> tuple[str, list[str]]:
    """What the model was shown besides the turns ('' where nothing), and why it was refused."""
    stub.script = [Answer(json.dumps({"facts": [{"confidence": 0.9, "turn": 1, **fact} for fact in facts]}))]
    maker = ModelMaker(LEARN, Model("openai", "m", base_url=f"{stub.url}/v1"))
    worker = Worker(client.engine, [PrepareHandler(Estimate()), DeriveHandler(LEARN, maker, Estimate())])
    worker.run(once=True)
    said = stub.requests[-1]["messages"][-1]["content"]
    fence = said.splitlines()[0]
    parts = [part.strip() for part in said.split(fence) if part.strip()]
    return "\n".join(parts[:-1]), list(worker.progress["learn"].reasons)


def test_known_statements_are_shown_and_what_the_answer_says_of_them_is_done(client: Jochi) -> None:
    with stub_server() as stub:
        hear(client, "I live in Bergen.", 0)
        assert learn(client, stub, {"text": "Ann: I live in Bergen.", "change": "adds"}) == ("", [])
        hear(client, "I moved, I live in Oslo.", 20)
        known, refused = learn(client, stub, {"text": "Ann: I moved, I live in Oslo.", "change": "replaces", "of": 1})
        assert (known, refused) == ("Known 1 [2026-06-15]: Ann: I live in Bergen.", [])
        # A bare value shares no word with what it corrects: what was just learned is shown all the same, what is replaced isn't.
        hear(client, "Sorry: Moss.", 40)
        known, _ = learn(client, stub, {"text": "Ann: Sorry: Moss.", "change": "replaces", "of": 1, "confidence": 0.5})
        assert known == "Known 1 [2026-06-15]: Ann: I moved, I live in Oslo."
        hear(client, "As I said, I live in Oslo, I moved.", 60)
        known, _ = learn(client, stub, {"text": "Ann: I live in Oslo, I moved.", "change": "confirms", "of": 2})
        assert [line[22:] for line in known.splitlines()] == ["Ann: Sorry: Moss.", "Ann: I moved, I live in Oslo."]
        hear(client, "I live in Oslo with a cat.", 80)
        _, refused = learn(client, stub, {"text": "Ann: I live in Oslo with a cat.", "change": "replaces", "of": 3})
        assert refused == ["no such statement"]
    found = run(
        client,
        "MATCH (f:Curated:Fact) OPTIONAL MATCH (f)-[r:SUPERSEDES|MAY_REPLACE]->(o) RETURN f.content AS said, f.state AS state, "
        "f.confirmed_at IS NOT NULL AS confirmed, type(r) AS type, o.content AS older ORDER BY f.valid_from",
    )
    bergen, oslo, moss = "Ann: I live in Bergen.", "Ann: I moved, I live in Oslo.", "Ann: Sorry: Moss."
    assert [tuple(row.values()) for row in found] == [
        (bergen, "superseded", False, None, None),
        (oslo, "candidate", True, "SUPERSEDES", bergen),
        (moss, "candidate", False, "MAY_REPLACE", oslo),
    ]
    assert run(
        client, "MATCH (f:Fact {content: $oslo}) MATCH (a:JochiAccess {key: f.key}) RETURN a.used AS used", oslo=oslo
    ) == [{"used": True}]
    for each in client.runs(limit=50):
        if each.job == "learn":
            client.undo(each.id)
    assert run(client, "MATCH (f:Curated:Fact) RETURN f.key") == []


def test_what_a_model_is_shown_is_reserved_for(client: Jochi) -> None:
    with stub_server() as stub:
        hear(client, "I live in Bergen.", 0)
        learn(client, stub, {"text": "Ann: I live in Bergen.", "change": "adds"})
        run(client, "MATCH (f:Curated:Fact) SET f.content = 'Ann: ' + $long", long="Bergen ü\n" * 1_000)
        hear(client, "I live in Oslo.", 20)
        maker = ModelMaker(LEARN, Model("openai", "m", base_url=f"{stub.url}/v1"))
        asks = DeriveHandler(LEARN, maker, Estimate()).asks
        [batch] = run(client, "MATCH (b:TurnBatch) RETURN b.key AS key ORDER BY b.created_at DESC LIMIT 1")
        [row] = Queue(client.engine, "learn", asks=asks).peek(batch["key"]).rows
        stub.script = [Answer('{"facts": []}')]
        maker.make(row)
        sent = sum(len(each["content"].encode()) for each in stub.requests[-1]["messages"])
        shown = sum(len(each.encode()) for each in LEARN.texts(row))
        assert 500 < shown - len(row["inputs"][0]["content"]) < 1_000, "a long statement is cut"
        # Both of its requests, each with all that it shows.
        assert 2 * (shown + maker.overhead) <= row["tokens_in"]
        assert sent <= row["tokens_in"]


@pytest.fixture
def client(jochi: Jochi) -> Jochi:
    return jochi
