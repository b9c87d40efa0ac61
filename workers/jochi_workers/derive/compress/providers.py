"""A provider of summaries by its name, as the command line knows it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from jochi.errors import UsageError
from jochi.text.tokens import TokenCounter
from jochi_workers.derive.compress.extractive import ExtractiveSummariser
from jochi_workers.derive.compress.model_summariser import ModelSummariser, instructions
from jochi_workers.derive.compress.protocol import Provider
from jochi_workers.models import Limits, Model
from jochi_workers.models.timing import Timing

PROVIDERS = ("extractive", "anthropic", "openai")


def language_model(
    name: str,
    *,
    model: str | None = None,
    lease: timedelta = timedelta(minutes=2),
    waiting: Timing | None = None,
    **access: Any,
) -> Model | None:
    """The model of the provider ``name`` (one of `PROVIDERS`); None: it needs none.

    ``access``: its address and key, as `Endpoint` takes them.
    ``lease``: how long a worker keeps a memory: an answer that takes longer is of no use.
    """
    if name not in PROVIDERS:
        raise UsageError(f"there is no provider {name!r}", fix=f"there are: {', '.join(PROVIDERS)}")
    if name == "extractive":
        if model or any(access.values()):
            raise UsageError("the provider extractive takes no model, address or key", fix="leave them out")
        return None
    if model is None:
        raise UsageError(f"the provider {name} needs the name of a model", fix="name it (--compress-model)")
    seconds = lease.total_seconds()
    limits = Limits(timeout=seconds * 0.5, patience=seconds * 0.3)
    return Model(name, model, limits=limits, waiting=waiting, **access)


def provider(name: str, *, prompts: str | None = None, counter: TokenCounter | None = None, **options: Any) -> Provider:
    """Who shortens, by the name of the provider. ``prompts``: `work.prompts` of the policy; the rest as `language_model`."""
    made = language_model(name, **options)
    return ExtractiveSummariser(counter) if made is None else ModelSummariser(made, instructions(prompts))
