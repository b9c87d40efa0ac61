"""Text to vectors: four providers, and the handler that a worker runs them with.

>>> from jochi_workers.embeddings import provider
>>> with_minilm = provider("minilm")  # doctest: +SKIP
>>> len(with_minilm.embed(["The deployment went well."])[0].vector)  # doctest: +SKIP
384
"""

from __future__ import annotations

from jochi.deprecation import old_names
from jochi_workers.embeddings.protocol import (
    Provider,
    ProviderDown,
    ProviderUnusable,
    TextsRefused,
    TextVector,
    embed_question,
)
from jochi_workers.embeddings.providers import ONE_MODEL, PROVIDERS, provider

__all__ = [
    "ONE_MODEL",
    "PROVIDERS",
    "Provider",
    "ProviderDown",
    "ProviderUnusable",
    "TextVector",
    "TextsRefused",
    "embed_question",
    "provider",
]

__getattr__ = old_names(__name__)
