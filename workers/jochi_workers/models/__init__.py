"""Language models by their makers' packages: what every derivation asks, and how asking can fail."""

from __future__ import annotations

from jochi_workers.models.failures import ProviderDown, ProviderUnusable, Rejected, Unsure
from jochi_workers.models.model import Model, Reply, Tokens, at_most
from jochi_workers.models.retries import Limits

__all__ = ["Limits", "Model", "ProviderDown", "ProviderUnusable", "Rejected", "Reply", "Tokens", "Unsure", "at_most"]
