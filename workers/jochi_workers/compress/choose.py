"""A provider of summaries by its name, as the command line knows it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from jochi.errors import UsageError
from jochi.text.tokens import TokenCounter
from jochi_workers.compress.extractive import Extractive
from jochi_workers.compress.models import ByModel, instructions
from jochi_workers.compress.protocol import Provider
from jochi_workers.models import Limits, Model
from jochi_workers.models.waiting import Waiting

PROVIDERS = ("extractive", "anthropic", "openai")


def provider(
    name: str,
    *,
    model: str | None = None,
    base_url: str | None = None,
    key_variable: str | None = None,
    key_file: Path | None = None,
    prompts: str | None = None,
    counter: TokenCounter | None = None,
    lease: timedelta = timedelta(minutes=2),
    waiting: Waiting | None = None,
) -> Provider:
    """The provider ``name`` (one of `PROVIDERS`). ``prompts``: `work.prompts` of the policy.

    ``lease``: how long a worker keeps a memory: an answer that takes longer is of no use.
    """
    if name not in PROVIDERS:
        raise UsageError(f"there is no provider {name!r}", fix=f"there are: {', '.join(PROVIDERS)}")
    if name == "extractive":
        if model or base_url or key_variable or key_file:
            raise UsageError("the provider extractive takes no model, address or key", fix="leave them out")
        return Extractive(counter)
    if model is None:
        raise UsageError(f"the provider {name} needs the name of a model", fix="name it (--compress-model)")
    seconds = lease.total_seconds()
    limits = Limits(timeout=seconds * 0.5, patience=seconds * 0.3)
    key: dict[str, Any] = {"key_variable": key_variable, "key_file": key_file}
    made = Model(name, model, base_url=base_url, limits=limits, waiting=waiting, **key)
    return ByModel(made, instructions(prompts))
