"""A fact says which question it answers, in somebody's words: what is forgotten on request isn't there either, nor in the
vector that was made of it (docs/reference/forgetting.md)."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from jochi import Jochi, Turn
from jochi.forgetting import VARIABLE, Request
from jochi.graph.driver_values import to_python
from jochi.jobs.runner import run_job
from jochi.text.tokens import Estimate
from jochi_workers.derive import derivation
from jochi_workers.derive.derivation import OfflineMaker
from jochi_workers.derive.handler import DeriveHandler
from jochi_workers.prepare import PrepareHandler
from jochi_workers.worker import Worker

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, tzinfo=timezone.utc)
ANYWHERE = (
    "MATCH (n) WHERE any(name IN keys(n) WHERE n[name] IS :: STRING AND n[name] CONTAINS 'Quentin') "
    "RETURN labels(n) AS labels, n.key AS key"
)


def run(client: Jochi, cypher: str, **given: Any) -> list[dict[str, Any]]:
    return [dict(to_python(row)) for row in client.database.run(cypher, given)]


def test_a_forgotten_phrase_is_in_no_question(jochi: Jochi, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "forget.key"))
    turns = (("Bob", "When does Quentin come to you?"), ("Ann", "He comes on Mondays, at noon."))
    for n, (speaker, text) in enumerate(turns):
        at = NOW + timedelta(seconds=n)
        jochi.observe(Turn(text, speaker=speaker, at=at, scope="ann", id=str(n)), now=at)
    jochi.flush(scope="ann")
    run_job(jochi.engine, "flush_buffers", now=datetime.now(timezone.utc), drain=True)
    learn = derivation("learn")
    workers = [PrepareHandler(Estimate()), DeriveHandler(learn, OfflineMaker(learn, Estimate()), Estimate())]
    Worker(jochi.engine, workers).run(once=True)
    # One that an app wrote; whose vector a worker made of the question as well.
    own = {
        **{"kind": "Fact", "scope": "ann", "id": "own", "content": "At the harbour."},
        "properties": {"answers": "Where is Quentin's boat?"},
    }
    jochi.remember([own], now=NOW, on_refused="raise")
    run(
        jochi,
        "MATCH (f:Fact {id: 'own'}) SET f.embedding = [0.5], f.embedding_model = 'm', f.embedding_hash = f.content_hash + '+1', "
        "f.embed_due = null",
    )
    said = {
        row["said"] for row in run(jochi, "MATCH (f:Fact) WHERE f.answers CONTAINS 'Quentin' RETURN f.content AS said")
    }
    assert said == {"Ann: He comes on Mondays, at noon.", "At the harbour."}

    jochi.forget(Request(phrase="Quentin", scope="ann"), verify=True)
    assert run(jochi, ANYWHERE) == []
    [left] = run(
        jochi, "MATCH (f:Curated {id: 'own'}) RETURN f {.content, .embedding, .embedding_hash, .embed_due} AS f"
    )
    assert (left["f"]["content"], left["f"]["embedding"], left["f"]["embedding_hash"]) == (
        "At the harbour.",
        None,
        None,
    )
    assert left["f"]["embed_due"] is not None
    Worker(jochi.engine, workers).run(once=True)
    assert run(jochi, ANYWHERE) == []
