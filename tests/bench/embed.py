"""How fast texts are embedded: by the model alone, and by a worker that leases and stores."""

from __future__ import annotations

import time
from datetime import datetime, timedelta, timezone

from tests.bench.store import wipe

from jochi import Jochi
from jochi_workers.embeddings import provider
from jochi_workers.embeddings.handler import with_provider
from jochi_workers.worker import Worker

TEXTS = 2_500
SENTENCE = "she said that the long walk home through the park made her think about dinner and work again"
_CREATE = """
UNWIND range(0, size($texts) - 1) AS i
CREATE (:Curated:Belief {
  scope: 's', id: 'b' + i, key: 's/b' + i, content: $texts[i], tier: 'HOT', created_at: $now, embed_due: $now
})
"""


def texts(n: int = TEXTS) -> list[str]:
    """``n`` sentences of 10 to 30 words, as observations are."""
    words = SENTENCE.split()
    return [f"Observation {i}: " + " ".join(words[(i + k) % len(words)] for k in range(10 + i % 21)) for i in range(n)]


def embedding_speed(client: Jochi) -> tuple[float, float, float]:
    """Texts a second: the model alone, the same for each second of processor time, and a worker with the database."""
    model = provider("minilm")
    model.embed(texts(100))
    began, used = time.perf_counter(), time.process_time()
    model.embed(texts())
    alone, processor = TEXTS / (time.perf_counter() - began), TEXTS / (time.process_time() - used)
    model.close()
    wipe(client.database)
    waiting_since = datetime.now(timezone.utc) - timedelta(minutes=1)
    client.database.run(_CREATE, {"texts": texts(), "now": waiting_since})
    handler = with_provider("minilm", None, client.policy.policy.embedding, stopping=lambda: False)
    worker = Worker(client.engine, [handler])
    began = time.perf_counter()
    worker.run(once=True)
    seconds = time.perf_counter() - began
    assert worker.progress["embed"].done == TEXTS
    return alone, processor, TEXTS / seconds
