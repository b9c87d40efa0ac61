"""A provider by its name, as the command line and a worker's settings know it."""

from __future__ import annotations

from pathlib import Path

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


def provider(
    name: str,
    *,
    model: str | None = None,
    dimensions: int | None = None,
    base_url: str | None = None,
    key_variable: str | None = None,
    key_file: Path | None = None,
    requests_per_minute: int | None = None,
    tokens_per_minute: int | None = None,
    download: bool = False,
    device: str | None = None,
    threads: int | None = None,
    waiting: Timing | None = None,
) -> Provider:
    """The provider ``name`` (one of `PROVIDERS`), ready to embed; packages are imported only for the one that is asked for.

    ``model``: required except for those of `ONE_MODEL`. ``threads``: those; ``download``, ``device``: sentence-transformers;
    the rest: openai. Raises `UsageError` for what doesn't fit together, `ProviderUnusable` naming the missing extra.
    """
    if model is not None and ONE_MODEL.get(name) == model:
        model = None
    options: dict[str, object] = {
        "model": model,
        "dimensions": dimensions,
        "base_url": base_url,
        "key_variable": key_variable,
        "key_file": key_file,
        "requests_per_minute": requests_per_minute,
        "tokens_per_minute": tokens_per_minute,
        "download": download or None,
        "device": device,
        "threads": threads,
    }
    _check(name, {option for option, value in options.items() if value is not None})
    if name in ONE_MODEL:
        return minilm.MiniLM(threads=threads) if name == "minilm" else e5.E5(threads=threads)
    if model is None:
        raise UsageError(f"the provider {name} needs the name of a model", fix="name it (--model)")
    if name == "sentence-transformers":
        from jochi_workers.embeddings.sentence_transformer import SentenceTransformers

        return SentenceTransformers(model, download=download, device=device)
    from jochi_workers.embeddings.openai_compatible import OpenAICompatible

    own = waiting or Timing()
    rate = RateLimit(
        requests_per_minute=requests_per_minute, tokens_per_minute=tokens_per_minute, monotonic=own.monotonic
    )
    return OpenAICompatible(
        model,
        base_url=base_url,
        dimensions=dimensions,
        key_variable=key_variable,
        key_file=key_file,
        rate=rate,
        waiting=own,
    )


def _check(name: str, given: set[str]) -> None:
    """`UsageError` for an unknown provider, and for options that it doesn't take."""
    if name not in PROVIDERS:
        raise UsageError(f"there is no provider {name!r}", fix=f"there are: {', '.join(PROVIDERS)}")
    if wrong := sorted(given - _OPTIONS[name]):
        raise UsageError(f"the provider {name} doesn't take {', '.join(wrong)}", fix="leave it out")
