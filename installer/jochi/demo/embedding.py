"""Embeds the demonstration's memories with a worker, as `jochi worker --provider minilm` does."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from jochi.client import Jochi
from jochi.database.engine import Engine
from jochi.demo.story import Embeddings
from jochi.localserver.report import Report

if TYPE_CHECKING:
    from jochi_workers.embeddings.handler import EmbedHandler
    from jochi_workers.worker import Progress

PROVIDER = "minilm"


def handler(client: Jochi, watcher: Report) -> EmbedHandler | None:
    """What embeds, loaded and tried out; None, and a line that says so, where the extra [embeddings] isn't installed."""
    from jochi_workers.embeddings import ProviderUnusable
    from jochi_workers.embeddings.handler import with_provider

    policy = client.policy.policy.embedding
    try:
        return with_provider(PROVIDER, None, policy, stopping=lambda: False)
    except ProviderUnusable as missing:
        watcher.say(f"no embeddings in this demonstration: {missing.what} ({missing.fix})")
        return None


def queue_all(client: Jochi) -> None:
    """Puts every memory of a kind with embeddings into the queue; nobody may work on it at the same time."""
    client.run("requeue_embeddings", drain=True)


def embed(client: Jochi, with_handler: EmbedHandler, watcher: Report) -> Embeddings:
    """Works the queue until it is empty, beside whatever the database does meanwhile."""
    from jochi_workers.queue import Queue
    from jochi_workers.worker import Worker

    engine = Engine(client.database)
    total = Queue(engine, "embed").backlog().waiting

    def on_progress(progress: Mapping[str, Progress]) -> None:
        watcher.doing("embedding, while the database goes on by itself", progress["embed"].done, total)

    began = time.monotonic()
    worker = Worker(engine, [with_handler], on_progress=on_progress)
    worker.run(once=True)
    seconds = time.monotonic() - began
    made = worker.progress["embed"]
    return Embeddings(client.policy.policy.embedding.model, made.done, made.failed, seconds)
