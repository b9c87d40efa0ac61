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
    wrong = _not_for(
        name,
        {
            "minilm": {"threads": threads},
            "e5": {"threads": threads},
            "sentence-transformers": {"download": download or None, "device": device, "model": model},
            "openai": {
                "model": model,
                "dimensions": dimensions,
                "base_url": base_url,
                "key_variable": key_variable,
                "key_file": key_file,
                "requests_per_minute": requests_per_minute,
                "tokens_per_minute": tokens_per_minute,
            },
        },
    )
    if wrong:
        raise UsageError(f"the provider {name} doesn't take {', '.join(wrong)}", fix="leave it out")
    if name == "minilm":
        return minilm.MiniLM(threads=threads)
    if name == "e5":
        return e5.E5(threads=threads)
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


def _not_for(name: str, known: dict[str, dict[str, object]]) -> list[str]:
    if name not in known:
        raise UsageError(f"there is no provider {name!r}", fix=f"there are: {', '.join(PROVIDERS)}")
    given = {option for options in known.values() for option, value in options.items() if value is not None}
    return sorted(given - known[name].keys())
