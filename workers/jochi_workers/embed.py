"""Embeddings as a handler of the worker: what `jochi_workers.embeddings` makes, in the shape that the queue stores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from jochi.policy.settings import Embedding
from jochi_workers.handler import Outcome, QueueName, Result, Row

if TYPE_CHECKING:
    from jochi_workers.embeddings.handler import Embedder, Vector


class Embed:
    """Embeds what is leased with ``embedder``."""

    name: QueueName = "embed"
    exact = False

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def handle(self, rows: Sequence[Row]) -> Outcome:
        found = self._embedder.work(rows)
        return Outcome(
            done=[Result(vector.key, _values(vector)) for vector in found.done],
            failed=dict(found.failed),
            returned=list(found.returned),
            stopped_by=found.stopped_by,
            pause=found.pause,
        )


def _values(vector: Vector) -> dict[str, Any]:
    return {
        "embedding": vector.vector,
        "embedding_model": vector.model,
        "embedding_hash": vector.hash,
        "embedding_unknown": vector.unknown,
    }


def with_provider(
    name: str, model: str | None, policy: Embedding, *, stopping: Callable[[], bool], **options: Any
) -> Embed:
    """The handler for the provider ``name``, checked with one short text before any memory is leased.

    ``options`` go to `jochi_workers.embeddings.provider`. What doesn't fit raises a `JochiError` that says so.
    """
    # Only here: a worker that doesn't embed needs none of these packages.
    from jochi_workers.embeddings import handler, provider, waiting

    wanted = model if name == "minilm" else model or policy.model
    made = provider(name, model=wanted, waiting=waiting.interruptible(stopping), **options)
    embedder = handler.Embedder(made, policy, stopping=stopping)
    embedder.check()
    return Embed(embedder)
