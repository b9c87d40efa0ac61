"""A provider by its name, as the command line and a worker's settings know it."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from jochi.errors import UsageError
from jochi_workers.embeddings import e5, minilm
from jochi_workers.embeddings.protocol import Provider
from jochi_workers.models.timing import RateLimit, Timing

PROVIDERS = ("minilm", "e5", "sentence-transformers", "openai")
ONE_MODEL = {"minilm": minilm.MODEL, "e5": e5.MODEL}
"""Providers that are one model."""
_OPTIONS = {
    "minilm": {"threads"},
    "e5": {"threads"},
    "sentence-transformers": {"model", "download", "device"},
    "openai": {
        *("model", "dimensions", "base_url", "key_variable", "key_file"),
        *("requests_per_minute", "tokens_per_minute"),
    },
}
"""What each of them takes."""


def provider(name: str, *, waiting: Timing | None = None, **options: Any) -> Provider:
    """The provider ``name`` (one of `PROVIDERS`), ready to embed; packages are imported only for the one that is asked for.

    ``model``: required except for those of `ONE_MODEL`. ``threads``: those; ``download``, ``device``: sentence-transformers;
    the rest: openai. Raises `UsageError` for what doesn't fit together, `ProviderUnusable` naming the missing extra.
    """
    given = {option: value for option, value in options.items() if value not in (None, False)}
    if name in ONE_MODEL and given.get("model") == ONE_MODEL[name]:
        del given["model"]
    _check(name, given.keys())
    if name in ONE_MODEL:
        return minilm.MiniLM(**given) if name == "minilm" else e5.E5(**given)
    if "model" not in given:
        raise UsageError(f"the provider {name} needs the name of a model", fix="name it (--model)")
    if name == "sentence-transformers":
        from jochi_workers.embeddings.sentence_transformer import SentenceTransformers

        return SentenceTransformers(**given)
    from jochi_workers.embeddings.openai_compatible import OpenAICompatible

    own = waiting or Timing()
    limits = {limit: given.pop(limit, None) for limit in ("requests_per_minute", "tokens_per_minute")}
    return OpenAICompatible(**given, rate=RateLimit(**limits, monotonic=own.monotonic), waiting=own)


def _check(name: str, given: Set[str]) -> None:
    """`UsageError` for an unknown provider, and for options that it doesn't take."""
    if name not in PROVIDERS:
        raise UsageError(f"there is no provider {name!r}", fix=f"there are: {', '.join(PROVIDERS)}")
    if wrong := sorted(given - _OPTIONS[name]):
        raise UsageError(f"the provider {name} doesn't take {', '.join(wrong)}", fix="leave it out")
