"""Text to vectors: four providers, and the handler that a worker runs them with.

>>> from jochi_workers.embeddings import provider
>>> with_minilm = provider("minilm")  # doctest: +SKIP
>>> len(with_minilm.embed(["The deployment went well."])[0].vector)  # doctest: +SKIP
384
"""

from __future__ import annotations

from jochi_workers.embeddings.choose import ONE_MODEL, PROVIDERS, provider
from jochi_workers.embeddings.protocol import Embedded, Provider, ProviderDown, ProviderUnusable, TextsRefused

__all__ = [
    "ONE_MODEL",
    "PROVIDERS",
    "Embedded",
    "Provider",
    "ProviderDown",
    "ProviderUnusable",
    "TextsRefused",
    "provider",
]
